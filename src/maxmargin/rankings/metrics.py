"""How good rankings are: precision at k, average precision, NDCG at k, reciprocal rank.

Grades of ``relevant`` (1) or more are relevant. All are means over queries; a query without
a relevant document counts 0, as in the scripts of LETOR. Scores say nothing about the order
of documents that they tie, so every metric is its mean over all orders of these, in closed
form (McSherry & Najork 2008): an order that the file happens to have is worth nothing.

    P@k      relevant documents among the first k, divided by k
    AP       mean over the relevant documents of the precision at their places
    NDCG@k   sum_(p <= k) (2^grade - 1) / log2(1 + p), divided by the largest possible one.
             (The script of LETOR 3.0 discounts place p by log2(p), and the first two not
             at all; later ones, and other programs, do as here.)
    RR       1 / place of the first relevant document
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.core.checks import whole
from maxmargin.metrics.report import Report
from maxmargin.rankings.queries import check_grades, gains, group

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

AT = (1, 3, 5, 10)


@dataclass(frozen=True)
class RankingReport(Report):
    """Means over queries, from 0 to 1; ``precision`` and ``ndcg`` are by k."""

    precision: dict[int, float]
    ndcg: dict[int, float]
    mean_average_precision: float
    mean_reciprocal_rank: float
    queries: int
    documents: int
    irrelevant: int  # queries without a relevant document

    def _measures(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("precision", "ndcg")}

    def _parts(self):
        return "k", {
            k: {"precision": self.precision[k], "ndcg": self.ndcg[k]} for k in self.ndcg
        }

    def __str__(self) -> str:
        head = f"{self.queries} queries, {self.documents:,} documents"
        if self.irrelevant:
            head += f"; {self.irrelevant} queries have no relevant document and count 0"
        ks = "".join(f"{'@' + str(k):>8s}" for k in self.precision)
        rows = [head, f"{'':18s}{ks}"]
        for name, found in (("precision", self.precision), ("NDCG", self.ndcg)):
            cells = "".join(f"{v:8.4f}" for v in found.values())
            rows.append(f"{name:18s}{cells}")
        rows.append(f"{'mean average precision':24s}{self.mean_average_precision:.4f}")
        rows.append(f"{'mean reciprocal rank':24s}{self.mean_reciprocal_rank:.4f}")
        return "\n".join(rows)


def ranking_scores(
    y: Any, scores: ArrayLike, qid: Any, at: Any = AT, relevant: float = 1.0
) -> RankingReport:
    """All metrics of documents with grades y that were given these scores.

    >>> report = ranking_scores([0, 1, 2], [0.3, 0.2, 0.1], [7, 7, 7], at=(1, 2))
    >>> report.precision, round(report.mean_average_precision, 4)
    ({1: 0.0, 2: 0.5}, 0.5833)
    """
    lists = _ranked(y, scores, qid)
    at = [whole("k", k) for k in at]
    return RankingReport(
        precision={k: _mean(_precision(q, k, relevant) for q in lists) for k in at},
        ndcg={k: _mean(_ndcg(q, k) for q in lists) for k in at},
        mean_average_precision=_mean(_average_precision(q, relevant) for q in lists),
        mean_reciprocal_rank=_mean(_reciprocal(q, relevant) for q in lists),
        queries=len(lists),
        documents=sum(len(q.grades) for q in lists),
        irrelevant=sum(not (q.grades >= relevant).any() for q in lists),
    )


def by_query(
    y: Any, scores: ArrayLike, qid: Any, metric: str, at: Any, relevant: float = 1.0
) -> np.ndarray:
    """Precision or NDCG ("precision", "ndcg") of every query (row) at every k (column)."""
    rows = [
        [_ndcg(q, k) if metric == "ndcg" else _precision(q, k, relevant) for k in at]
        for q in _ranked(y, scores, qid)
    ]
    return np.array(rows, float).reshape(-1, len(at))


def precision_at_k(
    y: Any, scores: ArrayLike, qid: Any, k: int = 10, relevant: float = 1.0
) -> float:
    """Mean precision at k. A list of fewer than k documents is filled with irrelevant ones.

    >>> precision_at_k([0, 1, 1], [0.3, 0.2, 0.1], ["a", "a", "a"], k=2)
    0.5
    """
    k = whole("k", k)
    return _mean(_precision(q, k, relevant) for q in _ranked(y, scores, qid))


def mean_average_precision(
    y: Any, scores: ArrayLike, qid: Any, relevant: float = 1.0
) -> float:
    """Mean over queries of average precision (MAP)."""
    return _mean(_average_precision(q, relevant) for q in _ranked(y, scores, qid))


def ndcg_at_k(y: Any, scores: ArrayLike, qid: Any, k: int = 10) -> float:
    """Mean NDCG at k, with gains 2^grade - 1."""
    k = whole("k", k)
    return _mean(_ndcg(q, k) for q in _ranked(y, scores, qid))


def mean_reciprocal_rank(
    y: Any, scores: ArrayLike, qid: Any, relevant: float = 1.0
) -> float:
    """Mean over queries of 1 / place of the first relevant document (MRR)."""
    return _mean(_reciprocal(q, relevant) for q in _ranked(y, scores, qid))


def pairs_in_order(y: Any, scores: ArrayLike, qid: Any) -> float:
    """Mean share of the pairs with different grades that are in order; ties count half.

    Queries without such pairs are left out; without any, it is 1.
    """
    scores = _numbers(scores)
    grades = check_grades(y, len(scores))
    shares = []
    for rows in group(qid, len(scores)):
        g, s = grades[rows], scores[rows]
        wanted = np.sign(g[:, None] - g)
        if wanted.any():
            right = wanted * np.sign(s[:, None] - s)
            shares.append(0.5 + 0.5 * right.sum() / np.abs(wanted).sum())
    return float(np.mean(shares)) if shares else 1.0


def _numbers(scores) -> np.ndarray:
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            "scores must be one number per document, and none of them NaN."
        )
    return scores


class Ranked(NamedTuple):
    """One query, best score first: grades, and the numbers 0, 1, ... of their ties."""

    grades: np.ndarray
    tie: np.ndarray

    def levelled(self, values) -> np.ndarray:
        """Expected values by place, where tied documents stand in a random order."""
        return (np.bincount(self.tie, values) / np.bincount(self.tie))[self.tie]


def _ranked(y, scores, qid) -> list[Ranked]:
    scores = _numbers(scores)
    grades = check_grades(y, len(scores))
    lists = []
    for rows in group(qid, len(scores)):
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        new = scores[rows[1:]] != scores[rows[:-1]]
        lists.append(Ranked(grades[rows], np.concatenate([[0], np.cumsum(new)])))
    return lists


def _mean(values) -> float:
    values = list(values)
    return float(np.mean(values)) if values else 0.0


def _precision(query: Ranked, k: int, relevant: float) -> float:
    return float(query.levelled(query.grades >= relevant)[:k].sum()) / k


def _average_precision(query: Ranked, relevant: float) -> float:
    """With h of t tied documents relevant and r relevant ones above them, the j-th of the
    tie is relevant with probability h / t, and then r + 1 + (j - 1) (h - 1) / (t - 1)
    relevant ones are expected down to it."""
    hits = query.grades >= relevant
    count = int(hits.sum())
    if count == 0:
        return 0.0
    h, t = np.bincount(query.tie, hits), np.bincount(query.tie)
    above, first = np.cumsum(h) - h, np.cumsum(t) - t
    place = np.arange(len(hits))
    share = (h - 1.0) / np.maximum(t - 1, 1)
    inside = (place - first[query.tie]) * share[query.tie]
    down = above[query.tie] + 1.0 + inside
    return float((h / t)[query.tie] @ (down / (place + 1.0))) / count


def _reciprocal(query: Ranked, relevant: float) -> float:
    """Of the first tie with relevant documents: where the first of them is expected."""
    hits = query.grades >= relevant
    if not hits.any():
        return 0.0
    tied = query.tie == query.tie[int(np.argmax(hits))]
    h, t, first = int(hits[tied].sum()), int(tied.sum()), int(np.argmax(tied))
    left = np.arange(t, 0, -1.0)  # documents of the tie from here on
    here = np.minimum(h / left, 1.0)  # relevant, if none was before
    none = np.cumprod(np.append(1.0, 1.0 - here))[:-1]
    return float((none * here) @ (1.0 / (first + np.arange(1.0, t + 1))))


def _ndcg(query: Ranked, k: int) -> float:
    gain = gains(query.grades)
    discount = 1.0 / np.log2(np.arange(min(k, len(gain))) + 2.0)
    best = float(np.sort(gain)[::-1][:k] @ discount)
    return float(query.levelled(gain)[:k] @ discount) / best if best > 0 else 0.0
