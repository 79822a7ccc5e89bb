"""Files and folders are replaced whole or not at all, by one writer at a time.

Everything is written under a hidden name beside its place and then renamed. A target that
somebody else made or changed meanwhile stays as it is (``locks.py``). What killed writers
left behind goes with the next writing of the same target; a folder that had made room for
one that never came is put back.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator

from maxmargin.files.locks import (
    OURS,
    Claim,
    beginning,
    changed,
    claimed,
    mark_of,
    reserve,
)

WAIT = 60.0  # seconds for another writing of the same file to end
END = ".tmp"
OLD = ".tmp.old"  # a folder that makes room for a new one


def replace_file(
    target: str, data: bytes | bytearray | Iterable[bytes | memoryview]
) -> None:
    """Write a file atomically, with the permissions that plain open() would give.

    ``data`` is its content, or pieces of it. When this returns, the file outlasts a crash
    of the machine.
    """
    folder, name = os.path.split(target)
    pieces = [data] if isinstance(data, (bytes, bytearray)) else data
    temporary = os.path.join(folder, temporary_name(name))
    try:
        with claimed(target, WAIT) as claim:
            remove_leftovers(target)
            try:
                _write(temporary, pieces)
                _put(temporary, claim)
            except BaseException:  # also KeyboardInterrupt: leave nothing behind
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
    except OSError as error:
        # a full disk does not say whose; an error without a number would lose its words
        if error.errno is not None and _hidden(error.filename):
            error.filename, error.filename2 = target, None
        raise
    _sync_folder(folder)


def write_file(path: str | os.PathLike, data: bytes) -> None:
    """Replace the file of a path that a user gave, through a link if it is one."""
    path = os.fsdecode(path)
    target = os.path.realpath(path)
    if os.path.lexists(target) and not os.path.isfile(target):
        raise ValueError(f"Cannot write '{path}': it exists and is not a regular file.")
    if not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(
            f"Cannot write '{path}': its directory does not exist. Create it first."
        )
    replace_file(target, data)


def _write(path: str, pieces: Iterable[bytes | memoryview]) -> None:
    with open(path, "xb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _hidden(name: str | None) -> bool:
    """Whether a name is one of ours, which says nothing to users."""
    return name is None or os.path.basename(name).startswith(OURS)


def _put(temporary: str, claim: Claim) -> None:
    """Rename a file to what is claimed, if that is still what it was."""
    target = claim.target
    claim.check()
    if claim.mark is not None:
        os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
    os.replace(temporary, target)
    claim.replaced()


def temporary_name(name: str) -> str:
    """A new name for what will be the file ``name``, which may be as long as names can."""
    return f"{beginning(name)}{os.urandom(8).hex()}{END}"


def remove_leftovers(target: str) -> None:
    """Remove what writings of this file left behind that were killed."""
    folder, name = os.path.split(target)
    for path in _left(folder, beginning(name), END):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _left(folder: str, begin: str, end: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder or "."))
    except OSError:
        return []
    found = [name for name in names if name.startswith(begin) and name.endswith(end)]
    return [os.path.join(folder, name) for name in found]


def _sync_folder(folder: str) -> None:
    """Make a new name in a folder outlast a crash, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# folders -------------------------------------------------------------------------------


class TemporaryFolder:
    """A hidden folder to fill, which `finish` puts in its place."""

    def __init__(self, claim: Claim):
        parent, name = os.path.split(claim.target)
        self.claim = claim
        self.folder = os.path.join(parent, f".{name}.{os.urandom(8).hex()}{END}")
        os.mkdir(self.folder)

    def finish(self) -> None:
        """Put the folder in its place; one that was there goes away after that."""
        target, mark = self.claim.target, self.claim.mark
        old = self.folder.removesuffix(END) + OLD
        self.claim.check()
        try:
            if mark is not None:
                os.rename(target, old)
            if mark_of(old) != mark:  # another one came after the check
                raise changed(target)
            os.rename(self.folder, target)  # never onto a folder with something in it
        except BaseException as error:  # also KeyboardInterrupt: the old one stays
            if not os.path.lexists(self.folder):  # it is in its place
                shutil.rmtree(old, ignore_errors=True)
            elif os.path.lexists(old):  # nobody sweeps it away if its place is taken
                taken = os.path.lexists(target)
                os.rename(old, f"{target}.{os.urandom(4).hex()}" if taken else target)
            if isinstance(error, OSError) and mark_of(target) != mark:
                raise changed(target) from None
            raise
        self.claim.replaced()
        shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def temporary_folder(
    target: str, marker: str, check: Callable[[], None]
) -> Iterator[TemporaryFolder]:
    """Where to make what will be the folder ``target``; a whole one has a file ``marker``.

    ``check`` may refuse what is there, once nobody else is at work.
    """
    with reserve(target) as claim:
        _sweep(target, marker)
        check()
        claim.replaced()
        made = TemporaryFolder(claim)
        try:
            yield made
        finally:
            shutil.rmtree(made.folder, ignore_errors=True)


def _sweep(target: str, marker: str) -> None:
    """Remove or put back what killed writings of a folder left behind."""
    parent, name = os.path.split(target)
    for path in _left(parent, f".{name}.", END):
        shutil.rmtree(path, ignore_errors=True)
    for path in _left(parent, f".{name}.", OLD):
        if os.path.isfile(os.path.join(target, marker)):
            shutil.rmtree(path, ignore_errors=True)
        elif not os.path.lexists(target):
            os.rename(path, target)


# room ----------------------------------------------------------------------------------
