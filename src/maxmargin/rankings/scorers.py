"""Scorers of rankings; all are means over queries."""

from __future__ import annotations

from maxmargin.core.checks import whole
from maxmargin.metrics.scorer import Scorer

REPORTS, QUERIES = ("RankingReport",), ("qid",)


def ndcg_at(k: int) -> Scorer:
    """NDCG of the first k documents.

    >>> ndcg_at(5)
    <scorer ndcg_at_5, at=(5,)>
    """
    return _at(k, "ndcg", "NDCG")


def precision_at(k: int) -> Scorer:
    """The share of relevant documents among the first k."""
    return _at(k, "precision", "P")


def _at(k: int, measure: str, title: str) -> Scorer:
    k = whole("k", k)
    return Scorer(
        f"{measure}_at_{k}",
        f"{title}@{k}",
        f"{measure}.{k}",
        REPORTS,
        options={"at": (k,)},
        metadata=QUERIES,
    )


mean_average_precision = Scorer(
    "mean_average_precision", "MAP", "mean_average_precision", REPORTS, metadata=QUERIES
)
"""MAP of predictions, in `RankingReport`."""
mean_reciprocal_rank = Scorer(
    "mean_reciprocal_rank", "MRR", "mean_reciprocal_rank", REPORTS, metadata=QUERIES
)
"""MRR of predictions, in `RankingReport`."""
ndcg_at_10 = ndcg_at(10)
"""NDCG@10 of predictions, in `RankingReport`."""
precision_at_10 = precision_at(10)
"""P@10 of predictions, in `RankingReport`."""
