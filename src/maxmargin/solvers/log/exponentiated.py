"""Exponentiated gradient on the dual of the log objective, block by block.

The dual point of example i is the distribution p_i over its outputs that has part scores
theta_i of its own. A visit moves these scores towards the scores under w,

    theta_i <- theta_i + eta_i (theta(w) - theta_i)

and w with them. p_i is a fixed point when theta_i = theta(w), and the gap of the block is
C_i KL(p_i, p(w)), so at the optimum every theta_i is theta(w). A step that would lower the
dual is taken back and halved. eta_i follows the curvature seen at the last visit: along
the path, the entropy bends with the variance V of theta(w) - theta_i and |w|^2 with
|dw / d eta|^2, which together put the best step at

    eta = C V / (C V + |dw / d eta|^2).

Every theta_i starts with the true parts so far above all others that even all the mass
together moves w but little: a constant would leave the dual far below zero where C is
large. Most of the gap soon lies with a few blocks whose steps are short. They are visited
again at once, as long as that raises the dual faster than the whole round did. A p_i that
is certain of the truth does not change with theta_i until that is near enough to
theta(w): where nothing changes, theta_i moves on by large steps, at no cost.

With l1 > 0 the dual is sum_i C_i entropy(p_i) - 1/2 |w|^2 as well, where w is
v = sum_i C_i (Psi(x_i, y_i) - E_p_i Psi) moved towards zero by l1 in every coordinate: the
conjugate of 1/2 |w|^2 + l1 |w|_1. Steps change v, and w where v has changed
(``contract.shrink``); how much 1/2 |w|^2 bends on the way takes the place of |dw|^2.

Scores and expectations of all examples are kept (``gibbs.py``).
(Collins, Globerson, Koo, Carreras & Bartlett 2008. ``benchmarks/tagging.py`` prints the
passes and seconds to the objective of 100 L-BFGS iterations.)
"""

from __future__ import annotations

import time

import numpy as np

from maxmargin.core.contract import score, shrink, spread, spread_rows, sums
from maxmargin.core.expectations import places, working_memory
from maxmargin.core.kernel import inlined, kernel, run, summing
from maxmargin.core.row_changes import add_changed_rows, grown_by_rows, squared_rows
from maxmargin.core.state import require, require_within
from maxmargin.core.vectors import blend_into, sum_of_squares
from maxmargin.engine.threads import over_ranges
from maxmargin.solvers.checkpoints.proofs import ROUNDING, compare_weights
from maxmargin.solvers.log.gibbs import (
    Gibbs,
    exact_weights_of,
    gibbs_error,
    start_at_truth,
    weights_of,
)
from maxmargin.solvers.log.log_objective import LogObjective, finite_dot, shrunk
from maxmargin.solvers.log.row_steps import RowSteps
from maxmargin.solvers.schedule import Average, Schedule
from maxmargin.solvers.solver import Solver

CERTAIN = 1.5  # how far true parts start above the log of all mass
FIRST_STEP = 0.3  # eta before any curvature is known
RETRIES = 4  # steps tried in a visit until one raises the dual
SHORTER = 0.1  # a step is cut to this share at least ...
MUCH_SHORTER = 0.5  # ... and at most, when it has lowered the dual
LEAST_STEP = 1e-5  # curvature seen by smaller steps is rounding, and they never recover
AWAY = 0.5  # the step of a distribution that is too certain to feel any
FLAT = 100.0  # change of p_i, over the precision, below which it feels none
HOT = 2.0  # blocks of more than this many mean gaps are visited again
MOST_ROUNDS = 50  # of such visits after a pass
NEWEST = 0.35  # share of the newest weights in their average, at least
AT_ONCE = 1000  # examples whose scores are made double at a time


