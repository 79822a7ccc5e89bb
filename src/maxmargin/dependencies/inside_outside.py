"""Sums over all projective trees, and the probability of every arc.

The tables are those of ``eisner.py`` with sums of exp in place of maxima. Probabilities
are the derivatives of log Z, carried back through the same loops (Paskin 2001; Eisner
2016 for inside-outside as back-propagation).
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.core.kernel import inlined


@inlined
def projective_sums(arcs, chances):
    """log Z under arcs[h, m]; chances[h, m] <- the probability of each arc."""
    n = len(arcs) - 1
    right, left = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    joined = np.zeros((n + 1, n + 1))
    for width in range(1, n):
        for s in range(1, n - width + 1):
            t = s + width
            joined[s, t] = sum_joined(right, left, s, t)
            right[s, t] = sum_right(arcs, joined, right, s, t)
            left[s, t] = sum_left(arcs, joined, left, s, t)
    top, total = -np.inf, 0.0
    for r in range(1, n + 1):
        top = max(top, left[1, r] + right[r, n] + arcs[0, r])
    for h in range(n + 1):
        for m in range(n + 1):
            chances[h, m] = 0.0
    if top == -np.inf:
        return top
    for r in range(1, n + 1):
        total += math.exp(left[1, r] + right[r, n] + arcs[0, r] - top)
    log_z = top + math.log(total)
    of_right, of_left = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for r in range(1, n + 1):
        p = math.exp(left[1, r] + right[r, n] + arcs[0, r] - log_z)
        chances[0, r] = p
        of_left[1, r] += p
        of_right[r, n] += p
    for width in range(n - 1, 0, -1):
        for s in range(1, n - width + 1):
            share_span(
                arcs, joined, right, left, of_right, of_left, chances, s, s + width
            )
    return log_z


@inlined
def sum_joined(right, left, s, t):
    """log sum over r of exp(right[s, r] + left[r + 1, t])."""
    top, total = -np.inf, 0.0
    for r in range(s, t):
        top = max(top, right[s, r] + left[r + 1, t])
    if top == -np.inf:
        return top
    for r in range(s, t):
        total += math.exp(right[s, r] + left[r + 1, t] - top)
    return top + math.log(total)


@inlined
def sum_right(arcs, joined, right, s, t):
    """Over the last modifier r of s, where incomplete spans are joined[s, r] + arc."""
    top, total = -np.inf, 0.0
    for r in range(s + 1, t + 1):
        top = max(top, joined[s, r] + arcs[s, r] + right[r, t])
    if top == -np.inf:
        return top
    for r in range(s + 1, t + 1):
        total += math.exp(joined[s, r] + arcs[s, r] + right[r, t] - top)
    return top + math.log(total)


@inlined
def sum_left(arcs, joined, left, s, t):
    top, total = -np.inf, 0.0
    for r in range(s, t):
        top = max(top, joined[r, t] + arcs[t, r] + left[s, r])
    if top == -np.inf:
        return top
    for r in range(s, t):
        total += math.exp(joined[r, t] + arcs[t, r] + left[s, r] - top)
    return top + math.log(total)


@inlined
def share_span(arcs, joined, right, left, of_right, of_left, chances, s, t):
    """Hand the probability of both complete spans s .. t on to what they consist of.

    An incomplete span s .. r is used by complete ones that are no shorter: its own
    probability is that of its arc, and is known once all spans of this width are done.
    """
    p = of_right[s, t]
    if p > 0.0:
        for r in range(s + 1, t + 1):
            q = p * math.exp(joined[s, r] + arcs[s, r] + right[r, t] - right[s, t])
            chances[s, r] += q
            of_right[r, t] += q
    p = of_left[s, t]
    if p > 0.0:
        for r in range(s, t):
            q = p * math.exp(joined[r, t] + arcs[t, r] + left[s, r] - left[s, t])
            chances[t, r] += q
            of_left[s, r] += q
    p = chances[s, t] + chances[t, s]
    if p > 0.0:
        for r in range(s, t):
            q = p * math.exp(right[s, r] + left[r + 1, t] - joined[s, t])
            of_right[s, r] += q
            of_left[r + 1, t] += q
