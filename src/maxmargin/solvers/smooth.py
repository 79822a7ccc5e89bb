"""Smooth objectives minimised by L-BFGS, with L1 if wanted.

    1/2 |w|^2 + l1 |w|_1 + sum_i C_i loss_i(w)

(``log_objective.py``, ``tags/chain_gradients.py``). It is 1-strongly convex when the loss
is convex (log, exponential), so that any subgradient g at w proves

    optimum >= objective(w) - 1/2 |g|^2

which is the dual bound of the certificate. The marginal loss is not convex: its bound is
0, and the fit ends where the gradient vanishes.

With l1 > 0 the steps are those of OWL-QN (Andrew & Gao 2007): directions from the
gradient, kept in the orthant of the current signs.
"""

from __future__ import annotations

import numpy as np

from maxmargin.solvers.log_objective import LogObjective, norm1
from maxmargin.solvers.solver import Solver

MEMORY = 6  # pairs of steps and changes of the gradient
SLOPE = 1e-4
WARM_UP = 30  # iterations on an easier objective, where there is one
FLAT = 1e-3  # |g| / |w| at which a fit without a dual bound ends, times tol


class LBFGS(Solver):
    """One iteration per step; ``stationary`` when there is nothing left to gain."""

    def __init__(self, objective: LogObjective, planes=None):
        super().__init__(objective)
        self.gradient = None
        self.warm = False
        self.steps: list = []
        self.changes: list = []

    def prepare(self) -> None:
        self.objective.prepare_gradient()

    def _warm_up(self) -> None:
        objective = self.objective
        self.objective = objective.first
        for _ in range(WARM_UP):
            self.step()
        self.objective = objective
        self.gradient, self.steps, self.changes = None, [], []
        self.dual, self.stationary = 0.0, False

    def step(self) -> None:
        objective = self.objective
        if objective.first is not None and not self.warm:
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
