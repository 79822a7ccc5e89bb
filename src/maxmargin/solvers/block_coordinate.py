"""Block-coordinate ascent with pairwise steps: the default solver.

Each pass visits the blocks in random order, asks the oracle for one plane each and moves
mass between planes (``planes.exact_pass``). Between oracle passes come passes over the
stored planes alone, as long as they raise the dual faster than the whole round did
(Shah, Kolmogorov & Lampert 2015). Blocks whose gap was small at their last visit are
left out for a few passes; the certificate never is.

A running average of the weights (``schedule.py``) has the smaller primal until high
precision is asked for. The driver certifies whichever is better.
"""

from __future__ import annotations

import time

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.core.state import Stateful, require
from maxmargin.core.vectors import blend_into, sum_of_squares
from maxmargin.engine.interrupts import undisturbed
from maxmargin.solvers.checkpoints.proofs import compare_weights
from maxmargin.solvers.checkpoints.stored_planes import check_planes
from maxmargin.solvers.cutting_planes.newton import newton_steps
from maxmargin.solvers.driver import NotSeparable, not_separable
from maxmargin.solvers.planes import (
    cached_pass,
    dual_value,
    exact_pass,
    make_planes,
    rebuild,
    store_planes,
    with_room,
)
from maxmargin.solvers.schedule import SKIP_BELOW, Average, Schedule
from maxmargin.solvers.solver import Solver

WORTHWHILE = 0.03  # share of the estimated gap that a pass over chosen blocks must gain
MAX_CACHED = 50  # passes over stored planes in a step: more hardly ever pay
CACHED_COST = 1.0  # a visit without the oracle, in visits with it
MAX_ROOM = 64  # planes of one block: beyond, moving mass among them costs too much
RECONSIDERED = (
    50,
    0.03,
)  # passes over planes of an earlier problem; share of gap to leave
CROWDED = 0.01  # share of blocks without room for a plane at which all get more
NEWEST = 0.35  # share of the newest weights in their average, at least


class PlaneSolver(Solver):
    """A store of planes, the weights and the dual that it stands for."""

    kept = (*Solver.kept, "planes", "signs")
    grows = ("planes",)
    carries = True  # the masses of its planes are the dual point

    def __init__(self, objective: Objective, planes=None):
        super().__init__(objective)
        self.team = objective.team
        self.buffers = objective.buffers()
        self._others: list = []  # buffers of other threads than the first
        self.signs = Signs(objective)
        self.planes = planes
        if planes is None:  # those of the truth: w and the dual are 0
            self.planes = make_planes(objective.batch, objective.form, objective.mass)
            w = np.zeros(objective.n_weights)
            self.ask(rebuild, self.buffers, np.zeros(0, np.int64), w)  # is compiled
            self.signs.restart(w)
        else:
            self.rebuild()

    def ask(self, kernel, *arguments):
        """Run a kernel on batch, formulation, planes and what else it takes."""
        objective = self.objective
        return objective.run(kernel, objective.form, self.planes, *arguments)

    def together(self, kernel, blocks, *rest) -> list:
        """What a kernel returns for these blocks, in parts if several threads run it.

        They step on one w, to which they add atomically: it is always what the planes
        say. Blocks are disjoint, so planes, gaps and hinges have one writer each. A step
        is measured at weights that others move meanwhile: gains are estimates.
        """

        def part(worker, blocks):
            return self.ask(kernel, self._buffers_of(worker), blocks, *rest)

        # blocks of many slots take longer: paces are compared by slots
        sizes = np.diff(self.objective.batch.start) if self.team.size > 1 else None
        return self.team.share(part, kernel, blocks, sizes=sizes, steps=True)

    def _buffers_of(self, worker: int):
        while len(self._others) < worker:
            self._others.append(self.objective.buffers())
        return self._others[worker - 1] if worker else self.buffers

    def exact_point(self, w=None) -> tuple[np.ndarray, float]:
        w = np.zeros(self.objective.n_weights) if w is None else w
        self.together(rebuild, np.arange(self.objective.n), w)
        return w, dual_value(self.planes, self.objective.form, 0.0)

    def rebuild(self) -> np.ndarray:
        """w and dual anew from the planes; returns w in double precision.

        Steps drift, in single precision more: the dual that a certificate quotes must be
        the dual of a real point.
        """
        w, rest = self.exact_point()
        self.signs.restart(w)
        self.dual = rest - 0.5 * sum_of_squares(w)
        self.w[:] = w
        return w

    def check_restored(self) -> None:
        super().check_restored()
        check_planes(self.objective, self.planes, self.carries)
        require((self.signs.push >= 0).all(), "push", "negative")
        if self.carries:  # c and r of the planes are in the dual
            saved = self.planes.c.copy(), self.planes.r.copy()
            self.exact_point()
            for now, before in zip((self.planes.c, self.planes.r), saved, strict=True):
                same = np.allclose(now, before, 1e-5, 1e-9)
                require(same, "planes.c", "not the losses of the outputs")
                now[:] = before

    def proved(self) -> float:
        saved = self.w.copy()
        self.rebuild()
        compare_weights(saved, self.w)
        return self.dual

    def more_room(self) -> None:
        room = 2 * self.planes.alpha.shape[1]
        self.planes = with_room(self.objective.batch, self.planes, room)

    def newton(self) -> float:
        """Where planes are few and passes are Python's: all of them together."""
        objective = self.objective
        if isinstance(objective.batch, tuple) or objective.hard:
            return 0.0
        return newton_steps(objective.batch, objective.form, self.planes, self.w)

    def forget(self) -> None:
        """Let a Python batch drop the outputs that no plane refers to."""
        forget = getattr(self.objective.batch, "forget", None)
        if forget is not None:
            with undisturbed():
                forget(self.planes)


