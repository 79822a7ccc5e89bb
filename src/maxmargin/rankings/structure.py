"""Rankings as a structure: documents with their queries in, scores of documents out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.completion import complete_all
from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.structure import Structure
from maxmargin.core.tables.arrays import check_columns, csr_arrays
from maxmargin.core.tables.variances import C_for_scale, total_variance
from maxmargin.rankings import pairs, top_k
from maxmargin.rankings.queries import Documents, Grouping, check_grades, gains, group
from maxmargin.rankings.start import classification_weights

# C times the total variance. In cross-validation for "ndcg" on six tables, 1 and 3 differ
# little; on two of them 30 ranks better, but takes several times as long on long lists.
FACTOR = 2.0


@dataclass
class Rankings(Structure):
    """Orders of the documents of queries; the parameters are those of `TopKRanker`.

    X are `Documents` whose features are a table of numbers, Y the grades of its rows.
    """

    k: int = 10
    loss: str = "ndcg"
    relevant: float = 1.0
    init: Any = "classification"
    initial: np.ndarray | None = field(default=None, init=False, repr=False)

    takes_lists = False

    def prepare(self, X: Documents, Y: Any, training: Training) -> Encoded:
        rows, qid = X
        n, d = rows.shape
        grades, groups = check_grades(Y, n), group(qid, n)
        rows, grades = rows[groups.order], grades[groups.order]
        weights = check_weights(training.sample_weight, len(groups.names))
        relevant = grades >= self.relevant
        worth = self._worth(grades, relevant)
        weights = weights * _differ(worth, groups)
        if not weights.any():
            raise ValueError(self._nothing_to_learn(relevant))
        arrays = csr_arrays(rows, np.float64)
        check_columns(arrays[1], d, d)
        C = training.C
        if C is None:
            of_rows = np.repeat(weights, np.diff(groups.first))
            C = C_for_scale(total_variance(rows, of_rows) / FACTOR)
        batch = self._batch(arrays, groups.first, d, worth)
        init = self.init if isinstance(self.init, str) else None
        if self.loss == "precision" and init == "classification":
            w = classification_weights(rows, relevant, groups.first, weights > 0)
            self.initial = w
            batch = batch._replace(y=complete_all(batch, w))
        return Encoded(batch, d, np.float64, weights, C=C)

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """The score of every document, which its rank follows from."""
        rows = X.X if isinstance(X, Documents) else X
        if issparse(rows):
            return np.asarray(rows @ w)
        # not by BLAS, which rounds equal rows by where they stand: ties must stay ties
        return np.einsum("ij,j->i", rows, w)

    def attributes(self) -> dict[str, Any]:
        return {} if self.initial is None else {"initial_": self.initial}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        if not sizes["d"]:
            raise ValueError("there are no weights")

    def _worth(self, grades, relevant) -> np.ndarray:
        """What the loss knows of every document: its grade, its gain, or a yes or no."""
        if self.loss == "pairwise":
            return grades
        return gains(grades) * relevant if self.loss == "ndcg" else relevant

    def _batch(self, rows, first, d, worth):
        if self.loss == "precision":
            k = min(int(self.k), np.iinfo(np.int32).max)
            return top_k.make_batch(rows, first, d, worth, k)
        return pairs.make_batch(rows, first, d, worth, pairs.KINDS[self.loss])

    def _nothing_to_learn(self, relevant) -> str:
        if not relevant.any() and self.loss != "pairwise":
            return (
                f"no document has a grade of {self.relevant:g} or more, so no query can "
                "teach anything: check y, or set relevant to a lower grade."
            )
        return (
            "all documents of every query have the same relevance, so no order is better "
            "than another: check y and qid."
        )


def _differ(values, groups: Grouping) -> np.ndarray:
    """Queries whose documents, in the order of the groups, do not all have one value."""
    first = groups.first
    high = np.maximum.reduceat(values, first[:-1])
    return high > np.minimum.reduceat(values, first[:-1])
