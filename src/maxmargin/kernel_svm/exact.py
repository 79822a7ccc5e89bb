"""The exact kernel machine, with a function of all training points, in bounded memory.

The dual variables alpha_ik >= 0 sum up to C_i over the classes k of an example i. With
a_i = C_i e_(y_i) - alpha_i and M the Gram matrix of classes (the identity, or L L' where
classes share the functions of a taxonomy's nodes, which L marks), the scores of all
examples are F = K a M, and the dual is

    D(alpha) = sum_ik alpha_ik cost(y_i, k) - 1/2 sum_ik a_ik F_ik.

With v_ik = F_ik + cost(y_i, k) - F_i(y_i), the gap between the objective and D is a sum
over examples,

    sum_i [C_i max_k v_ik - sum_k alpha_ik v_ik],

so that it is known at any time, and says who is to be visited. A round takes the examples
with the largest gaps, moves their dual variables against each other until most of their
gaps is gone, which needs the kernel between them only (``sweeps.py``, ``pairs.py``), and
then brings the scores of all up to date, which needs their rows of K. Rows are kept while
there is room (``rows.py``). (Working sets: Joachims 1999; many classes: Crammer & Singer
2001. There is no intercept, so that one example can be moved alone.)

Rows may be kept in single precision. A certificate is made in double precision
(:meth:`Exact.prove`), when the gap seems to be small enough; where it is not, rounds go on
with rows of double precision. A checkpoint holds no scores: they are computed anew, so that
a fit that goes on reaches the same certificate, not the same bits.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from maxmargin.core.state import require, require_within
from maxmargin.engine.interrupts import undisturbed
from maxmargin.kernel_svm.linear import signed
from maxmargin.kernel_svm.objective import KernelObjective, train_machine, worst
from maxmargin.kernel_svm.pairs import ascend_pairs
from maxmargin.kernel_svm.rows import Rows, Table
from maxmargin.kernel_svm.scores import (
    add_to_scores,
    best_between,
    judge,
    risk_between,
    scores_of,
)
from maxmargin.kernel_svm.sweeps import ascend_sweeps
from maxmargin.solvers.best import LostPrecision
from maxmargin.solvers.result import Limits, Solution
from maxmargin.solvers.solver import Solver

WORKING = 256, 512  # examples of a round, at most, of two classes and of several
KEPT = 0.5  # share of them that stays for the next: else they would soon be back
INNER = 0.1, 0.3  # share of their gap that is left to the next round, likewise
STEPS = 10  # of a round, at most, for each of them
MAX_ROUNDS = 100_000  # where no limit was asked for
ROUNDED = "ended, as rounding allows no more steps,"
ROUNDING = 1e-9  # of dual variables, as a share of the mass


class AllSamples(KernelObjective):
    """The objective of the machine of all samples, and the rows of its kernel's table."""

    def __init__(self, problem, table: Table, tol: float, rng, single: bool):
        super().__init__(problem, tol, rng, table.team)
        self.table = table
        m = len(self.batch.cost)
        lines = np.eye(m) if problem.lines is None else problem.lines
        self.classes = lines @ lines.T
        self.rows: Rows = table.rows(np.float32 if single else np.float64)

    @property
    def single(self) -> bool:
        return self.rows.values.dtype == np.float32

    def sharpen(self) -> None:
        """Rows of double precision from now on."""
        computed, self.rows = self.rows.computed, None
        self.rows = self.table.rows(np.float64)
        self.rows.computed = computed

    def scores_of(self, a: np.ndarray) -> np.ndarray:
        source, m = self.table if self.single else self.rows, len(self.classes)
        found = scores_of(source.blocks, a, self.team)
        return np.vstack([self.classes @ part for part in found.reshape(-1, m, len(a))])


