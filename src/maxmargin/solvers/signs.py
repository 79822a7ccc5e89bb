"""Weights that must not be negative, for solvers with planes.

With w_j >= 0 for some j, the dual has one more variable mu_j >= 0 for each of them:

    w = sum alpha r psi + sum_j mu_j e_j,      dual = sum alpha c - 1/2 |w|^2

Given the planes, mu_j = max(0, -v_j) is best, where v is what the planes alone would give,
and makes w_j = max(0, v_j). Setting it is a coordinate step like any other: the dual never
falls, and steps of the planes go on from the new w. Graph cuts need such weights
(``graphs/``): they keep scores of edges submodular.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.core.state import Stateful


class Signs(Stateful):
    """The multipliers mu of the weights that an objective wants to be zero or more."""

    kept = ("push",)

    def __init__(self, objective: Objective):
        wanted = objective.nonnegative
        self.at = np.zeros(0, np.int64) if wanted is None else np.asarray(wanted)
        self.push = np.zeros(len(self.at))

    def restart(self, w) -> None:
        """The best multipliers of weights that are those of the planes alone."""
        self.push[:] = 0.0
        self.hold(w)

    def hold(self, w) -> float:
        """Set the multipliers for these weights; returns what the dual gains."""
        if len(self.at) == 0:
            return 0.0
        before = w[self.at].astype(np.float64)
        free = before - self.push
        self.push = np.maximum(-free, 0.0)
        after = np.maximum(free, 0.0)
        w[self.at] = after
        return 0.5 * float(before @ before - after @ after)
