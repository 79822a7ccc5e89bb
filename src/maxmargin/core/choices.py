"""What an estimator can minimise, and which solvers can do it.

hinge                1/2 |w|^2 + C sum of hinges; every structure, certified
log                  1/2 |w|^2 + C sum of log-losses; structures with sums, certified
perceptron,          averaged, a few passes, no certificate; every structure
passive-aggressive
"""

from __future__ import annotations

import copy
import math

from maxmargin.core.data_weight import C_of

SOLVERS = (
    "auto",
    "block-coordinate",
    "one-slack",
    "n-slack",
    "proximal-bundle",
    "perceptron",
    "passive-aggressive",
    "subgradient",
)
HARD = ("auto", "block-coordinate", "n-slack")  # those that can take C=inf
ONLINE = ("perceptron", "passive-aggressive")
OBJECTIVES = {
    "hinge": SOLVERS,
    "log": ("auto", "exponentiated", "lbfgs"),
    "perceptron": ("auto",),
    "passive-aggressive": ("auto",),
}


def check_objective(model) -> None:
    """Objective, solver and what depends on them, before any work.

    ``model._objectives`` lists what the family offers, ``_no_sums`` says why not "log".
    """
    objective, solver = model.objective, model.solver
    table = model._objectives
    if not isinstance(objective, str) or objective not in table:
        raise ValueError(
            f"objective={objective!r} is not known; choose one of {', '.join(table)}."
        )
    if objective == "log" and model._no_sums:
        raise ValueError(no_sums(objective, model._no_sums))
    if solver not in table[objective]:
        known = any(solver in solvers for solvers in table.values())
        reason = f"cannot minimise {objective=}" if known else "is not known"
        raise ValueError(
            f"solver={solver!r} {reason}; choose one of {', '.join(table[objective])}."
        )
    if objective != "hinge" and math.isinf(C_of(model)):
        raise ValueError(
            f"C=inf, a hard margin, needs objective='hinge', not {objective!r}."
        )
    plain = (model.rescaling, model.penalty) == ("margin", "linear")
    if objective not in ("hinge", *ONLINE) and not plain:
        raise ValueError(
            f"rescaling and penalty belong to objective='hinge', not {objective!r}: "
            "leave them as they are."
        )
    from maxmargin.kernels.nested import refuse_unused

    if objective in ONLINE:
        unused = ("rescaling", "penalty")[: 2 if objective == "perceptron" else 1]
        refuse_unused(
            model, unused, f"objective={objective!r} has no slacks like that."
        )
    counts = objective.startswith("hinge") or objective in ONLINE
    if not counts and not model._decodes_loss and hasattr(model, "loss"):
        why = f"objective={objective!r} counts all wrong outputs alike."
        refuse_unused(model, ("loss",), why)


def wanted_C(model, X=None) -> str:
    """Which values of C a model takes, for X: inf only where it is not refused."""
    if hasattr(X, "shards"):  # a corpus on disk
        return "a positive number"
    trial = copy.copy(model)
    trial.C = math.inf
    try:
        trial._settings()
        hard = trial._solver_name() in HARD
    except ValueError:
        hard = False
    return "a positive number" + (", or inf for a hard margin" if hard else "")


def check_shards(model) -> None:
    """Objectives that can be trained over shards (``solvers/sharded_training.py``)."""
    if model.objective not in ("hinge", "log"):
        raise ValueError(
            f"objective={model.objective!r} cannot be trained over shards (engine= or a "
            "corpus on disk): leave engine out, or choose objective='hinge' or 'log'."
        )
    if math.isinf(C_of(model)):
        raise ValueError(
            "C=inf cannot be trained over shards, whose steps cannot prove that data are "
            "separable: leave engine out, or choose a finite C."
        )


def engine_of(model, batch, tol: float):
    """The engine of a fit; None where "auto" is better off in this process."""
    from maxmargin.engine.choose import decided

    engine = getattr(model, "engine", None)
    if isinstance(engine, str) and engine == "auto":
        try:
            check_shards(model)
        except ValueError:
            return None
        if model.solver != "auto":
            return None
    slots = batch.n_slots if hasattr(batch, "pieces") else int(batch.start[-1])
    return decided(engine, slots, tol)


HIDDEN_IN_SHARDS = (
    "Hidden parts, such as labels that are None, cannot be trained over shards (engine= "
    "or a corpus on disk), since their completions change: leave engine out, or give "
    "complete outputs."
)


def no_sums(objective: str, reason: str) -> str:
    """The sentence for structures that cannot sum over their outputs."""
    return (
        f"objective={objective!r} sums over all outputs, and {reason}: choose "
        "objective='hinge'."
    )
