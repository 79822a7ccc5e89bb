"""MultilabelSVM: any number of labels for each input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.classes.input import rows_of
from maxmargin.classes.multiclass import MulticlassSVM
from maxmargin.classes.probabilities import has_probabilities
from maxmargin.classes.variance_rule import FACTORS_OF_SETS, C_by_variance
from maxmargin.classes.view import classes
from maxmargin.core.decode import decode
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.core.expectations import expectations
from maxmargin.core.label_costs import label_weights
from maxmargin.fitting.calibration import Chances, logs, temperature_of
from maxmargin.fitting.saving import labels, value
from maxmargin.fitting.tables import one_row, read_rows
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
from maxmargin.multilabel.labels import is_table, read_sets, write_sets
from maxmargin.multilabel.margins import label_margins
from maxmargin.multilabel.metrics import MultilabelReport, multilabel_scores
from maxmargin.multilabel.parameters import MultilabelSVMParameters
from maxmargin.multilabel.scorers import sample_f1
from maxmargin.multilabel.structure import HAMMING, KINDS, make_batch
from maxmargin.views.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class MultilabelSVM(MultilabelSVMParameters, MulticlassSVM, init=False):
    """Predict sets of labels, trained for the loss of whole sets.

    Minimises ``1/2 |W|^2 + C sum_i s_i H_i(W)``, where H_i is the largest violation over
    all sets of labels (see ``maxmargin.core.formulation``), found exactly. A label is
    predicted if its score is above 0. With objective="log", the model is one logistic
    regression per label, and losses do not matter. With a ``graph``, pairs of labels have
    scores, too, and the set with the best sum is predicted.

    Parameters
    ----------
    C : float or None, default None
        Weight of the data, per sample. None is 1 / v for the hinge and 5 / v for the
        log-loss, where v is the total variance of the features, with no column counting for
        more than ten times the median: the model does not depend on the unit of the
        features. ``C_`` is the value used.
    loss : "hamming", "f1", "ranking" or dict, default "hamming"
        "hamming" counts labels missed and labels too many (a dict gives labels weights);
        "f1" is 1 - F1 of the sample's set; "ranking" is the share of pairs of a true and
        another label in the wrong order, with a threshold at 0 between them.
    fit_intercept : bool, default True
        Add a constant feature 1. Its weights are regularised like the others.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.
    graph : None, "tree", "full" or list of pairs of labels, default None
        Pairs of labels that have scores for both, one or none of them being present: no
        pairs; the tree of largest mutual information (Chow & Liu); all pairs; or the given
        ones. For loss="hamming" or a dict. Exact for trees, and for up to 16 labels with
        all pairs; wider graphs are relaxed (``relaxed_``).

    Attributes
    ----------
    classes_ : ndarray of the labels (numbers of the columns, if y is a table)
    coef_ : ndarray of shape (labels, features)
    intercept_ : ndarray of shape (labels,)
    edges_ : ndarray of shape (edges, 2), the pairs of labels in the graph, or None
    edge_coef_ : ndarray of shape (edges, 2, 2): scores of a pair, by whether its first and
        its second label are there; or None
    relaxed_ : bool, whether the certificate is one of a relaxed problem
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import MultilabelSVM
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> y = [{"sea"}, {"sea", "beach"}, {"beach", "city"}, {"city"}]
    >>> model = MultilabelSVM(C=10, loss="f1").fit(X, y)
    >>> model.predict([[1, 1, 0], [0, 0, 1]])
    [('beach', 'sea'), ('city',)]
    """

    _model_name = "MultilabelSVM.v1"
    _compares_labels = False  # what is not one of them is refused
    _scorers = (sample_f1,)
    _fields = (
        labels("classes_", "k"),
        *MulticlassSVM._fields[1:],
        value("_table", bool),
    )

    edges_ = edge_coef_ = None  # of models without a graph, also of old files
    relaxed_ = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of shape (samples, labels); those above 0 are predicted.

        With a graph, by how much the best set with a label beats the best one without it.
        """
        if self.edge_coef_ is None:
            return self._scores(X)
        return label_margins(*self._searched(X), len(self.classes_), self._threads())  # type: ignore[call-arg]

    @available_if(has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (samples, labels), of objective="log" or after calibrate().

        Graphs of labels that are too wide to sum over all sets are refused.
        """
        if self.edge_coef_ is None:
            scores = self._scores(X) / temperature_of(self)
            return 0.5 * (1.0 + np.tanh(0.5 * scores))
        batch, w = self._searched(X)
        summed = summing_batch(batch.graphs, batch.y)
        tables, _ = expectations(summed, w / temperature_of(self), self._threads())
        n = len(self.classes_)
        return np.array([flat[1 : 2 * n : 2] for flat in tables]).reshape(-1, n)

    def _chances(self, X, y, predicted) -> Chances:
        truth = read_sets(y, self.classes_)[0] > 0
        found = read_sets(predicted, self.classes_)[0] > 0
        p = self.predict_proba(X)
        _check_sizes(len(p), len(truth))
        true, said = np.where(truth, p, 1.0 - p), np.where(found, p, 1.0 - p)
        return Chances(logs(true.ravel()), said.ravel(), (truth == found).ravel())

    def _margins(self, X) -> np.ndarray:
        return np.abs(self.decision_function(X)).min(axis=1)

    def _right(self, X, y) -> list[bool]:
        truth, _ = read_sets(y, self.classes_)
        found = self._found(X)
        _check_sizes(len(found), len(truth))
        return (truth == found).all(axis=1).tolist()

    def predict(self, X: Any) -> np.ndarray | list[tuple[Any, ...]]:
        """Sets as y had them in training: a 0/1 table, or a list of tuples of labels."""
        found = self._found(X)
        return found if self._table else write_sets(found, self.classes_)

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """The predicted set of labels of the sample x, and the strongest scores.

        With the true set y, what is missed and what is too much. ``options`` go to
        :func:`maxmargin.views.classes`.
        """
        X = one_row(x)
        names = self.classes_
        found, true = write_sets(self._found(X), names)[0], None
        if y is not None:
            row = np.reshape(y, (1, -1)) if self._table else [y]
            true = write_sets(read_sets(row, names)[0], names)[0]
        return classes(self.decision_function(X)[0], names, found, true, **options)

    def _found(self, X) -> np.ndarray:
        """The best sets as a 0/1 table."""
        if self.edge_coef_ is None:
            return (self._scores(X) > 0).astype(np.int64)
        found = decode(*self._searched(X), self._threads())  # type: ignore[call-arg]
        return found.reshape(-1, len(self.classes_)).astype(np.int64)

    def _searched(self, X):
        """(a batch of the family graphs whose search finds sets, its weights)."""
        rows, width = rows_of(self, self._check_input(X))
        n = len(self.classes_)
        graphs = make_label_graphs(rows, width, n, self._edges, np.ones(n))
        coef = self.coef_
        if self.fit_intercept:
            coef = np.hstack([coef, self.intercept_[:, None]])
        return searching_batch(graphs), packed(coef, self.edge_coef_)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Mean F1 of the samples' sets (1 where both are empty)."""
        return self.evaluate(X, y, sample_weight).f1

    def evaluate(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        predicted: Any = None,
    ) -> MultilabelReport:
        """A :class:`~maxmargin.multilabel.metrics.MultilabelReport` of predictions.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already; then
        there is no ranking loss, which takes scores.
        """
        check_is_fitted(self, "coef_")
        truth, _ = read_sets(y, self.classes_)
        if not len(truth):
            raise ValueError("y is empty: there are no samples to compare.")
        weights = check_weights(sample_weight, len(truth))
        if predicted is not None:
            found, _ = read_sets(predicted, self.classes_)
            _check_sizes(len(found), len(truth))
            return multilabel_scores(truth, found, None, weights)
        scores = self.decision_function(X)
        _check_sizes(len(scores), len(truth))
        found = scores > 0 if self.edge_coef_ is None else self._found(X) > 0
        return multilabel_scores(truth, found, scores, weights)

    def _encode(self, X, y, sample_weight) -> Encoded:
        X, attributes = read_rows(self, X)
        truth, classes = read_sets(y)
        _check_sizes(X.shape[0], len(truth))
        kind, cost = self._kind_and_cost(classes)
        weights = check_weights(sample_weight, len(truth))
        rows, n_features = rows_of(self, X)
        C = self.C
        if C is None:
            C = C_by_variance(X, weights, self.objective, FACTORS_OF_SETS)
        attributes |= {"classes_": classes, "_table": is_table(y)}
        if self.graph is not None:
            settings = truth, cost, weights, attributes, C
            return self._encode_graph(rows, n_features, *settings)
        dtype = np.float64
        batch = make_batch(*rows, n_features, truth, cost, kind, dtype)  # type: ignore[call-arg]
        attributes |= {"edges_": None, "edge_coef_": None, "relaxed_": False}
        size = n_features * batch.width
        return Encoded(batch, size, dtype, weights, attributes, C=C)

    def _encode_graph(
        self, rows, n_features, truth, cost, weights, attributes, C
    ) -> Encoded:
        if self.loss in ("f1", "ranking") and self.objective != "log":
            raise ValueError(
                f"loss={self.loss!r} is not possible with a graph: choose 'hamming' or a "
                "dict of label weights, or graph=None."
            )
        classes = attributes["classes_"]
        edges = chosen_edges(self.graph, truth, classes, weights)
        graphs = make_label_graphs(rows, n_features, len(classes), edges, cost)
        name, batch = training_batch(graphs, truth, self.objective, self._tolerance())
        attributes |= {
            "_edges": edges,
            "edges_": classes[edges],
            "relaxed_": name in ("relaxed", "reweighted"),
        }
        n_weights = 2 * n_features * len(classes) + 4 * len(edges)
        return Encoded(batch, n_weights, np.float64, weights, attributes, C=C)

    def _install(self, encoded: Encoded, w) -> None:
        if encoded.attributes["edges_"] is None:
            super()._install(encoded, w)
            return
        d = encoded.attributes["n_features_in_"]
        n = len(encoded.attributes["classes_"])
        rows, self.edge_coef_ = unpacked(w, n, d + bool(self.fit_intercept))
        self.coef_ = np.ascontiguousarray(rows[:, :d])
        self.intercept_ = rows[:, d].copy() if self.fit_intercept else np.zeros(n)

    def _kind_and_cost(self, classes):
        if isinstance(self.loss, dict):
            return HAMMING, label_weights(self.loss, classes.tolist())
        if not isinstance(self.loss, str) or self.loss not in KINDS:
            raise ValueError(
                f"loss={self.loss!r} is not known; choose one of {', '.join(KINDS)}, or a "
                "dict of label weights."
            )
        kind = HAMMING if self.objective == "log" else KINDS[self.loss]
        return kind, np.ones(len(classes))

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        if self.edge_coef_ is None:
            return {}, {}
        arrays = {"edges": self._edges, "edge_coef": self.edge_coef_}
        return arrays, {"relaxed": self.relaxed_}

    def _loaded(self, saved, sizes) -> None:
        if "edges" not in saved.arrays:
            return
        edges = saved.integers("edges", None, 2, high=sizes["k"] - 1)
        check_edges(edges)
        self._edges, self.edges_ = edges, self.classes_[edges]
        shape = len(edges), 2, 2
        self.edge_coef_ = saved.floats("edge_coef", *shape, dtype=np.float64)
        self.relaxed_ = saved.value("relaxed", bool)


def _check_sizes(n_inputs: int, n_sets: int) -> None:
    if n_inputs != n_sets:
        raise ValueError(
            f"X has {n_inputs} samples and y {n_sets}: give as many sets as samples."
        )
