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

from maxmargin.tags.corpus.storage import MANIFEST

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows

    def flock(*_) -> None:
        raise OSError("there are no locks")

    LOCK_EX = LOCK_NB = 0

LOCK = "lock"
END = ".tmp"
OLD = ".tmp.old"  # a corpus that makes room for a new one


@contextlib.contextmanager
def workshop(target: str) -> Iterator[str]:
    """A new folder beside the one to make, which goes away unless it is moved there."""
    parent, name = os.path.split(target)
    _sweep(parent, f".{name}.", os.path.isfile(os.path.join(target, MANIFEST)))
    while True:
        folder = tempfile.mkdtemp(prefix=f".{name}.", suffix=END, dir=parent)
        lock = os.path.join(folder, LOCK)
        with open(lock, "xb") as file:
            if not _locked(file, lock):
                continue
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return


def _locked(file, path: str) -> bool:
    """False if somebody has swept it away, or is about to."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # there are no locks here
        return True
    return os.path.exists(path)


def finish(folder: str) -> None:
    """The folder is whole, and about to be moved: its lock is no part of it."""
    os.unlink(os.path.join(folder, LOCK))


def _sweep(parent: str, beginning: str, replaced: bool) -> None:
    """Remove what builds of the same name left behind that were killed.

    ``replaced``: there is a corpus, so that one which had to make room for it can go.
    """
    with contextlib.suppress(OSError):
        for entry in os.listdir(parent or "."):
            if entry.startswith(beginning) and entry.endswith(END):
                _remove(os.path.join(parent, entry))
            elif replaced and entry.startswith(beginning) and entry.endswith(OLD):
                shutil.rmtree(os.path.join(parent, entry), ignore_errors=True)


def _remove(folder: str) -> None:
    lock = os.path.join(folder, LOCK)
    # it fails where somebody builds, or has just begun to
    with contextlib.suppress(OSError), open(lock, "rb") as file:
        flock(file, LOCK_EX | LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
