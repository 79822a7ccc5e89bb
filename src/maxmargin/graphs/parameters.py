"""Parameters of graphs."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import choice_of
from maxmargin.fitting.parameters import (
    KernelOfFeatures,
    Parameter,
    PartlyKnown,
)

EDGES = ("directed", "symmetric", "associative")
INEXACT = ("expansion", "swap", "max-product")
METHODS = ("auto", "elimination", "graph-cut", "relaxed", *INEXACT)


class GraphLabelerParameters(PartlyKnown, KernelOfFeatures):
    C: float | None = Parameter(default=None, kw_only=False)
    loss: Any = Parameter(default="hamming", kw_only=False)
    edges: str = Parameter(default="directed", check=choice_of(*EDGES))
    inference: str = Parameter(default="auto", check=choice_of(*METHODS))
    fit_intercept: bool = Parameter(default=True, help="a constant feature")
