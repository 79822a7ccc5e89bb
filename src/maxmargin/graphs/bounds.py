"""How good a predicted labelling is known to be."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.graphs.batch import fields_of
from maxmargin.graphs.field import field_score
from maxmargin.graphs.ranking import part_scores


class LabellingBound(NamedTuple):
    """The score of a labelling, and what no labelling of that graph exceeds."""

    score: float
    bound: float  # inf, where the search has none

    @property
    def gap(self) -> float:
        """By how much the best labelling may score more, relative to the bound."""
        missing = max(self.bound - self.score, 0.0)
        return missing / max(abs(self.bound), 1e-300) if missing < np.inf else np.inf


def labelling_bounds(batch, labellings, w) -> list[LabellingBound]:
    """Of the labellings that the search of a batch has just found."""
    short = batch.short if batch.exact else np.full(len(batch.short), np.inf)
    found = []
    parts = zip(
        fields_of(batch.graphs), part_scores(batch.graphs, w), short, strict=True
    )
    for (a, b), (field, theta, missing) in zip(
        pairwise(batch.start.tolist()), parts, strict=True
    ):
        score = float(field_score(field, theta, labellings[a:b]))
        found.append(LabellingBound(score, score + float(missing)))
    return found
