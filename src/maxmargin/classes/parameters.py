"""Parameters of classes."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import choice_of
from maxmargin.fitting.parameters import Parameter, PartlyKnown


class MulticlassSVMParameters(PartlyKnown):
    C: float | None = Parameter(default=None, kw_only=False)
    loss: Any = Parameter(default="zero-one", kw_only=False)
    fit_intercept: bool = Parameter(default=True, help="a constant feature")


class TaxonomySVMParameters(PartlyKnown):
    taxonomy: Any = Parameter(default=None, kw_only=False)
    C: float | None = Parameter(default=None, kw_only=False)
    mode: str = Parameter(
        default="hierarchical",
        check=choice_of("hierarchical", "flat", choice='"hierarchical" or "flat"'),
    )
    loss: Any = Parameter(default="tree")
    multilabel: bool = Parameter(default=False)
    nodes: list | None = Parameter(default=None)
    separator: str = Parameter(default=".")
    node_weights: Any = Parameter(default=None)
    fit_intercept: bool = Parameter(default=True, help="a constant feature")
