"""How well homologs are found among decoys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.metrics.report import Report

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class HomologReport(Report):
    """Means over sequences, from 0 to 1; ``str()`` shows them.

    The order of candidates says nothing: of candidates that tie, each is as likely to be
    the first.
    """

    sequences: int
    candidates: int
    found: float  # share of the sequences whose homolog has the best score
    mean_reciprocal_rank: float  # 1 / place of the homolog

    def _measures(self) -> dict[str, Any]:
        return vars(self)

    def __str__(self) -> str:
        return (
            f"{self.sequences:,} sequences, {self.candidates:,} candidates\n"
            f"homologs found        {100 * self.found:6.2f} %\n"
            f"mean reciprocal rank  {self.mean_reciprocal_rank:8.4f}"
        )


def homolog_scores(
    truth: ArrayLike,
    scores: Sequence[np.ndarray],
    weights: np.ndarray | None = None,
) -> HomologReport:
    """Compare the numbers of the homologs with the scores of all candidates.

    >>> print(homolog_scores([0, 1], [np.array([2.0, 1.0]), np.array([3.0, 3.0])]))
    2 sequences, 4 candidates
    homologs found         75.00 %
    mean reciprocal rank    0.8750
    """
    numbers = np.asarray(truth).tolist()
    places = [_places(row, row[k]) for k, row in zip(numbers, scores, strict=True)]
    if not places:
        raise ValueError("X is empty: there is no score without samples.")
    first = [float((p == 1).mean()) for p in places]
    reciprocal = [float((1.0 / p).mean()) for p in places]
    return HomologReport(
        sequences=len(places),
        candidates=sum(map(len, scores)),
        found=float(np.average(first, weights=weights)),
        mean_reciprocal_rank=float(np.average(reciprocal, weights=weights)),
    )


def _places(row: np.ndarray, score: float) -> np.ndarray:
    """The places that a candidate of this score may have, from 1."""
    return 1 + int((row > score).sum()) + np.arange(int((row == score).sum()))
