"""C by the scale of the features: what C=None means for classifiers.

With ``C = k / v``, v the total variance of the features, training is the same problem
whatever unit they are in: scaled by a, scores stay as they are with weights divided by a,
and ``|w|^2`` and v change together. The log-loss never ends to ask for larger weights
where margins are content, and predicts better with a larger k.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.tables.variances import C_for_scale, total_variance

# k of each objective, by cross-validation on parts of twelve tables; C is 1 for others.
FACTORS = {"hinge": 1.0, "log": 20.0}
# ... and on parts of scene, yeast and seven other tables with sets of labels.
FACTORS_OF_SETS = {"hinge": 1.0, "log": 5.0}


def C_by_variance(
    X, weights: np.ndarray, objective: str = "hinge", factors=FACTORS
) -> float:
    """k / the total variance of the columns of X, to three digits."""
    if objective not in factors:
        return 1.0
    return C_for_scale(total_variance(X, weights) / factors[objective])
