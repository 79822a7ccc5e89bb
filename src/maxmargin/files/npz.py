"""NPZ files, numpy's archives of arrays, read with care and written reproducibly.

Arrays of objects, which would be pickles, are refused; so is whatever is cut off, says of
itself more than there is, or unpacks to more than ``budget.py`` allows.
"""

from __future__ import annotations

import io
import os
import warnings
import zipfile
import zlib
from collections.abc import Collection, Mapping
from math import prod

import numpy as np

from maxmargin.files import budget
from maxmargin.files.text_files import RawText, write_raw

ENDING = ".npy"
LONGEST = 10_000  # characters of a header
ZIP = b"PK"  # what an archive begins with
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal data, equal files


def is_npz(raw: RawText) -> bool:
    return raw.data[:2] == ZIP


def read_npz(
    raw: RawText, names: Collection[str] | None = None
) -> dict[str, np.ndarray]:
    """The arrays of an archive by name; only these, if names are given.

    ValueError with a sentence that names the file, and the array if one is bad.
    """
    found = {}
    try:
        with zipfile.ZipFile(io.BytesIO(raw.data)) as archive:
            wanted = {}
            for info in archive.infolist():
                name = info.filename.removesuffix(ENDING)
                arrays = info.filename.endswith(ENDING)
                if arrays and (names is None or name in names):
                    wanted[name] = info
            total = sum(info.file_size for info in wanted.values())
            budget.check(total, len(raw.data), raw.path)
            for name, info in wanted.items():
                what = f"{raw.path}: {name}"
                with archive.open(
                    info
                ) as file:  # piece by piece: its size may be a lie
                    data = budget.read_counted(file, len(raw.data), raw.path)
                found[name] = _array(data, what, total)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError, RuntimeError,
        NotImplementedError, OverflowError,
    ) as error:  # fmt: skip
        raise ValueError(
            f"{raw.path} is damaged or cut off, or no NPZ file ({_said(error)}). Write it "
            "with numpy.savez, or copy it again."
        ) from None
    return found


def _said(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _array(data: bytes, what: str, total: int) -> np.ndarray:
    """The array in ``data``, of an archive with so many bytes.

    Arrays without entries have rows, too; other arrays say what is in these.
    """
    stream = io.BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of Python 2
            version = np.lib.format.read_magic(stream)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, by_columns, dtype = read(stream, max_header_size=LONGEST)
        count = prod(shape)
    except Exception:  # of a header from anywhere, its parser raises anything
        raise ValueError(
            f"{what} is no array that can be read: write it with numpy.savez."
        ) from None
    if dtype.hasobject:
        raise ValueError(
            f"{what} holds Python objects: give an array of numbers or texts."
        )
    there, size = len(data) - stream.tell(), count * dtype.itemsize
    bad = min(shape, default=0) < 0 or size != there or (count and not size)
    if bad or max(shape, default=0) > total:
        raise ValueError(
            f"{what} is damaged: an array of shape {shape} and type {dtype} has {size} "
            f"bytes, but there are {there}."
        )
    if not there:
        return np.zeros(shape, dtype)
    flat = np.frombuffer(data, dtype, count, stream.tell())
    flat = flat.astype(
        dtype.newbyteorder("=")
    )  # a copy, aligned, that can be written to
    return flat.reshape(shape, order="F" if by_columns else "C")


def write_npz(path: str | os.PathLike, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays, compressed, whole or not at all."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            one = io.BytesIO()
            np.lib.format.write_array(one, np.asarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(name + ENDING, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, one.getvalue())
    write_raw(path, data.getvalue())
