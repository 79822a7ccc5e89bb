"""C by the scale of the features: what C=None means for classifiers.

With ``C = 1 / v``, v the total variance of the features, training is the same problem
whatever unit they are in: scaled by a, scores stay as they are with weights divided by a,
and ``|w|^2`` and v change together.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.variances import C_for_scale, total_variance


def C_by_variance(X, weights: np.ndarray) -> float:
    """1 / the total variance of the columns of X, to three digits."""
    return C_for_scale(total_variance(X, weights))
