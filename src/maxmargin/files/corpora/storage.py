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
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

MANIFEST = "manifest.json"
FORMAT, VERSION = "maxmargin-corpus", 1
MAKERS = {"tags": "TagCorpus", "classes": "ClassCorpus"}
REBUILD = "Build the corpus again from its sources"
_CHUNK = 1 << 20


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


class Stored:
    """The arrays of a piece of a corpus, in files.

    Nothing of it is in memory until they are mapped, and nothing stays there when what
    that returned is dropped.
    """

    types: Mapping[str, Any]  # by the name of an array

    def __init__(self, folder: str, record: Mapping[str, Any]):
        self.folder, self.name = folder, record["name"]
        self._files = {key: Record(*value) for key, value in record["files"].items()}
        self._marks: dict[str, Mark] = {}

    def __getstate__(self):
        # another process looks for itself, perhaps from another folder
        there = os.path.abspath(self.folder)
        return self.__dict__ | {"_marks": {}, "folder": there}

    def path(self, key: str) -> str:
        return os.path.join(self.folder, f"{self.name}.{key}.npy")

    def paths(self) -> Iterator[tuple[str, Record]]:
        for key, record in self._files.items():
            yield self.path(key), record

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays, mapped from disk.

        The first call of a process reads all of it once, for the checksums.
        """
        fresh = not self._marks
        marks = {}
        for key, record in self._files.items():
            if fresh:
                marks[key] = check_content(self.path(key), record)
            else:
                check_unchanged(self.path(key), self._marks[key])
        found = {key: mapped(self.path(key), self.types[key]) for key in self._files}
        if fresh:
            if not self.fits(found):  # kernels trust these numbers
                raise ValueError(
                    f"{self.path('y')} and its neighbours have numbers that do not fit "
                    f"together. {REBUILD}."
                )
            self._marks = marks
        return found

    def fits(self, found: dict[str, np.ndarray]) -> bool:
        """Whether the numbers fit together."""
        raise NotImplementedError


def rises(array: np.ndarray, end: int) -> bool:
    return bool(array[0] == 0 and array[-1] == end and (np.diff(array) >= 0).all())


def within(array: np.ndarray, stop: int) -> bool:
    return not len(array) or bool(array.min() >= 0 and array.max() < stop)


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


def is_corpus(path: str | None) -> bool:
    return path is not None and os.path.isfile(os.path.join(path, MANIFEST))


# the manifest --------------------------------------------------------------------------


def write_manifest(folder: str, body: dict, family: str = "tags") -> None:
    text = json.dumps(body, allow_nan=False, ensure_ascii=False, sort_keys=True) + "\n"
    head = {"format": FORMAT, "version": VERSION, "crc32": zlib.crc32(text.encode())}
    if family != "tags":  # which had no family when they were alone
        head["family"] = family
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as file:
        file.write(json.dumps(head) + "\n" + text)
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: str, family: str = "tags") -> tuple[dict, int]:
    """(what :func:`write_manifest` wrote, its checksum)."""
    maker = MAKERS[family]
    path = os.path.join(folder, MANIFEST)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"There is no corpus folder {folder}: make it with {maker}.build, or check "
            "its name."
        )
    try:
        with open(path, encoding="utf-8") as file:
            first, text = file.read().split("\n", 1)
        head = json.loads(first)
        foreign = head["format"] != FORMAT or type(head["version"]) is not int
        own = head.get("family", "tags")
    except FileNotFoundError:
        raise ValueError(
            f"{folder} is not a corpus: it has no {MANIFEST}. Give a folder that "
            f"{maker}.build has made."
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
    if own != family:
        raise ValueError(
            f"{folder} is a corpus of {own if own in MAKERS else 'something else'}, but "
            f"one of {family} is needed here ({maker})."
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
        "(about 100 bytes per token or 12 per number of a vector, and half as much again "
        "while it is built), or choose another folder."
    )
