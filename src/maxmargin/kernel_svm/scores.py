"""Scores of all examples: from the kernel's rows, and what they say of a dual point."""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import kernel

TILE = 1024  # scores of so many examples stay in the processor's cache
TOGETHER = 100  # rows of the kernel's table at a time: so many fit in any memory


def scores_of(compute, a: np.ndarray) -> np.ndarray:
    """sum_i a_i k(x_i, .) at all examples, (columns of a, n), in double precision.

    ``compute`` gives rows of the kernel's table (``rows.py``).
    """
    support = np.flatnonzero(a.any(axis=1))
    out = np.zeros(a.shape[::-1])
    for first in range(0, len(support), TOGETHER):
        rows = support[first : first + TOGETHER]
        out += a[rows].T @ np.asarray(compute(rows), np.float64)
    return out


@kernel
def judge(scores, y, cost, mass, alpha):
    """(gaps, classes to raise, risk, sum of alpha times cost, sum of a times scores)."""
    m, n = scores.shape
    gaps, raised = np.empty(n), np.empty(n, np.int64)
    risk, linear, square = 0.0, 0.0, 0.0
    for i in range(n):
        truth = y[i]
        base, top, mean = scores[truth, i], 0.0, 0.0
        lowest = np.inf
        raised[i] = truth
        for k in range(m):
            v = scores[k, i] + cost[truth, k] - base
            top = max(top, v)
            if alpha[i, k] > 0.0 and v < lowest:
                lowest = v
                raised[i] = k
            mean += alpha[i, k] * v
            linear += alpha[i, k] * cost[truth, k]
            square += alpha[i, k] * (base - scores[k, i])
        risk += mass[i] * top
        gaps[i] = max(mass[i] * top - mean, 0.0)
    return gaps, raised, risk, linear, square


@kernel
def risk_between(first, second, t, y, cost, mass):
    """The risk of scores (1 - t) first + t second."""
    m, n = first.shape
    total = 0.0
    for i in range(n):
        truth = y[i]
        base = (1 - t) * first[truth, i] + t * second[truth, i]
        top = 0.0
        for k in range(m):
            score = (1 - t) * first[k, i] + t * second[k, i]
            top = max(top, score + cost[truth, k] - base)
        total += mass[i] * top
    return total


@kernel
def spread(rows, slots, steps, scores):
    """Add sum_i steps[i, k] times row i to the scores of class k."""
    m, n = scores.shape
    for low in range(0, n, TILE):
        high = min(low + TILE, n)
        for i in range(len(slots)):
            row = rows[slots[i], low:high]
            for k in range(m):
                factor = steps[i, k]
                if factor != 0.0:
                    out = scores[k, low:high]
                    for j in range(high - low):
                        out[j] += factor * row[j]
