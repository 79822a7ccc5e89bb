"""Parameters of dependency parsers."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import Check, either, is_whole, or_none
from maxmargin.fitting.parameters import Parameter, PartlyKnown

MOST_ROWS = 2**24  # 1 GB of weights in single precision
ORDERS = (1, 2)


def _is_power(value: Any) -> bool:
    if not is_whole(value) or not 1 <= value <= MOST_ROWS:
        return False
    return int(value) & (int(value) - 1) == 0


def _is_order(value: Any) -> bool:
    return is_whole(value) and value in ORDERS


class DependencyParserParameters(PartlyKnown):
    C: float | None = Parameter(default=None, kw_only=False)
    projective: bool = Parameter(default=True, check=either(), kw_only=False)
    order: int = Parameter(
        default=1, check=Check(_is_order, "1, or 2 for features of siblings")
    )
    rows: int | None = Parameter(
        default=None,
        check=or_none(Check(_is_power, "a power of two up to 2**24, or None")),
        kind=int,
    )
    tol: float = Parameter(default=0.1)
