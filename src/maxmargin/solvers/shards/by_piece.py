"""Dual solvers where one piece of the data is in memory at a time (``pieces/on_disk.py``).

Every piece has a worker: an ordinary solver of its blocks, without weights of its own. A
pass visits the pieces in random order, and each worker takes its turn on the one w, from
where the last one left it: block-coordinate ascent in an order that visits piece by piece.
Of the other pieces, dual variables, gaps and hinges are on disk too (``aside.py``), so that
memory does not grow with the data; threads are those of the worker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.core.pieces.on_disk import OnDisk, OnDiskLog
from maxmargin.core.pieces.totals import Scattered
from maxmargin.core.state import Stateful, require
from maxmargin.core.vectors import blend_into, sum_of_squares
from maxmargin.solvers.block_coordinate import (
    CACHED_COST,
    NEWEST,
    WORTHWHILE,
    BlockCoordinate,
    Signs,
)
from maxmargin.solvers.by_label.block_threads import BlockThreads
from maxmargin.solvers.by_label.exact_blocks import ExactBlocks
from maxmargin.solvers.checkpoints.proofs import compare_weights
from maxmargin.solvers.handover import Handover
from maxmargin.solvers.log.exponentiated import Exponentiated
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.log.row_steps import RowSteps
from maxmargin.solvers.planes import dual_value, make_planes
from maxmargin.solvers.registry import load, over
from maxmargin.solvers.schedule import Average, Schedule
from maxmargin.solvers.shards.aside import Aside
from maxmargin.solvers.solver import Solver

MOST_VARIABLES = 1 << 22  # of a piece of classes; beyond, planes take less memory


class Blocks(BlockCoordinate):
    """The planes of a piece."""

    kept = ("planes", "schedule", "hinges")
    cached_cost = CACHED_COST
    gained, crowded, selective = 0.0, 0, True  # of a turn

    def __init__(self, objective: Objective):
        self.objective, self.team = objective, objective.team
        self.planes = make_planes(objective.batch, objective.form, objective.mass)
        self.schedule, self.signs = Schedule(objective), Signs(objective)
        self.hinges = np.zeros(objective.n)
        self.leave()

    def arrive(self, w: np.ndarray) -> None:
        """The batch is there: get ready for a turn."""
        self.w, self.buffers = w, self.objective.buffers()

    def leave(self) -> None:
        """Keep nothing that the next turn does not need."""
        self.w: Any = None
        self.buffers: Any = None
        self._others: list = []

    def visit(self, selective: bool) -> float:
        """A pass over the blocks that are due; all are, unless it is selective.

        Returns what its steps hoped that the dual would gain.
        """
        self.selective = selective
        order = self.due()
        self.schedule.passes += 1
        return self.rise(order)

    def rest(self) -> float:
        """The dual without 1/2 |w|^2."""
        return dual_value(self.planes, self.objective.form, 0.0)

    def risk(self) -> float:
        """As its examples were met."""
        return self.objective.primal_from_hinges(0.0, self.hinges)


class ClosedBlocks(ExactBlocks):
    """Classes: the dual variables of all labels, block by block in closed form."""

    kept = ("alpha", "schedule", "hinges")
    restore = Stateful.restore

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self.average, self.stages, self.mass = None, [], objective.mass
        self.alpha[:] = 0
        self.alpha[np.arange(objective.n), objective.batch.y] = self.mass
        self.leave()

    @staticmethod
    def applies(objective: Objective) -> bool:
        few = objective.n * getattr(objective.batch, "width", 0) <= MOST_VARIABLES
        return few and ExactBlocks.applies(objective)

    def arrive(self, w: np.ndarray) -> None:
        self.w, self.threads = w, BlockThreads(self.objective)

    def leave(self) -> None:
        self.w = self.threads = None

    def visit(self, selective: bool) -> float:
        order = self.schedule.choose()
        self.schedule.in_chunks(order, self._visit)
        self.schedule.passes += 1
        self.objective.oracle_calls += len(order)
        return 0.0  # nobody adds up what they hope for

    def risk(self) -> float:
        return self.objective.primal_from_hinges(0.0, self.hinges)


class Distributions(Exponentiated):
    """The distributions of a piece."""

    kept = ("gibbs", "eta", "schedule")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self.average = None
        self.leave()

    def arrive(self, w: np.ndarray) -> None:
        self.w, self.rows = w, RowSteps(self.objective)
        self.memory = self._memory_of(0)

    def leave(self) -> None:
        self.w = self.memory = self.rows = None
        self._memories.clear()

    def visit(self, selective: bool) -> float:
        order, self.dual = self.schedule.choose(), 0.0
        self.schedule.passes += 1
        self.rise(order)
        return self.dual

    def rest(self) -> float:
        return float(self.objective.mass @ self.gibbs.entropy)

    def risk(self) -> float:
        """What its blocks add to the gap, as they were met."""
        return float(self.schedule.gaps.sum())


class ByPiece(Solver):
    """See the module; margins, by planes."""

    kept = (*Solver.kept, "average", "passes", "selective", "rests", "risks")
    worker: type = Blocks

    def __init__(self, objective: OnDisk, planes=None):
        super().__init__(objective)
        count = len(objective.parts)
        self.workers = []
        self.aside = Aside(objective.batch.scratch)
        self.rests, self.risks = np.zeros(count), np.zeros(count)  # of the workers
        for k in range(count):
            with objective.loaded(k) as part:
                closed = ClosedBlocks.applies(part) and self.worker is Blocks
                self.workers.append((ClosedBlocks if closed else self.worker)(part))
                self.aside.put(k, self.workers[k])
        self.average = Average(self.w, NEWEST)
        self.passes, self.selective = 0, True

    @contextmanager
    def turn(self, k: int) -> Iterator[Any]:
        """A worker with its batch and the weights."""
        worker = self.workers[k]
        with self.objective.loaded(k):
            worker.arrive(self.w)
            try:
                yield worker
            finally:
                worker.leave()
                self.aside.put(k, worker)

    def prepare(self) -> None:
        with self.turn(0) as worker:
            worker.prepare()
        blend_into(self.w[:0], self.w[:0], 0.0)

    def step(self) -> None:
        before, objective, hoped = self.dual, self.objective, 0.0
        for k in objective.rng.permutation(len(self.workers)):
            with self.turn(k) as worker:
                hoped += worker.visit(self.selective)
                self.rests[k], self.risks[k] = worker.rest(), worker.risk()
            if time.perf_counter() >= objective.deadline:
                break
        began = time.perf_counter()
        self.passes += 1
        squared = self.average.take(self.w, self.passes, objective.team)
        # of the planes and w: what the steps of many threads gain is an estimate
        self.dual = float(self.rests.sum()) - 0.5 * squared
        self.falls |= objective.team.heed(before, before + hoped, self.dual)
        self.estimate = self.guess(squared)
        worth = WORTHWHILE * (self.estimate - self.dual)
        self.selective = self.dual - before >= worth
        self.update_seconds += time.perf_counter() - began

    def guess(self, squared: float) -> float:
        """The primal, by what was met."""
        return 0.5 * squared + float(self.risks.sum())

    def exact_point(self) -> tuple[np.ndarray, float]:
        """(w, the rest of the dual) anew from the dual variables, in double precision."""
        w = np.zeros(self.objective.n_weights)
        for k in range(len(self.workers)):
            with self.turn(k) as worker:
                self.rests[k] = worker.exact_point(w)[1]
        return w, float(self.rests.sum())

    def rebuild(self) -> None:
        """Steps drift, in single precision more: make w and dual exact."""
        w, rest = self.exact_point()
        self.w[:] = w
        self.dual = rest - 0.5 * sum_of_squares(w)

    def candidates(self) -> list:
        self.rebuild()
        return [self.average.w, self.w]

    def proved(self) -> float:
        saved = self.w.copy()
        self.rebuild()
        compare_weights(saved, self.w)
        return self.dual

    def state(self) -> dict:
        return super().state() | {"workers": [w.state() for w in self.workers]}

    def restore(self, state: dict) -> None:
        super().restore(state)
        saved = state["workers"]
        good = type(saved) is list and len(saved) == len(self.workers)
        require(good, "workers", "not complete")
        for k, own in enumerate(saved):
            with self.turn(k) as worker:
                worker.restore(own)


class LogByPiece(ByPiece):
    """Conditional random fields, by distributions."""

    worker = Distributions

    def __init__(self, objective: OnDiskLog, planes=None):
        super().__init__(objective)
        self.rebuild()  # distributions that are almost sure of the truth: w is not 0
        self.average = Average(self.w, NEWEST)

    def guess(self, squared: float) -> float:
        return self.dual + float(self.risks.sum())


class HandoverByPiece(Handover):
    """The same, then L-BFGS where that is stuck."""

    begins = LogByPiece


def by_piece(data: Scattered, make, name: str, mass: np.ndarray) -> tuple:
    """(objective, solver) of such data; ``make`` makes the objective of a batch."""
    piece = data.pieces[0]
    first = make(piece.load(), mass=mass[: piece.n])
    log = isinstance(first, LogObjective)
    solvers = over("pieces", "log" if log else "hinge")
    if log and first.l1 > 0:
        solvers = {"lbfgs": solvers["lbfgs"]}
    if name == "auto":
        name = next(iter(solvers))
        if name == "handover":  # where distributions of all examples are not too much
            name = first.solver_for(data.n_slots / max(piece.n_slots, 1))
    if name not in solvers:
        raise ValueError(
            f"solver={name!r} needs all data in memory: choose one of auto, "
            f"{', '.join(solvers)} for data on disk."
        )
    first.batch = None
    objective = (OnDiskLog if log else OnDisk)(first, data, mass)
    return objective, load(solvers[name])(objective)
