"""Without a dual: averaged perceptron and passive-aggressive steps.

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
    score,
)
from maxmargin.core.kernel import kernel, run
from maxmargin.core.state import require
from maxmargin.core.vectors import add_listed, squared_norm
from maxmargin.solvers.solver import Solver


class Online(Solver):
    """What both baselines share: one random pass per step, no dual."""

    kept = (*Solver.kept, "lagged", "steps")
    finite = (*Solver.finite, "lagged")
    minimises = False

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

    def _order(self):
        return self.objective.rng.permutation(self.objective.n)


class Perceptron(Online):
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
