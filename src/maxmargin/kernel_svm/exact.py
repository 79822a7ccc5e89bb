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
gaps is gone, which needs the kernel between them only, and then brings the scores of all
up to date, which needs their rows of K. Rows are kept while there is room (``rows.py``).
(Working sets: Joachims 1999; many classes: Crammer & Singer 2001. There is no intercept,
so that one example can be moved alone.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.core.interrupts import Undisturbed
from maxmargin.core.kernel import inlined, kernel
from maxmargin.kernel_svm.clock import INTERRUPTED, Clock, Progress
from maxmargin.kernel_svm.rows import Rows

WORKING = 512  # examples of a round, at most
KEPT = 0.5  # share of them that stays for the next: else they would soon be back
LEAST_ROWS = 100  # of the kernel's table that memory must hold
INNER = 0.1  # share of their gap that is left to the next round
SWEEPS = 100  # over them, at most
SOLVED = 0.1  # share of an example's gap that its block may keep
STEPS_PER_CLASS = 4  # pairwise steps within a block, at most
MAX_ROUNDS = 100_000  # where no limit was asked for
SECTIONS = 8  # of a line search
TILE = 1024  # scores of so many examples stay in the processor's cache


class Best:
    """The signed dual variables with the smallest objective so far, and their scores.

    Where K has one large eigenvalue, scores swing around the optimum long after the dual
    is near it. So what a round finds is mixed with the best before, by a line search.
    """

    def __init__(self, ascent: Ascent):
        self.a, self.scores = ascent.signed(), ascent.scores.copy()
        self.square = np.vdot(self.a.T, self.scores)
        self.primal, self.dual = ascent.judge()

    def see(self, ascent: Ascent) -> None:
        """Mix with what the ascent has now."""
        primal, dual = ascent.judge()
        self.dual = max(self.dual, dual)
        a, scores = ascent.signed(), ascent.scores
        cross = np.vdot(self.a.T, scores)
        own = np.vdot(a.T, scores)
        known = ascent.y, ascent.cost, ascent.mass

        def objective(t):
            square = (1 - t) ** 2 * self.square + 2 * t * (1 - t) * cross + t * t * own
            return 0.5 * square + risk_between(self.scores, scores, t, *known), square

        t = _minimum(lambda t: objective(t)[0])
        found, square = objective(t)
        if primal <= found:
            t, found, square = 1.0, primal, own
        if found < self.primal:
            with Undisturbed():
                self.primal, self.square = found, square
                for mine, theirs in ((self.a, a), (self.scores, scores)):
                    mine *= 1 - t
                    mine += t * theirs
        self.dual = min(self.dual, self.primal)


def _minimum(f) -> float:
    """Of a convex function on [0, 1], by golden sections."""
    shrink = (5**0.5 - 1) / 2
    low, high = 0.0, 1.0
    left, right = 1 - shrink, shrink
    at_left, at_right = f(left), f(right)
    for _ in range(SECTIONS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - shrink * (high - low)
            at_left = f(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + shrink * (high - low)
            at_right = f(right)
    return left if at_left < at_right else right


@dataclass
class Machine:
    """Signed dual variables (n, classes) of the best objective, and what is proved."""

    a: np.ndarray
    primal: float
    dual: float
    history: list
    status: str


class Ascent:
    """Dual variables, scores up to date, and rows of the kernel's table."""

    def __init__(self, problem, rows: Rows, rng):
        self.y = np.ascontiguousarray(problem.y, np.int64)
        self.cost = np.ascontiguousarray(problem.cost, np.float64)
        self.rows, self.rng = rows, rng
        m, n = len(self.cost), len(self.y)
        lines = np.eye(m) if problem.lines is None else problem.lines
        self.classes = lines @ lines.T
        self.mass = np.array(problem.mass, np.float64)  # of its own: see scale()
        self.alpha = np.zeros((n, m))
        self.alpha[np.arange(n), self.y] = self.mass
        self.scores = np.zeros((m, n))
        self.working = np.zeros(0, np.int64)

    def scale(self, factor: float) -> None:
        """The same dual point for masses that are larger by a factor."""
        self.mass *= factor
        self.alpha *= factor
        self.scores *= factor

    def signed(self) -> np.ndarray:
        a = -self.alpha
        a[np.arange(len(self.y)), self.y] += self.mass
        return a

    def judge(self) -> tuple[float, float]:
        """(objective, dual), with the gap of every example."""
        arguments = self.scores, self.y, self.cost, self.mass, self.alpha
        self.gaps, self.raised, risk, linear, square = judge(*arguments)
        return 0.5 * square + risk, linear - 0.5 * square

    def round(self) -> bool:
        """Visit the examples with the largest gaps; False if nothing moved."""
        n, most = len(self.y), min(WORKING, len(self.rows.values))
        some = self._violators(most) if most < n else np.arange(n)
        slots = self.rows.slots(some)
        table = self.rows.values[slots[:, None], some].astype(np.float64)
        before = self.alpha[some]
        alpha, scores = before.copy(), np.ascontiguousarray(self.scores[:, some])
        known = self.y[some], self.cost, self.mass[some]
        target = INNER * float(self.gaps[some].sum())
        ascend(table, self.classes, scores, *known, alpha, target, SWEEPS)
        moved = np.flatnonzero((alpha != before).any(axis=1))
        self.alpha[some[moved]] = alpha[moved]
        steps = (before[moved] - alpha[moved]) @ self.classes
        spread(self.rows.values, slots[moved], steps, self.scores)
        return len(moved) > 0

    def _violators(self, most: int) -> np.ndarray:
        """Examples with large gaps, as many for each class whose scores they would raise.

        All of one kind together would push the scores of all others too far.
        """
        kept = self.working[len(self.working) - int(KEPT * most) :]
        order = self.gaps * self.rng.uniform(
            0.99, 1.0, len(self.y)
        )  # at first all equal
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


def solve_exact(ascent: Ascent, limits, clock: Clock) -> Machine:
    """Rounds until the relative gap is at most ``tol``, or a limit is reached."""
    best, history, status = Best(ascent), [], ""
    progress, most = Progress(limits, clock), limits.max_iter or MAX_ROUNDS
    try:
        while not status:
            moved = ascent.round()
            best.see(ascent)
            gap = best.primal - best.dual
            row = {
                "iteration": len(history) + 1,
                "seconds": clock.seconds(),
                "primal": best.primal,
                "dual": best.dual,
                "gap": gap,
                "rows": ascent.rows.computed,
            }
            history.append(row)
            progress(row)
            if gap <= limits.tol * best.primal:
                status = "converged"
            elif not moved:
                status = "ended, as rounding allows no more steps,"
            elif len(history) >= most:
                status = f"stopped after max_iter={most} rounds"
            else:
                status = progress.status
    except KeyboardInterrupt:
        status = INTERRUPTED
    progress.end()
    return Machine(best.a, best.primal, best.dual, history, status)


# compiled ---------------------------------------------------------------------------------


@kernel
def judge(scores, y, cost, mass, alpha):
    """(gaps, classes to raise, risk, sum of alpha times cost, sum of a times scores)."""
    m, n = scores.shape
    gaps, raised = np.empty(n), np.empty(n, np.int64)
    risk, linear, square = 0.0, 0.0, 0.0
    for i in range(n):
        truth = y[i]
        base, top, mean = scores[truth, i], 0.0, 0.0
        lowest = np.inf
        raised[i] = truth
        for k in range(m):
            v = scores[k, i] + cost[truth, k] - base
            top = max(top, v)
            if alpha[i, k] > 0.0 and v < lowest:
                lowest = v
                raised[i] = k
            mean += alpha[i, k] * v
            linear += alpha[i, k] * cost[truth, k]
            square += alpha[i, k] * (base - scores[k, i])
        risk += mass[i] * top
        gaps[i] = max(mass[i] * top - mean, 0.0)
    return gaps, raised, risk, linear, square


@kernel
def risk_between(first, second, t, y, cost, mass):
    """The risk of scores (1 - t) first + t second."""
    m, n = first.shape
    total = 0.0
    for i in range(n):
        truth = y[i]
        base = (1 - t) * first[truth, i] + t * second[truth, i]
        top = 0.0
        for k in range(m):
            score = (1 - t) * first[k, i] + t * second[k, i]
            top = max(top, score + cost[truth, k] - base)
        total += mass[i] * top
    return total


@kernel
def ascend(table, classes, scores, y, cost, mass, alpha, target, sweeps):
    """Move the dual variables of a working set until its gaps sum up to `target`."""
    m, q = scores.shape
    v, new, step = np.empty(m), np.empty(m), np.empty(m)
    for _ in range(sweeps):
        total = 0.0
        for i in range(q):
            truth = y[i]
            base = scores[truth, i]
            for k in range(m):
                v[k] = scores[k, i] + cost[truth, k] - base
                new[k] = alpha[i, k]
            gap = solve_block(v, new, mass[i], table[i, i], classes)
            if gap <= 0.0:
                continue
            total += gap
            for k in range(m):
                step[k] = 0.0
            for k in range(m):
                change = alpha[i, k] - new[k]
                alpha[i, k] = new[k]
                if change != 0.0:
                    for j in range(m):
                        step[j] += change * classes[k, j]
            for k in range(m):
                if step[k] != 0.0:
                    for j in range(q):
                        scores[k, j] += step[k] * table[i, j]
        if total <= target:
            break


@inlined
def solve_block(v, new, mass, square, classes):
    """Steps between classes of one example; v and the dual variables change in place.

    Mass moves to the most violated class s from the partner with which the dual gains
    most. Returns the gap before, 0 if there is nothing to gain.
    """
    m = len(v)
    first = 0.0
    for t in range(STEPS_PER_CLASS * m):
        s, mean = 0, 0.0
        for k in range(m):
            mean += new[k] * v[k]
            if v[k] > v[s]:
                s = k
        gap = mass * v[s] - mean
        if t == 0:
            first = gap
        if gap <= 1e-15 * mass * v[s] or gap < SOLVED * first:
            break
        partner, best, size = -1, 0.0, 0.0
        for k in range(m):
            lead = v[s] - v[k]
            if new[k] > 0.0 and lead > 0.0:
                curve = square * (classes[s, s] + classes[k, k] - 2.0 * classes[s, k])
                move = new[k]
                if curve * move > lead:
                    move = lead / curve
                gain = move * (lead - 0.5 * move * curve)
                if gain > best:
                    partner, best, size = k, gain, move
        if partner < 0:
            break
        new[s] += size
        new[partner] -= size
        for k in range(m):
            v[k] += size * square * (classes[k, partner] - classes[k, s])
    return first


@kernel
def spread(rows, slots, steps, scores):
    """Add sum_i steps[i, k] times row i to the scores of class k."""
    m, n = scores.shape
    for low in range(0, n, TILE):
        high = min(low + TILE, n)
        for i in range(len(slots)):
            row = rows[slots[i], low:high]
            for k in range(m):
                factor = steps[i, k]
                if factor != 0.0:
                    out = scores[k, low:high]
                    for j in range(high - low):
                        out[j] += factor * row[j]
