"""From an estimator's data to shards, a crew that runs them, and a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.core import contract
from maxmargin.core.choices import HIDDEN_IN_SHARDS
from maxmargin.core.completion import hidden
from maxmargin.core.objective import Objective
from maxmargin.core.sharded import Scattered, Sharded, ShardedLog, sources_of
from maxmargin.solvers.log_objective import LogObjective
from maxmargin.solvers.parallel_ascent import (
    ParallelAscent,
    ParallelGibbs,
    ShardedBundle,
    ShardedHandover,
    ShardedOneSlack,
)
from maxmargin.solvers.shard import ShardSpec
from maxmargin.solvers.smooth import LBFGS

SOLVERS = {
    "block-coordinate": ParallelAscent,
    "n-slack": ParallelAscent,
    "one-slack": ShardedOneSlack,
    "proximal-bundle": ShardedBundle,
    "handover": ShardedHandover,
    "exponentiated": ParallelGibbs,
    "lbfgs": LBFGS,
}
FOR_LOG = ("handover", "exponentiated", "lbfgs")


def wanted(estimator: Any, batch: Any) -> bool:
    """Whether a fit is one over shards."""
    return getattr(estimator, "engine", None) is not None or isinstance(
        batch, Scattered
    )


@contextmanager
def over_shards(
    engine: Any, batch: Any, make: Callable, name: str, mass: np.ndarray, n_jobs: int
) -> Iterator[tuple[Objective, Any]]:
    """(objective, solver) of a fit over shards; ``make`` makes objectives of batches."""
    from maxmargin.engine.choose import make_crew

    sources = sources_of(batch)
    if isinstance(batch, Scattered):
        piece, numbers = sources[0]
        first = piece.load()
        whole, slots = make(first, mass=mass[numbers]), batch.n_slots
    else:
        first, whole, slots = batch, make(batch), int(batch.start[-1])
    name = _solver_of(whole, first, name, slots)
    modules = modules_of(first)
    if engine != "threads" and "__main__" in modules:
        raise ValueError(
            f"The structure {type(first).__name__} is defined in the script that runs, "
            "which workers cannot import: move it into a module that they find."
        )
    specs = [
        ShardSpec(whole.piece(k, mass[numbers]), source, name, modules)
        for k, (source, numbers) in enumerate(sources)
    ]
    with make_crew(engine, specs, n_jobs) as crew:
        kind = ShardedLog if isinstance(whole, LogObjective) else Sharded
        objective = kind(whole, crew, len(mass), slots)
        objective.mass = mass
        del specs, sources, whole, first  # crews have what they need of them
        yield objective, SOLVERS[name](objective)


def modules_of(batch: Any) -> tuple[str, ...]:
    """The modules in which the functions of a batch's structure are defined."""
    if not isinstance(batch, tuple):
        return ()
    found = {
        getattr(body, "py_func", body).__module__
        for function in vars(contract).values()
        for kind, body in getattr(function, "bodies", {}).items()
        if kind is type(batch)
    }
    return tuple(sorted(found))


def _solver_of(whole: Objective, batch: Any, name: str, slots: int) -> str:
    """The name of the solver; refuses what cannot be done in shards.

    The batch may be the first piece of data that have so many slots in all.
    """
    if hidden(batch):
        raise ValueError(HIDDEN_IN_SHARDS)
    log = isinstance(whole, LogObjective)
    signed = whole.nonnegative is not None
    names = [n for n in SOLVERS if (n in FOR_LOG) == log]
    if signed:
        names = ["one-slack"]
    if type(whole) not in (Objective, LogObjective):  # it counts over all examples
        names = [other for other in names if other != name]
    if log and whole.l1 > 0:
        names = ["lbfgs"]
    if name == "auto" and len(names) == 1:
        return names[0]
    if name == "auto":
        # distributions of all examples are kept, where that is not too much
        times = slots / max(int(batch.start[-1]), 1)
        return whole.solver_for(times) if log else names[0]
    if name not in names:
        raise ValueError(
            f"solver={name!r} does not run over shards here (engine= or a corpus on "
            f"disk): choose one of auto, {', '.join(names)}."
        )
    return name
