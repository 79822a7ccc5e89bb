"""The scale of features, for rules of C (``encoded.py``)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

MOST_OVER_MEDIAN = 10.0
MOST_ROWS = 10_000  # evenly spaced; more do not change a sum of variances
SMALLEST, LARGEST = 1e-8, 1e4
CHUNK = 256  # rows at a time: no second table as large as X


def total_variance(X, weights: np.ndarray) -> float:
    """The sum of the variances of the columns of X, large ones cut at ten medians.

    Where a few columns have a variance far above the others (a table that was not
    scaled), these must not decide alone. Zero if all rows are the same.
    """
    step = max(-(-X.shape[0] // MOST_ROWS), 1)
    X, weights = X[::step], weights[::step]
    if not weights.any():
        return 0.0
    variances = _variances(X, weights / weights.sum())
    variances = variances[variances > 0]  # constant columns tell nothing
    if not len(variances):
        return 0.0
    return float(np.minimum(variances, MOST_OVER_MEDIAN * np.median(variances)).sum())


def C_for_scale(scale: float) -> float:
    """1 / scale to three digits, so that it is the same for a table in any form."""
    if not scale > 0:
        return 1.0
    return float(f"{np.clip(1.0 / scale, SMALLEST, LARGEST):.3g}")


def _variances(X, share: np.ndarray) -> np.ndarray:
    """Of every column, with these shares of the rows."""
    if issparse(X):
        X = X.astype(np.float64)
        mean, square = X.T @ share, X.multiply(X).T @ share
        return np.maximum(square - mean**2, 0.0)
    chunks = [slice(k, k + CHUNK) for k in range(0, len(X), CHUNK)]
    mean = sum(share[rows] @ X[rows].astype(np.float64) for rows in chunks)
    return sum(share[rows] @ (X[rows] - mean) ** 2 for rows in chunks)
