"""What a search over trees maximises, as a function of score and bracket counts.

    goal(score, t, p) = c + r (score - base)

for a tree with p brackets, t of them right. c and r are those of a plane with the loss
of these counts (table in ``formulation.py``), base is the score of the truth. Plain
loss-augmented decoding is c = scale * loss, r = 1, base = 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.core.compile.declared import Float, Int, tuple_of
from maxmargin.core.kernel import inlined
from maxmargin.trees.cky.trees import loss_of


class Goal(NamedTuple):
    loss: int  # which one
    true: int  # brackets of the true tree
    slack: int
    quadratic: int
    scale: float
    base: float


GOAL = tuple_of(Goal, Int, Int, Int, Int, Float, Float)


@inlined
def numbers(goal, t, p):
    """(c, r) of a tree with these counts."""
    loss = loss_of(goal.loss, t, p, goal.true)
    c = math.sqrt(loss) if goal.quadratic else loss
    return goal.scale * c, (c if goal.slack else 1.0)


@inlined
def reached(goal, score, t, p):
    c, r = numbers(goal, t, p)
    return c + r * (score - goal.base)


@inlined
def needed(goal, t, p, wanted):
    """The score above which the goal is above ``wanted``."""
    c, r = numbers(goal, t, p)
    if r > 0.0:
        return goal.base + (wanted - c) / r
    return np.inf if c <= wanted else -np.inf


@inlined
def slopes(goal, t, p, wanted, most):
    """(d needed / d t, - d needed / d p) at these counts, from their neighbours."""
    right = difference(
        needed(goal, t - 1, p, wanted) if t > 0 else np.inf,
        needed(goal, t, p, wanted),
        needed(goal, t + 1, p, wanted) if t < min(goal.true, p) else np.inf,
    )
    extra = difference(
        needed(goal, t, p - 1, wanted) if p > t else np.inf,
        needed(goal, t, p, wanted),
        needed(goal, t, p + 1, wanted) if p < most else np.inf,
    )
    return right, -extra


@inlined
def difference(before, here, after):
    """The mean of the two slopes, or the one that is finite."""
    low, high = here - before, after - here
    if not math.isfinite(low):
        low = high
    if not math.isfinite(high):
        high = low
    return 0.5 * (low + high) if math.isfinite(low) else 0.0
