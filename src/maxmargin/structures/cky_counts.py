"""Exact search for the most violated tree where the loss is a function of counts.

The loss of a tree depends on t, its right brackets, and p, all its brackets. With S(t, p)
the best score of a tree with these counts, the search maximises goal(S(t, p), t, p), see
``cky_goal.py``. The goal grows with the score, so a tree can beat the best one found so
far, the *incumbent*, only if its score is above ``needed(t, p)``. Two steps:

1. A chart with b added per bracket and a taken per right bracket gives V = max S - a t +
   b p, hence S(t, p) <= V + a t - b p for all counts at once: a *plane*. Each chart
   yields a tree, which may be the new incumbent, and a plane; the next (a, b) are the
   slopes of ``needed`` where the planes leave most room above it. Often a few planes
   prove that nothing beats the incumbent. (This is a Lagrangian relaxation.)
2. Where room is left, a dynamic programme over (item, t, p) finds the best tree. It drops
   every entry that cannot beat the incumbent: its score plus the outside score, in the
   plane with the least room, must pass a threshold (``cky_entries.py``).

Both are exact, whatever the loss. (Bauer, Braun & Mueller 2017 have the programme of the
second step.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.kernel import inlined, kernel
from maxmargin.structures import contract
from maxmargin.structures.cky_chart import Bonus, inside, write_best
from maxmargin.structures.cky_entries import best_entry_tree
from maxmargin.structures.cky_goal import Goal, needed, reached, slopes
from maxmargin.structures.cky_outside import outside
from maxmargin.structures.cky_trees import count_brackets, true_brackets

MAX_PLANES = 12


@kernel
def search_counts(batch, i, theta, slack, quadratic, scale, base, y):
    """y <- the tree with the largest goal; returns (charts made, entries made)."""
    size = batch.start[i + 1] - batch.start[i]
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    gold, g = true_brackets(batch, i)
    goal = Goal(batch.loss, g, slack, quadratic, scale, base)
    best_y = truth.copy()
    incumbent = reached(goal, contract.value(batch, i, theta, truth), g, g)
    most = batch.most[i]
    room = np.full((g + 1, most + 1), np.inf)  # S(t, p) is at most that
    planes = np.empty((MAX_PLANES, 3))
    made, a, b, slop = 0, 0.0, 0.0, 0.0
    while made < MAX_PLANES and fresh(planes, made, a, b):
        chart = inside(batch, i, theta, Bonus(b, a, gold))
        v = write_best(batch, i, theta, chart, y)
        planes[made, 0], planes[made, 1], planes[made, 2] = a, b, v
        made += 1
        t, p = count_brackets(batch, i, gold, y)
        found = reached(goal, contract.value(batch, i, theta, y), t, p)
        if found > incumbent:
            incumbent = found
            best_y[:] = y[:size]
        slop = 8.0 * np.finfo(theta.dtype).eps * (1.0 + abs(v) + abs(base))
        widest, wide_t, wide_p = lower_room(batch, i, goal, incumbent, a, b, v, room)
        if widest <= slop:
            y[:size] = best_y
            return made, 0
        a, b = slopes(goal, wide_t, wide_p, incumbent, most)
    chosen, threshold = best_plane(batch, i, goal, incumbent, planes[:made], room, slop)
    bonus = Bonus(planes[chosen, 1], planes[chosen, 0], gold)
    chart = inside(batch, i, theta, bonus)
    above, around = outside(batch, i, theta, bonus, chart)
    found, entries = best_entry_tree(
        batch,
        i,
        theta,
        bonus,
        chart,
        above,
        around,
        threshold - slop,
        goal,
        incumbent,
        y,
    )
    if not found:
        y[:size] = best_y
    return made + 1, entries


@inlined
def fresh(planes, made, a, b):
    """Whether a plane with these slopes would be a new one."""
    for n in range(made):
        if abs(planes[n, 0] - a) + abs(planes[n, 1] - b) <= 1e-9 * (abs(a) + abs(b)):
            return False
    return True


@inlined
def lower_room(batch, i, goal, incumbent, a, b, v, room):
    """room <- min(room, the new plane); (the largest excess over needed, its t, its p)."""
    widest, wide_t, wide_p = 0.0, 0, 0
    for t in range(batch.least[i], goal.true + 1):
        for p in range(max(batch.fewest[i], t), batch.most[i] + 1):
            room[t, p] = min(room[t, p], v + a * t - b * p)
            excess = room[t, p] - needed(goal, t, p, incumbent)
            if excess > widest:
                widest, wide_t, wide_p = excess, t, p
    return widest, wide_t, wide_p


@inlined
def best_plane(batch, i, goal, incumbent, planes, room, slop):
    """(the plane in which its best tree is least above the threshold, the threshold).

    In a plane, trees that beat the incumbent score above min needed(t, p) - a t + b p,
    over the counts at which there is room.
    """
    chosen, threshold, least = 0, -np.inf, np.inf
    for n in range(len(planes)):
        a, b, v = planes[n, 0], planes[n, 1], planes[n, 2]
        low = np.inf
        for t in range(batch.least[i], goal.true + 1):
            for p in range(max(batch.fewest[i], t), batch.most[i] + 1):
                score = needed(goal, t, p, incumbent)
                if room[t, p] > score + slop:
                    low = min(low, score - a * t + b * p)
        if v - low < least:
            chosen, threshold, least = n, low, v - low
    return chosen, threshold
