"""What to say of a fit that ends at w = 0."""

from __future__ import annotations

import warnings

import numpy as np

ZERO = (
    "Training ended with weights that are all zero: every output scores the same, and "
    "predictions say nothing about X. Either no feature has to do with y, or no output "
    "costs more than another, or the hidden parts that training began with say nothing. "
    "Check features, y and loss; then try a larger C, or another init where there is one."
)


# Beside what is said of a fit that ended early, which may be why.
STILL_ZERO = " All weights are still zero: every output scores the same."


# Of the objective, C times losses: smaller weights, C times features, are what sums that
# cancel leave of rounding, unless features are far smaller than one.
ROUNDING = 1e-12


def warn_zero_weights(w, primal: float = 0.0, stacklevel: int = 5) -> None:
    """A certificate of w = 0 is true, and looks like success: say that it is none."""
    least = ROUNDING * primal if np.isfinite(primal) else 0.0
    if np.abs(w).max(initial=0.0) <= least:
        warnings.warn(ZERO, UserWarning, stacklevel=stacklevel)


def still_zero(w) -> str:
    return "" if np.any(w) else STILL_ZERO
