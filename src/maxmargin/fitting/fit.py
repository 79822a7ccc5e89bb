"""One fit: settings, encode, choose the way, drive, certify, install.

``Settings`` is what a fit is told, as one record: parameters checked, defaults filled in.

The way is chosen by the data and the engine: plainly, with hidden parts that are completed
(``latent_training.py``), piece by piece from disk, over the shards of a cluster, or on a
basis that is found first (``_machines`` of a family).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core.checks import is_real, not_possible, one_of
from maxmargin.core.compile.compiling import announce, say_on_stderr
from maxmargin.core.encoded import C_of, Encoded, hidden, masses
from maxmargin.core.formulation import make_form
from maxmargin.core.jobs import at_most
from maxmargin.core.partial import is_partial
from maxmargin.core.tables.arrays import check_batch
from maxmargin.engine import engines
from maxmargin.engine.engines import check_engine
from maxmargin.engine.interrupts import INTERRUPTED, whole
from maxmargin.files.locks import require_room
from maxmargin.fitting import latent_training
from maxmargin.fitting.held_out import check_early_stopping, watching
from maxmargin.fitting.parameters import refuse_unused
from maxmargin.solvers import registry
from maxmargin.solvers.checkpoints.checkpoint import kept, place_of
from maxmargin.solvers.driver import drive
from maxmargin.solvers.registry import (
    SOLVERS,
    ObjectiveRecord,
    no_sums,
    passes_of,
    solvers_for,
)
from maxmargin.solvers.result import Limits, Solution
from maxmargin.solvers.shards.by_piece import by_piece
from maxmargin.solvers.shards.sharded_training import over_shards
from maxmargin.solvers.warm_start import DualState
from maxmargin.waiting import stage, watched


def fit(model: Any, X: Any, y: Any, sample_weight: Any, dev: Any = None) -> None:
    """Train a model; one that raises leaves it as it was."""
    settings = settings_of(model, X)
    if dev is not None:
        dev = check_early_stopping(model, settings.limits, dev)
    with at_most(model._blas_threads()), kept(settings.limits.checkpoint):
        with watched(settings.limits.verbose == 1), stage("encoding"):
            encoded = model._encode(X, y, sample_weight)
        if dev is not None:
            limits = watching(model, encoded, settings.limits, dev)
            settings = replace(settings, limits=limits)
        train(model, encoded, settings, getattr(model, "_dual_state", None))


def train(
    model: Any,
    encoded: Encoded,
    settings: Settings,
    state: DualState | None = None,
    keep: bool = False,
) -> str:
    """Train on encoded data and set the fitted attributes; returns how training ended.

    With ``keep``, or ``warm_start``, it begins with the dual ``state`` of another fit and
    leaves one; over shards, every fit starts from zero.
    """
    if model._machines is not None:
        ((_, solution),) = model._machines(encoded, settings)
        return installed(model, encoded, solution)
    batch, limits = encoded.batch, settings.limits
    check_batch(batch, encoded.n_weights)
    if limits.verbose == 1:  # at 2, there are lines of JSON only
        announce(say_on_stderr)
    mass = masses(C_of(model, encoded), encoded.weights)
    make = maker(model, encoded, settings, mass)
    if hidden(batch) and not _sums_over_hidden(model, batch, settings.solver):
        return latent_training.train(model, encoded, make, settings)
    engine = _engine_of(model, batch, limits.tol)
    scattered = engine is not None or hasattr(batch, "pieces")
    keep = (settings.warm_start or keep) and not scattered
    if scattered:
        check_shards(model)  # not yet, where a corpus on disk is why
        way = _over_shards(engine, batch, make, settings.solver, mass)
    else:
        way = _plainly(batch, make, settings.solver, state if keep else None)
    with way as (objective, solver):
        solution = drive(objective, solver, limits)
    with whole(model) as late:
        solver.finish(solution)
        planes = solver.planes if keep else None
        del solver, way  # and tables as large as w, before there are others
        model._take(encoded, solution, objective)
        model.__dict__.pop("_dual_state", None)
        if planes is not None:
            model._dual_state = DualState(batch, planes)
    return INTERRUPTED if late.came else solution.status


def installed(model: Any, encoded: Encoded, solution: Solution) -> str:
    """Set the fitted attributes of a machine on a basis; returns how training ended."""
    with whole(model) as late:
        model._take(encoded, solution)
    return INTERRUPTED if late.came else solution.status


def maker(model: Any, encoded: Encoded, settings: Settings, mass) -> Callable:
    """A function that makes the objective of a batch, or of some of its examples."""
    whole, n_weights = mass, encoded.n_weights
    dtype = np.float64 if np.isinf(mass).any() else encoded.dtype
    require_room(n_weights * np.dtype(dtype).itemsize)
    last = settings.n_jobs, settings.seed

    def make(batch, easy=None, mass=whole):
        mass = mass if easy is None else np.where(easy, mass, 0.0)
        objective = model._make_objective(
            batch, n_weights, settings.form, mass, dtype, *last
        )
        objective.nonnegative = encoded.nonnegative
        return objective

    return make


# choosing the way -----------------------------------------------------------------------


def _sums_over_hidden(model, batch, solver: str) -> bool:
    """Whether what is hidden is summed over, not completed."""
    if not model._objective().summed or not is_partial(batch):
        return False
    if solver not in ("auto", "lbfgs"):
        raise ValueError(
            f"solver={solver!r} cannot minimise objective={model.objective!r} where "
            "labels are not known (None in y): choose one of auto, lbfgs."
        )
    return True


def _engine_of(model, batch, tol: float):
    """The engine of a fit; None where "auto" is better off in this process."""
    engine = getattr(model, "engine", None)
    if engine is None:
        return None
    if isinstance(engine, str) and engine == "auto":
        try:
            check_shards(model)
        except ValueError:
            return None
        if model.solver != "auto":
            return None
    slots = batch.n_slots if hasattr(batch, "pieces") else int(batch.start[-1])
    return engines.decided(engine, slots, tol)


@contextmanager
def _plainly(batch, make: Callable, name: str, state: DualState | None) -> Iterator:
    objective = make(batch)
    planes = None if state is None else state.planes_for(objective)
    yield objective, registry.make(name, objective, planes)


@contextmanager
def _over_shards(engine, batch, make: Callable, name: str, mass) -> Iterator:
    if engine is None:
        yield by_piece(batch, make, name, mass)
    else:
        with over_shards(engine, batch, make, name, mass) as both:
            yield both


# what a fit is told ---------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """How a fit is done; where the data come in, the estimator is asked."""

    solver: str  # its name, as the registry has it, or "auto"
    form: Any  # rescaling and penalty: core/formulation.py
    limits: Limits  # tol, max_iter, max_time, who watches, where checkpoints lie
    seed: int
    n_jobs: int
    warm_start: bool


def settings_of(model: Any, X: Any = None) -> Settings:
    """Check all parameters, before any work; what C may be depends on X too."""
    model._check_parameters()
    if model.C is not None:
        check_C(model, model.C, X)
    record = _check_objective(model)
    model._check()
    engine = getattr(model, "engine", None)
    if engine is not None:
        check_engine(engine)
        if engine != "auto":
            check_shards(model)
    tol = model._tolerance()
    solver = record.solver or model.solver
    form = make_form(model.rescaling, model.penalty, tol)
    limits = Limits(
        tol=tol,
        max_iter=model.max_iter or passes_of(solver),
        max_time=model.max_time,
        verbose=int(model.verbose),
        callbacks=tuple(model.callbacks or ()),
        checkpoint=place_of(model),
    )
    seed, n_jobs = seed_of(model.random_state), model._threads()
    return Settings(solver, form, limits, seed, n_jobs, bool(model.warm_start))


def check_C(model: Any, C: Any, X: Any = None) -> None:
    """This C, for X: what is wanted depends on both model and X."""
    if not (is_real(C, finite=False) and C > 0):
        raise not_possible("C", C, wanted_C(model, X))


def wanted_C(model, X=None) -> str:
    """Which values of C a model takes, for X: inf only where it is not refused."""
    if hasattr(X, "shards"):  # a corpus on disk
        return "a positive number"
    trial = copy.copy(model)
    trial.C = math.inf
    try:
        name = trial._settings().solver
        hard = name == "auto" or SOLVERS[name].hard
    except ValueError:
        hard = False
    return "a positive number" + (", or inf for a hard margin" if hard else "")


def _check_objective(model) -> ObjectiveRecord:
    """Objective, solver and what depends on them; the record of the objective.

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
    return record


def check_shards(model) -> None:
    """Objectives that shards can be trained for (``shards/sharded_training.py``)."""
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


def seed_of(random_state: Any) -> int:
    """None means reproducible, not random: a fit should be a function of its input."""
    if random_state is None:
        return 0
    return check_random_state(random_state).randint(2**31 - 1)
