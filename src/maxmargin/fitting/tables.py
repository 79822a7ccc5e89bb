"""X as a table, checked as scikit-learn does; what it says of it, it says in our words.

And the weight of samples of which nothing is known (``core/partial.py`` has the rest).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from maxmargin.core.tables.arrays import csr_arrays
from maxmargin.files.messages import kind_of
from maxmargin.fitting.parameters import UNLABELLED


def read_rows(model, X, *y) -> tuple:
    """(X, attributes, y if given); on a copy, so that a failed fit changes nothing."""
    checker = type(model)()
    found = validated(checker, X, *y)
    X, *y = found if y else (found,)
    attributes: dict[str, Any] = {"n_features_in_": X.shape[1]}
    if hasattr(checker, "feature_names_in_"):
        attributes["feature_names_in_"] = checker.feature_names_in_
    return X, attributes, *y


def read_new(model, X):
    """X for a fitted model: as many columns, all of them finite numbers."""
    X = validated(model, X, reset=False)
    check_finite(X)
    return X


def one_row(x):
    """One sample as a table: a row of numbers, of a sparse matrix or of a DataFrame."""
    if hasattr(x, "to_frame"):
        return x.to_frame().T.infer_objects()
    if getattr(x, "ndim", 1) < 2:
        return x.reshape(1, -1) if issparse(x) else [x]
    if x.shape[0] != 1:
        raise ValueError(f"x has {x.shape[0]} rows, but one sample is shown: give one.")
    return x


def check_finite(X) -> None:
    if not np.isfinite(X.data if issparse(X) else X).all():
        csr_arrays(X)  # says where


def validated(estimator, X, *y, **options):
    """What scikit-learn checks, but for NaN and infinity: csr_arrays says where."""
    if isinstance(X, Iterator):
        X = list(X)
    if isinstance(X, (Mapping, Set)) and not issparse(X):  # a dok_matrix is a dict
        raise ValueError(
            f"the features are {kind_of(X)}: give rows of numbers, a DataFrame or a "
            "sparse matrix."
        )
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


# samples of which nothing is known ----------------------------------------------------


def weigh(model, weights, labelled) -> np.ndarray:
    """Sample weights, times ``unlabelled_weight`` where nothing is known."""
    labelled = np.asarray(labelled, bool)
    if not (labelled & (weights > 0)).any():
        raise ValueError(
            "y holds no known label of a sample with a weight: at least one sample must "
            "have some."
        )
    share = float(getattr(model, "unlabelled_weight", UNLABELLED))
    return np.where(labelled, weights, share * weights)


def split_known(y):
    """(y with some known label in place of None, which ones were known); or (y, None)."""
    if isinstance(y, (list, tuple)):
        labels = list(y)
    else:
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.dtype != object:
            return y, None
        labels = labels.tolist()
    known = np.array([label is not None for label in labels], bool)
    if known.all():
        return y, None
    if not known.any():
        raise ValueError("y holds no known label: at least one sample must have one.")
    example = labels[int(known.argmax())]
    return [example if label is None else label for label in labels], known
