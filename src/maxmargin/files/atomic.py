"""Files are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat


def replace_file(target: str, data: bytes | bytearray) -> None:
    """Write a file atomically, with the permissions that plain open() would give."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".maxmargin-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:  # also KeyboardInterrupt: leave no litter behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
