"""Sums over all labellings of a chain of second order: log Z and expected parts.

Forward and backward tables over pairs of neighbours, in log space, O(T K^3). With them a
network can be trained through such a chain (``core/flat_scores.py``); there is no
``spread``, so a tagger of second order has no log objective.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.tags.second_order import SecondOrderBatch, first_token, triple_row


@implements(contract.sums, SecondOrderBatch)
def sums(batch, i, theta, mu, work):
    n, length = batch.n_labels, batch.start[i + 1] - batch.start[i]
    flat, at = mu.ravel(), first_token(batch)
    for k in range(contract.extent(batch, i)):
        flat[k] = 0.0
    if length == 1:
        return sum_one(theta, n, at, mu)
    ahead = np.empty((length, n, n))
    behind = np.empty((length, n, n))
    for b in range(n):
        for c in range(n):
            ahead[1, b, c] = theta[n, b] + theta[at, b] + theta[b, c] + theta[at + 1, c]
            behind[length - 1, b, c] = theta[n + 1, c]
    for t in range(2, length):
        for b in range(n):
            for c in range(n):
                top = -np.inf
                for a in range(n):
                    v = ahead[t - 1, a, b] + theta[triple_row(batch, a, b), c]
                    top = max(top, v)
                total = 0.0
                for a in range(n):
                    v = ahead[t - 1, a, b] + theta[triple_row(batch, a, b), c]
                    total += weight(v, top)
                step = theta[b, c] + theta[at + t, c]
                ahead[t, b, c] = logged(total, top) + step
    for t in range(length - 1, 1, -1):
        for a in range(n):
            for b in range(n):
                triple, top = theta[triple_row(batch, a, b)], -np.inf
                for c in range(n):
                    v = triple[c] + theta[b, c] + theta[at + t, c] + behind[t, b, c]
                    top = max(top, v)
                total = 0.0
                for c in range(n):
                    v = triple[c] + theta[b, c] + theta[at + t, c] + behind[t, b, c]
                    total += weight(v, top)
                behind[t - 1, a, b] = logged(total, top)
    top, total = -np.inf, 0.0
    for b in range(n):
        for c in range(n):
            top = max(top, ahead[length - 1, b, c] + behind[length - 1, b, c])
    for b in range(n):
        for c in range(n):
            total += weight(ahead[length - 1, b, c] + behind[length - 1, b, c], top)
    log_z = logged(total, top)
    if log_z > -np.inf:
        expect(batch, theta, ahead, behind, length, log_z, mu)
    return log_z


@inlined
def sum_one(theta, n, at, mu):
    """One token: its label is first and last."""
    top, total = -np.inf, 0.0
    for c in range(n):
        top = max(top, theta[n, c] + theta[n + 1, c] + theta[at, c])
    for c in range(n):
        total += weight(theta[n, c] + theta[n + 1, c] + theta[at, c], top)
    log_z = logged(total, top)
    for c in range(n):
        p = weight(theta[n, c] + theta[n + 1, c] + theta[at, c], log_z)
        mu[n, c] = mu[n + 1, c] = mu[at, c] = p
    return log_z


@inlined
def expect(batch, theta, ahead, behind, length, log_z, mu):
    """mu += expected parts."""
    n, at = batch.n_labels, first_token(batch)
    for t in range(1, length):
        for b in range(n):
            for c in range(n):
                p = weight(ahead[t, b, c] + behind[t, b, c], log_z)
                mu[b, c] += p
                mu[at + t, c] += p
                if t == 1:
                    mu[n, b] += p
                    mu[at, b] += p
                if t == length - 1:
                    mu[n + 1, c] += p
                if t > 1:
                    rest = theta[b, c] + theta[at + t, c] + behind[t, b, c]
                    for a in range(n):
                        row = triple_row(batch, a, b)
                        v = ahead[t - 1, a, b] + theta[row, c] + rest
                        mu[row, c] += weight(v, log_z)


@inlined
def weight(v, top):
    """exp(v - top), zero where v is impossible."""
    return np.exp(v - top) if v > -np.inf else 0.0


@inlined
def logged(total, top):
    return top + np.log(total) if total > 0.0 else -np.inf
