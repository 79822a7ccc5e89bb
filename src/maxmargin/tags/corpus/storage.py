"""Arrays of a corpus on disk: numpy's files, mapped into memory, with checksums.

Every file has a *record* in the manifest: its length and its CRC-32. Lengths are compared
when a corpus is opened; checksums (about a gigabyte a second) when a process first touches
a file. Later touches compare length, time and inode of the file, so that a change during
a fit is seen as well.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from typing import Any, NamedTuple

import numpy as np

MANIFEST = "manifest.json"
FORMAT, VERSION = "maxmargin-corpus", 1
REBUILD = "Build the corpus again from its sources"
_CHUNK = 1 << 24


class Record(NamedTuple):
    """What the manifest knows of a file."""

    size: int
    crc32: int


class Mark(NamedTuple):
    """What must stay the same between two touches of a file."""

    size: int
    changed: int
    inode: int


def record_of(path: str) -> Record:
    total = size = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            total, size = zlib.crc32(chunk, total), size + len(chunk)
    return Record(size, total)


def mark_of(path: str) -> Mark:
    try:
        state = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from None
    return Mark(state.st_size, state.st_mtime_ns, state.st_ino)


def _unreadable(path: str, error: OSError) -> FileNotFoundError:
    return FileNotFoundError(
        f"{path} is missing or cannot be read ({error.strerror}). {REBUILD}, or copy "
        "its folder again. On a cluster, every worker must see it at this path."
    )


def check_size(path: str, record: Record) -> Mark:
    mark = mark_of(path)
    if mark.size != record.size:
        raise ValueError(
            f"{path} is damaged: it has {mark.size:,} bytes, but {record.size:,} were "
            f"written. {REBUILD}, or copy its folder again."
        )
    return mark


def check_content(path: str, record: Record) -> Mark:
    """Compare a file with its record; what it looks like from outside then."""
    mark = check_size(path, record)
    try:
        found = record_of(path)
    except OSError as error:
        raise _unreadable(path, error) from None
    if found != record:
        raise ValueError(
            f"{path} is damaged: its content does not match its checksum. {REBUILD}, or "
            "copy its folder again."
        )
    return mark


def check_unchanged(path: str, mark: Mark) -> None:
    if mark_of(path) != mark:
        raise ValueError(
            f"{path} has changed since it was first read: the files of a corpus must stay "
            "as they are while it is in use. Start again, and build corpora in new folders."
        )


def save_array(path: str, array: np.ndarray) -> None:
    """A file of the machine's numbers, little-endian everywhere."""
    np.save(path, array.astype(array.dtype.newbyteorder("<"), copy=False))


def mapped(path: str, dtype: Any) -> np.ndarray:
    """The 1-D array in a file, mapped; what is written to it stays in memory."""
    try:
        array = np.load(path, mmap_mode="c", allow_pickle=False)
    except (ValueError, OSError, EOFError, OverflowError, TypeError) as error:
        raise ValueError(
            f"{path} is not an array of a corpus ({error}). {REBUILD}."
        ) from None
    if array.ndim != 1 or array.dtype != np.dtype(dtype).newbyteorder("<"):
        raise ValueError(f"{path} is not an array of the type expected. {REBUILD}.")
    return array.view(np.ndarray).astype(dtype, copy=False)


_ones: dict[Any, np.ndarray] = {}


def ones(n: int, dtype: Any) -> np.ndarray:
    """n ones to read: a part of one array that all shards of a process share."""
    dtype = np.dtype(dtype)
    array = _ones.get(dtype)
    if array is None or len(array) < n:
        array = np.ones(n, dtype)
        array.flags.writeable = False
        _ones[dtype] = array  # another thread may put a shorter one in its place
    return array[:n]


def folder_name(folder: Any) -> str:
    if not isinstance(folder, (str, bytes, os.PathLike)) or not os.fsdecode(folder):
        raise ValueError(f"{folder!r} is not the name of a folder: give its path.")
    name = os.fsdecode(folder)
    if "\0" in name:
        raise ValueError(f"{name!r} cannot be the name of a folder.")
    return name


# the manifest --------------------------------------------------------------------------


def write_manifest(folder: str, body: dict) -> None:
    text = json.dumps(body, allow_nan=False, ensure_ascii=False, sort_keys=True) + "\n"
    head = {"format": FORMAT, "version": VERSION, "crc32": zlib.crc32(text.encode())}
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as file:
        file.write(json.dumps(head) + "\n" + text)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: str) -> tuple[dict, int]:
    """(what :func:`write_manifest` wrote, its checksum)."""
    path = os.path.join(folder, MANIFEST)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"There is no corpus folder {folder}: make it with TagCorpus.build, or check "
            "its name."
        )
    try:
        with open(path, encoding="utf-8") as file:
            first, text = file.read().split("\n", 1)
        head = json.loads(first)
        foreign = head["format"] != FORMAT or type(head["version"]) is not int
    except FileNotFoundError:
        raise ValueError(
            f"{folder} is not a corpus: it has no {MANIFEST}. Give a folder that "
            "TagCorpus.build has made."
        ) from None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        foreign = True
    if foreign:
        raise ValueError(
            f"{path} is not the manifest of a corpus, or its beginning is damaged. "
            f"{REBUILD}."
        )
    if head["version"] > VERSION:
        raise ValueError(
            f"{path} has format version {head['version']}, and this maxmargin reads only "
            f"{VERSION}: upgrade maxmargin, or build the corpus again."
        )
    if zlib.crc32(text.encode()) != head.get("crc32"):
        raise ValueError(
            f"{path} is damaged: it does not match its checksum. {REBUILD}, or copy its "
            "folder again."
        )
    try:
        return json.loads(text), head["crc32"]
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is damaged: it is no JSON. {REBUILD}.") from None


def full_disk(error: OSError, folder: str) -> ValueError | None:
    """A sentence if the disk is full."""
    short = error.errno is None and "written" in str(error)  # as numpy says it
    if not short and error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return None
    return ValueError(
        f"The disk of {folder} is full, and nothing was kept of the corpus: make room "
        "(about 100 bytes per token, and half as much again while it is built), or "
        "choose another folder."
    )
