"""How much memory a kernel machine will take, said before it is taken."""

from __future__ import annotations

import math
import numbers
from typing import Any

from maxmargin.kernels.basis import ROWS

KERNEL_MEMORY = 4.0  # GB that a machine may take where nobody says otherwise
GB = 1e9
INDEX = 4  # bytes of a column number beside every stored coordinate
TABLES = 3 * 8  # bytes per pair of points: Gram matrix, Cholesky factor, inverse
BLOCKS = 2 * 8  # bytes per sample and point of the rows at work


def bytes_needed(samples: int, points: int, itemsize: int = 8) -> int:
    """For coordinates of the samples in a basis of so many points, and to find them."""
    coordinates = samples * points * (itemsize + INDEX)
    return coordinates + points**2 * TABLES + min(samples, ROWS) * points * BLOCKS


def largest_basis(samples: int, gigabytes: float, itemsize: int = 8) -> int:
    """The most points whose machine fits."""
    each = samples * (itemsize + INDEX) + min(samples, ROWS) * BLOCKS
    found = math.sqrt(each**2 + 4 * TABLES * gigabytes * GB) - each
    return min(samples, int(found / (2 * TABLES)))


def checked_gigabytes(value: Any, name: str = "kernel_memory") -> float:
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and value > 0
    if not good:
        raise ValueError(
            f"{name}={value!r} is not possible: it must be a positive number of GB."
        )
    return float(value)


def check_memory(
    samples: int,
    points: int,
    gigabytes: float,
    what: str = "samples",
    remedy: str = "",
    itemsize: int = 8,
) -> None:
    """Refuse a machine that needs more than `gigabytes`; say how much it needs.

    In the remedy, {points} is the largest basis that fits.
    """
    needed = bytes_needed(samples, points, itemsize) / GB
    if needed <= gigabytes:
        return
    most = largest_basis(samples, gigabytes, itemsize)
    if "{points}" in remedy:
        remedy = remedy.format(points=most) if most else "Allow more."
    raise ValueError(
        f"The kernel machine of {samples:,} {what} in a basis of {points:,} would take "
        f"{needed:.3g} GB, but kernel_memory allows {gigabytes:g} GB. {remedy}"
    )
