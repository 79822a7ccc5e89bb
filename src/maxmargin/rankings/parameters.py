"""Parameters of rankings."""

from __future__ import annotations

import math
import numbers
from collections.abc import Container
from typing import Any

from maxmargin.core.checks import Check, choice_of, whole_from
from maxmargin.fitting.parameters import Hidden, Parameter

LOSSES = ("precision", "ndcg", "average-precision", "pairwise")


def _is_grade(value: Any) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value)


class TopKRankerParameters(Hidden):
    k: int = Parameter(
        default=10, check=whole_from(1, "a whole number >= 1"), kw_only=False
    )
    C: float | None = Parameter(default=None, kw_only=False)
    loss: str = Parameter(default="ndcg", check=choice_of(*LOSSES))
    relevant: float = Parameter(default=1.0, check=Check(_is_grade, "a grade"))
    init: Any = Parameter(default="classification")

    def _unread(self) -> Container[str]:
        return () if self.loss == "precision" else Hidden._own
