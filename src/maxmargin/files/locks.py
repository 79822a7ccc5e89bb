"""One writer at a time: a lock beside every file or folder that is being written.

The lock of ``folder/name`` is a hidden file in ``folder`` which says what process has it,
and where. The system lets go of it with the process, however that ends; where it has no
locks (some network file systems), the file itself is the lock, and one whose process is no
longer there, on this host, belongs to nobody. Whoever has the lock may remove what others
left behind: they are dead.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
import time
import zlib
from collections.abc import Iterator
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
FAR = 1 << 30  # Windows locks bytes against reading: one behind the words of the file
DYING = 5.0  # seconds that children of a killed process may keep its lock
OURS = ".maxmargin-"  # how the names of our hidden files begin
STEP = 0.02  # seconds between two tries


class Busy(FileExistsError):
    """Somebody else is writing the same file or folder; ``by`` says who."""

    by = "another process"


class Changed(FileExistsError):
    """Somebody who asks for no locks has made or changed what was to be written."""


class Mark(NamedTuple):
    """What tells whether a file or folder is still the one that was there."""

    device: int
    inode: int
    changed: int
    size: int


def mark_of(target: str) -> Mark | None:
    """None if there is nothing."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    return Mark(found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


class Claim:
    """The right to write a target, which must stay as it was until it is replaced."""

    def __init__(self, target: str):
        self.target, self.mark = target, mark_of(target)

    def check(self) -> None:
        """Changed if it is not what it was."""
        if mark_of(self.target) != self.mark:
            raise changed(self.target)

    def replaced(self) -> None:
        self.mark = mark_of(self.target)


def changed(target: str) -> Changed:
    return Changed(
        f"'{target}' was made or changed by somebody else while it was being written: it "
        "was left as it is. Move it away, or choose another name."
    )


def beginning(name: str) -> str:
    """How those of the file ``name`` begin."""
    return f"{OURS}{zlib.crc32(os.fsencode(name)):08x}-"


def lock_name(target: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, f"{beginning(name)}lock")


@contextlib.contextmanager
def claim(target: str, wait: float = 0.0) -> Iterator[Claim]:
    """Be the only one who writes ``target``; Busy if somebody else is, after ``wait``."""
    path = lock_name(target)
    handle = _acquired(path, target, wait)
    try:
        yield Claim(target)
    finally:
        _release(path, handle)


_reserved: dict[str, Claim] = {}  # by target


@contextlib.contextmanager
def reserve(target: str) -> Iterator[Claim]:
    """A claim from before the work for a target until after it is written."""
    with claim(target) as found:
        _reserved[target] = found
        try:
            yield found
        finally:
            del _reserved[target]


def claimed(target: str, wait: float) -> contextlib.AbstractContextManager[Claim]:
    """The claim of this process if it has reserved the target, or a new one."""
    if target in _reserved:
        return contextlib.nullcontext(_reserved[target])
    return claim(target, wait)


# the lock file -------------------------------------------------------------------------


def _acquired(path: str, target: str, wait: float) -> int:
    """The open lock file, which is ours."""
    began = time.monotonic()
    while True:
        try:
            handle, new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), True
        except FileExistsError:
            try:
                handle, new = os.open(path, os.O_RDWR), False
            except FileNotFoundError:
                continue  # it has just been let go
        try:
            owner = _owner(handle)
            ours = _lock(handle, path, new, owner)
        except BaseException:
            os.close(handle)
            raise
        if ours:
            try:
                os.ftruncate(handle, 0)
                os.lseek(handle, 0, os.SEEK_SET)
                os.write(handle, f"{os.getpid()} {socket.gethostname()}\n".encode())
            except BaseException:  # such as a full disk: leave nothing there
                _release(path, handle)
                raise
            return handle
        os.close(handle)
        waited = time.monotonic() - began
        if waited > max(wait, DYING if _dead(owner) else 0.0):
            raise _busy(target, path, owner)
        time.sleep(STEP)


def _lock(handle: int, path: str, new: bool, owner: list[str]) -> bool:
    """Whether the lock file is ours now, and still in its place."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            os.lseek(handle, FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in HELD:
            return False
        if not new:  # there are no locks here: who made the file has it
            if _dead(owner):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
            return False
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:  # who had it has let it go
        return False


def _release(path: str, handle: int) -> None:
    with contextlib.suppress(OSError):
        if fcntl is not None:
            os.unlink(path)
            os.close(handle)
        else:  # Windows removes no open file
            os.close(handle)
            os.unlink(path)


def _owner(handle: int) -> list[str]:
    """[process, host] as the lock file has them; less if it is being made."""
    os.lseek(handle, 0, os.SEEK_SET)
    return os.read(handle, 500).decode(errors="replace").split()


def _dead(owner: list[str]) -> bool:
    """Whether the process is no longer there, as far as can be seen from here."""
    if len(owner) < 2 or owner[1] != socket.gethostname() or not owner[0].isdigit():
        return False
    if fcntl is None:  # os.kill means something else on Windows
        return False
    try:
        os.kill(int(owner[0]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it is there, and not ours
        return False
    return False


def _busy(target: str, path: str, owner: list[str]) -> Busy:
    by = Busy.by if len(owner) < 2 else f"process {owner[0]} on {owner[1]}"
    if owner == [str(os.getpid()), socket.gethostname()]:
        by = "this process"
    error = Busy(
        f"'{target}' is being written by {by}: wait until that has ended, or choose "
        f"another name. (If it has ended, remove '{path}'.)"
    )
    error.by = by
    return error


def require_room(size: int) -> None:
    """Refuse work whose result, of so many bytes at least, would have no room.

    It is asked for wherever this process is going to write.
    """
    for target in dict(_reserved):
        folder = os.path.dirname(target) or "."
        free = shutil.disk_usage(folder).free
        if free < size:
            raise ValueError(
                f"The disk of '{folder}' has {_megabytes(free)} left, but about "
                f"{_megabytes(size)} are needed: make room, or choose another folder."
            )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size:,} bytes"
