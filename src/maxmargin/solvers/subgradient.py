"""Stochastic subgradient descent with steps 1/k and averaging by k.

(Shalev-Shwartz et al. 2007; Lacoste-Julien, Schmidt & Bach 2012 for the average.) It has no
dual, as `online.py` says of its kind.
"""

from __future__ import annotations

from maxmargin.core.contract import difference, rescale_scores, score
from maxmargin.core.kernel import kernel, run
from maxmargin.core.oracle import most_violated
from maxmargin.core.rescale import offset_and_scale
from maxmargin.core.vectors import add_listed
from maxmargin.solvers.online import Online

SMALLEST_SCALE = 1e-6  # of w = scale * v, before v loses digits


class Subgradient(Online):
    """Works on w = scale * v, so that shrinking w costs nothing."""

    kept = (*Online.kept, "average", "passes")

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
