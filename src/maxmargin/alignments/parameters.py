"""Parameters of alignments."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import choice_of, positive
from maxmargin.fitting.parameters import (
    Parameter,
    Parameters,
    PartlyKnown,
    Shared,
)


class SequenceAlignerParameters(PartlyKnown):
    model: Any = Parameter(default="simple", kw_only=False)
    gaps: str = Parameter(default="affine", kw_only=False)
    scope: str = Parameter(default="global")
    free_ends: str | None = Parameter(default=None)
    loss: str = Parameter(default="q")
    alphabet: Any = Parameter(default=None)
    groups: dict | None = Parameter(default=None)
    unknown: Any = Parameter(default=None)
    symmetric: bool | str = Parameter(default="auto", kind=bool)
    normalize: bool = Parameter(
        default=True, help="divide the features of a pair by both lengths"
    )
    C: float | None = Parameter(default=10.0)
    prior: bool = Parameter(default=True)


class HomologFinderParameters(Shared):
    C: float | None = Parameter(default=1.0, kw_only=False)
    gaps: str = Parameter(
        default="linear", check=choice_of("linear", "affine"), kw_only=False
    )
    alphabet: str | None = Parameter(default=None)


class LogOddsFinderParameters(Parameters):
    pseudocount: float = Parameter(
        default=1.0, check=positive("positive"), kw_only=False
    )
    gap: float | None = Parameter(default=None, kw_only=False)
    alphabet: str | None = Parameter(default=None)
