"""Without a dual: averaged perceptron, passive-aggressive, stochastic subgradient.

They share oracle and features with the exact solvers. Their dual bound is the trivial
one, 0, so their certificates prove little; use them to compare.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import (
    argmax,
    difference,
    loss,
    margin,
    rescale_scores,
    score,
)
from maxmargin.core.kernel import kernel, run
from maxmargin.core.oracle import most_violated
from maxmargin.core.rescale import offset_and_scale
from maxmargin.core.state import require
from maxmargin.core.vectors import add_listed, squared_norm
from maxmargin.solvers.solver import Solver

SMALLEST_SCALE = 1e-6  # of w = scale * v, before v loses digits


class _Online(Solver):
    """What both baselines share: one random pass per step, no dual."""

    kept = (*Solver.kept, "lagged", "steps")

    def __init__(self, objective, planes=None):
        super().__init__(objective)
        if objective.hard:
            raise ValueError(
                "C=inf needs an exact solver: block-coordinate or n-slack."
            )
        self.buffers = objective.buffers()
        self.lagged = objective.weights()  # sum of T(k - 1) * update k: lazy averages
        self.steps = 0

    def prepare(self) -> None:
        self._pass(np.zeros(0, np.int64))

    def check_restored(self) -> None:
        super().check_restored()
        require(self.dual == 0.0, "dual", "of no dual point")
        for name in ("lagged", "average"):
            array = getattr(self, name, self.w)
            require(np.isfinite(array).all(), name, "infinite")

    def _order(self):
        return self.objective.rng.permutation(self.objective.n)


class Perceptron(_Online):
    """Averaged perceptron (Collins 2002): w += psi(prediction) on every mistake."""

    aggressive = False

    def step(self) -> None:
        order = self._order()
        self.steps += self._pass(order)
        self.objective.oracle_calls += len(order)

    def _pass(self, order) -> int:
        return run(
            perceptron_pass,
            self.objective.batch,
            self.buffers,
            order,
            self.objective.mass,
            self.w,
            self.lagged,
            self.steps,
            self.aggressive,
        )

    def candidates(self):
        return [self.w - self.lagged / max(self.steps, 1)]


class PassiveAggressive(Perceptron):
    """Just enough of psi for a margin of the loss, at most C (Crammer et al. 2006).

    The most violated output in place of the prediction, the step
    min(C_i, hinge / |psi|^2), and the average of all weights.
    """

    aggressive = True


class Subgradient(_Online):
    """Stochastic subgradient descent with steps 1/k and averaging by k.

    (Shalev-Shwartz et al. 2007; Lacoste-Julien, Schmidt & Bach 2012 for the average.)
    Works on w = scale * v, so that shrinking w costs nothing.
    """

    kept = (*_Online.kept, "average", "passes")

    def __init__(self, objective, planes=None):
        super().__init__(objective)
        self.average = objective.weights()
        self.passes = 0

    def step(self) -> None:
        order = self._order()
        self.steps = self._pass(order)
        self.objective.oracle_calls += len(order)
        self.passes += 1
        self.average += (self.w - self.average) * (2.0 / (self.passes + 1))

    def _pass(self, order) -> int:
        return run(
            subgradient_pass,
            self.objective.batch,
            self.objective.form,
            self.buffers,
            order,
            self.objective.mass,
            self.w,
            self.steps,
        )

    def candidates(self):
        return [self.average, self.w]


@kernel
def perceptron_pass(batch, buffers, order, mass, w, lagged, steps, aggressive):
    theta, y = buffers.theta, buffers.y
    index, values = buffers.index, buffers.values
    for k in range(len(order)):
        i = order[k]
        size = batch.start[i + 1] - batch.start[i]
        if size == 0 or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        argmax(batch, i, theta, 1.0 if aggressive else 0.0, y)
        found = loss(batch, i, y[:size])
        if found <= 0.0:
            continue
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        m = difference(batch, i, y[:size], 1.0, truth, 0.0, index, values)
        step = 1.0
        if aggressive:
            squared = squared_norm(index, values, m, buffers.keys, buffers.sums)
            if squared <= 0.0:
                continue
            hinge = found - margin(batch, i, theta, y[:size])
            step = min(mass[i], max(hinge, 0.0) / squared)
        add_listed(w, step, index, values, m)
        add_listed(lagged, step * (steps + k), index, values, m)
    return len(order)


@kernel
def subgradient_pass(batch, form, buffers, order, mass, w, steps):
    """w <- (1 - 1/k) w + (n C_i / k) phi'(H_i) r psi for each example in order."""
    theta, y = buffers.theta, buffers.y
    n = len(order)
    scale = 1.0
    for i in order:
        steps += 1
        size = batch.start[i + 1] - batch.start[i]
        # start as if n steps had been taken: the first ones would be huge
        rate = 1.0 / (steps + n)
        if size > 0 and mass[i] > 0.0:
            score(batch, i, w, theta)
            rescale_scores(batch, i, scale, theta)
            bound, found, lead, _ = most_violated(batch, form, i, theta, y)
            if bound > 0.0:
                c, r = offset_and_scale(form, found)
                slope = mass[i] * (max(c - r * lead, 0.0) if form.quadratic else 1.0)
                truth = batch.y[batch.start[i] : batch.start[i + 1]]
                m = difference(
                    batch, i, y[:size], r, truth, 0.0, buffers.index, buffers.values
                )
                step = rate * n * slope / (scale * (1.0 - rate))
                add_listed(w, step, buffers.index, buffers.values, m)
        scale *= 1.0 - rate
        if scale < SMALLEST_SCALE:
            for j in range(len(w)):
                w[j] *= scale
            scale = 1.0
    for j in range(len(w)):
        w[j] *= scale
    return steps