class Exponentiated(Solver):
    """See the module."""

    kept = (*Solver.kept, "gibbs", "eta", "schedule", "average")
    finite = (*Solver.finite, "unshrunk")
    unshrunk = None  # v, where that is not w

    def __init__(self, objective: LogObjective, planes=None):
        super().__init__(objective)
        if objective.l1 > 0:
            self.unshrunk = objective.weights()
            self.kept = (*self.kept, "unshrunk")
        place = places(objective.batch)
        self.gibbs = Gibbs(
            place=place,
            scores=np.zeros(place[-1], objective.dtype),
            expectations=np.zeros(place[-1], objective.dtype),
            entropy=np.zeros(objective.n),
        )
        self.eta = np.full(objective.n, FIRST_STEP)
        self.rows = RowSteps(objective)
        self._memories: list = []  # of threads
        self.memory = self._memory_of(0)
        self.schedule = Schedule(objective)
        self.slots = np.diff(objective.batch.start)
        confidence = np.log(max(objective.mass @ self.slots, 1.0)) + CERTAIN
        self._start(confidence)
        self._rebuild()
        self.average = Average(self.v, NEWEST)

    def _start(self, confidence: float) -> None:
        batch, team = self.objective.batch, self.objective.team

        def part(lo, hi):
            memory = self.memory if team.size == 1 else run(working_memory, batch)
            run(start_at_truth, batch, lo, hi, self.gibbs, memory, self.w, confidence)

        over_ranges(part, batch.start, team)

    @property
    def v(self) -> np.ndarray:
        """The weights before l1 moved them towards zero; w itself without l1."""
        return self.w if self.unshrunk is None else self.unshrunk

    def prepare(self) -> None:
        self._visit(np.zeros(0, np.int64))
        blend_into(self.w[:0], self.w[:0], 0.0)

    def step(self) -> None:
        objective, schedule, before = self.objective, self.schedule, self.dual
        self.rise(schedule.choose())
        began = time.perf_counter()
        schedule.passes += 1
        squared = self.average.take(self.v, schedule.passes, objective.team)
        if self.rows.shared:  # gains were estimates
            hoped = self.dual
            self.dual = self._dual(squared if objective.l1 == 0 else None)
            self.falls |= objective.team.heed(before, hoped, self.dual)
        self.estimate = self.dual + float(schedule.gaps.sum())
        self.update_seconds += time.perf_counter() - began

    def rise(self, order) -> None:
        """Visits in this order, then again to the blocks with the largest gaps."""
        schedule = self.schedule
        before, work = self.dual, 0
        for _ in range(MOST_ROUNDS):
            dual, cost = self.dual, int(self.slots[order].sum())
            schedule.in_chunks(order, self._visit)
            self.objective.oracle_calls += len(order)
            gain, work = self.dual - dual, work + cost
            hot = np.flatnonzero(schedule.gaps > HOT * schedule.gaps.mean())
            if len(hot) == 0 or gain * work < (self.dual - before) * cost:
                break
            order = schedule.shuffled(hot)

    def candidates(self):
        # Steps in single precision drift: make w exactly what the expectations say.
        self._rebuild()
        return [shrunk(self.average.w, self.objective.l1), self.w]

    def check_restored(self) -> None:
        super().check_restored()
        gibbs, batch = self.gibbs, self.objective.batch
        require(
            np.array_equal(gibbs.place, places(batch)), "place", "of other examples"
        )
        require((gibbs.scores < np.inf).all(), "scores", "infinite")
        for name in ("expectations", "entropy"):
            require(np.isfinite(getattr(gibbs, name)).all(), name, "infinite")
        require_within(self.eta, LEAST_STEP, 1.0, "eta")
        zeros = np.zeros(self.objective.n_weights, self.objective.dtype)
        most = run(gibbs_error, batch, gibbs, self.memory, zeros)
        slack = ROUNDING[self.objective.dtype]
        require(most <= slack, "expectations", "not that of the distributions")

    @property
    def drifts(self) -> bool:
        return self.objective.dtype == np.float32

    def exact_dual(self) -> float:
        v, entropy = self.exact_point()
        return entropy - 0.5 * sum_of_squares(shrunk(v, self.objective.l1))

    def exact_point(self, w=None) -> tuple[np.ndarray, float]:
        """v (added to w) and the entropy of the distributions that have the scores kept.

        In double precision, whatever the precision of what is kept beside the scores.
        """
        objective, place = self.objective, self.gibbs.place
        batch, mass, rows = objective.batch, objective.mass, self.rows
        w = np.zeros(objective.n_weights) if w is None else w

        def part(first, last):
            memory = run(working_memory, batch)
            change, entropy = rows.change(w.dtype), 0.0
            for lo in range(first, last, AT_ONCE):
                hi = min(lo + AT_ONCE, last)
                scores = self.gibbs.scores[place[lo] : place[hi]].astype(np.float64)
                arguments = lo, hi, place, scores, memory, mass, w, change, rows.locks
                entropy += run(exact_weights_of, batch, *arguments)
            return entropy

        return w, sum(rows.over_ranges(part, batch.start))

    def proved(self) -> float:
        saved = self.w.copy(), self.v.copy()
        self._rebuild()
        for claimed, found in zip(saved, (self.w, self.v), strict=True):
            compare_weights(claimed, found)
        return self.dual

    def _visit(self, order) -> None:
        objective, before = self.objective, self.dual
        flat = FLAT * float(np.finfo(objective.dtype).eps)

        def part(worker, blocks):
            return run(
                exponentiated_pass,
                objective.batch,
                self.gibbs,
                self._memory_of(worker),
                self.rows.change_of(worker),
                self.rows.locks,
                blocks,
                objective.mass,
                self.eta,
                self.w,
                self.v,
                float(objective.l1),
                self.schedule.gaps,
                flat,
                before,
            )

        most = objective.team.at_once(len(order)) if self.rows.shared else 1
        share = objective.team.share
        found = share(part, exponentiated_pass, order, most, self.slots)
        self.dual = found[0]
        self.dual += sum(total - before for total in found[1:])

    def _memory_of(self, worker: int):
        while len(self._memories) <= worker:
            self._memories.append(run(working_memory, self.objective.batch))
        return self._memories[worker]

    def _rebuild(self) -> None:
        """w and dual anew from the distributions."""
        objective = self.objective
        arguments = (self.gibbs, self.memory, objective.mass, self.v)
        run(weights_of, objective.batch, *arguments)
        if objective.l1 > 0:
            self.w[:] = shrunk(self.v, objective.l1)
        self.dual = self._dual()

    def _dual(self, squared: float | None = None) -> float:
        """From the entropies and |w|^2."""
        squared = sum_of_squares(self.w) if squared is None else squared
        return float(self.objective.mass @ self.gibbs.entropy) - 0.5 * squared