class Exact(Solver):
    """Dual variables, scores up to date, and the best mixture of the dual points so far.

    Where K has one large eigenvalue, scores swing around the optimum long after the dual
    is near it. So what a round finds is mixed with the best before, by a line search.
    """

    unit = "rounds"
    looks = math.inf, 1.0  # rows of the kernel for a certificate only where it may do
    kept = ("alpha", "mixed", "working", "single", "dual", "primal", "update_seconds")
    grows = ("working",)
    w = np.zeros(0)  # see candidates()

    def __init__(self, objective: AllSamples):
        self.objective, batch = objective, objective.batch
        self.y, self.cost, self.single = batch.y, batch.cost, objective.single
        n, m = len(self.y), len(self.cost)
        self.alpha = np.zeros((n, m))
        self.alpha[np.arange(n), self.y] = objective.mass
        self.scores = np.zeros((m, n))
        self.working = np.zeros(0, np.int64)
        self.begin()

    def begin(self) -> None:
        """Nothing is known but the dual point that there is."""
        self.mixed, self.mixed_scores = self.signed(), self.scores.copy()
        self.square = float(np.vdot(self.mixed.T, self.mixed_scores))
        self.value, self.dual = self.judge()
        self.primal, self.bound, self.estimate = self.value, 0.0, math.inf
        self.blurred = self.cut_short = self.found = False
        self.stuck = ""

    def scale(self, factor: float) -> None:
        """The same dual point for masses that are larger by a factor."""
        self.objective.mass = self.objective.mass * factor
        self.alpha *= factor
        self.scores *= factor
        self.begin()

    def step(self) -> None:
        began, self.cut_short = time.perf_counter(), True
        if self.scores is None:  # of a checkpoint
            self.prove()
        if self.blurred:
            self._sharpen()
        moved = self.round()
        self.objective.oracle_calls += len(self.y)
        self.mix()
        if not moved and self.single:
            self.prove()
            self.blurred = True
        elif not moved:
            self.stuck = ROUNDED
        self.estimate = self.value if self._done() else math.inf
        self.found, self.cut_short = True, False
        self.update_seconds += time.perf_counter() - began

    def _done(self) -> bool:
        return self.value - self.dual <= self.objective.tol * self.value

    def columns(self) -> dict:
        return {"rows": self.objective.rows.computed}

    def signed(self) -> np.ndarray:
        return signed(self.alpha, self.y, self.objective.mass)

    def judge(self) -> tuple[float, float]:
        """(objective, dual), with the gap of every example."""
        arguments = self.scores, self.y, self.cost, self.objective.mass, self.alpha
        self.gaps, self.raised, risk, linear, square = judge(*arguments)
        return 0.5 * square + risk, linear - 0.5 * square

    def round(self) -> bool:
        """Visit the examples with the largest gaps; False if nothing moved."""
        n, several = len(self.y), int(len(self.cost) > 2)
        rows, classes = self.objective.rows, self.objective.classes
        most = min(WORKING[several], len(rows.values))
        some = self._violators(most) if most < n else np.arange(n)
        slots, table = rows.among(some)
        alpha = np.ascontiguousarray(self.alpha[some].T)
        v = self.scores[:, some] + self.cost[self.y[some]].T
        target = INNER[several] * float(self.gaps[some].sum())
        if several:
            ascend_sweeps(table, classes, v, alpha, target)
        ascend_pairs(table, classes, v, alpha, target, STEPS * len(some))
        return self._move(some, slots, np.ascontiguousarray(alpha.T))

    def _move(self, some, slots, after) -> bool:
        """Give some examples new dual variables; False if they are the old ones.

        Those of the truth follow from the others, which keep their digits where C is large.
        """
        objective, mass = self.objective, self.objective.mass
        before, places = self.alpha[some], np.arange(len(some))
        truth = places, self.y[some]
        after[truth] = 0.0
        after[truth] = np.maximum(mass[some] - after.sum(axis=1), 0.0)
        steps = before - after
        steps[truth] = 0.0
        steps[truth] = -steps.sum(axis=1)
        moved = np.flatnonzero(steps.any(axis=1))
        self.alpha[some[moved]] = after[moved]
        moves = slots[moved], steps[moved] @ objective.classes
        add_to_scores(objective.rows.values, *moves, self.scores, objective.team)
        return len(moved) > 0

    def _violators(self, most: int) -> np.ndarray:
        """Examples with large gaps, as many for each class whose scores they would raise.

        All of one kind together would push the scores of all others too far.
        """
        kept = self.working[len(self.working) - int(KEPT * most) :]
        # at first all are equal
        order = self.gaps * self.objective.rng.uniform(0.99, 1.0, len(self.y))
        order[kept] = 0.0
        found = [kept]
        each = -(-(most - len(kept)) // len(self.cost))
        for k in range(len(self.cost)):
            group = np.flatnonzero((self.raised == k) & (order > 0))
            if len(group) > each:
                group = group[np.argpartition(-order[group], each - 1)[:each]]
            found.append(group)
        self.working = np.concatenate(found)[:most]
        return self.working

    def mix(self) -> None:
        """Mix the best with what there is now."""
        value, dual = self.judge()
        self.dual = max(self.dual, dual)
        a, scores = self.signed(), self.scores
        own = float(np.vdot(a.T, scores))
        squares = self.square, np.vdot(self.mixed.T, scores), own
        known = self.y, self.cost, self.objective.mass
        t, found, square = best_between(self.mixed_scores, scores, *squares, *known)
        if value <= found:
            t, found, square = 1.0, value, own
        if found <= self.value:  # with a tiny C, all look the same
            with undisturbed():
                self.value, self.square = float(found), float(square)
                for mine, theirs in ((self.mixed, a), (self.mixed_scores, scores)):
                    mine *= 1 - t
                    mine += t * theirs
        self.primal = min(self.primal, self.value)
        self.dual = min(self.dual, self.value)

    def prove(self) -> None:
        """Scores of the dual point, and of the mixture, anew and in double precision."""
        objective, m = self.objective, len(self.cost)
        found = objective.scores_of(np.hstack([self.signed(), self.mixed]))
        self.scores, self.mixed_scores = found[:m], found[m:]
        self.square = float(np.vdot(self.mixed.T, self.mixed_scores))
        known = 0.0, self.y, self.cost, objective.mass
        risk = risk_between(self.mixed_scores, self.mixed_scores, *known)
        self.value, self.dual = 0.5 * self.square + risk, 0.0
        self.mix()
        self.blurred = self.single and not self._done()

    def _sharpen(self) -> None:
        self.objective.sharpen()
        self.single = self.blurred = False

    def doubt(self) -> None:
        """Go on from the dual point in double precision, and believe nothing else."""
        self._sharpen()
        self.prove()
        self.begin()

    def candidates(self) -> list:
        """The mixture, proved; without a proof where Ctrl-C comes for the second time."""
        again, self.cut_short = self.cut_short, True
        try:
            self.prove()
            self.bound = self.dual
        except KeyboardInterrupt:
            if not again:
                raise
            self.bound, self.objective.exact = 0.0, False
        self.cut_short = False
        sweep = worst(self.mixed_scores.T, self.y, self.cost)
        return [self.objective.known(self.mixed.ravel().copy(), self.value, sweep)]

    def exact_dual(self) -> float:
        return self.bound

    # checkpoints ------------------------------------------------------------------------

    def restore(self, state) -> None:
        sharp = self.single and state["single"] is False
        super().restore(state)
        if sharp:
            self._sharpen()
        self.single = self.objective.single
        self.scores, self.found = None, True

    def check_restored(self) -> None:
        super().check_restored()
        n, mass = len(self.y), self.objective.mass
        _check_point(self.alpha, mass, "alpha")
        mixed = -self.mixed
        mixed[np.arange(n), self.y] += mass
        _check_point(mixed, mass, "mixed")
        require_within(self.working, 0, n - 1, "working")
        distinct = len(np.unique(self.working)) == len(self.working)
        require(distinct, "working", "not distinct")

    def proved(self) -> float:
        self.prove()
        return self.dual


def train_exact(solver: Exact, limits: Limits) -> Solution:
    """Where rows of single precision say what cannot be, go on with those of double."""
    try:
        return train_machine(solver.objective, solver, limits)
    except LostPrecision:
        if not solver.single:
            raise
        solver.doubt()
        return train_machine(solver.objective, solver, replace(limits, checkpoint=None))


def _check_point(alpha: np.ndarray, mass: np.ndarray, name: str) -> None:
    """Dual variables of an example are not negative and add up to its mass."""
    slack = ROUNDING * mass[:, None]
    require((alpha >= -slack).all(), name, "negative")
    off = np.abs(alpha.sum(axis=1) - mass)
    require((off <= slack[:, 0]).all(), name, "not what adds up to C")
