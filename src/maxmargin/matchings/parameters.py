"""Parameters of word alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maxmargin.core.checks import zero_or_more
from maxmargin.fitting.parameters import Parameter, PartlyKnown

FORMS = ("word", "stem3", "stem4")
_COST = zero_or_more("a finite number, zero or more")


class WordAlignerParameters(PartlyKnown):
    C: float | None = Parameter(default=0.1, kw_only=False)
    fertility: Any = Parameter(default=2, kw_only=False)
    cost_extra: float = Parameter(default=1.0, check=_COST)
    cost_missing: float = Parameter(default=2.0, check=_COST)
    bitext: Any = Parameter(default=None)
    forms: Sequence[str] = Parameter(default=FORMS)
    features: Sequence | None = Parameter(default=None)
