"""Smooth losses of a chain and their gradients with respect to the scores theta.

With p the distribution exp(score) / Z over labellings and y the truth:

    log          -log p(y)                            bounds the zero-one loss / log 2
    marginal     -sum_t log p(y_t)                    bounds the Hamming loss / log 2
    exponential  s (1 / p(y) - 1), s = 2^-T           bounds s times the labellings
                                                      ranked above the truth

(Altun, Hofmann & Johnson 2003; Kakade, Teh & Roweis 2002 for the marginal loss.) Every
gradient is a table of weights on parts: ``sums.marginals`` for tokens (its first and last
rows also for the ends) and ``sums.pairs`` for transitions are overwritten with it.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import score, value
from maxmargin.core.kernel import inlined, kernel, summing
from maxmargin.tags.chain_sums import (
    TINY,
    exp_transitions,
    sum_far_apart,
    sum_labellings,
    sum_pairs,
    times,
)

LOG, MARGINAL, EXPONENTIAL = 0, 1, 2
SHRINK = np.log(2.0)  # per token, so that long sequences do not outweigh all others
LARGEST = 300.0  # exponents are cut here: beyond it the loss is a plane


@kernel
def loss_and_gradient(batch, i, kind, theta, sums):
    """The loss of example i at these scores; its gradient is left in ``sums``."""
    n = batch.n_labels
    first = batch.start[i]
    length = batch.start[i + 1] - first
    truth = batch.y[first : first + length]
    taken = exp_transitions(theta, n, sums)
    total = sum_labellings(theta, n, length, taken, sums)
    sum_pairs(n, length, sums)
    if kind == MARGINAL:
        far = sums.far[0] != 0
        for t in range(length):
            far = far or sums.marginals[t, truth[t]] < TINY
        if far:
            return marginal_far_apart(theta, n, length, truth, total, sums)
        return marginal_gradient(n, length, truth, sums)
    found = max(total - value(batch, i, theta, truth), 0.0)
    factor = 1.0
    if kind == EXPONENTIAL:
        least = -length * SHRINK
        factor = np.exp(min(found + least, LARGEST))
        found = factor - np.exp(least)
        found = max(found, 0.0)
    for t in range(length):
        for k in range(batch.width):
            sums.marginals[t, k] *= factor
        sums.marginals[t, truth[t]] -= factor
    for j in range(n):
        for k in range(batch.width):
            sums.pairs[j, k] *= factor
    for t in range(1, length):
        sums.pairs[truth[t - 1], truth[t]] -= factor
    return found


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


@kernel
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


@inlined
def add_gradient(batch, i, factor, sums, change, w):
    """w += factor * F_x^T gradient: from parts to features."""
    n, width = batch.n_labels, batch.width
    first = batch.start[i]
    length = batch.start[i + 1] - first
    rows = w.reshape((batch.n_features + n + 2, width))
    for t in range(length):
        for k in range(width):
            change[k] = factor * sums.marginals[t, k]
        if t == 0:
            add_to(rows[batch.n_features + n], change, 1.0)
        if t == length - 1:
            add_to(rows[batch.n_features + n + 1], change, 1.0)
        for j in range(batch.indptr[first + t], batch.indptr[first + t + 1]):
            add_to(rows[batch.indices[j]], change, batch.values[j])
    for j in range(n):
        row = rows[batch.n_features + j]
        for k in range(width):
            row[k] += factor * sums.pairs[j, k]


@inlined
def add_to(row, change, value):
    for k in range(len(row)):
        row[k] += value * change[k]


@kernel
def gradient_range(batch, kind, lo, hi, w, theta, sums, mass, losses, gradient):
    """losses[i] and, added to ``gradient``, sum_i C_i dloss_i / dw over a range."""
    change = np.empty(batch.width, w.dtype)
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1] or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        losses[i] = loss_and_gradient(batch, i, kind, theta, sums)
        add_gradient(batch, i, mass[i], sums, change, gradient)