class BlockCoordinate(PlaneSolver):
    """See the module."""

    kept = (*PlaneSolver.kept, "average", "schedule", "hinges", "selective")

    def __init__(self, objective: Objective, planes=None):
        super().__init__(objective, planes)
        self.average = Average(self.w, NEWEST)
        self.schedule = Schedule(objective)
        self.hinges = np.zeros(objective.n)
        self.selective = True
        self.crowded = 0
        self.gained = 0.0
        self.searching = 0.0  # seconds of the last pass with the oracle
        self.cached_cost = CACHED_COST if isinstance(objective.batch, tuple) else 0.0

    def prepare(self) -> None:
        self._visit(np.zeros(0, np.int64))
        self._cached(np.zeros(self.objective.n))
        blend_into(self.w[:0], self.w[:0], 0.0)

    def step(self) -> None:
        objective, schedule = self.objective, self.schedule
        began, order = time.perf_counter(), self.due()
        gained = self.rise(order)
        before, self.dual = self.dual, self.dual + gained + self.newton()
        schedule.passes += 1
        squared = self.average.take(self.w, schedule.passes, self.team)
        if self.team.size > 1:  # gains were estimates
            hoped = self.dual
            self.dual = dual_value(self.planes, objective.form, squared)
            self.falls |= self.team.heed(before, hoped, self.dual)
            gained = self.dual - before
        self.estimate = objective.primal_from_hinges(squared, self.hinges)
        # Blocks with small gaps can hold most of the gap together: when the chosen few
        # no longer pay, everyone is visited again.
        self.selective = gained >= WORTHWHILE * (self.estimate - self.dual)
        self.forget()
        self.update_seconds += time.perf_counter() - began - self.searching

    def reconsider(self, w) -> None:
        """Passes over the stored planes alone, until these have little more to give."""
        gaps = np.zeros(self.objective.n)
        passes, enough = RECONSIDERED
        for _ in range(passes):
            chosen = np.flatnonzero((self.planes.count > 1) & (self.planes.mass > 0))
            order = self.schedule.shuffled(chosen)
            self.dual += sum(self.together(cached_pass, order, self.w, gaps))
            self.dual += self.signs.hold(self.w)
            late = time.perf_counter() >= self.objective.deadline
            if late or gaps.sum() <= enough * self.dual:
                break

    def due(self) -> np.ndarray:
        """Blocks to visit in this pass, in random order."""
        return self.schedule.choose(everyone=not self.selective)

    def rise(self, order) -> float:
        """Visits in this order, then passes over stored planes: the gain of the dual."""
        objective, schedule = self.objective, self.schedule
        began = time.perf_counter()
        self.gained, self.crowded = 0.0, 0
        schedule.in_chunks(order, self._visit)
        self.gained += self.signs.hold(self.w)
        if self.crowded > CROWDED * objective.n and self._room() < MAX_ROOM:
            self.more_room()
        self.searching = time.perf_counter() - began
        gained, work = self.gained, float(len(order))
        # Cached passes go on while they gain more per unit of work than the round as a
        # whole. Work is counted, not timed: equal seeds must give equal weights.
        gaps = np.where(self.planes.count > 1, schedule.gaps, 0.0)
        for _ in range(MAX_CACHED):
            gain, visits = self._cached(gaps)
            cost = self.cached_cost * visits
            gained, work = gained + gain, work + cost
            late = time.perf_counter() >= objective.deadline
            if late or gain * work <= gained * cost:
                break
        return gained

    def candidates(self):
        self.rebuild()
        if self.objective.hard:
            return [self.w]
        both = [self.average.w, self.w]
        # after Newton steps the last weights are the best
        return both if isinstance(self.objective.batch, tuple) else both[::-1]

    def learn_from(self, sweep) -> None:
        """A certificate's planes are free; worth storing where the oracle is expensive."""
        if not isinstance(self.objective.batch, tuple):
            self.ask(store_planes, sweep.outputs, np.flatnonzero(sweep.hinges > 0))

    def _visit(self, order) -> None:
        """Visits with the oracle."""
        before = self.gained
        arguments = (self.w, self.schedule.gaps, self.hinges, before)
        with self.team.expecting(order, moving=True):
            found = self.together(exact_pass, order, *arguments)
        self.objective.oracle_calls += sum(calls for calls, *_ in found)
        self.crowded += sum(crowded for _, crowded, *_ in found)
        # A pass is cut into calls by the clock: sums go on from before.
        *_, self.gained = found[0]
        self.gained += sum(total - before for *_, total in found[1:])
        if any(impossible for *_, impossible, _ in found):
            raise NotSeparable(
                not_separable("a wrong output has the features of the true one")
            )

    def _room(self) -> int:
        return self.planes.alpha.shape[1]

    def _cached(self, gaps):
        """A pass over stored planes where they promise most: (gain, visits)."""
        threshold = SKIP_BELOW * gaps.mean() if self.selective else 0.0
        chosen = np.flatnonzero((gaps >= threshold) & (gaps > 0))
        order = self.schedule.shuffled(chosen)
        gain = sum(self.together(cached_pass, order, self.w, gaps))
        return gain + self.signs.hold(self.w), len(order)


