"""MultilabelSVM: any number of labels for each input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.classes.multiclass import MulticlassSVM
from maxmargin.classes.probabilities import has_probabilities
from maxmargin.classes.view import classes
from maxmargin.core.decode import decode
from maxmargin.core.encoded import check_weights
from maxmargin.fitting.calibration import Chances, logs, temperature_of
from maxmargin.fitting.saving import floats, labels
from maxmargin.fitting.tables import one_row, read_rows
from maxmargin.multilabel.labels import check_as_many, read_sets, write_sets
from maxmargin.multilabel.margins import label_margins
from maxmargin.multilabel.metrics import MultilabelReport, multilabel_scores
from maxmargin.multilabel.parameters import MultilabelSVMParameters
from maxmargin.multilabel.scorers import sample_f1
from maxmargin.multilabel.structure import LabelSets
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

    _structure_class = LabelSets
    _model_name = "MultilabelSVM.v1"
    _compares_labels = False  # what is not one of them is refused
    _scorers = (sample_f1,)
    _fields = (
        labels("classes_", "k"),
        *MulticlassSVM._fields[1:],
        floats("edge_coef_", "edges", 2, 2, optional=True),
    )

    edge_coef_ = None  # of models without a graph, also of old files

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
        return label_margins(*self._searched(X), len(self.classes_), self._threads())

    @available_if(has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (samples, labels), of objective="log" or after calibrate().

        Graphs of labels that are too wide to sum over all sets are refused.
        """
        if self.edge_coef_ is None:
            scores = self._scores(X) / temperature_of(self)
            return 0.5 * (1.0 + np.tanh(0.5 * scores))
        X, w = self._check_input(X), self._weights() / temperature_of(self)
        return self.structure_.predict_marginals(X, w, self._threads())

    def _chances(self, X, y, predicted) -> Chances:
        truth = read_sets(y, self.classes_)[0] > 0
        found = read_sets(predicted, self.classes_)[0] > 0
        p = self.predict_proba(X)
        check_as_many(len(p), len(truth))
        true, said = np.where(truth, p, 1.0 - p), np.where(found, p, 1.0 - p)
        return Chances(logs(true.ravel()), said.ravel(), (truth == found).ravel())

    def _margins(self, X) -> np.ndarray:
        return np.abs(self.decision_function(X)).min(axis=1)

    def _right(self, X, y) -> list[bool]:
        truth, _ = read_sets(y, self.classes_)
        found = self._found(X)
        check_as_many(len(found), len(truth))
        return (truth == found).all(axis=1).tolist()

    def predict(self, X: Any) -> np.ndarray | list[tuple[Any, ...]]:
        """Sets as y had them in training: a 0/1 table, or a list of tuples of labels."""
        found = self._found(X)
        return found if self.structure_.table else write_sets(found, self.classes_)

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """The predicted set of labels of the sample x, and the strongest scores.

        With the true set y, what is missed and what is too much. ``options`` go to
        :func:`maxmargin.views.classes`.
        """
        X = one_row(x)
        names = self.classes_
        found, true = write_sets(self._found(X), names)[0], None
        if y is not None:
            row = np.reshape(y, (1, -1)) if self.structure_.table else [y]
            true = write_sets(read_sets(row, names)[0], names)[0]
        return classes(self.decision_function(X)[0], names, found, true, **options)

    def _found(self, X) -> np.ndarray:
        """The best sets as a 0/1 table."""
        if self.edge_coef_ is None:
            return (self._scores(X) > 0).astype(np.int64)
        found = decode(*self._searched(X), self._threads())
        return found.reshape(-1, len(self.classes_)).astype(np.int64)

    def _searched(self, X):
        """(a batch of the family graphs whose search finds sets, its weights)."""
        return self.structure_.encode(self._check_input(X)), self._weights()

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
            check_as_many(len(found), len(truth))
            return multilabel_scores(truth, found, None, weights)
        scores = self.decision_function(X)
        check_as_many(len(scores), len(truth))
        found = scores > 0 if self.edge_coef_ is None else self._found(X) > 0
        return multilabel_scores(truth, found, scores, weights)

    def _read(self, X, y) -> tuple:
        X, attributes = read_rows(self, X)
        return X, y, attributes
