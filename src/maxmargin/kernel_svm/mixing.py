"""The best mixture of the dual points that an ascent has passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.interrupts import Undisturbed
from maxmargin.core.kernel import inlined, kernel
from maxmargin.kernel_svm.scores import risk_between

SECTIONS = 8  # of a line search


class Best:
    """The signed dual variables with the smallest objective so far, and their scores.

    Where K has one large eigenvalue, scores swing around the optimum long after the dual
    is near it. So what a round finds is mixed with the best before, by a line search.
    """

    def __init__(self, ascent: Any):
        self.a, self.scores = ascent.signed(), ascent.scores.copy()
        self.square = np.vdot(self.a.T, self.scores)
        self.primal, self.dual = ascent.judge()

    def bounds(self) -> dict:
        """What a row of the history says."""
        primal, dual = float(self.primal), float(self.dual)
        return {"primal": primal, "dual": dual, "gap": primal - dual}

    def reached(self, tol: float) -> bool:
        return self.primal - self.dual <= tol * self.primal

    def see(self, ascent: Any) -> None:
        """Mix with what the ascent has now."""
        primal, dual = ascent.judge()
        self.dual = max(self.dual, dual)
        a, scores = ascent.signed(), ascent.scores
        own = np.vdot(a.T, scores)
        squares = self.square, np.vdot(self.a.T, scores), own
        known = ascent.y, ascent.cost, ascent.mass
        t, found, square = best_between(self.scores, scores, *squares, *known)
        if primal <= found:
            t, found, square = 1.0, primal, own
        if found <= self.primal:  # with a tiny C, all look the same
            with Undisturbed():
                self.primal, self.square = found, square
                for mine, theirs in ((self.a, a), (self.scores, scores)):
                    mine *= 1 - t
                    mine += t * theirs
        self.dual = min(self.dual, self.primal)

    def restart(self, ascent: Any, scores: np.ndarray) -> None:
        """Believe nothing but these scores, and those that the ascent has now."""
        known = ascent.y, ascent.cost, ascent.mass
        self.scores = scores
        self.square = np.vdot(self.a.T, scores)
        self.primal = 0.5 * self.square + risk_between(scores, scores, 0.0, *known)
        self.dual = 0.0
        self.see(ascent)


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
