"""Numbers that kernels have: what may be, said in sentences."""

from __future__ import annotations

import math
import numbers
from typing import Any

MAX_DEGREE = 100


def real(value: Any, name: str) -> float:
    """A finite number as a float."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise ValueError(f"{name} must be a finite number, not {_shown(value)}.")


def positive(value: Any, name: str, why: str = "") -> float:
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, not {number:g}.{why}")
    return number


def width(value: Any, name: str = "gamma") -> float | str:
    """gamma of a kernel: positive, or "scale" or "auto" until the data is known."""
    if isinstance(value, str) and value in ("scale", "auto"):
        return value
    if isinstance(value, str):
        raise ValueError(f'{name} must be a number, "scale" or "auto", not {value!r}.')
    return positive(value, name)


def whole(value: Any, name: str, low: int = 1, high: int = MAX_DEGREE) -> int:
    """A whole number in a range, as an int."""
    number = real(value, name)
    if number != math.floor(number) or not low <= number <= high:
        raise ValueError(
            f"{name} must be a whole number from {low} to {high}, not {_shown(value)}."
        )
    return int(number)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."
