"""Parameters of sets of labels."""

from __future__ import annotations

from typing import Any

from maxmargin.fitting.parameters import Parameter, Shared


class MultilabelSVMParameters(Shared):
    C: float | None = Parameter(default=None, kw_only=False)
    loss: Any = Parameter(default="hamming", kw_only=False)
    fit_intercept: bool = Parameter(default=True, help="a constant feature")
    graph: Any = Parameter(default=None)
