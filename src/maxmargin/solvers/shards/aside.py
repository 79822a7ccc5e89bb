"""Arrays that are not needed for a while: in files, mapped, and out of memory.

An array in a mapped file is an array like any other: what reads it brings it back, page by
page. So dual variables of pieces that wait for their turn (``by_piece.py``) take disk, not
memory. The files have no names and are gone with the process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core.state import Stateful

SMALL = 1 << 12  # bytes that may stay where they are
FIRST, LARGEST = (
    1 << 20,
    1 << 30,
)  # bytes of a file: each has twice those of the last one
ALIGNED = 64


class Aside:
    """Files for the arrays of many objects; ``folder`` is where there is room for them."""

    def __init__(self, folder: str | None):
        self.folder = folder
        self._files: list[_File] = []
        self._parts: dict[int, list[tuple[_File, int, int]]] = {}  # by object

    def put(self, key: int, owner: Stateful) -> None:
        """Take the arrays of a state out of memory; on a full disk, they stay there."""
        new: list[np.ndarray] = []
        _each(owner, lambda array: array if self._has(array) else new.append(array))
        if new:
            try:
                file, first, size = self._room_for(sum(map(_room, new)))
            except OSError:
                return
            end = first

            def moved(array: np.ndarray) -> np.ndarray:
                nonlocal end
                if self._has(array):
                    return array
                end += _room(array)
                return file.copy(array, end - _room(array))

            _each(owner, moved, replace=True)
            self._parts.setdefault(key, []).append((file, first, size))
        for file, first, size in self._parts.get(key, ()):
            file.forget(first, size)

    def _has(self, array: np.ndarray) -> bool:
        address = array.__array_interface__["data"][0]
        return any(0 <= address - file.begin < file.size for file in self._files)

    def _room_for(self, size: int) -> tuple[_File, int, int]:
        """A file, a place in it where a page begins, and the size in pages."""
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        if not self._files or self._files[-1].used + size > self._files[-1].size:
            last = self._files[-1].size if self._files else FIRST // 2
            wanted = max(min(2 * last, LARGEST), size)
            self._files.append(_File(self.folder, wanted))
        file = self._files[-1]
        file.used += size
        return file, file.used - size, size


class _File:
    def __init__(self, folder: str | None, size: int):
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):  # or a full disk would end the process
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            self.map = mmap.mmap(file.fileno(), size)
        whole = np.frombuffer(self.map, np.uint8)
        self.begin, self.size = whole.__array_interface__["data"][0], size
        self.used = 0

    def copy(self, array: np.ndarray, first: int) -> np.ndarray:
        out = np.frombuffer(self.map, array.dtype, array.size, first)
        out = out.reshape(array.shape)
        out[...] = array
        return out

    def forget(self, first: int, size: int) -> None:
        """The pages are on disk, and need not be in memory."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.map.madvise(mmap.MADV_DONTNEED, first, size)


def _room(array: np.ndarray) -> int:
    return -(-array.nbytes // ALIGNED) * ALIGNED


def _each(value: Any, change: Callable, replace: bool = False) -> Any:
    """``change`` of every large array of a state, but those that are new in every pass.

    Returns the value with what that gave, if they are to be replaced.
    """
    if isinstance(value, np.ndarray):
        return change(value) if value.nbytes > SMALL else value
    if hasattr(value, "_fields"):
        return type(value)(*(_each(field, change, replace) for field in value))
    if isinstance(value, Stateful):
        for name in value.kept:
            now = getattr(value, name)
            if name in value.grows and isinstance(now, np.ndarray):
                continue
            found = _each(now, change, replace)
            if replace:
                setattr(value, name, found)
    return value
