"""Smooth losses of a chain and their gradients with respect to the scores theta.

With p the distribution exp(score) / Z over labellings and y the truth:

    marginal     -sum_t log p(y_t)                    bounds the Hamming loss / log 2
    exponential  s (1 / p(y) - 1), s = 2^-T           bounds s times the labellings
                                                      ranked above the truth

(beyond LARGEST the exponential loss goes on as its tangent, so that it stays convex and
its gradient finite) beside the log-loss -log p(y) (``solvers/log/log_objective.py``), which
bounds the zero-one loss / log 2.
(Altun, Hofmann & Johnson 2003; Kakade, Teh & Roweis 2002.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import parts, score, spread, sums, value
from maxmargin.core.expectations import working_memory
from maxmargin.core.kernel import inner, kernel, summing
from maxmargin.solvers.log.log_objective import GradientObjective, LogObjective
from maxmargin.tags.chain_sums import (
    TINY,
    copy_ends,
    sum_far_apart,
    sums_in,
    times,
)

MARGINAL, EXPONENTIAL = 0, 1
KINDS = {"marginal": MARGINAL, "exponential": EXPONENTIAL}
SHRINK = np.log(2.0)  # per token, so that long sequences do not outweigh all others
LARGEST = 30.0  # exponents: squared norms of e^30 C still fit into single precision


class ChainObjective(GradientObjective):
    """The marginal or the exponential loss of a chain, for L-BFGS.

    The exponential loss starts where some iterations on the log-loss end: at w = 0 a few
    long sequences outweigh all others.
    """

    def __init__(self, *arguments, kind: str, l1: float = 0.0):
        super().__init__(*arguments, l1=l1)
        self.kind = KINDS[kind]
        self.convex = self.exact = kind != "marginal"
        if kind == "exponential":
            self.first = LogObjective(*arguments, l1=l1)

    def _gradient_range(self, lo, hi, w, losses, gradient) -> None:
        memory = working_memory(self.batch)
        gradient_range(
            self.batch, self.kind, lo, hi, w, memory, self.mass, losses, gradient
        )


@inner
def loss_and_gradient(batch, i, kind, theta, mu, work):
    """(loss of example i at these scores, factor): the gradient is factor * mu."""
    n = batch.n_labels
    first = batch.start[i]
    length = batch.start[i + 1] - first
    truth = batch.y[first : first + length]
    total = sums(batch, i, theta, mu, work)
    if kind == MARGINAL:
        found = sums_in(batch, mu, work)
        far = found.far[0] != 0
        for t in range(length):
            far = far or found.marginals[t, truth[t]] < TINY
        if far:
            loss = marginal_far_apart(theta, n, length, truth, total, found)
        else:
            loss = marginal_gradient(n, length, truth, found)
        copy_ends(batch, length, mu)
        return loss, 1.0
    lead = max(total - value(batch, i, theta, truth), 0.0)
    parts(batch, i, truth, -1.0, mu)
    least = -length * SHRINK
    power = lead + least  # the log of s / p(y)
    factor = np.exp(min(power, LARGEST))
    beyond = max(power - LARGEST, 0.0)
    return max(factor * (1.0 + beyond) - np.exp(least), 0.0), factor


@summing
def marginal_gradient(n, length, truth, sums):
    """-sum_t log p(y_t) and its gradient, T E[parts] - sum_t E[parts | y_t].

    Conditional expectations of all tokens at once, by two more passes: with
    ahead[s] = sum over t <= s of p(label at s | y_t), the tokens t <= s add
    ahead[s](a) p(b | a) to the transition s -> s + 1; likewise backwards.
    """
    width = sums.token.shape[1]
    found = 0.0
    for t in range(length):
        found -= np.log(max(sums.marginals[t, truth[t]], 1e-300))
    for j in range(n):
        for k in range(width):
            sums.pairs[j, k] *= length
    for t in range(length):
        for k in range(width):
            sums.marginals[t, k] *= length
    vector, row, right = np.empty(width), np.zeros(width), np.empty(width)
    row[truth[0]] = 1.0
    take_from(sums.marginals[0], row)
    for t in range(1, length):
        size = 1.0 / sums.shrink[t]
        for k in range(width):
            after = sums.after[t - 1, k]
            vector[k] = row[k] / after if after > 0.0 else 0.0
            right[k] = sums.token[t, k] * sums.after[t, k] * size
        take_pairs(n, vector, right, sums)
        times(vector, n, sums.step, row)
        for k in range(width):
            row[k] *= right[k]
        row[truth[t]] += 1.0
        take_from(sums.marginals[t], row)
    for k in range(width):
        row[k] = 0.0
    for t in range(length - 1, -1, -1):
        # the token itself was counted on the way forward
        take_from(sums.marginals[t], row)
        row[truth[t]] += 1.0
        if t == 0:
            break
        size = 1.0 / sums.shrink[t]
        for k in range(width):
            before = sums.before[t, k]
            right[k] = row[k] * sums.token[t, k] * size / before if before > 0 else 0.0
            vector[k] = sums.before[t - 1, k]
        take_pairs(n, vector, right, sums)
        times(right, n, sums.back, row)
        for k in range(width):
            row[k] *= vector[k]
    return found


@inner
def marginal_far_apart(theta, n, length, truth, total, sums):
    """The same by one sum in log space per token, for scores that are far apart."""
    tokens, pairs = length * sums.marginals, length * sums.pairs
    clamped = theta[: n + 2 + length].copy()
    found = 0.0
    for t in range(length):
        for k in range(n):
            if k != truth[t]:
                clamped[n + 2 + t, k] = -np.inf
        found += total - sum_far_apart(clamped, n, length, sums)
        tokens -= sums.marginals
        pairs -= sums.pairs
        clamped[n + 2 + t] = theta[n + 2 + t]
    sums.marginals[:] = tokens
    sums.pairs[:] = pairs
    return max(found, 0.0)


@summing
def take_from(target, row):
    for k in range(len(target)):
        target[k] -= row[k]


@summing
def take_pairs(n, left, right, sums):
    for j in range(n):
        a = left[j]
        for k in range(len(right)):
            sums.pairs[j, k] -= a * right[k] * sums.step[j, k]


@kernel
def gradient_range(batch, kind, lo, hi, w, memory, mass, losses, gradient):
    """losses[i] and, added to ``gradient``, sum_i C_i dloss_i / dw over a range."""
    theta, mu, work = memory
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1] or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        losses[i], factor = loss_and_gradient(batch, i, kind, theta, mu, work)
        spread(batch, i, mass[i] * factor, mu, gradient)
