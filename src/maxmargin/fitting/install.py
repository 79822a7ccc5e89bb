"""From a solution to a fitted model."""

from __future__ import annotations

from typing import Any

from maxmargin.core.data_weight import C_of
from maxmargin.core.encoded import Encoded
from maxmargin.fitting.remarks import warn_unconverged, warn_zero_weights
from maxmargin.solvers.registry import passes_of


def install(model: Any, encoded: Encoded, solution, objective=None) -> None:
    """Set the fitted attributes: the family's, and what every model knows of its fit.

    With the ``objective``, it is said first if the fit ended too early.
    """
    if solution.converged or passes_of(model._objective().solver):
        warn_zero_weights(solution.w, solution.certificate.primal)
    elif objective is not None and not passes_of(model._solver_name()):
        names = getattr(model, "feature_names_in_", None)
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
