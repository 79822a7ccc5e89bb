"""How good predicted sets of labels are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.metrics.report import Report

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class MultilabelReport(Report):
    """Numbers from 0 to 1; means over samples unless their names say otherwise.

    ``hamming`` is the share of labels that are wrong, ``subset`` of sets that are right.
    F1 and Jaccard are 1 where the true and the predicted set are both empty. ``ranking``
    is the share of pairs (a true label, another) that the scores have in the wrong order
    or tie, over the samples that have such pairs; None without scores.
    """

    hamming: float
    subset: float
    f1: float
    jaccard: float
    micro_f1: float
    macro_f1: float
    ranking: float | None
    samples: int

    def _measures(self) -> dict[str, Any]:
        return vars(self)

    def __str__(self) -> str:
        rows = [
            ("Hamming loss", self.hamming),
            ("F1 of samples", self.f1),
            ("F1 of labels, micro", self.micro_f1),
            ("F1 of labels, macro", self.macro_f1),
            ("Jaccard", self.jaccard),
            ("whole sets right", self.subset),
        ]
        if self.ranking is not None:
            rows.append(("ranking loss", self.ranking))
        lines = [f"{name:20s} {100 * value:6.2f}%" for name, value in rows]
        return "\n".join([f"{self.samples} samples", *lines])


def multilabel_scores(
    truth: Any,
    found: Any,
    scores: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> MultilabelReport:
    """Compare 0/1 tables (samples, labels); ``scores`` are for the ranking loss.

    >>> report = multilabel_scores([[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    >>> round(report.f1, 3), report.subset, round(report.micro_f1, 3)
    (0.833, 0.5, 0.8)
    """
    truth, found = np.asarray(truth) != 0, np.asarray(found) != 0
    if truth.shape != found.shape or truth.ndim != 2:
        raise ValueError(
            f"the tables have shapes {truth.shape} and {found.shape}: give a row per "
            "sample and a column per label in both."
        )
    w = np.ones(len(truth)) if weights is None else np.asarray(weights, float)
    w = w / w.sum() if len(w) else w
    hits = (truth & found).sum(axis=1)
    sizes = truth.sum(axis=1) + found.sum(axis=1)
    by_label = w @ (truth & found), w @ truth.astype(float) + w @ found.astype(float)
    return MultilabelReport(
        hamming=float(w @ (truth != found).mean(axis=1)),
        subset=float(w @ (truth == found).all(axis=1)),
        f1=float(w @ _ratio(2.0 * hits, sizes)),
        jaccard=float(w @ _ratio(hits, sizes - hits)),
        micro_f1=float(_ratio(2.0 * by_label[0].sum(), by_label[1].sum())),
        macro_f1=float(_ratio(2.0 * by_label[0], by_label[1]).mean()),
        ranking=None if scores is None else _ranking(truth, np.asarray(scores), w),
        samples=len(truth),
    )


def _ratio(part, whole):
    """part / whole, 1 where there is nothing."""
    whole = np.asarray(whole, float)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 1.0)


def _ranking(truth, scores, w) -> float:
    total = mass = 0.0
    for true, row, weight in zip(truth, scores, w, strict=True):
        pairs = true.sum() * (~true).sum()
        if pairs:
            wrong = (row[true][:, None] <= row[~true][None, :]).sum()
            total += weight * wrong / pairs
            mass += weight
    return float(total / mass) if mass else 0.0
