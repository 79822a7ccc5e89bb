"""C by the scale of the features: what C=None means for classifiers.

With ``C = 1 / v``, v the total variance of the features, training is the same problem
whatever unit they are in: scaled by a, scores stay as they are with weights divided by a,
and ``|w|^2`` and v change together. Where a few columns have a variance far above the
others (a table that was not scaled), these must not decide alone: no column counts for
more than ten times the median.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

MOST_OVER_MEDIAN = 10.0
MOST_ROWS = 10_000  # evenly spaced; more do not change a sum of variances
SMALLEST, LARGEST = 1e-8, 1e4
CHUNK = 256  # rows at a time: no second table as large as X


def C_by_variance(X, weights: np.ndarray) -> float:
    """1 / the total variance of the columns of X, large ones cut at ten medians.

    To three digits.
    """
    step = -(-X.shape[0] // MOST_ROWS)
    X, weights = X[::step], weights[::step]
    if not weights.any():
        return 1.0
    variances = _variances(X, weights / weights.sum())
    variances = variances[variances > 0]  # constant columns tell nothing
    if not len(variances):
        return 1.0
    total = np.minimum(variances, MOST_OVER_MEDIAN * np.median(variances)).sum()
    C = np.clip(1.0 / total, SMALLEST, LARGEST)
    return float(f"{C:.3g}")  # the same for a table in any form or precision


def _variances(X, share: np.ndarray) -> np.ndarray:
    """Of every column, with these shares of the rows."""
    if issparse(X):
        X = X.astype(np.float64)
        mean, square = X.T @ share, X.multiply(X).T @ share
        return np.maximum(square - mean**2, 0.0)
    chunks = [slice(k, k + CHUNK) for k in range(0, len(X), CHUNK)]
    mean = sum(share[rows] @ X[rows].astype(np.float64) for rows in chunks)
    return sum(share[rows] @ (X[rows] - mean) ** 2 for rows in chunks)
