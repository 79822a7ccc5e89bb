"""X as a table, checked as scikit-learn does; what it says of it, it says in our words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from maxmargin.core.arrays import csr_arrays


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


def check_finite(X) -> None:
    if not np.isfinite(X.data if issparse(X) else X).all():
        csr_arrays(X)  # says where


def validated(estimator, X, *y, **options):
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
