"""Sets of labels as a structure: rows of numbers in, the labels of each out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.classes.input import rows_of
from maxmargin.classes.structure import LinearScores
from maxmargin.classes.variance_rule import FACTORS_OF_SETS, C_by_variance
from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.expectations import expectations
from maxmargin.core.tables.label_costs import label_weights
from maxmargin.multilabel.label_graph import (
    check_edges,
    chosen_edges,
    make_label_graphs,
    packed,
    searching_batch,
    summing_batch,
    training_batch,
    unpacked,
)
from maxmargin.multilabel.label_sets import HAMMING, KINDS, make_batch
from maxmargin.multilabel.labels import (
    check_as_many,
    is_table,
    read_sets,
    write_sets,
)


@dataclass
class LabelSets(LinearScores):
    """Any number of labels per row of X; the parameters are those of `MultilabelSVM`.

    Y is a table of 0 and 1, or a list of sets.
    """

    loss: Any = "hamming"
    graph: Any = None
    table: bool = field(default=False, init=False, repr=False)  # Y was one
    edges: np.ndarray | None = field(default=None, init=False, repr=False)
    relaxed: bool = field(default=False, init=False, repr=False)

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        truth, self.classes = read_sets(Y)
        check_as_many(X.shape[0], len(truth))
        kind, cost = self._kind_and_cost(training.objective)
        weights = check_weights(training.sample_weight, len(truth))
        self.table, self.constant = is_table(Y), bool(self.fit_intercept)
        rows, n_features = rows_of(X, self.constant)
        C = training.C
        if C is None:
            C = C_by_variance(X, weights, training.objective, FACTORS_OF_SETS)
        if self.graph is None:
            batch = make_batch(*rows, n_features, truth, cost, kind, np.float64)
            size = n_features * batch.width
        else:
            batch = self._graphs(rows, n_features, truth, cost, weights, training)
            size = 2 * n_features * len(self.classes) + 4 * len(self.edges)
        return Encoded(batch, size, np.float64, weights, C=C)

    def _kind_and_cost(self, objective: str) -> tuple[int, np.ndarray]:
        if isinstance(self.loss, dict):
            return HAMMING, label_weights(self.loss, self.classes.tolist())
        if not isinstance(self.loss, str) or self.loss not in KINDS:
            raise ValueError(
                f"loss={self.loss!r} is not known; choose one of {', '.join(KINDS)}, or a "
                "dict of label weights."
            )
        kind = HAMMING if objective == "log" else KINDS[self.loss]
        return kind, np.ones(len(self.classes))

    def _graphs(self, rows, n_features, truth, cost, weights, training) -> Any:
        if self.loss in ("f1", "ranking") and training.objective != "log":
            raise ValueError(
                f"loss={self.loss!r} is not possible with a graph: choose 'hamming' or a "
                "dict of label weights, or graph=None."
            )
        self.edges = chosen_edges(self.graph, truth, self.classes, weights)
        n = len(self.classes)
        graphs = make_label_graphs(rows, n_features, n, self.edges, cost)
        name, batch = training_batch(graphs, truth, training.objective, training.tol)
        self.relaxed = name in ("relaxed", "reweighted")
        return batch

    def encode(self, X: Any) -> Any:
        rows, n_features = rows_of(X, self.constant)
        cost = np.ones(len(self.classes))
        if self.edges is None:
            truth = np.zeros((X.shape[0], len(cost)))
            return make_batch(*rows, n_features, truth, cost, HAMMING, np.float64)
        graphs = make_label_graphs(rows, n_features, len(cost), self.edges, cost)
        return searching_batch(graphs)

    def output(self, batch: Any, i: int, labelling: Any) -> Any:
        return labelling if self.table else write_sets([labelling], self.classes)[0]

    def predict_marginals(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """Probabilities (samples, labels) under exp(score) / Z."""
        batch, n = self.encode(X), len(self.classes)
        there = slice(n)
        if self.edges is not None:
            batch, there = summing_batch(batch.graphs, batch.y), slice(1, 2 * n, 2)
        tables, _ = expectations(batch, w, n_jobs)
        return np.array([flat[there] for flat in tables]).reshape(-1, n)

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        if self.edges is None:
            return {**super().split(w), "edge_coef_": None}
        n = len(self.classes)
        d = (len(w) - 4 * len(self.edges)) // (2 * n) - self.constant
        rows, edge_coef = unpacked(w, n, d + self.constant)
        return {
            "coef_": np.ascontiguousarray(rows[:, :d]),
            "intercept_": rows[:, d].copy() if self.constant else np.zeros(n),
            "edge_coef_": edge_coef,
        }

    def join(self, fitted: Any) -> np.ndarray:
        if self.edges is None:
            return super().join(fitted)
        coef = fitted.coef_
        if self.constant:
            coef = np.hstack([coef, fitted.intercept_[:, None]])
        return packed(coef, fitted.edge_coef_)

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        edges = None if self.edges is None else self.classes[self.edges]
        return {**super().attributes(), "edges_": edges, "relaxed_": self.relaxed}

    def saved(self) -> tuple[dict, dict]:
        state: dict[str, Any] = {"table": self.table}
        if self.edges is None:
            return {}, state
        return {"edges": self.edges}, {**state, "relaxed": self.relaxed}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        super().restore(saved, sizes)
        self.table = saved.value("table", bool)
        if "edges" in saved.arrays:
            n, high = sizes.get("edges"), len(self.classes) - 1
            self.edges = saved.integers("edges", n, 2, high=high)
            check_edges(self.edges)
            self.relaxed = saved.value("relaxed", bool)
        if (self.edges is None) != ("edges" not in sizes):
            raise ValueError("edges and their weights do not fit together")
