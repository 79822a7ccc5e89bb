"""What to say of a fit that ended before its tolerance."""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.zero_weights import still_zero

# Features whose values are larger, or differ by a larger factor, make training slow.
LARGE_FEATURE = 10.0
UNEVEN = 100.0
# From this share of the gap on, a search that only bounds is what keeps it open.
SEARCH_SHARE = 0.5


def warn_unconverged(solution, tol, objective) -> None:
    """Say how far a fit has come, what that means and what would help."""
    certificate, status = solution.certificate, solution.status
    limited = status.startswith("stopped after")
    if objective.hard and math.isinf(certificate.primal):
        text = (
            f"Training {status}, and no weights that separate the data were found yet: "
            "the weights are the last ones tried, and certificate_ has no finite primal."
        )
        if limited:
            text += " Allow more max_iter or max_time, or choose a finite C."
    else:
        text = (
            f"Training {status} at a relative gap of {certificate.relative_gap:.3g} "
            f"(tol={tol:g}). The weights are the best found"
        )
        text += " and certificate_ is valid." if certificate.exact else "."
        share = solution.search_gap / max(certificate.gap, 1e-300)
        if share >= SEARCH_SHARE:
            text += (
                f" {min(share, 1):.0%} of this gap is what the search for violated outputs "
                "leaves open, and more passes cannot close that: give a Problem "
                "most_violated() or outputs(), or name its smallest_loss (a structure: "
                "argmax_rescaled() or least_loss()), or allow a larger tol."
            )
        elif limited:
            text += " Allow more max_iter or max_time, or a larger tol, for less."
            text += _advice_on_scales(objective.batch)
    text += still_zero(solution.w)
    warnings.warn(text, ConvergenceWarning, stacklevel=4)


def _advice_on_scales(batch) -> str:
    """A sentence if the sizes of the features may be what makes training slow."""
    values = getattr(batch, "values", None)
    if not isinstance(values, np.ndarray) or not hasattr(batch, "indices"):
        return ""
    size = np.zeros(batch.n_features)
    np.maximum.at(size, batch.indices, np.abs(values))
    size = size[size > 0]
    largest, smallest = size.max(initial=0.0), size.min(initial=np.inf)
    if largest <= LARGE_FEATURE and largest <= UNEVEN * smallest:
        return ""
    return (
        f" The largest values of the features lie between {smallest:.3g} and "
        f"{largest:.3g}: scaled to about 1, by scikit-learn's StandardScaler or (sparse "
        "data) MaxAbsScaler, they train faster."
    )
