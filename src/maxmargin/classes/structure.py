"""Classes as a structure: rows of numbers in, the class with the largest score out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.classes.input import batch_of, number_classes, rows_of
from maxmargin.classes.sparse import make_batch
from maxmargin.classes.variance_rule import C_by_variance
from maxmargin.core.encoded import Encoded, Training
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Structure
from maxmargin.core.tables.label_costs import cost_table
from maxmargin.core.vectors import padded_width


@dataclass
class LinearScores(Structure):
    """Labels that each have a row of weights, and perhaps one more for a constant.

    X is a table of numbers. w has the rows as columns, padded for SIMD.
    """

    fit_intercept: bool = True
    classes: np.ndarray = field(init=False, repr=False)
    constant: bool = field(init=False, repr=False)

    takes_lists = False

    @property
    def scored(self) -> np.ndarray:
        """What has a row of weights."""
        return self.classes

    def split(self, w: np.ndarray) -> dict[str, Any]:
        n = len(self.scored)
        table = w.reshape(-1, padded_width(n))[:, :n]
        d = len(table) - self.constant
        coef = np.array(table[:d].T, np.float64, order="C")
        constants = table[d].astype(np.float64) if self.constant else np.zeros(n)
        return {"coef_": coef, "intercept_": constants}

    def join(self, fitted: Any) -> np.ndarray:
        table = fitted.coef_.T
        if self.constant:
            table = np.vstack([table, fitted.intercept_])
        n = len(self.scored)
        w = np.zeros((len(table), padded_width(n)))
        w[:, :n] = table
        return w.ravel()

    def attributes(self) -> dict[str, Any]:
        return {"classes_": self.classes}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.classes = saved.labels("classes")
        self.constant = bool(self.fit_intercept)


@dataclass
class Classes(LinearScores):
    """One class per row of X; the parameters are those of `MulticlassSVM`.

    Y has the classes, None where one is not known; a `ClassCorpus` X has them itself.
    """

    loss: Any = "zero-one"
    unlabelled_weight: float = 0.1

    single = True  # whether w may be in single precision

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        given = training.sample_weight
        self.classes, numbers, known, weights = number_classes(self, X, Y, given)
        self.constant = bool(self.fit_intercept)
        cost = self._learn(X, numbers)
        rows, n_features = rows_of(X, self.constant)
        C = training.C
        if C is None:
            C = C_by_variance(X, weights, training.objective)
        dtype = training.dtype(rows[2], C, weights) if self.single else np.float64
        batch = self._batch(rows, n_features, numbers, cost, dtype)
        if known is not None:
            batch = partly_known(batch, known)
        size = n_features * padded_width(len(self.scored))
        return Encoded(batch, size, dtype, weights, C=C)

    def encode(self, X: Any) -> Any:
        cost = np.zeros((len(self.classes), len(self.classes)))
        return self._batch(*rows_of(X, self.constant), None, cost, np.float64)

    def output(self, batch: Any, i: int, labelling: Any) -> Any:
        return self.classes[labelling[0]]

    def _learn(self, X: Any, numbers: Any) -> np.ndarray:
        """What wrong classes cost; sets all that is to be known of the classes."""
        return cost_table(self.loss, self.classes.tolist())

    def _batch(self, rows, n_features, numbers, cost, dtype) -> Any:
        return batch_of(make_batch, rows, n_features, numbers, cost, dtype)
