"""What a tagger can minimise, and which solvers can do it."""

from __future__ import annotations

import numbers

import numpy as np

from maxmargin.core.estimator import SOLVERS

DECODINGS = ("auto", "viterbi", "posterior")
ORDERS = (0, 1, 2)
SMOOTH = ("log", "marginal", "exponential")
ONLINE = ("perceptron", "passive-aggressive")
OBJECTIVES = ("hinge", "hinge-per-output", *SMOOTH, "boosting", *ONLINE)
_SOLVERS_OF = {
    "hinge": SOLVERS,
    "hinge-per-output": ("auto",),
    "log": ("auto", "exponentiated", "lbfgs"),
    "marginal": ("auto", "lbfgs"),
    "exponential": ("auto", "lbfgs"),
    "boosting": ("auto",),
    "perceptron": ("auto",),
    "passive-aggressive": ("auto",),
}


def check_objective(tagger) -> None:
    """Parameters of a tagger that depend on each other, before any work."""
    objective, l1 = tagger.objective, tagger.l1
    if objective not in OBJECTIVES:
        raise ValueError(
            f"objective={objective!r} is not known; choose one of "
            f"{', '.join(OBJECTIVES)}."
        )
    if tagger.order not in ORDERS or isinstance(tagger.order, bool):
        raise ValueError(
            f"order={tagger.order!r} is not possible: 0 labels every token on its own, "
            "1 learns transitions between labels, 2 triples of labels."
        )
    if tagger.order == 2 and objective not in ("hinge", *ONLINE):
        raise ValueError(
            f"order=2 needs objective='hinge' or one of {', '.join(ONLINE)}, not "
            f"{objective!r}."
        )
    if tagger.order == 2 and isinstance(tagger.loss, str) and tagger.loss != "hamming":
        raise ValueError(f"order=2 needs a loss of labels, not {tagger.loss!r}.")
    if tagger.order == 2 and tagger.decoding == "posterior":
        raise ValueError("order=2 has no marginals to decode with: use 'viterbi'.")
    good = isinstance(l1, numbers.Real) and not isinstance(l1, bool)
    if not good or not 0 <= l1 < np.inf:
        raise ValueError(f"l1={l1!r} is not possible: it must be zero or more.")
    if l1 > 0 and objective not in SMOOTH:
        raise ValueError(
            f"l1={l1!r} needs one of the objectives {', '.join(SMOOTH)}, not "
            f"{objective!r}."
        )
    if objective != "hinge" and np.isinf(tagger.C):
        raise ValueError(
            f"C=inf, a hard margin, needs objective='hinge', not {objective!r}."
        )
    if objective not in ("hinge", *ONLINE) and (tagger.rescaling, tagger.penalty) != (
        "margin",
        "linear",
    ):
        raise ValueError(
            f"rescaling and penalty belong to objective='hinge', not {objective!r}: "
            "leave them as they are."
        )
    if tagger.solver not in _SOLVERS_OF[objective]:
        raise ValueError(
            f"solver={tagger.solver!r} cannot minimise objective={objective!r}; choose "
            f"one of {', '.join(_SOLVERS_OF[objective])}."
        )


def solver_for(tagger) -> str:
    """The solver's name in the registry."""
    if tagger.objective in (*ONLINE, "boosting"):
        return tagger.objective
    if tagger.objective == "hinge-per-output":
        return "per-output"
    if tagger.objective == "hinge" or tagger.solver != "auto":
        return tagger.solver
    if tagger.objective == "log" and tagger.l1 == 0:
        return "exponentiated"
    return "lbfgs"


def make_objective(tagger, *arguments):
    """The training problem: hinges, log-loss with a dual, or a smooth loss."""
    if tagger.objective == "boosting":
        from maxmargin.tags.boosting import BoostingObjective

        return BoostingObjective(*arguments)
    if tagger.objective == "hinge-per-output":
        from maxmargin.tags.per_output import PerOutputObjective

        return PerOutputObjective(*arguments)
    if tagger.objective not in SMOOTH:
        from maxmargin.core.objective import Objective

        return Objective(*arguments)
    if solver_for(tagger) == "exponentiated":
        from maxmargin.solvers.log_objective import LogObjective

        return LogObjective(*arguments)
    from maxmargin.solvers.smooth import SmoothObjective

    return SmoothObjective(*arguments, kind=tagger.objective, l1=float(tagger.l1))
