"""Kernels as formulas, with no more brackets than needed."""

from __future__ import annotations

from typing import NamedTuple

SUM, PRODUCT, POWER, ATOM = range(4)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Formula(NamedTuple):
    text: str
    level: int  # how tightly its outermost operation binds

    def within(self, level: int) -> str:
        """The text, in brackets where an operation of this level needs them."""
        return self.text if self.level >= level else f"({self.text})"


def number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def factor(value: float | str) -> str:
    """A number in front of what it multiplies; one is left out."""
    return "" if value == 1 else f"{number(value)} "


def raised(base: Formula, degree: int) -> Formula:
    if degree == 1:
        return base
    return Formula(base.within(ATOM) + str(degree).translate(_RAISED), POWER)


def total(parts: list[Formula]) -> Formula:
    return Formula(" + ".join(part.within(PRODUCT) for part in parts), SUM)


def times(parts: list[Formula]) -> Formula:
    return Formula(" * ".join(part.within(PRODUCT) for part in parts), PRODUCT)
