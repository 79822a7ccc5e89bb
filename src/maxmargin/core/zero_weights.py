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


def warn_zero_weights(w, stacklevel: int = 5) -> None:
    """A certificate of w = 0 is true, and looks like success: say that it is none."""
    if not np.any(w):
        warnings.warn(ZERO, UserWarning, stacklevel=stacklevel)


def still_zero(w) -> str:
    return "" if np.any(w) else STILL_ZERO