@summing
def blend(own, goal, eta, out):
    """out <- own + eta * (goal - own); what is impossible stays so."""
    e = out.dtype.type(eta)
    for k in range(len(own)):
        x = goal[k]
        out[k] = own[k] + e * (x - own[k]) if x > -np.inf else x


@summing
def change_of(mu, old, own, theta):
    """mu <- mu - old; returns <mu, theta> and <mu, own> of the change."""
    along, mine = 0.0, 0.0
    for k in range(len(old)):
        x, y = float(theta[k]), float(own[k])
        change = mu[k] - float(old[k])
        mu[k] = change
        along += change * (x if x > -np.inf else 0.0)
        mine += change * (y if y > -np.inf else 0.0)
    return along, mine


@inlined
def farthest(own, goal):
    """The largest |goal - own| of a part that is possible."""
    most = 0.0
    for k in range(len(own)):
        if goal[k] > -np.inf:
            most = max(most, abs(float(goal[k]) - float(own[k])))
    return most


@inlined
def try_change(batch, i, c, mu, along, new, change, by_rows, l1, w, v, mixed):
    """(|dw|^2 of w - c F_x^T mu, its rows): rows are only listed, else w changes."""
    count = 0
    if by_rows:
        count = spread_rows(batch, i, mu, change)
        if l1 > 0.0:
            grown = 0.5 * grown_by_rows(change, count, -c, v, l1, w)
            squared = max(2.0 * (grown + c * along), 0.0)
        else:
            squared = c * c * squared_rows(change, count)
    elif l1 > 0.0:
        spread(batch, i, -c, mu, v)
        squared = max(2.0 * (shrink(batch, i, v, l1, w) + c * along), 0.0)
    else:
        spread(batch, i, -c, mu, v)
        score(batch, i, w, mixed)
        after = finite_dot(new, mixed.ravel())
        # w.dw = -c along before and -c after after: |dw|^2 is their difference
        squared = max(-c * (after - along), 0.0)
    return squared, count


@inlined
def take_back(batch, i, c, mu, l1, w, v):
    spread(batch, i, c, mu, v)
    if l1 > 0.0:
        shrink(batch, i, v, l1, w)


@kernel
def exponentiated_pass(
    batch,
    gibbs,
    memory,
    change,
    locks,
    order,
    mass,
    eta,
    w,
    v,
    l1,
    gaps,
    flat,
    dual,
):
    """Visit blocks in order; writes gaps (estimates), returns the new dual.

    Gains are added up block by block: no matter where a pass is cut into calls.
    """
    theta, mu, work = memory
    by_rows = len(locks) > 0
    mixed = np.empty_like(theta)
    scores, others = theta.ravel(), mixed.ravel()
    for i in order:
        c = mass[i]
        if batch.start[i] == batch.start[i + 1] or c == 0.0:
            gaps[i] = 0.0
            continue
        own = gibbs.scores[gibbs.place[i] : gibbs.place[i + 1]]
        old = gibbs.expectations[gibbs.place[i] : gibbs.place[i + 1]]
        new = mu.ravel()[: len(own)]
        score(batch, i, w, theta)
        step = eta[i]
        unmoved = False
        for attempt in range(RETRIES):
            blend(own, scores, step, others)
            total = sums(batch, i, mixed, mu, work)
            entropy = max(total - finite_dot(new, others), 0.0)
            along, mine = change_of(new, old, own, scores)
            variance = max((along - mine) / step, 0.0)
            unmoved = attempt == 0 and step * variance < flat
            if unmoved:
                break
            squared, count = try_change(
                batch, i, c, mu, along, new, change, by_rows, l1, w, v, mixed
            )
            gain = c * (entropy - gibbs.entropy[i]) + c * along - 0.5 * squared
            bend = c * variance
            best = bend / (bend + squared / step**2) if bend > 0.0 else step
            if gain >= 0.0:
                if by_rows:
                    add_changed_rows(change, count, -c, v, l1, w, locks)
                break
            if not by_rows:
                take_back(batch, i, c, mu, l1, w, v)
            step = min(max(best, SHORTER * step), MUCH_SHORTER * step)
        if unmoved:
            gaps[i] = c if farthest(own, scores) > 1.0 else 0.0
            blend(own, scores, step, own)
            eta[i] = max(step, AWAY)
            continue
        if gain < 0.0:
            eta[i] = max(step, LEAST_STEP)
            gaps[i] = 0.0  # nothing to gain but rounding
            continue
        gaps[i] = 0.5 * c * variance
        dual += gain
        gibbs.entropy[i] = entropy
        blend(own, scores, step, own)
        for k in range(len(old)):
            old[k] = float(old[k]) + new[k]
        eta[i] = min(max(best, LEAST_STEP), 1.0)
    return dual
