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

Rows may be kept in single precision. What is said in the end is proved in double precision
(:meth:`Ascent.prove`); where the gap is then more than ``tol``, rounds go on with rows of
double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.kernel_svm.clock import INTERRUPTED, Clock, Progress
from maxmargin.kernel_svm.keeping import AscentKeeper
from maxmargin.kernel_svm.linear import signed
from maxmargin.kernel_svm.mixing import Best
from maxmargin.kernel_svm.pairs import ascend_pairs
from maxmargin.kernel_svm.rows import Rows, Table
from maxmargin.kernel_svm.scores import judge, scores_of, spread
from maxmargin.kernel_svm.sweeps import ascend_sweeps

WORKING = 256, 512  # examples of a round, at most, of two classes and of several
KEPT = 0.5  # share of them that stays for the next: else they would soon be back
INNER = 0.1, 0.3  # share of their gap that is left to the next round, likewise
STEPS = 10  # of a round, at most, for each of them
MAX_ROUNDS = 100_000  # where no limit was asked for
ROUNDED = "ended, as rounding allows no more steps,"


@dataclass
class Machine:
    """Signed dual variables (n, classes) of the best objective, and what is proved.

    Where Ctrl-C came between, the bounds are not ``proved`` in double precision.
    """

    a: np.ndarray
    primal: float
    dual: float
    history: list
    status: str
    proved: bool = True


class Ascent:
    """Dual variables, scores up to date, and rows of the kernel's table.

    Rows are those of a ``table``; with ``single`` they begin in single precision.
    """

    def __init__(self, problem, table: Table, rng, single: bool):
        self.table, self.rng = table, rng
        self.y = np.ascontiguousarray(problem.y, np.int64)
        self.cost = np.ascontiguousarray(problem.cost, np.float64)
        m, n = len(self.cost), len(self.y)
        lines = np.eye(m) if problem.lines is None else problem.lines
        self.classes = lines @ lines.T
        self.mass = np.array(problem.mass, np.float64)  # of its own: see scale()
        self.alpha = np.zeros((n, m))
        self.alpha[np.arange(n), self.y] = self.mass
        self.scores = np.zeros((m, n))
        self.working = np.zeros(0, np.int64)
        self.rows: Rows = table.rows(np.float32 if single else np.float64)

    @property
    def single(self) -> bool:
        return self.rows.values.dtype == np.float32

    def scale(self, factor: float) -> None:
        """The same dual point for masses that are larger by a factor."""
        self.mass *= factor
        self.alpha *= factor
        self.scores *= factor

    def signed(self) -> np.ndarray:
        return signed(self.alpha, self.y, self.mass)

    def judge(self) -> tuple[float, float]:
        """(objective, dual), with the gap of every example."""
        arguments = self.scores, self.y, self.cost, self.mass, self.alpha
        self.gaps, self.raised, risk, linear, square = judge(*arguments)
        return 0.5 * square + risk, linear - 0.5 * square

    def round(self) -> bool:
        """Visit the examples with the largest gaps; False if nothing moved."""
        n, several = len(self.y), int(len(self.cost) > 2)
        most = min(WORKING[several], len(self.rows.values))
        some = self._violators(most) if most < n else np.arange(n)
        slots, table = self.rows.among(some)
        alpha = np.ascontiguousarray(self.alpha[some].T)
        v = self.scores[:, some] + self.cost[self.y[some]].T
        target = INNER[several] * float(self.gaps[some].sum())
        if several:
            ascend_sweeps(table, self.classes, v, alpha, target)
        ascend_pairs(table, self.classes, v, alpha, target, STEPS * len(some))
        return self._move(some, slots, np.ascontiguousarray(alpha.T))

    def _move(self, some, slots, after) -> bool:
        """Give some examples new dual variables; False if they are the old ones.

        Those of the truth follow from the others, which keep their digits where C is large.
        """
        before, places = self.alpha[some], np.arange(len(some))
        truth = places, self.y[some]
        after[truth] = 0.0
        after[truth] = np.maximum(self.mass[some] - after.sum(axis=1), 0.0)
        steps = before - after
        steps[truth] = 0.0
        steps[truth] = -steps.sum(axis=1)
        moved = np.flatnonzero(steps.any(axis=1))
        self.alpha[some[moved]] = after[moved]
        spread(self.rows.values, slots[moved], steps[moved] @ self.classes, self.scores)
        return len(moved) > 0

    def _violators(self, most: int) -> np.ndarray:
        """Examples with large gaps, as many for each class whose scores they would raise.

        All of one kind together would push the scores of all others too far.
        """
        kept = self.working[len(self.working) - int(KEPT * most) :]
        # at first all are equal
        order = self.gaps * self.rng.uniform(0.99, 1.0, len(self.y))
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

    def prove(self, best: Best) -> None:
        """Scores of the dual point, and of the best one, anew and in double precision."""
        m, compute = (
            len(self.cost),
            self.table.compute if self.single else self.rows.get,
        )
        found = scores_of(compute, np.hstack([self.signed(), best.a]))
        self.scores = self.classes @ found[:m]
        best.restart(self, self.classes @ found[m:])

    def sharpen(self) -> None:
        """Rows of double precision from now on."""
        computed, self.rows = self.rows.computed, None
        self.rows = self.table.rows(np.float64)
        self.rows.computed = computed


def solve_exact(ascent: Ascent, limits, clock: Clock) -> Machine:
    """Rounds until the relative gap is at most ``tol``, or a limit is reached."""
    best, history = Best(ascent), []
    progress, most = Progress(limits, clock), limits.max_iter or MAX_ROUNDS
    keeper = AscentKeeper(limits, ascent, best, history)
    clock.began -= keeper.seconds
    status, proved = keeper.ended(limits.tol), bool(history)
    if history and not status and len(history) >= most:
        status = f"stopped after max_iter={most} rounds"
    try:
        while not status:
            proved, moved = False, ascent.round()
            best.see(ascent)
            row = {"iteration": len(history) + 1, "seconds": clock.seconds()}
            row |= best.bounds() | {"rows": ascent.rows.computed}
            history.append(row)
            if best.reached(limits.tol) or not moved:
                ascent.prove(best)
                proved = True
                row.update(best.bounds(), seconds=clock.seconds())
                if best.reached(limits.tol):
                    status = "converged"
                elif ascent.single:
                    ascent.sharpen()
                elif not moved:
                    status = ROUNDED
            progress(row)
            if not status and len(history) >= most:
                status = f"stopped after max_iter={most} rounds"
            status = status or progress.status
            keeper.look(status)
    except KeyboardInterrupt:
        keeper.interrupted()
        if not history:  # no round was made
            raise
        status = INTERRUPTED
    bounds = best.bounds()
    try:
        if not proved:
            ascent.prove(best)
            proved, bounds = True, best.bounds()
    except KeyboardInterrupt:  # the dual of rounded scores is no bound
        status = INTERRUPTED
        bounds |= {"dual": 0.0, "gap": bounds["primal"]}
    history[-1].update(bounds)
    progress.end()
    return Machine(best.a, bounds["primal"], bounds["dual"], history, status, proved)
