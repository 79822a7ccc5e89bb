"""The bytes of checkpoints: plain values as JSON, arrays as they are, one checksum.

The file is a valid `safetensors` file, laid out as a model file is (``model_file.py``): its
``__metadata__`` has the key ``"maxmargin"`` with a JSON text that begins with the SHA-256
of the whole file, taken with zeros in place of these digits. Nothing in it is code, and
nothing is executed when it is read. The checksum finds damage; it is no signature.

Arrays are hashed and written where they lie in memory, and read into their own: a state
of gigabytes is never copied.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from maxmargin.files.atomic import replace_file
from maxmargin.files.model_format import (
    DIGEST_AT,
    DIGEST_END,
    MAX_HEADER,
    START,
    library_version,
)
from maxmargin.files.model_values import Refused, Room, decode, encode

FORMAT = "maxmargin-checkpoint"
VERSION = 1
PIECE = 1 << 22  # bytes read at once where nothing is kept
_ZEROS = b"0" * 64
_TYPES = {
    "BOOL": "|b1", "I8": "|i1", "U8": "|u1", "I16": "<i2", "U16": "<u2", "I32": "<i4",
    "U32": "<u4", "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_NAMES = {code[1:]: name for name, code in _TYPES.items()}

FOREIGN = (
    "it is not a checkpoint of maxmargin, or its beginning is damaged. Remove it to start "
    "anew, or give another folder"
)
DAMAGED = (
    "its content does not match its checksum, so it was cut short or altered. Remove it "
    "to start anew, or bring back a copy"
)


def write(path: str, fields: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a file atomically: the one that was there stays until this one is whole."""
    arrays = {name: _little(array) for name, array in arrays.items()}
    header = _header(fields, arrays)
    total = hashlib.sha256(header)
    for array in arrays.values():
        total.update(_bytes(array))
    digest = total.hexdigest().encode()
    header = header[:DIGEST_AT] + digest + header[DIGEST_END:]
    replace_file(path, [header, *map(_bytes, arrays.values())])


def read(path: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(fields, arrays) of a file whose checksum is right; raises Refused."""
    with _opened(path) as file:
        fields, table, total = _begin(file)
        arrays = {}
        for name, dtype, shape in table:
            try:
                array = np.empty(shape, dtype)
            except (ValueError, MemoryError):  # a dimension too large, beside one of 0
                raise Refused(f"its array '{name}' cannot be held in memory") from None
            _fill(file, _bytes(array))
            total.update(_bytes(array))
            arrays[name] = array
        _check_digest(fields, total)
    for name, array in arrays.items():
        # a numpy bool that is neither 0 nor 1 is undefined behaviour in compiled code
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise Refused(f"its array '{name}' has values that are no booleans")
    return fields, arrays


def check(path: str) -> dict[str, Any]:
    """The fields of a file whose checksum is right, without keeping its arrays."""
    with _opened(path) as file:
        fields, _, total = _begin(file)
        while piece := file.read(PIECE):
            total.update(piece)
        _check_digest(fields, total)
    return fields


# nested values -------------------------------------------------------------------------


def take_apart(value: Any, arrays: dict[str, np.ndarray], where: str = "") -> Any:
    """A nested value as JSON can say it; its arrays of numbers go to ``arrays``."""
    if isinstance(value, np.ndarray) and value.dtype.str[1:] in _NAMES:
        arrays[where] = value
        return {"$at": where}
    if type(value) is dict and all(type(k) is str and k[:1] != "$" for k in value):
        items = value.items()
        return {key: take_apart(item, arrays, f"{where}.{key}") for key, item in items}
    if isinstance(value, (list, tuple)):
        parts = [
            take_apart(item, arrays, f"{where}.{k}") for k, item in enumerate(value)
        ]
        return {"$tuple": parts} if isinstance(value, tuple) else parts
    return encode(value)


def put_together(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Invert `take_apart`."""
    if type(value) is list:
        return [put_together(item, arrays) for item in value]
    if type(value) is not dict:
        return value
    if "$at" in value:
        return arrays[value["$at"]]
    if "$tuple" in value:
        return tuple(put_together(item, arrays) for item in value["$tuple"])
    if any(key[:1] == "$" for key in value):
        return decode(value, Room(2**26))
    return {key: put_together(item, arrays) for key, item in value.items()}


# helpers -------------------------------------------------------------------------------


def _header(fields: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """All that comes before the arrays, with zeros for a digest."""
    first = {"sha256": _ZEROS.decode(), "format": FORMAT, "version": VERSION}
    first["library"] = library_version()
    text = json.dumps(first | fields, allow_nan=False, separators=(",", ":"))
    table: dict[str, Any] = {"__metadata__": {"maxmargin": text}}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        table[name] = {
            "dtype": _NAMES[array.dtype.str[1:]],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    header = json.dumps(table, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > MAX_HEADER:
        raise Refused("its plain values exceed 100 MB")
    return len(header).to_bytes(8, "little") + header


def _begin(file: BinaryIO) -> tuple[dict[str, Any], list[tuple], Any]:
    """(fields, [(name, dtype, shape)], the digest so far) of an open file."""
    size = os.fstat(file.fileno()).st_size
    head = file.read(8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > min(size - 8, MAX_HEADER):
        raise Refused(FOREIGN)
    raw = file.read(length)
    if not raw.startswith(START):
        raise Refused(FOREIGN)
    try:
        table = json.loads(raw.decode("utf-8"))
        fields = json.loads(table.pop("__metadata__")["maxmargin"])
        form, version = fields["format"], fields["version"]
        arrays = list(_arrays(table, size - 8 - length))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Refused(FOREIGN if b"-model" not in raw[:300] else _MODEL) from None
    if form != FORMAT:
        raise Refused(_MODEL if form == "maxmargin-model" else FOREIGN)
    written = fields.get("library")
    if version != VERSION or written != library_version():
        raise Refused(
            f"it was written by maxmargin {written} (format {version}), and this is "
            f"{library_version()} (format {VERSION}). Go on with that version, or remove "
            "the file to start anew"
        )
    total = hashlib.sha256(head + raw[: DIGEST_AT - 8] + _ZEROS)
    total.update(raw[DIGEST_END - 8 :])
    return fields, arrays, total


_MODEL = "it is a model file, not a checkpoint. Give the folder of checkpoints"


def _arrays(table: dict[str, Any], size: int) -> Iterator[tuple]:
    """(name, dtype, shape), in the order of the file, which they must fill."""
    end = 0
    for name, row in table.items():
        dtype, shape = np.dtype(_TYPES[row["dtype"]]), row["shape"]
        if not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("a shape is no shape")
        begin, end = end, end + dtype.itemsize * int(np.prod(shape, dtype=object))
        if row["data_offsets"] != [begin, end] or end > size:
            raise ValueError("an array is not where it should be")
        yield name, dtype, tuple(shape)
    if end != size:
        raise ValueError("there is more than arrays")


def _check_digest(fields: dict[str, Any], total: Any) -> None:
    if fields["sha256"] != total.hexdigest():
        raise Refused(DAMAGED)


def _opened(path: str) -> BinaryIO:
    if not os.path.isfile(path):  # a pipe or device might never end
        raise Refused("it is not a regular file. Give another folder")
    return open(path, "rb")


def _fill(file: BinaryIO, view: memoryview) -> None:
    if file.readinto(view) != len(view):
        raise Refused(DAMAGED)


def _little(array: np.ndarray) -> np.ndarray:
    """The array as the file has it; the same one on nearly every machine."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _bytes(array: np.ndarray) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))
