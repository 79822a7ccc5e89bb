"""From an estimator's data to shards, an executor that runs them, and a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.core import contract
from maxmargin.core.encoded import hidden
from maxmargin.core.objective import Objective
from maxmargin.core.pieces.sharded import Sharded, ShardedLog, sources_of
from maxmargin.core.pieces.totals import Scattered
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.registry import HIDDEN_IN_SHARDS, load, over
from maxmargin.solvers.shards.shard import ShardSpec


@contextmanager
def over_shards(
    engine: Any, batch: Any, make: Callable, name: str, mass: np.ndarray
) -> Iterator[tuple[Objective, Any]]:
    """(objective, solver) of a fit over shards; ``make`` makes objectives of batches."""
    from maxmargin.engine.engines import make_executor

    if isinstance(batch, Scattered):
        piece = batch.pieces[0]
        first, slots = piece.load(), batch.n_slots
        whole = make(first, mass=mass[: piece.n])
    else:
        first, whole, slots = batch, make(batch), int(batch.start[-1])
    name, solver = _solver_of(whole, first, name)
    modules = modules_of(first)
    if "__main__" in modules:
        raise ValueError(
            f"The structure {type(first).__name__} is defined in the script that runs, "
            "which workers cannot import: move it into a module that they find."
        )

    def specs(workers: int) -> list[ShardSpec]:
        return [
            ShardSpec(whole.piece(k, mass[numbers]), source, k, name, modules)
            for k, (source, numbers) in enumerate(sources_of(batch, workers))
        ]

    with make_executor(engine, specs) as executor:
        kind = ShardedLog if isinstance(whole, LogObjective) else Sharded
        objective = kind(whole, executor, len(mass), slots)
        objective.mass = mass
        yield objective, load(solver)(objective)


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


def _solver_of(whole: Objective, batch: Any, name: str) -> tuple[str, str]:
    """Name and class of the solver; refuses what cannot be done in shards.

    Methods with one cut of all examples per round need far more rounds
    (``benchmarks/scaling.py --parts rounds``).
    """
    if hidden(batch):
        raise ValueError(HIDDEN_IN_SHARDS)
    solvers = over("shards", "log" if isinstance(whole, LogObjective) else "hinge")
    usual = next(iter(solvers))
    if name not in ("auto", *solvers):
        raise ValueError(
            f"solver={name!r} does not run over shards (engine=): leave it out, for "
            f"{usual!r}."
        )
    name = usual if name == "auto" else name
    return name, solvers[name]
