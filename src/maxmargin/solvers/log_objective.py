"""The conditional random field as an objective: log-loss in place of the hinge.

    primal  1/2 |w|^2 + sum_i C_i (log Z_i(w) - w.Psi(x_i, y_i))
    dual    sum_i C_i entropy(p_i) - 1/2 |w|^2,   w = sum_i C_i (Psi(x_i, y_i) - E_p_i Psi)

Both bound the optimum for any distributions p_i over labellings, so a conditional random
field gets the same certificate as a support vector machine. The hinge of an example is
its log-loss, its margin the score of the truth minus the mean score.
(Lafferty, McCallum & Pereira 2001; Collins et al. 2008 for the dual.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import rescale_scores, score, value
from maxmargin.core.kernel import kernel
from maxmargin.core.objective import Objective, Sweep
from maxmargin.tags.chain_sums import (
    exp_transitions,
    expected_score,
    make_sums,
    sum_labellings,
    sum_pairs,
)


class LogObjective(Objective):
    """An objective on a chain batch whose sweeps are log-losses."""

    def sums(self):
        batch = self.batch
        return make_sums(batch.n_labels, batch.width, batch.longest)

    def prepare(self) -> None:
        super().prepare()
        theta, _ = self._scoring_buffers()
        empty = Sweep(*np.zeros((3, 0)), np.zeros(0, np.int32))
        log_sweep(
            self.batch, 0, 0, self.weights(), 1.0, theta, self.sums(), self.mass, empty
        )

    def _sweep_range(self, lo, hi, w, multiple, result):
        theta, _ = self._scoring_buffers()
        return log_sweep(
            self.batch, lo, hi, w, multiple, theta, self.sums(), self.mass, result
        )


@kernel
def log_sweep(batch, lo, hi, w, multiple, theta, sums, mass, result):
    calls = 0
    n = batch.n_labels
    for i in range(lo, hi):
        length = batch.start[i + 1] - batch.start[i]
        if length == 0 or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        if multiple != 1.0:
            rescale_scores(batch, i, multiple, theta)
        taken = exp_transitions(theta, n, sums)
        total = sum_labellings(theta, n, length, taken, sums)
        sum_pairs(n, length, sums)
        truth = value(batch, i, theta, batch.y[batch.start[i] : batch.start[i + 1]])
        result.hinges[i] = max(total - truth, 0.0)
        result.losses[i] = 1.0
        result.margins[i] = truth - expected_score(theta, n, length, sums)
        calls += 1
    return calls
