"""What a fit is told, as one record: parameters checked, defaults filled in."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

from sklearn.utils import check_random_state

from maxmargin.core.checks import one_of, positive
from maxmargin.core.data_weight import C_of
from maxmargin.core.formulation import make_form
from maxmargin.engine.engines import check_engine
from maxmargin.kernels.nested import refuse_unused
from maxmargin.solvers.checkpoint import place_of
from maxmargin.solvers.registry import SOLVERS, no_sums, passes_of, solvers_for
from maxmargin.solvers.result import Limits


@dataclass(frozen=True)
class Settings:
    """How a fit is done; where the data come in, the estimator is asked."""

    solver: str  # its name, as the registry has it, or "auto"
    form: Any  # rescaling and penalty: core/formulation.py
    limits: Limits  # tol, max_iter, max_time, who watches, where checkpoints lie
    seed: int
    n_jobs: int
    warm_start: bool


def settings_of(model: Any) -> Settings:
    """Check all parameters, before any work."""
    model._check_parameters()
    check_C(model)
    _check_objective(model)
    model._check()
    engine = getattr(model, "engine", None)
    if engine is not None:
        check_engine(engine)
        if engine != "auto":
            check_shards(model)
    tol = model._tolerance()
    solver = model._solver_name()
    form = make_form(model.rescaling, model.penalty, tol)
    limits = Limits(
        tol=tol,
        max_iter=model.max_iter or passes_of(solver),
        max_time=model.max_time,
        verbose=int(model.verbose),
        callbacks=tuple(model.callbacks or ()),
        checkpoint=place_of(model),
    )
    seed, n_jobs = _seed(model.random_state), model._threads()
    return Settings(solver, form, limits, seed, n_jobs, bool(model.warm_start))


def check_C(model: Any, X: Any = None) -> None:
    """C, for X: what is wanted depends on both."""
    if model.C is not None:
        positive(lambda: wanted_C(model, X))("C", model.C)


def wanted_C(model, X=None) -> str:
    """Which values of C a model takes, for X: inf only where it is not refused."""
    if hasattr(X, "shards"):  # a corpus on disk
        return "a positive number"
    trial = copy.copy(model)
    trial.C = math.inf
    try:
        trial._settings()
        name = trial._solver_name()
        hard = name == "auto" or SOLVERS[name].hard
    except ValueError:
        hard = False
    return "a positive number" + (", or inf for a hard margin" if hard else "")


def _check_objective(model) -> None:
    """Objective, solver and what depends on them.

    ``model._objectives`` lists what the family offers, ``_no_sums`` says why not "log".
    """
    objective, solver = model.objective, model.solver
    table = model._objectives
    one_of("objective", objective, table)
    record = table[objective]
    if record.problem in ("log", "smooth") and model._no_sums:
        raise ValueError(no_sums(objective, model._no_sums))
    solvers = solvers_for(record)
    if solver not in solvers:
        known = any(solver in solvers_for(other) for other in table.values())
        reason = f"cannot minimise {objective=}" if known else "is not known"
        raise ValueError(
            f"solver={solver!r} {reason}; choose one of {', '.join(solvers)}."
        )
    if not record.hard and math.isinf(C_of(model)):
        raise ValueError(
            f"C=inf, a hard margin, needs objective='hinge', not {objective!r}."
        )
    plain = (model.rescaling, model.penalty) == ("margin", "linear")
    if record.problem != "hinge" and not plain:
        raise ValueError(
            f"rescaling and penalty belong to objective='hinge', not {objective!r}: "
            "leave them as they are."
        )
    if record.unused:
        why = f"objective={objective!r} has no slacks like that."
        refuse_unused(model, record.unused, why)
    if not (record.counts_loss or model._decodes_loss) and hasattr(model, "loss"):
        why = f"objective={objective!r} counts all wrong outputs alike."
        refuse_unused(model, ("loss",), why)


def check_shards(model) -> None:
    """Objectives that can be trained over shards (``solvers/sharded_training.py``)."""
    if not model._objectives[model.objective].shards:
        raise ValueError(
            f"objective={model.objective!r} cannot be trained over shards (engine= or a "
            "corpus on disk): leave engine out, or choose objective='hinge' or 'log'."
        )
    if math.isinf(C_of(model)):
        raise ValueError(
            "C=inf cannot be trained over shards, whose steps cannot prove that data are "
            "separable: leave engine out, or choose a finite C."
        )


def _seed(random_state: Any) -> int:
    """None means reproducible, not random: a fit should be a function of its input."""
    if random_state is None:
        return 0
    return check_random_state(random_state).randint(2**31 - 1)
