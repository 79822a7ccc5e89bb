"""Folders in which a corpus is being built, and those that a killed build left behind.

Whoever builds holds a lock on a file in its folder, and the system lets go of it with the
process: a folder whose lock can be had belongs to nobody. Systems without such locks keep
their litter.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows

    def flock(*_) -> None:
        raise OSError("there are no locks")

    LOCK_EX = LOCK_NB = 0

LOCK = "lock"
END = ".tmp"


@contextlib.contextmanager
def workshop(target: str) -> Iterator[str]:
    """A new folder beside the one to make, which goes away unless it is moved there."""
    parent, name = os.path.split(target)
    _sweep(parent, f".{name}.")
    folder = tempfile.mkdtemp(prefix=f".{name}.", suffix=END, dir=parent)
    lock = os.path.join(folder, LOCK)
    try:
        with open(lock, "xb") as file:
            with contextlib.suppress(OSError):
                flock(file, LOCK_EX | LOCK_NB)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def finish(folder: str) -> None:
    """The folder is whole, and about to be moved: its lock is no part of it."""
    os.unlink(os.path.join(folder, LOCK))


def _sweep(parent: str, beginning: str) -> None:
    """Remove what builds of the same name left behind that were killed."""
    with contextlib.suppress(OSError):
        for entry in os.listdir(parent or "."):
            if entry.startswith(beginning) and entry.endswith(END):
                _remove(os.path.join(parent, entry))


def _remove(folder: str) -> None:
    with contextlib.suppress(OSError):  # somebody builds there, or has just begun to
        with open(os.path.join(folder, LOCK), "rb") as file:
            flock(file, LOCK_EX | LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
