"""One fit: settings, encode, choose the way, drive, certify, install.

The way is chosen by the data and the engine: plainly, with hidden parts that are completed
(``latent_training.py``), piece by piece from disk, or over the shards of a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.core.blas import at_most
from maxmargin.core.compiling import announce, say_on_stderr
from maxmargin.core.completion import hidden
from maxmargin.core.data_weight import C_of
from maxmargin.core.encoded import Encoded, masses
from maxmargin.core.partial import is_partial
from maxmargin.core.unused_columns import check_batch
from maxmargin.engine import engines
from maxmargin.engine.interrupts import INTERRUPTED, Whole
from maxmargin.files.atomic import require_room
from maxmargin.fitting import latent_training
from maxmargin.fitting.install import install
from maxmargin.fitting.settings import Settings, check_C, check_shards
from maxmargin.solvers import registry
from maxmargin.solvers.by_piece import by_piece
from maxmargin.solvers.checkpoint import kept
from maxmargin.solvers.driver import drive
from maxmargin.solvers.sharded_training import over_shards
from maxmargin.solvers.warm_start import DualState


def fit(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Train a model; one that raises leaves it as it was."""
    check_C(model, X)
    settings = model._settings()
    with at_most(1), kept(settings.limits.checkpoint):
        encoded = model._encode(X, y, sample_weight)
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
    with Whole(model) as late:
        solver.finish(solution)
        planes = solver.planes if keep else None
        del solver, way  # and tables as large as w, before there are others
        install(model, encoded, solution, objective)
        model.__dict__.pop("_dual_state", None)
        if planes is not None:
            model._dual_state = DualState(batch, planes)
    return INTERRUPTED if late.came else solution.status


def maker(model: Any, encoded: Encoded, settings: Settings, mass) -> Callable:
    """A function that makes the objective of a batch, or of some of its examples."""
    whole, n_weights = mass, encoded.n_weights
    dtype = np.float64 if math.isinf(C_of(model, encoded)) else encoded.dtype
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
