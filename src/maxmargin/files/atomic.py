"""Files are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from collections.abc import Iterable


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
        with open(temporary, "xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException as error:  # also KeyboardInterrupt: leave no litter behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        # a full disk does not say whose; an error without a number would lose its words
        numbered = isinstance(error, OSError) and error.errno is not None
        if numbered and error.filename in (None, temporary):
            error.filename = target
        raise
    _sync_folder(folder)


def temporary_name(name: str) -> str:
    """A new name for what will be the file ``name``, which may be as long as names can."""
    return f"{_beginning(name)}{os.urandom(8).hex()}.tmp"


def _beginning(name: str) -> str:
    return f".maxmargin-{zlib.crc32(os.fsencode(name)):08x}-"


def remove_litter(target: str) -> None:
    """Remove what writings of this file left behind that were killed."""
    folder, name = os.path.split(target)
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder or "."):
            if entry.startswith(_beginning(name)) and entry.endswith(".tmp"):
                os.unlink(os.path.join(folder, entry))


def _sync_folder(folder: str) -> None:
    """Make a new name in a folder outlast a crash, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
