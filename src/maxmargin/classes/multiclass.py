"""MulticlassSVM: one weight vector per class, trained jointly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.classes.corpus import ClassCorpus
from maxmargin.classes.input import read_samples
from maxmargin.classes.parameters import MulticlassSVMParameters
from maxmargin.classes.probabilities import ClassProbabilities
from maxmargin.classes.report import ClassReport, class_report
from maxmargin.classes.structure import Classes
from maxmargin.classes.view import classes
from maxmargin.core.encoded import Encoded
from maxmargin.core.listed import given_or
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import FEATURE_NAMES, Field, floats, labels
from maxmargin.fitting.tables import one_row, read_new
from maxmargin.metrics.scorers import accuracy
from maxmargin.views.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class MulticlassSVM(
    MulticlassSVMParameters,
    ClassProbabilities,
    ClassifierMixin,
    MaxMarginEstimator,
    init=False,
):
    """Multiclass support vector machine (Crammer & Singer) with any loss.

    Minimises ``1/2 |W|^2 + C sum_i s_i max_k [loss(y_i, k) + (w_k - w_(y_i)).x_i]``; with
    objective="log", multinomial logistic regression, where losses do not matter.

    Parameters
    ----------
    C : float or None, default None
        Weight of the data, per sample. None is 1 / v for the hinge and 20 / v for the
        log-loss, where v is the total variance of the features, with no column counting for
        more than ten times the median: the model does not depend on the unit of the
        features. ``C_`` is the value used.
    loss : "zero-one", "absolute", dict, array or function, default "zero-one"
        What a wrong class costs, see :func:`maxmargin.core.tables.label_costs.cost_table`.
    fit_intercept : bool, default True
        Add a constant feature 1. Its weights are regularised like the others.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of samples with an unknown class: None in y, see
        ``docs/partial-labels.md``.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray
    coef_ : ndarray of shape (classes, features); a row per class even for two classes
    intercept_ : ndarray of shape (classes,)
    C_ : float
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVM(C=10).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.certificate_.relative_gap <= model.tol
    True
    """

    _structure_class: Any = Classes
    _model_name = "MulticlassSVM.v1"
    _scorers = (accuracy,)
    _compares_labels = True
    _fields: tuple[Field, ...] = (
        labels("classes_", "k", two=True),
        floats("coef_", "k", "d"),
        floats("intercept_", "k"),
        FEATURE_NAMES,
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        dev: Any = None,
        Cs: Iterable[float] | None = None,
    ) -> Self:
        """Train on vectors X and their classes y, or on a :class:`maxmargin.ClassCorpus`.

        A call that raises leaves the estimator as it was. Ctrl-C ends training and keeps
        the best weights found so far. ``dev`` and ``Cs`` are as in
        :meth:`maxmargin.StructuralSVM.fit`.
        """
        return super().fit(X, y, sample_weight, dev=dev, Cs=Cs)

    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """The share of samples whose class is right; y is left out for a corpus."""
        return super().score(X, truth_of(X, y), sample_weight)

    def evaluate(self, X: Any, y: Any = None, *, predicted: Any = None) -> ClassReport:
        """Accuracy and the scores of every class; y is left out for a corpus.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        found = given_or(predicted, lambda: self.predict(X))
        return class_report(truth_of(X, y), found)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of shape (samples, classes); predict takes the largest.

        With two classes, as everywhere in scikit-learn, one number per sample: the score
        of the second class minus that of the first.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, the first one on ties."""
        if isinstance(X, ClassCorpus):  # one shard after the other
            check_is_fitted(self, "coef_")
            rows = X.matrices(self.n_features_in_)
            return np.concatenate([self.predict(few) for few in rows])
        best = self._scores(X).argmax(axis=1)  # first: it says if there was no fit
        return self.classes_[best]

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """What is predicted for the sample x, and the scores of the strongest classes.

        With the true class y, whether that is right. ``options`` go to
        :func:`maxmargin.views.classes`.
        """
        X = one_row(x)
        scores = self._scores(X)[0]
        return classes(scores, self.classes_, self.predict(X)[0], y, **options)

    def _scores(self, X) -> np.ndarray:
        X = self._check_input(X)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def _check_input(self, X):
        check_is_fitted(self, "coef_")
        if isinstance(X, ClassCorpus):
            raise ValueError(
                f"{X.folder} is a corpus, which predict and score of single classes take: "
                "for scores and probabilities, use one of its matrices() at a time."
            )
        if isinstance(X, (list, tuple)) and not X:  # no samples, no predictions
            return np.zeros((0, self.n_features_in_))
        return read_new(self, X)

    def _encode(self, X, y, sample_weight) -> Encoded:
        X, y, attributes = self._read(X, y)
        encoded = super()._encode(X, y, sample_weight)
        encoded.attributes |= attributes
        return encoded

    def _read(self, X, y) -> tuple:
        """(X, y, attributes that X says) as the structure takes them."""
        return read_samples(self, X, y)


def truth_of(X, y):
    """The classes to compare with: those given, or those of a corpus."""
    if not isinstance(X, ClassCorpus):
        return y
    if y is not None:
        raise ValueError("A corpus has its labels, and is scored alone: leave y out.")
    return X.classes()
