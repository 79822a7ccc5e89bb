"""Scores of all examples: from the kernel's rows, and what they say of a dual point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.core.kernel import inlined, kernel
from maxmargin.engine.threads import ALONE, Team
from maxmargin.kernel_svm.ranges import over_ranges_of

TILE = 1024  # scores of so many examples stay in the processor's cache
SECTIONS = 8  # of a line search
TOGETHER = 100  # rows of the kernel's table at a time: so many fit in any memory


def scores_of(blocks: Callable, a: np.ndarray, team: Team = ALONE) -> np.ndarray:
    """sum_i a_i k(x_i, .) at all examples, (columns of a, n), in double precision.

    ``blocks`` gives rows of the kernel's table (``rows.py``).
    """
    support = np.flatnonzero(a.any(axis=1))
    out = np.zeros(a.shape[::-1])
    for first in range(0, len(support), TOGETHER):
        rows = support[first : first + TOGETHER]
        block, by_row = blocks(rows), a[rows].T

        def add(worker, part, block=block, by_row=by_row):
            out[:, part] += by_row @ np.asarray(block(part, worker), np.float64)

        over_ranges_of(team, "proof", add, len(a), len(rows))
    return out


def add_to_scores(rows, slots, steps, scores, team: Team = ALONE) -> None:
    """Add sum_i steps[i, k] times row i to the scores of class k."""

    def add(worker, part):
        add_between(rows, slots, steps, scores, part.start, part.stop)

    over_ranges_of(team, "add_to_scores", add, scores.shape[1], len(slots))


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
def add_between(rows, slots, steps, scores, first, last):
    """The same at some of the examples."""
    m = len(scores)
    for low in range(first, last, TILE):
        high = min(low + TILE, last)
        for i in range(len(slots)):
            row = rows[slots[i], low:high]
            for k in range(m):
                factor = steps[i, k]
                if factor != 0.0:
                    out = scores[k, low:high]
                    for j in range(high - low):
                        out[j] += factor * row[j]


@inlined
def objective_between(first, second, t, start, cross, end, y, cost, mass):
    """(objective, |f|^2) of (1 - t) first + t second, whose products are given."""
    square = (1 - t) ** 2 * start + 2 * t * (1 - t) * cross + t * t * end
    return 0.5 * square + risk_between(first, second, t, y, cost, mass), square


@kernel
def best_between(first, second, start, cross, end, y, cost, mass):
    """(t, objective, |f|^2) of the least objective, by golden sections."""
    given = start, cross, end, y, cost, mass
    shrink = (5**0.5 - 1) / 2
    low, high = 0.0, 1.0
    left, right = 1 - shrink, shrink
    at_left = objective_between(first, second, left, *given)[0]
    at_right = objective_between(first, second, right, *given)[0]
    for _ in range(SECTIONS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - shrink * (high - low)
            at_left = objective_between(first, second, left, *given)[0]
        else:
            low, left, at_left = left, right, at_right
            right = low + shrink * (high - low)
            at_right = objective_between(first, second, right, *given)[0]
    t = left if at_left < at_right else right
    found, square = objective_between(first, second, t, *given)
    return t, found, square
