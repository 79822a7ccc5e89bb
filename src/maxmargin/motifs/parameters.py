"""Parameters of motifs."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import (
    Check,
    choice_of,
    either,
    is_whole,
    not_possible,
    or_none,
)
from maxmargin.fitting.parameters import Hidden, Parameter

WIDEST = 1000  # letters of a motif
HIGHEST = 9  # order: 4^10 weights of the background


def _up_to(high: int, low: int = 0, more: str = "") -> Check:
    wanted = f"a whole number from {low} to {high}{more}"
    return Check(lambda value: is_whole(value) and low <= value <= high, wanted)


def _check_widths(name: str, given: Any) -> None:
    if isinstance(given, (list, tuple)) and not given:
        raise ValueError("width is an empty list: give one width at least.")
    check = _up_to(WIDEST, 1, ", or a list of such")
    for width in given if isinstance(given, (list, tuple)) else [given]:
        check(name, width)


def _check_class_weight(name: str, given: Any) -> None:
    if given not in ("balanced", None):
        wanted = "'balanced' or None; for other weights give fit a sample_weight"
        raise not_possible(name, given, wanted)


class MotifFinderParameters(Hidden):
    width: Any = Parameter(default=11, check=_check_widths, kw_only=False)
    order: int = Parameter(default=2, check=_up_to(HIGHEST), kw_only=False)
    both_strands: bool | None = Parameter(
        default=None,
        check=or_none(either("True, False, or None to decide by words")),
        kind=bool,
    )
    composition: bool = Parameter(default=True, check=either())
    C: float | None = Parameter(default=None)
    unknown: str = Parameter(default="refuse", check=choice_of("refuse", "skip"))
    positive: Any = Parameter(default=None)
    init: Any = Parameter(default="words")
    shifts: int = Parameter(default=0, check=_up_to(WIDEST))
    n_restarts: int = Parameter(default=2)
    class_weight: str | None = Parameter(default="balanced", check=_check_class_weight)
