"""Differences of outputs of any structure: it lists the features of both itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core.problems.asker import Asker
from maxmargin.explain.explanation import Contribution, ranked


class Joint:
    """One input in a batch, the weights, and what each weight is called."""

    def __init__(self, batch: Any, w: Any, name: Callable[[int], str]):
        self.w, self.name = np.ascontiguousarray(w), name
        self.ask = Asker(batch, 0, self.w, compiled=True)

    def between(self, one: Any, other: Any) -> list[Contribution]:
        """What labelling ``one`` has and ``other`` has not, as contributions."""
        both = (np.ascontiguousarray(y, np.int32) for y in (one, other))
        here, there = map(self.ask.features, both)
        rows = []
        for j in np.flatnonzero(here != there).tolist():
            weight = float(self.w[j])
            if here[j]:
                rows.append((self.name(j), here[j] - there[j], weight))
            else:
                rows.append((f"{self.name(j)} (runner-up)", there[j], -weight))
        return ranked(rows)
