"""One-slack cutting planes with a constraint cache.

The whole risk R(w) = sum_i C_i phi(H_i(w)) is bounded from below by cuts, one per round:

    R(w) >= offset_t - w.g_t,   from the most violated outputs at w_t

and the dual over t cuts is a tiny quadratic program, max a.offset - 1/2 a'Ga over the
simplex, on the matrix G = <g_s, g_t> (``simplex.py``). (Joachims, Finley & Yu 2009; Yu's
thesis, algorithms 3.1 and 3.2; for quadratic slacks the cut is the tangent of phi, as in
BMRM, Teo et al. 2010.)

Before calling the oracle, a cut is built from the planes stored per example; it is used
if it cuts deep enough. A round that used the cache never ends a fit: certificates are
always full sweeps.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import difference, loss, score_planes
from maxmargin.core.kernel import kernel, run
from maxmargin.core.rescale import offset_and_scale
from maxmargin.core.vectors import add_listed, copy_into
from maxmargin.solvers.block_coordinate import PlaneSolver
from maxmargin.solvers.checkpoints.cut_proofs import check_cuts, proved_by_cuts
from maxmargin.solvers.cutting_planes.simplex import ascend_simplex, solve_simplex
from maxmargin.solvers.planes import (
    make_planes,
    plane_values,
    store_planes,
    with_room,
)
from maxmargin.solvers.solver import Solver

IDLE_ROUNDS = 50  # after which a cut that carries no mass is dropped
CACHE_ROOM = 8  # planes kept per example: the last few outputs found
MAX_CACHED_ROUNDS = 20  # cuts from the cache between two calls of the oracle
DEEP_ENOUGH = 0.05  # share of the gap that a cut from the cache must close
INNER = 1e-3  # the quadratic program is solved to this share of the gap
ROUNDING = 1e-13  # ... but not beyond this share of its numbers
MAX_TURNS = 100  # between cuts and multipliers of signs


class Cut(NamedTuple):
    """R(w) >= offset - w.gradient, and R at the weights where that was found."""

    gradient: np.ndarray
    offset: float
    risk: float
    outputs: np.ndarray = np.zeros(0, np.int32)  # of which it is made, and their hinges
    hinges: np.ndarray = np.zeros(0)


class OneSlack(PlaneSolver):
    """See the module. Its planes are a cache: w and dual are those of the cuts."""

    kept = (
        *PlaneSolver.kept,
        "cuts",
        "offsets",
        "gram",
        "held",
        "alpha",
        "idle",
        "gap",
        "made_of",
    )
    grows = (*PlaneSolver.grows, "offsets", "gram", "held", "alpha", "idle")
    carries = False

    def __init__(self, objective, planes=None):
        if objective.hard:
            raise ValueError(
                'solver="one-slack" cannot take C=inf (one slack for all examples does '
                'not separate each of them); use "block-coordinate" or "n-slack".'
            )
        if planes is None:
            planes = make_planes(
                objective.batch, objective.form, objective.mass, CACHE_ROOM
            )
        else:  # those of an earlier fit are valid for every C
            room = max(CACHE_ROOM, planes.alpha.shape[1])
            planes = with_room(objective.batch, planes, room)
            planes.alpha[:] = 0.0
        super().__init__(objective, planes)
        self.start_cuts()

    def start_cuts(self) -> None:
        self.dual = 0.0
        # Cuts as (index, values): most features never take part. R >= 0 is the first.
        self.cuts = [(np.zeros(0, np.int32), np.zeros(0))]
        self.offsets = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.held = np.zeros((1, len(self.signs.at)))  # their parts that signs bind
        self.alpha = np.ones(1)
        self.idle = np.zeros(1, int)
        self.gap = np.inf
        # outputs (and hinges, if slacks are quadratic) of cuts, to prove them once more
        self.made_of = [(self.offsets[:0].astype(np.int32), self.offsets[:0])]

    def prepare(self) -> None:
        objective = self.objective
        outputs, zeros = objective.batch.y.copy(), np.zeros(objective.n)
        self.ask(store_planes, outputs, np.zeros(0, np.int64))
        self._sum(outputs, zeros, zeros)
        ascend_simplex(self.gram, self.offsets, self.alpha, 1.0, 1)

    def step(self) -> None:
        """One call of the oracle for all examples, then cuts from the cache."""
        cut = self.search()
        began = time.perf_counter()
        self.estimate = self.judged(0.5 * float(self.w @ self.w) + cut.risk)
        self._add(cut)
        self._solve()
        self.gap = max(self.estimate - self.dual, 0.0)
        for _ in range(MAX_CACHED_ROUNDS):
            before = self.dual
            self._add(self.recall())
            self._solve()
            late = time.perf_counter() >= self.objective.deadline
            if late or self.dual - before < DEEP_ENOUGH * self.gap:
                break
        self.forget()
        self.update_seconds += time.perf_counter() - began

    def search(self) -> Cut:
        """The cut of the most violated outputs at w, which are stored."""
        sweep = self.objective.sweep(self.w)
        cut = self._cut(sweep.outputs, sweep.hinges)
        self.learn_from(sweep)
        return cut

    def recall(self) -> Cut:
        """The cut of the most violated stored outputs at w."""
        outputs = self.objective.batch.y.copy()
        hinges = np.zeros(self.objective.n)
        self.ask(best_stored, self.buffers, self.w, outputs, hinges)
        return self._cut(outputs, hinges)

    def judged(self, value: float) -> float:
        """The best primal known, after the oracle found this one at w."""
        return value

    def learn_from(self, sweep) -> None:
        self.ask(store_planes, sweep.outputs, np.flatnonzero(sweep.hinges > 0))

    def _sum(self, outputs, slope, c) -> np.ndarray:
        """The gradient of the cut of these outputs; writes their offsets to c."""
        objective = self.objective
        g = np.zeros(objective.n_weights)
        arguments = (self.buffers, outputs, slope, c, g)
        run(add_cut, objective.batch, objective.form, *arguments)
        return g

    def _cut(self, outputs, hinges) -> Cut:
        objective = self.objective
        # phi is linearised at the hinge: phi(h) >= phi(H) + phi'(H) (h - H)
        slope = objective.mass * (hinges if objective.form.quadratic else 1.0)
        c = np.zeros(objective.n)
        g = self._sum(outputs, slope, c)
        offset = float(slope @ c)
        if objective.form.quadratic:
            offset -= float(0.5 * objective.mass @ hinges**2)
        risk = objective.primal_from_hinges(0.0, hinges)
        if objective.in_python:  # its numbers of outputs do not last
            return Cut(g, offset, risk)
        return Cut(
            g, offset, risk, outputs, hinges if objective.form.quadratic else hinges[:0]
        )

    def _add(self, cut: Cut) -> None:
        g = cut.gradient
        products = np.array([values @ g[index] for index, values in self.cuts])
        t = len(self.cuts)
        gram = np.zeros((t + 1, t + 1))
        gram[:t, :t] = self.gram
        gram[t, :t] = gram[:t, t] = products
        gram[t, t] = g @ g
        self.gram = gram
        index = np.flatnonzero(g).astype(np.int32)
        self.cuts.append((index, g[index]))
        self.made_of.append((cut.outputs, cut.hinges))
        self.held = np.vstack([self.held, g[self.signs.at]])
        self.offsets = np.append(self.offsets, cut.offset)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def _solve(self) -> None:
        """Ascend over the cuts far below the outer gap; drop cuts long idle."""
        scale = max(abs(self.dual), float(np.abs(self.offsets).max()), 1e-12)
        tolerance = INNER * min(self.gap, scale) if np.isfinite(self.gap) else 0.0
        tolerance = max(tolerance, ROUNDING * scale)
        self._ascend(tolerance)
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        keep = (self.idle <= IDLE_ROUNDS) | (np.arange(len(self.idle)) == 0)
        if not keep.all():
            self._drop(keep)
        w = self.mixture(self.alpha)
        w[self.signs.at] = np.maximum(w[self.signs.at], 0.0)
        self.w = w.astype(self.objective.dtype)
        # the value at the alpha found, whatever its precision: a true lower bound
        value = float(self.alpha @ self.offsets - 0.5 * self._squared())
        self.dual = max(self.dual, value)

    def _squared(self) -> float:
        """|w|^2 of the mixture, without what its signs cut off."""
        cut_off = np.minimum(self.alpha @ self.held, 0.0)
        return float(self.alpha @ self.gram @ self.alpha - cut_off @ cut_off)

    def _ascend(self, tolerance: float) -> None:
        """Over the cuts and, in turns, the multipliers of signs (:class:`Signs`)."""
        last = -np.inf
        for _ in range(MAX_TURNS if len(self.signs.at) else 1):
            push = -np.minimum(self.alpha @ self.held, 0.0)
            slopes = self.offsets - self.held @ push
            solve_simplex(self.gram, slopes, self.alpha, tolerance)
            value = self.alpha @ self.offsets - 0.5 * self._squared()
            if value - last <= 0.1 * tolerance:
                break
            last = value

    def _drop(self, keep) -> None:
        self.cuts = [cut for cut, kept in zip(self.cuts, keep, strict=True) if kept]
        self.made_of = [m for m, kept in zip(self.made_of, keep, strict=True) if kept]
        self.gram = np.ascontiguousarray(self.gram[np.ix_(keep, keep)])
        self.held = self.held[keep]
        self.offsets, self.alpha = self.offsets[keep], self.alpha[keep]
        self.idle = self.idle[keep]

    def check_restored(self) -> None:
        if self.planes is None:  # of shards, which have them
            Solver.check_restored(self)
        else:
            super().check_restored()
        check_cuts(self)

    def proved(self) -> float:
        return proved_by_cuts(self)

    def mixture(self, alpha) -> np.ndarray:
        """sum_t alpha_t g_t."""
        w = np.zeros(self.objective.n_weights)
        for a, (index, values) in zip(alpha, self.cuts, strict=True):
            if a > 0:
                w[index] += a * values
        return w


@kernel
def add_cut(batch, form, buffers, outputs, slope, c, g):
    """g <- sum_i slope_i r_i psi_i(output_i), and c_i of each output."""
    for i in range(len(batch.start) - 1):
        y = outputs[batch.start[i] : batch.start[i + 1]]
        if slope[i] == 0.0 or len(y) == 0:
            continue
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        c[i], r = offset_and_scale(form, loss(batch, i, y))
        m = difference(batch, i, y, 1.0, truth, 0.0, buffers.index, buffers.values)
        add_listed(g, slope[i] * r, buffers.index, buffers.values, m)


@kernel
def best_stored(batch, form, planes, buffers, w, outputs, hinges):
    """The most violated stored output of every example at w."""
    room = planes.alpha.shape[1]
    v = np.empty(room)
    for i in range(len(batch.start) - 1):
        count = planes.count[i]
        if count < 2 or planes.mass[i] == 0.0:
            continue
        size = batch.start[i + 1] - batch.start[i]
        first = batch.start[i] * room
        labellings = planes.labels[first : first + count * size]
        score_planes(batch, i, w, labellings, count, buffers.theta)
        plane_values(batch, form, planes, i, buffers.theta, v)
        best = 0
        for p in range(1, count):
            if v[p] > v[best]:
                best = p
        copy_into(outputs, batch.start[i], labellings[best * size :], size)
        hinges[i] = v[best]
