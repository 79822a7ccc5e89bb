"""How well sequences with a motif are told from those without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.encoded import check_weights
from maxmargin.metrics.report import Report

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class MotifReport(Report):
    """How well sequences with the motif were distinguished from those without."""

    sequences: int
    positive: int
    accuracy: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """2 precision recall / (precision + recall)."""
        return _share(2 * self.precision * self.recall, self.precision + self.recall)

    def _measures(self) -> dict[str, Any]:
        return vars(self)

    def __str__(self) -> str:
        return (
            f"sequences   {self.sequences:,}, {self.positive:,} of them positive\n"
            f"accuracy    {100 * self.accuracy:.2f}%\n"
            f"precision   {100 * self.precision:.2f}%\n"
            f"recall      {100 * self.recall:.2f}%"
        )


def motif_scores(
    truth: Sequence[bool],
    found: Sequence[bool],
    sample_weight: ArrayLike | None = None,
) -> MotifReport:
    """Compare which sequences have the motif with those in which it was found.

    Precision and recall are 0 where nothing was found or is there.

    >>> motif_scores([True, True, False], [True, False, False]).recall
    0.5
    """
    if len(truth) != len(found) or not len(truth):
        raise ValueError(
            f"there are {len(truth)} labels but {len(found)} predictions: give one of each "
            "for every sequence."
        )
    weights = check_weights(sample_weight, len(truth))
    real, chosen = np.asarray(truth, bool), np.asarray(found, bool)
    hits = weights @ (real & chosen)
    return MotifReport(
        sequences=len(real),
        positive=int(real.sum()),
        accuracy=float(weights @ (real == chosen) / weights.sum()),
        precision=_share(hits, weights @ chosen),
        recall=_share(hits, weights @ real),
    )


def marked(labels: list, classes: list) -> list[bool]:
    """Which of the labels say that there is a motif: those of the second class."""
    for label in labels:
        if label not in classes:
            raise ValueError(
                f"y holds {label!r}, but training has seen {classes[0]!r} and "
                f"{classes[1]!r} alone: sequences of another kind cannot be evaluated."
            )
    return [label == classes[1] for label in labels]


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0
