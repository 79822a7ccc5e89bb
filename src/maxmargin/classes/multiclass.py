"""MulticlassSVM: one weight vector per class, trained jointly."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.core.estimator import Encoded, MaxMarginEstimator, check_weights
from maxmargin.core.label_costs import cost_table
from maxmargin.core.parameters import training_parameters
from maxmargin.core.saved import Saved, restore_shared, shared_state
from maxmargin.core.unlabelled import UNLABELLED, split_known, weigh


class MulticlassSVM(ClassifierMixin, MaxMarginEstimator):
    """Multiclass support vector machine (Crammer & Singer) with any loss.

    Minimises ``1/2 |W|^2 + C sum_i s_i max_k [loss(y_i, k) + (w_k - w_(y_i)).x_i]``; with
    objective="log", multinomial logistic regression, where losses do not matter.

    Parameters
    ----------
    C : float, default 1.0
    loss : "zero-one", dict, array or function, default "zero-one"
        What a wrong class costs, see :func:`maxmargin.core.label_costs.cost_table`.
    fit_intercept : bool, default True
        Add a constant feature 1. Its weights are regularised like the others.
    unlabelled_weight : float, default 0.1
        Times the sample weight of samples whose class is not known: None in y, see
        ``docs/partial-labels.md``.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray
    coef_ : ndarray of shape (classes, features); a row per class also for two classes
    intercept_ : ndarray of shape (classes,)
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

    _model_name = "MulticlassSVM.v1"

    __init__ = training_parameters(
        C=1.0, loss="zero-one", fit_intercept=True, unlabelled_weight=UNLABELLED
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X) -> np.ndarray:
        """Scores of shape (samples, classes); predict takes the largest.

        With two classes, as everywhere in scikit-learn, one number per sample: the score
        of the second class minus that of the first.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @available_if(lambda self: self.objective == "log")
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of shape (samples, classes), for objective="log"."""
        scores = self._scores(X)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict(self, X) -> np.ndarray:
        """The class with the largest score, the first one on ties."""
        best = self._scores(X).argmax(axis=1)  # first: it says if there was no fit
        return self.classes_[best]

    def _scores(self, X) -> np.ndarray:
        X = self._check_input(X)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def _check_input(self, X):
        check_is_fitted(self, "coef_")
        if isinstance(X, (list, tuple)) and not X:  # no samples, no predictions
            return np.zeros((0, self.n_features_in_))
        X = _validated(self, X, reset=False)
        if not np.isfinite(X.data if issparse(X) else X).all():
            from maxmargin.core.arrays import csr_arrays

            csr_arrays(X)  # says where
        return X

    def _encode(self, X, y, sample_weight) -> Encoded:
        from maxmargin.classes.structure import make_batch
        from maxmargin.core.arrays import csr_arrays
        from maxmargin.core.partial import partly_known

        _check_labels(y)
        y, known = split_known(y)
        # validated on a copy, so that a failed fit leaves this estimator as it was
        checker = type(self)()
        X, y = _validated(checker, X, y)
        check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        if known is not None:
            weights = weigh(self, weights, known)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only ({classes[0]!r}): at least two classes are "
                "needed to learn to tell them apart."
            )
        cost = cost_table(self.loss, classes.tolist())
        indptr, indices, values = csr_arrays(X)
        n_features = X.shape[1]
        if self.fit_intercept:
            indptr, indices, values = _append_ones(indptr, indices, values, n_features)
            n_features += 1
        dtype = self._working_dtype(values, weights)
        batch = make_batch(indptr, indices, values, n_features, numbers, cost, dtype)
        if known is not None:
            batch = partly_known(batch, known)
        attributes = {"classes_": classes, "n_features_in_": X.shape[1]}
        if hasattr(checker, "feature_names_in_"):
            attributes["feature_names_in_"] = checker.feature_names_in_
        return Encoded(batch, n_features * batch.width, dtype, weights, attributes)

    def _install(self, encoded: Encoded, w) -> None:
        rows = w.reshape(-1, encoded.batch.width)[:, : encoded.batch.n_labels]
        d = encoded.attributes["n_features_in_"]
        self.coef_ = np.array(rows[:d].T, np.float64, order="C")
        self.intercept_ = np.zeros(rows.shape[1])
        if self.fit_intercept:
            self.intercept_[:] = rows[d]

    # saving (model_file.py) ------------------------------------------------------------

    def _get_state(self):
        arrays = {"coef": self.coef_, "intercept": self.intercept_}
        state = {"classes": self.classes_, **shared_state(self)}
        if hasattr(self, "feature_names_in_"):
            state["feature_names_in"] = self.feature_names_in_
        return arrays, state

    @classmethod
    def _from_state(cls, params, arrays, state):
        saved = Saved(arrays, state)
        classes = saved.labels("classes")
        if len(classes) < 2:
            raise ValueError("there are not two classes")
        return cls(**params)._restored(saved, classes, len(classes))

    def _restored(self, saved: Saved, classes, n: int):
        """The model with n rows of weights and what else the file says of it."""
        self.classes_ = classes
        self.coef_ = saved.floats("coef", n, None, dtype=np.float64)
        self.intercept_ = saved.floats("intercept", n, dtype=np.float64)
        self.n_features_in_ = self.coef_.shape[1]
        if "feature_names_in" in saved.state:
            names = saved.labels("feature_names_in")
            if names.dtype != object or len(names) != self.n_features_in_:
                raise ValueError("weights and feature names do not fit together")
            self.feature_names_in_ = names
        return restore_shared(self, saved.state)


def _validated(estimator, X, *y, **options):
    """What scikit-learn checks, but for NaN and infinity: csr_arrays says where."""
    try:
        return validate_data(
            estimator,
            X,
            *y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            **options,
        )
    except OverflowError:
        raise ValueError(
            "X holds an integer too large for a float: scale the features to a moderate "
            "range."
        ) from None
    except ValueError:
        _check_ragged(X)
        raise


def _check_ragged(X) -> None:
    """Name the first row that is not as long as row 0."""
    if not isinstance(X, (list, tuple)):
        return
    plain = (list, tuple)
    sizes = [
        len(row) if isinstance(row, plain) or getattr(row, "ndim", 0) == 1 else None
        for row in X
    ]
    for i, size in enumerate(sizes):
        if sizes[0] is not None and size != sizes[0]:
            raise ValueError(
                f"row {i} of X does not have {sizes[0]} values like row 0, so X is "
                "inhomogeneous: give every sample the same features."
            ) from None


def _check_labels(y) -> None:
    """Name the first label that cannot be sorted among the others."""
    if not isinstance(y, (list, tuple)):
        y = np.asarray(y)
        if y.ndim != 1 or y.dtype.kind != "O":
            return
    kinds = set(map(type, y))
    texts = {kind for kind in kinds if issubclass(kind, str)}
    if texts in (set(), kinds - {type(None)}):
        return
    given = [(i, label) for i, label in enumerate(y) if label is not None]
    first, example = given[0]
    for i, label in given:
        if isinstance(label, str) != isinstance(example, str):
            raise ValueError(
                f"y[{i}] is {label!r}, but y[{first}] is {example!r}: labels must be all "
                "strings or all numbers."
            )


def _append_ones(indptr, indices, values, n_features):
    """Add a last column of ones to CSR arrays."""
    n = len(indptr) - 1
    at = indptr[1:]
    return (
        indptr + np.arange(n + 1),
        np.insert(indices, at, n_features).astype(np.int32),
        np.insert(values, at, 1.0).astype(values.dtype),
    )
