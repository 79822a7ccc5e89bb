"""Parameters of clusterings."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import (
    choice_of,
    or_none,
    positive,
    whole_from,
    zero_or_more,
)
from maxmargin.fitting.parameters import Hidden, Parameter, PartlyKnown

METHODS = ("forest", "correlation")
WINDOW = 1000  # mentions; narrower ones of 200 to 300 lose links on LitBank


class LinkClustererParameters(Hidden, PartlyKnown):
    C: float | None = Parameter(default=0.1, kw_only=False)
    method: str = Parameter(default="forest", check=choice_of(*METHODS), kw_only=False)
    init: Any = Parameter(default="given")
    r: float = Parameter(default=0.5, check=zero_or_more("a number >= 0"))
    fit_intercept: bool = Parameter(default=True)
    window: int | None = Parameter(
        default=WINDOW,
        check=or_none(whole_from(1, "a whole number >= 1, or None for all pairs")),
    )
    pair_memory: float = Parameter(
        default=4e9, check=positive("a positive number of bytes")
    )
