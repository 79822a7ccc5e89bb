"""Log-loss where labels are hidden: the marginal likelihood.

    loss_i = -log sum_h p(y_i, h | x_i) = log Z(theta) - log Z(theta, clamped)

The sum goes over all completions h of what is known of example i: over all outputs, once
those that contradict it are impossible (``contract.known_sums``). Its gradient is the
spread of the difference between two expectations, so sums and ``spread`` are all it needs.
It is not convex: L-BFGS ends where the gradient vanishes, without a bound. An example of
which nothing is known has loss 0 at every w. (Quattoni et al. 2007, hidden conditional
random fields; Tsuboi et al. 2008 for partial annotations.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import extent, known_sums, score, spread, sums
from maxmargin.core.expectations import working_memory
from maxmargin.core.kernel import kernel, run
from maxmargin.solvers.log.log_objective import GradientObjective


class MarginalLikelihood(GradientObjective):
    """-log p of what is known, for L-BFGS."""

    convex = False

    def _gradient_range(self, lo, hi, w, losses, gradient) -> None:
        memory = run(working_memory, self.batch)
        arguments = (lo, hi, w, memory, self.mass, losses, gradient)
        run(marginal_gradient, self.batch, *arguments)


@kernel
def marginal_gradient(batch, lo, hi, w, memory, mass, losses, gradient):
    """losses[i] and, added to ``gradient``, sum_i C_i dloss_i / dw over a range."""
    theta, mu, work = memory
    known = np.zeros_like(mu)
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1] or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        total = sums(batch, i, theta, mu, work)
        total -= known_sums(batch, i, theta, known, work)
        losses[i] = max(total, 0.0)
        left, right = mu.ravel(), known.ravel()
        for k in range(extent(batch, i)):
            left[k] -= right[k]
        spread(batch, i, mass[i], mu, gradient)