class Signs(Stateful):
    """The multipliers mu of the weights that an objective wants to be zero or more.

    With w_j >= 0 for some j, the dual has one more variable mu_j >= 0 for each of them:

        w = sum alpha r psi + sum_j mu_j e_j,      dual = sum alpha c - 1/2 |w|^2

    Given the planes, mu_j = max(0, -v_j) is best, where v is what the planes alone would
    give, and makes w_j = max(0, v_j). Setting it is a coordinate step like any other: the
    dual never falls, and steps of the planes go on from the new w. Graph cuts need such
    weights (``graphs/``): they keep scores of edges submodular.
    """

    kept = ("push",)

    def __init__(self, objective: Objective):
        wanted = objective.nonnegative
        self.at = np.zeros(0, np.int64) if wanted is None else np.asarray(wanted)
        self.push = np.zeros(len(self.at))

    def restart(self, w) -> None:
        """The best multipliers of weights that are those of the planes alone."""
        self.push[:] = 0.0
        self.hold(w)

    def hold(self, w) -> float:
        """Set the multipliers for these weights; returns what the dual gains."""
        if len(self.at) == 0:
            return 0.0
        before = w[self.at].astype(np.float64)
        free = before - self.push
        self.push = np.maximum(-free, 0.0)
        after = np.maximum(free, 0.0)
        w[self.at] = after
        return 0.5 * float(before @ before - after @ after)
