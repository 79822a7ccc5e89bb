"""Exact search for the most violated tree where the loss is a function of counts.

The loss of a tree depends on t, its right brackets, and p, all its brackets. With S(t, p)
the best score of a tree with these counts, the search maximises goal(S(t, p), t, p), see
``goal.py``. The goal grows with the score, so a tree can beat the best one found so
far, the *incumbent*, only if its score is above ``needed(t, p)``. Two steps:

1. A chart with b added per bracket and a taken per right bracket gives V = max S - a t +
   b p, hence S(t, p) <= V + a t - b p for all counts at once: a *plane*. Each chart
   yields a tree, which may be the new incumbent, and a plane; the next (a, b) are the
   slopes of ``needed`` where the planes leave most room above it. Sometimes the planes
   prove that nothing beats the incumbent. (This is a Lagrangian relaxation.)
2. Where room is left, a dynamic programme over (item, t, p) finds the best tree. It drops
   every entry that cannot beat the incumbent: its score plus the outside score, in the
   plane with the least room, must pass a threshold (``entries.py``). On sentences of
   11 to 20 words some hundred entries are left, of millions.

Both are exact, whatever the loss. (Bauer, Braun & Mueller 2017 have the programme of the
second step.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.compile.declared import Float, Int, Labels, Table
from maxmargin.core.kernel import inlined, outlined
from maxmargin.core.vectors import copy_into
from maxmargin.trees.cky.batch import sentence_of
from maxmargin.trees.cky.chart import chart_of, marked
from maxmargin.trees.cky.entries import best_entry_tree
from maxmargin.trees.cky.goal import Goal, needed, reached, slopes
from maxmargin.trees.cky.outside import outside
from maxmargin.trees.cky.trees import (
    count_brackets,
    tree_value,
    true_brackets,
    write_best,
)

MAX_PLANES = (
    4  # more only cost time (WSJ, 11-20 words: 1.0 ms a search, 12 planes 1.4 ms)
)
EPSILON = float(np.finfo(np.float64).eps)


@outlined
def search_counts(
    batch,
    i: Int,
    theta: Table,
    slack: Int,
    quadratic: Int,
    scale: Float,
    y: Labels,
) -> None:
    """y <- the tree with the largest goal.

    With neither rescaling nor quadratic slacks, the goal is score + scale * loss.
    """
    sentence, bounds = sentence_of(batch, i, theta), batch.bounds[i]
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    tables, size, length = batch.grammar, len(truth), sentence.length
    gold, g = true_brackets(tables, length, truth)
    value = tree_value(tables, sentence, truth)
    base = value if slack or quadratic else 0.0
    goal = Goal(batch.loss.kind, g, slack, quadratic, scale, base)
    best_y = np.empty(size, np.int32)
    copy_into(best_y, 0, truth, size)
    incumbent = reached(goal, value, g, g)
    least, fewest, most = bounds[0], bounds[1], bounds[2]
    room = np.zeros((g + 1, most + 1))  # S(t, p) is at most that
    planes = np.empty((MAX_PLANES, 3))
    made, a, b, slop = 0, 0.0, 0.0, 0.0
    while made < MAX_PLANES and fresh(planes, made, a, b):
        chart = chart_of(batch, marked(sentence, b, a, gold))
        v = write_best(tables, sentence, chart, y)
        if v == -np.inf:  # weights that overflowed: no score is a number
            copy_into(y, 0, best_y, size)
            return
        planes[made, 0], planes[made, 1], planes[made, 2] = a, b, v
        made += 1
        t, p = count_brackets(tables, length, gold, y)
        found = reached(goal, tree_value(tables, sentence, y), t, p)
        if found > incumbent:
            incumbent = found
            copy_into(best_y, 0, y, size)
        slop = 8.0 * EPSILON * (1.0 + abs(v) + abs(base))
        # how far can a tree be above what is needed, and where?
        widest, wide_t, wide_p = 0.0, 0, 0
        for t in range(least, g + 1):
            for p in range(max(fewest, t), most + 1):
                plane = v + a * t - b * p
                room[t, p] = plane if made == 1 else min(room[t, p], plane)
                excess = room[t, p] - needed(goal, t, p, incumbent)
                if excess > widest:
                    widest, wide_t, wide_p = excess, t, p
        if widest <= slop:
            copy_into(y, 0, best_y, size)
            return
        a, b = slopes(goal, wide_t, wide_p, incumbent, most)
    chosen, threshold = best_plane(goal, incumbent, bounds, planes[:made], room, slop)
    sentence = marked(sentence, planes[chosen, 1], planes[chosen, 0], gold)
    chart = chart_of(batch, sentence)
    found = best_entry_tree(
        batch,
        sentence,
        planes[chosen, 1],
        chart,
        outside(batch, sentence, chart),
        threshold - slop,
        goal,
        incumbent,
        y,
    )
    if not found:
        copy_into(y, 0, best_y, size)


@inlined
def fresh(planes, made, a, b):
    """Whether a plane with these slopes would be a new one."""
    for n in range(made):
        if abs(planes[n, 0] - a) + abs(planes[n, 1] - b) <= 1e-9 * (abs(a) + abs(b)):
            return False
    return True


@inlined
def best_plane(goal, incumbent, bounds, planes, room, slop):
    """(the plane in which its best tree is least above the threshold, the threshold).

    In a plane, trees that beat the incumbent score above min needed(t, p) - a t + b p,
    over the counts at which there is room.
    """
    chosen, threshold, least = 0, -np.inf, np.inf
    for n in range(len(planes)):
        a, b, v = planes[n, 0], planes[n, 1], planes[n, 2]
        low = np.inf
        for t in range(bounds[0], goal.true + 1):
            for p in range(max(bounds[1], t), bounds[2] + 1):
                score = needed(goal, t, p, incumbent)
                if room[t, p] > score + slop:
                    low = min(low, score - a * t + b * p)
        if v - low < least:
            chosen, threshold, least = n, low, v - low
    return chosen, threshold
