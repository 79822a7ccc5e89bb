"""MultilabelSVM: any number of labels for each input."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from maxmargin.classes.input import read_rows, rows_of
from maxmargin.classes.multiclass import MulticlassSVM
from maxmargin.core.estimator import Encoded, check_weights
from maxmargin.core.label_costs import label_weights
from maxmargin.core.parameters import training_parameters
from maxmargin.core.saved import Saved
from maxmargin.multilabel.labels import is_table, read_sets, write_sets


class MultilabelSVM(MulticlassSVM):
    """Predict sets of labels, trained for the loss of whole sets.

    Minimises ``1/2 |W|^2 + C sum_i s_i H_i(W)``, where H_i is the largest violation over
    all sets of labels (see ``maxmargin.core.formulation``), found exactly. A label is
    predicted where its score is above 0. With objective="log", one logistic regression per
    label, where losses do not matter.

    Parameters
    ----------
    C : float, default 1.0
    loss : "hamming", "f1", "ranking" or dict, default "hamming"
        "hamming" counts labels missed and labels too many (a dict gives labels weights);
        "f1" is 1 - F1 of the sample's set; "ranking" is the share of pairs of a true and
        another label in the wrong order, with a threshold at 0 between them.
    fit_intercept : bool, default True
        Add a constant feature 1. Its weights are regularised like the others.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray of the labels (numbers of the columns, if y is a table)
    coef_ : ndarray of shape (labels, features)
    intercept_ : ndarray of shape (labels,)
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

    __init__ = training_parameters(C=1.0, loss="hamming", fit_intercept=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def decision_function(self, X) -> np.ndarray:
        """Scores of shape (samples, labels); those above 0 are predicted."""
        return self._scores(X)

    @available_if(lambda self: self.objective == "log")
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of shape (samples, labels), for objective="log"."""
        return 0.5 * (1.0 + np.tanh(0.5 * self._scores(X)))

    def predict(self, X) -> np.ndarray | list[tuple[Any, ...]]:
        """Sets as y had them in training: a 0/1 table, or a list of tuples of labels."""
        found = (self._scores(X) > 0).astype(np.int64)
        return found if self._table else write_sets(found, self.classes_)

    def score(self, X, y, sample_weight=None) -> float:
        """Mean F1 of the samples' sets (1 where both are empty)."""
        return self.evaluate(X, y, sample_weight).f1

    def evaluate(self, X, y, sample_weight=None):
        """A :class:`~maxmargin.multilabel.metrics.MultilabelReport` of predictions."""
        from maxmargin.multilabel.metrics import multilabel_scores

        scores = self._scores(X)
        truth, _ = read_sets(y, self.classes_)
        _check_sizes(len(scores), len(truth))
        weights = check_weights(sample_weight, len(truth))
        return multilabel_scores(truth, scores > 0, scores, weights)

    def _encode(self, X, y, sample_weight) -> Encoded:
        from maxmargin.multilabel.structure import make_batch

        X, attributes = read_rows(self, X)
        truth, classes = read_sets(y)
        _check_sizes(X.shape[0], len(truth))
        kind, cost = self._kind_and_cost(classes)
        weights = check_weights(sample_weight, len(truth))
        rows, n_features = rows_of(self, X)
        dtype = self._working_dtype(rows[2], weights)
        batch = make_batch(*rows, n_features, truth, cost, kind, dtype)
        attributes |= {"classes_": classes, "_table": is_table(y)}
        return Encoded(batch, n_features * batch.width, dtype, weights, attributes)

    def _kind_and_cost(self, classes):
        from maxmargin.multilabel.structure import HAMMING, KINDS

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

    def _get_state(self):
        arrays, state = super()._get_state()
        return arrays, {**state, "table": self._table}

    @classmethod
    def _from_state(cls, params, arrays, state):
        saved = Saved(arrays, state)
        classes = saved.labels("classes")
        model = cls(**params)._restored(saved, classes, len(classes))
        model._table = saved.value("table", bool)
        return model


def _check_sizes(n_inputs: int, n_sets: int) -> None:
    if n_inputs != n_sets:
        raise ValueError(
            f"X has {n_inputs} samples and y {n_sets}: give as many sets as samples."
        )
