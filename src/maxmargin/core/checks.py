"""Checks of parameters: of a name and a value, raising ValueError.

Light to import: the command line reads declarations of parameters without numpy. Where a
fit goes wrong only with two parameters together, the estimator says so.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any


def is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value: Any, finite: bool = True) -> bool:
    """A number of Python or numpy, within what floats can be."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value) or not finite
    except OverflowError:  # an integer beyond all floats
        return False


def is_bool(value: Any) -> bool:
    """One of Python or of numpy."""
    return type(value).__name__ in ("bool", "bool_")


def not_possible(name: str, value: Any, wanted: str) -> ValueError:
    return ValueError(f"{name}={value!r} is not possible: it must be {wanted}.")


def not_known(name: str, value: Any, choice: str) -> ValueError:
    return ValueError(f"{name}={value!r} is not known; choose {choice}.")


def among(value: Any, names: tuple) -> bool:
    """Whether it is one of these; arrays and the like are not."""
    return (value is None or isinstance(value, str)) and value in names


# checks ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """Raises ValueError for values that are not ``good``, and says what is ``wanted``."""

    good: Callable[[Any], bool]
    wanted: str
    error: Callable[[str, Any, str], ValueError] = not_possible

    def __call__(self, name: str, value: Any) -> None:
        if not self.good(value):
            raise self.error(name, value, self.wanted)


def choice_of(*names: str | None, choice: str = "") -> Check:
    """One of these names; ``choice`` says them in the sentence."""
    choice = choice or "one of " + ", ".join(map(str, names))
    return Check(lambda value: among(value, names), choice, not_known)


def or_none(check: Check) -> Check:
    """None is possible too."""
    return replace(check, good=lambda value: value is None or check.good(value))


def whole_from(low: int, wanted: str) -> Check:
    return Check(lambda value: is_whole(value) and value >= low, wanted)


def positive(wanted: str, finite: bool = False) -> Check:
    """A number above zero, and if wanted below inf."""
    return Check(lambda value: is_real(value, finite) and value > 0, wanted)


def zero_or_more(wanted: str) -> Check:
    """A finite number."""
    return Check(lambda value: is_real(value) and value >= 0, wanted)


def either(wanted: str = "True or False") -> Check:
    return Check(is_bool, wanted)


# of arguments that are not declared -----------------------------------------------------


def one_of(name: str, value: Any, choices: Collection[str]) -> None:
    choice_of(*choices)(name, value)


def whole(name: str, value: Any, wanted: str = "a whole number >= 1") -> int:
    whole_from(1, wanted)(name, value)
    return int(value)
