"""Log-loss in place of the hinge: conditional random fields over any structure.

    primal  1/2 |w|^2 + l1 |w|_1 + sum_i C_i (log Z_i(w) - w.Psi(x_i, y_i))
    dual    sum_i C_i entropy(p_i) - 1/2 |w|^2,   v = sum_i C_i (Psi(x_i, y_i) - E_p_i Psi)

where w is v with every coordinate moved towards zero by l1. The dual bounds the optimum for
any distributions p_i over outputs, so a conditional random field gets the same certificate
as a support vector machine. The hinge of an example is its log-loss, its margin the score
of the truth minus the mean score. All it asks of a structure are ``sums``, ``parts`` and
``spread`` (``core/contract.py``): chains make a conditional random field, classes
multinomial logistic regression, trees a conditional random field of derivations.
(Lafferty, McCallum & Pereira 2001; Collins et al. 2008 for the dual.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import (
    extent,
    parts,
    probabilistic,
    rescale_scores,
    score,
    spread,
    sums,
    value,
)
from maxmargin.core.expectations import places, working_memory
from maxmargin.core.kernel import kernel, run, summing
from maxmargin.core.objective import Objective, Sweep
from maxmargin.core.vectors import sum_of_squares
from maxmargin.engine.threads import over_ranges
from maxmargin.solvers.registry import no_sums

SHARDS = 4  # gradients are summed in this many parts, whatever the number of threads
MOST_PARTS = (
    1 << 27
)  # of all examples, up to which distributions are kept in memory ...
MORE_PARTS = 12  # ... and in any case up to so many per weight: L-BFGS takes more


class LogObjective(Objective):
    """Log-losses, their gradients, and an l1 norm if wanted."""

    convex = True
    first: Objective | None = None  # an easier one that L-BFGS should begin with

    def __init__(self, *arguments, l1: float = 0.0):
        super().__init__(*arguments)
        if not isinstance(self.batch, tuple) or not probabilistic(self.batch):
            raise ValueError(no_sums("log", "this structure has no sums"))
        self.l1 = l1
        self.exact = self.convex  # else there is no bound

    @property
    def scalable(self) -> bool:
        return self.l1 == 0

    @property
    def solver(self) -> str:
        return self.solver_for(1.0)

    def solver_for(self, times: float) -> str:
        """Exponentiated gradient first, unless too many parts forbid it.

        There are so many times the parts of the batch, which may be one piece of all.
        """
        most = max(MOST_PARTS, MORE_PARTS * self.n_weights)
        if times * places(self.batch)[-1] > most:
            return "lbfgs"
        return "handover"

    def prepare(self) -> None:
        empty = Sweep(*np.zeros((3, 0)), np.zeros(0, np.int32))
        w = self.weights()
        self._sweep_range(0, 0, w, 1.0, empty)
        sum_of_squares(w[:0])

    def prepare_gradient(self) -> None:
        """Compile the kernels of value_and_gradient()."""
        w = np.zeros(self.n_weights)
        self._gradient_range(0, 0, w, np.zeros(0), w)
        sum_of_squares(w[:0])

    def _sweep_range(self, lo, hi, w, multiple, result):
        memory = run(working_memory, self.batch)
        arguments = (lo, hi, w, multiple, memory, self.mass, result)
        return run(log_sweep, self.batch, *arguments)

    def _gradient_range(self, lo, hi, w, losses, gradient) -> None:
        memory = run(working_memory, self.batch)
        arguments = (lo, hi, w, memory, self.mass, losses, gradient)
        run(log_gradient, self.batch, *arguments)

    def primal(self, w, multiple=1.0):
        primal, multiple, sweep = super().primal(w, multiple)
        return primal + self.l1 * abs(multiple) * norm1(w), multiple, sweep

    def value_and_gradient(self, w):
        """(objective without l1, its gradient), in double precision."""
        losses, total = self.losses_and_pull(w)
        total += w
        self.oracle_calls += self.n
        return 0.5 * sum_of_squares(w) + float(self.mass @ losses), total

    def losses_and_pull(self, w):
        """(loss of every example, sum_i C_i dloss_i / dw)."""
        losses, w = np.zeros(self.n), w.astype(np.float64, copy=False)
        shares = {}

        def part(lo, hi):
            shares[lo] = np.zeros(self.n_weights)
            self._gradient_range(lo, hi, w, losses, shares[lo])

        over_ranges(part, self.batch.start, self.team, shards=SHARDS)
        total = np.zeros_like(w)
        for lo in sorted(shares):
            total += shares.pop(lo)
        return losses, total


class GradientObjective(LogObjective):
    """Losses other than the log-loss of a known truth, which only L-BFGS minimises."""

    scalable = False
    solver = "lbfgs"

    def prepare(self) -> None:
        self.prepare_gradient()

    def sweep(self, w, multiple=1.0) -> Sweep:
        """At w only: ``scalable`` is False, so no multiple is ever asked for."""
        empty = np.zeros(self.n)
        losses, _ = self.losses_and_pull(w)
        return Sweep(losses, empty, empty, np.zeros(0, np.int32))


def shrunk(v, l1: float):
    """sign(v) max(|v| - l1, 0), the w of the dual; v itself without l1."""
    if l1 == 0:
        return v
    l1 = v.dtype.type(l1)
    return np.maximum(v - l1, 0) + np.minimum(v + l1, 0)


def norm1(w) -> float:
    return float(np.abs(w).sum(dtype=np.float64))


@kernel
def log_sweep(batch, lo, hi, w, multiple, memory, mass, result):
    theta, mu, work = memory
    calls = 0
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1] or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        if multiple != 1.0:
            rescale_scores(batch, i, multiple, theta)
        total = sums(batch, i, theta, mu, work)
        truth = value(batch, i, theta, batch.y[batch.start[i] : batch.start[i + 1]])
        result.hinges[i] = max(total - truth, 0.0)
        result.losses[i] = 1.0
        size = extent(batch, i)
        result.margins[i] = truth - finite_dot(mu.ravel()[:size], theta.ravel())
        calls += 1
    return calls


@kernel
def log_gradient(batch, lo, hi, w, memory, mass, losses, gradient):
    """losses[i] and, added to ``gradient``, sum_i C_i dloss_i / dw over a range."""
    theta, mu, work = memory
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1] or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        total = sums(batch, i, theta, mu, work)
        losses[i] = max(total - value(batch, i, theta, truth), 0.0)
        parts(batch, i, truth, -1.0, mu)
        spread(batch, i, mass[i], mu, gradient)


@summing
def finite_dot(mu, theta):
    """<mu, theta>: the mean score, where impossible parts count nothing."""
    total = 0.0
    for k in range(len(mu)):
        x = float(theta[k])
        total += mu[k] * (x if x > -np.inf else 0.0)
    return total
