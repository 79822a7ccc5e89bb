"""From a solution to a fitted model, and what is said of one that did not go as hoped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.encoded import C_of, Encoded
from maxmargin.core.scales import advice_on_scales
from maxmargin.core.warn import warn
from maxmargin.solvers.registry import passes_of


def install(model: Any, encoded: Encoded, solution, objective=None) -> None:
    """Set the fitted attributes: the family's, and what every model knows of its fit.

    With the ``objective``, it is said first if the fit ended too early.
    """
    if solution.converged or passes_of(model._objective().solver):
        warn_zero_weights(solution.w, solution.certificate.primal)
    elif objective is not None and not passes_of(model._solver_name()):
        names = encoded.attributes.get("feature_names_in_")
        warn_unconverged(solution, model._tolerance(), objective, names)
    for name in ("rounds_", "n_outer_", "restarts_"):  # of an earlier fit
        model.__dict__.pop(name, None)
    model._install(encoded, solution.w)
    for attribute, value in encoded.attributes.items():
        setattr(model, attribute, value)
    model.C_ = C_of(model, encoded)
    model.certificate_ = solution.certificate
    model.history_ = solution.history
    model.n_iter_ = len(solution.history)
    model.converged_ = solution.converged
    model._installed(encoded, solution, objective)


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
# From this share of the gap on, a search that only bounds is what keeps it open.
SEARCH_SHARE = 0.5


def warn_zero_weights(w, primal: float = 0.0) -> None:
    """A certificate of w = 0 is true, and looks like success: say that it is none."""
    least = ROUNDING * primal if np.isfinite(primal) else 0.0
    if np.abs(w).max(initial=0.0) <= least:
        warn(ZERO)


def still_zero(w) -> str:
    return "" if np.any(w) else STILL_ZERO


def warn_unconverged(solution, tol, objective, names=None) -> None:
    """Say how far a fit has come, what that means and what would help.

    ``names`` are those of the columns of X, where they have some.
    """
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
            text += advice_on_scales(objective.batch, names)
    text += still_zero(solution.w)
    warn(text, ConvergenceWarning)
