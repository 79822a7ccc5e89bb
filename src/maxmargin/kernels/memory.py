"""How much memory a kernel machine will take, said before it is taken."""

from __future__ import annotations

import math
import numbers
from typing import Any

from maxmargin.kernels.basis import ROWS

KERNEL_MEMORY = 4e9  # bytes that a machine may take where nobody says otherwise
INDEX = 4  # bytes of a column number beside every stored coordinate
TABLES = 3 * 8  # bytes per pair of points: Gram matrix, Cholesky factor, inverse
BLOCKS = 2 * 8  # bytes per sample and point of the rows at work


def bytes_needed(samples: int, points: int, itemsize: int = 8) -> int:
    """For coordinates of the samples in a basis of so many points, and to find them."""
    coordinates = samples * points * (itemsize + INDEX)
    return coordinates + points**2 * TABLES + min(samples, ROWS) * points * BLOCKS


def largest_basis(samples: int, allowed: float, itemsize: int = 8) -> int:
    """The most points whose machine fits."""
    each = samples * (itemsize + INDEX) + min(samples, ROWS) * BLOCKS
    found = math.sqrt(each**2 + 4 * TABLES * allowed) - each
    return min(samples, int(found / (2 * TABLES)))


def checked_memory(value: Any, name: str = "kernel_memory") -> float:
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and value > 0
    if not good:
        raise ValueError(
            f"{name}={value!r} is not possible: it must be a positive number of bytes."
        )
    return float(value)


def check_memory(
    samples: int,
    points: int,
    allowed: float,
    what: str = "samples",
    remedy: str = "",
    itemsize: int = 8,
    name: str = "kernel_memory",
) -> None:
    """Refuse a machine that needs more bytes than `allowed`; say how much it needs.

    In the remedy, {points} is the largest basis that fits.
    """
    needed = bytes_needed(samples, points, itemsize)
    if needed <= allowed:
        return
    most = largest_basis(samples, allowed, itemsize)
    if "{points}" in remedy:
        remedy = remedy.format(points=most) if most else "Allow more."
    raise ValueError(
        f"The kernel machine of {samples:,} {what} in a basis of {points:,} would take "
        f"{needed / 1e9:.3g} GB, but {name}={allowed:g} allows "
        f"{allowed / 1e9:.3g} GB. {remedy}"
    )
