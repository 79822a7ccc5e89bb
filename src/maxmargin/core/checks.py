"""Checks of parameters, and makers of checks: of a name and a value, raising ValueError.

Light to import: the command line reads declarations of parameters without numpy. Where a
fit goes wrong only with two parameters together, the estimator says so.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection
from typing import Any

Check = Callable[[str, Any], None]


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


# makers of checks -----------------------------------------------------------------------


def choice_of(*names: str | None, choice: str = "") -> Check:
    """One of these names; ``choice`` says them in the sentence."""
    choice = choice or "one of " + ", ".join(map(str, names))

    def check(name: str, value: Any) -> None:
        if not among(value, names):
            raise not_known(name, value, choice)

    return check


def satisfies(good: Callable[[Any], bool], wanted: str | Callable[[], str]) -> Check:
    """What is ``good``; ``wanted`` says what that is, or is asked for it."""

    def check(name: str, value: Any) -> None:
        if not good(value):
            said = wanted if isinstance(wanted, str) else wanted()
            raise not_possible(name, value, said)

    return check


def or_none(check: Check) -> Check:
    """None is possible too."""
    return lambda name, value: None if value is None else check(name, value)


def whole_from(low: int, wanted: str) -> Check:
    return satisfies(lambda value: is_whole(value) and value >= low, wanted)


def positive(wanted: str | Callable[[], str], finite: bool = False) -> Check:
    """A number above zero, and if wanted below inf."""
    return satisfies(lambda value: is_real(value, finite) and value > 0, wanted)


def zero_or_more(wanted: str) -> Check:
    """A finite number."""
    return satisfies(lambda value: is_real(value) and value >= 0, wanted)


def either(wanted: str = "True or False") -> Check:
    return satisfies(is_bool, wanted)


# of arguments that are not declared -----------------------------------------------------


def one_of(name: str, value: Any, choices: Collection[str]) -> None:
    choice_of(*choices)(name, value)


def whole(name: str, value: Any, wanted: str = "a whole number >= 1") -> int:
    whole_from(1, wanted)(name, value)
    return int(value)
