"""How much a file may unpack to: small files must not ask for the whole memory.

gzip makes a thousandth of zeros, and an archive of arrays or a sparse array of a model can
do the same. What is unpacked is counted, and refused beyond

    min(half of the memory that is free, max(64 MB, 100 times the size of the file))

which text and arrays of real data do not reach. The environment variable
``MAXMARGIN_MAX_UNPACKED`` gives another number of bytes ("20G" will do).
"""

from __future__ import annotations

import io
import os
import re
from typing import Any

VARIABLE = "MAXMARGIN_MAX_UNPACKED"
RATIO = 100  # times the size of a file
FLOOR = 1 << 26  # bytes that are always allowed
UNKNOWN = 1 << 33  # memory where the system does not say
PIECE = 1 << 20
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def allowed(packed: int) -> int:
    """Bytes that a file of this size may unpack to."""
    wanted = os.environ.get(VARIABLE, "").strip()
    if wanted:
        return _bytes(wanted)
    return min(free_memory() // 2, max(FLOOR, RATIO * packed))


def _bytes(wanted: str) -> int:
    found = re.fullmatch(r"([0-9]{1,18})([KMGT]?)B?", wanted.upper())
    if found is None:
        raise ValueError(
            f"{VARIABLE}={wanted} is not possible: it must be a number of bytes, such as "
            "2000000000 or 2G."
        )
    return int(found[1]) << UNITS[found[2]]


def check(size: int, packed: int, what: str) -> None:
    """ValueError, a sentence about ``what``, if so many bytes are too many."""
    if size > allowed(packed):
        raise ValueError(too_large(what, packed))


def too_large(what: str, packed: int) -> str:
    return (
        f"{what} would unpack to more than {allowed(packed) >> 20} MB from "
        f"{packed / 1e6:.3g} MB, as files do that are made to fill the memory. If this one "
        f"is meant to, allow more by the environment variable {VARIABLE}, such as 20G."
    )


def read_counted(file: Any, packed: int, what: str) -> bytes:
    """All of an unpacking stream, piece by piece, or ValueError when it is too much."""
    most, data = allowed(packed), io.BytesIO()
    while piece := file.read(PIECE):
        data.write(piece)
        if data.tell() > most:
            raise ValueError(too_large(what, packed))
    return data.getvalue()


def free_memory() -> int:
    """Bytes that this process can still have, as far as the system says."""
    found = [_available(), _group_left()]
    return min((n for n in found if n is not None), default=UNKNOWN)


def _available() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _group_left() -> int | None:
    """What a container leaves."""
    numbers = []
    for name in ("memory.max", "memory.current"):
        try:
            with open(f"/sys/fs/cgroup/{name}", encoding="ascii") as file:
                numbers.append(int(file.read()))
        except (OSError, ValueError):
            return None
    return max(numbers[0] - numbers[1], 0)
