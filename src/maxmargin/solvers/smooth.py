"""Smooth objectives of a chain, minimised by L-BFGS, with L1 if wanted.

    1/2 |w|^2 + l1 |w|_1 + sum_i C_i loss_i(w)

(losses in ``tags/chain_gradients.py``). The objective is 1-strongly convex when the
loss is convex (log, exponential), so that any subgradient g at w proves

    optimum >= objective(w) - 1/2 |g|^2

which is the dual bound of the certificate. The marginal loss is not convex: its bound is
0, and the fit ends where the gradient vanishes.

With l1 > 0 the steps are those of OWL-QN (Andrew & Gao 2007): directions from the
gradient, kept in the orthant of the current signs.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.objective import Sweep
from maxmargin.engine.threads import over_ranges
from maxmargin.solvers.log_objective import LogObjective
from maxmargin.solvers.planes import sum_of_squares
from maxmargin.tags.chain_gradients import (
    EXPONENTIAL,
    LOG,
    MARGINAL,
    gradient_range,
)

KINDS = {"log": LOG, "marginal": MARGINAL, "exponential": EXPONENTIAL}
MEMORY = 6  # pairs of steps and changes of the gradient
SHARDS = 4  # gradients are summed in this many parts, whatever the number of threads
SLOPE = 1e-4
WARM_UP = 30  # iterations on the log-loss before the exponential one
FLAT = 1e-3  # |g| / |w| at which a fit without a dual bound ends, times tol


class SmoothObjective(LogObjective):
    """An objective that knows the gradient of its objective."""

    scalable = False

    def __init__(self, *args, kind: str, l1: float = 0.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.kind = self.last_kind = KINDS[kind]
        self.convex = kind != "marginal"
        self.l1 = l1

    @property
    def exact(self) -> bool:
        """Whether there is a bound: not on a loss that is not convex."""
        return self.convex

    def prepare(self) -> None:
        theta, _ = self._scoring_buffers()
        w, losses = self.weights(), np.zeros(self.n)
        arguments = (w, theta, self.sums(), self.mass, losses, w)
        gradient_range(self.batch, self.kind, 0, 0, *arguments)
        sum_of_squares(w[:0])

    def value_and_gradient(self, w):
        """(objective without l1, its gradient)."""
        losses, total = self._losses_and_pull(w)
        total += w
        self.oracle_calls += self.n
        return 0.5 * sum_of_squares(w) + float(self.mass @ losses), total

    def _losses_and_pull(self, w):
        """(loss of every example, sum_i C_i dloss_i / dw)."""
        losses = np.zeros(self.n)
        parts = {}

        def part(lo, hi):
            theta, _ = self._scoring_buffers()
            gradient = np.zeros(self.n_weights, self.dtype)
            arguments = (w, theta, self.sums(), self.mass, losses, gradient)
            gradient_range(self.batch, self.kind, lo, hi, *arguments)
            parts[lo] = gradient

        over_ranges(part, self.batch.start, self.n_jobs, shards=SHARDS)
        total = np.zeros_like(w)
        for lo in sorted(parts):
            total += parts.pop(lo)
        return losses, total

    def sweep(self, w, multiple=1.0) -> Sweep:
        """At w only: ``scalable`` is False, so no multiple is ever asked for."""
        empty = np.zeros(self.n)
        losses, _ = self._losses_and_pull(w)
        return Sweep(losses, empty, empty, np.zeros(0, np.int32))

    def primal(self, w, multiple=1.0):
        primal, multiple, sweep = super().primal(w, multiple)
        return primal + self.l1 * abs(multiple) * norm1(w), multiple, sweep


def norm1(w) -> float:
    return float(np.abs(w).sum(dtype=np.float64))


class LBFGS:
    """One iteration per step; ``stationary`` when there is nothing left to gain.

    The exponential loss starts where some iterations on the log-loss end: at w = 0 a few
    long sequences outweigh all others.
    """

    update_seconds = 0.0

    def __init__(self, objective: SmoothObjective, planes=None):
        self.objective = objective
        self.w = objective.weights()
        self.dual = 0.0
        self.estimate = np.inf
        self.stationary = False
        self.gradient = None
        self.warm = False
        self.steps: list = []
        self.changes: list = []

    def prepare(self) -> None:
        pass

    def candidates(self):
        return [self.w]

    def learn_from(self, sweep) -> None:
        pass

    def _warm_up(self) -> None:
        objective = self.objective
        objective.kind = LOG
        for _ in range(WARM_UP):
            self.step()
        objective.kind = objective.last_kind
        self.gradient, self.steps, self.changes = None, [], []
        self.dual, self.stationary = 0.0, False

    def step(self) -> None:
        objective = self.objective
        if self.gradient is None and objective.kind == EXPONENTIAL and not self.warm:
            self.warm = True
            self._warm_up()
        if self.gradient is None:
            self.smooth, self.gradient = objective.value_and_gradient(self.w)
            self.estimate = self.smooth + objective.l1 * norm1(self.w)
        slope = self._pseudo_gradient(self.w, self.gradient)
        direction = self._direction(slope)
        orthant = np.where(self.w != 0, np.sign(self.w), -np.sign(slope))
        along = _dot(slope, direction)
        if along >= 0:  # rounding has spoiled the memory
            self.steps, self.changes = [], []
            direction, along = -slope, -_dot(slope, slope)
        rate = 1.0
        if not self.steps:
            rate = 1.0 / max(np.sqrt(_dot(slope, slope)), 1.0)
        for _ in range(30):
            w = self.w + self.w.dtype.type(rate) * direction
            if objective.l1 > 0:
                w[np.sign(w) != orthant] = 0
            smooth, gradient = objective.value_and_gradient(w)
            value = smooth + objective.l1 * norm1(w)
            moved = w - self.w
            if value <= self.estimate + SLOPE * _dot(slope, moved):
                break
            rate *= 0.5
        else:
            self.stationary = True
            return
        self._remember(moved, gradient - self.gradient)
        gain = self.estimate - value
        self.w, self.smooth, self.gradient = w, smooth, gradient
        self.estimate = value
        slope = self._pseudo_gradient(w, gradient)
        squared = _dot(slope, slope)
        if objective.convex:
            self.dual = max(self.dual, value - 0.5 * squared)
        size = max(_dot(w, w), 1e-30)
        self.stationary = not objective.convex and (
            squared <= FLAT**2 * size or gain <= 1e-7 * abs(value)
        )

    def _pseudo_gradient(self, w, gradient):
        """The subgradient of smallest norm."""
        l1 = self.objective.l1
        if l1 == 0:
            return gradient
        toward = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0)
        return np.where(w != 0, gradient + l1 * np.sign(w), toward).astype(w.dtype)

    def _direction(self, slope):
        """-H slope by the two-loop recursion (Nocedal 1980)."""
        q = slope.copy()
        parts = []
        for s, d in zip(reversed(self.steps), reversed(self.changes), strict=True):
            a = _dot(s, q) / _dot(s, d)
            q -= q.dtype.type(a) * d
            parts.append(a)
        if self.steps:
            s, d = self.steps[-1], self.changes[-1]
            q *= q.dtype.type(_dot(s, d) / _dot(d, d))
        for (s, d), a in zip(
            zip(self.steps, self.changes, strict=True), reversed(parts), strict=True
        ):
            b = _dot(d, q) / _dot(s, d)
            q += q.dtype.type(a - b) * s
        q = -q
        if self.objective.l1 > 0:
            q[q * slope >= 0] = 0  # only downhill in every coordinate
        return q

    def _remember(self, step, change) -> None:
        if _dot(step, change) > 1e-10 * _dot(change, change):
            self.steps = [*self.steps, step][-MEMORY:]
            self.changes = [*self.changes, change][-MEMORY:]


def _dot(a, b) -> float:
    return float(np.dot(a, b))
