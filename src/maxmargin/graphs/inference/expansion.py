"""Large moves: labellings that no expansion, or no swap, of a label makes better.

A move lets every node choose between two labels, which is a binary field: its best
labelling is a minimum cut if it is submodular, and else roof duality tells the choices that
are safe to take. No move makes a labelling worse.

    expansion of a     every node keeps its label or takes a
    swap of a and b    every node with one of them takes either

Expansions are submodular where tables, taken for costs, are metrics, such as Potts; there a
labelling that no expansion makes better costs at most twice what the best one does. Swaps
only need  t(a, a) + t(b, b) >= t(a, b) + t(b, a).  (Boykov, Veksler & Zabih 2001; fusion by
roof duality: Lempitsky, Rother, Roth & Blake 2010.)
"""

from __future__ import annotations

from time import monotonic

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.graphs.field import Field, field_score, states_of
from maxmargin.graphs.inference.graph_cut import ROUNDING, barrier, node_form, pair_form
from maxmargin.graphs.inference.roof import relaxation

PASSES = 20


def improve(
    field: Field,
    theta,
    start=None,
    *,
    moves: str = "expansion",
    passes: int = PASSES,
    seconds: float | None = None,
) -> tuple[float, np.ndarray]:
    """(score, labelling) after large moves, "expansion" or "swap".

    They begin at the labelling ``start``, or where every node has the best label of its
    own, and end when none helps, after so many passes over all labels (or pairs of them),
    or with the first pass that ends after so many seconds.
    """
    if start is None:
        y = np.empty(len(field.node_at) - 1, np.int32)
        independent(field, theta, y)
    else:
        y = np.array(start, np.int32)
    move = {"expansion": expansion, "swap": swap}[moves]
    if seconds is None:
        return move(field, theta, y, passes), y
    end, score = monotonic() + seconds, -np.inf
    for _ in range(passes):
        before = y.copy()
        score = move(field, theta, y, 1)
        if monotonic() >= end or (y == before).all():
            break
    return score, y


@inner
def independent(field, theta, y):
    """y <- the best state of every node by its own scores, the lowest of equals."""
    for v in range(len(field.node_at) - 1):
        at, y[v] = field.node_at[v], 0
        for s in range(1, states_of(field, v)):
            if theta[at + s] > theta[at + y[v]]:
                y[v] = s


@inner
def expansion(field, theta, y, passes):
    """Expand labels in turn, from y and into y; returns the score."""
    n, labels = len(field.node_at) - 1, most_states(field)
    loss = barrier(field, theta)
    one = np.empty(n, np.int32)
    score, quiet = lowered_score(field, theta, loss, y), 0
    for turn in range(passes * labels):
        a = turn % labels
        for v in range(n):
            one[v] = a if a < states_of(field, v) else y[v]
        found = fuse(field, theta, loss, y, one, y, score)
        quiet = quiet + 1 if found == score else 1
        score = found
        if quiet >= labels:
            break
    return field_score(field, theta, y)


@inner
def swap(field, theta, y, passes):
    """Swap pairs of labels in turn, from y and into y; returns the score."""
    n, labels = len(field.node_at) - 1, most_states(field)
    loss = barrier(field, theta)
    zero, one = np.empty(n, np.int32), np.empty(n, np.int32)
    score, quiet, pairs = (
        lowered_score(field, theta, loss, y),
        0,
        labels * (labels - 1) // 2,
    )
    for _ in range(passes):
        for a in range(labels):
            for b in range(a + 1, labels):
                for v in range(n):
                    either = (y[v] == a or y[v] == b) and b < states_of(field, v)
                    zero[v], one[v] = (a, b) if either else (y[v], y[v])
                found = fuse(field, theta, loss, zero, one, y, score)
                quiet = quiet + 1 if found == score else 1
                score = found
                if quiet >= pairs:
                    return field_score(field, theta, y)
    return field_score(field, theta, y)


@inlined
def most_states(field):
    most = 0
    for v in range(len(field.node_at) - 1):
        most = max(most, states_of(field, v))
    return most


@inlined
def lowered_score(field, theta, loss, y):
    """The score of y, where what is impossible counts as a loss."""
    total = 0.0
    for v in range(len(field.node_at) - 1):
        total += max(float(theta[field.node_at[v] + y[v]]), -loss)
    for e in range(len(field.ends)):
        u, v = field.ends[e, 0], field.ends[e, 1]
        at = field.edge_at[e] + y[u] * states_of(field, v) + y[v]
        total += max(float(theta[at]), -loss)
    return total


@inner
def fuse(field, theta, loss, zero, one, y, score):
    """y <- what is better than y of labels from two labellings; returns its score.

    ``score`` is that of y, and stays if nothing is better.
    """
    n, m = len(field.node_at) - 1, len(field.ends)
    gain, weight = np.empty(n), np.empty(m)
    for v in range(n):
        at = field.node_at[v]
        gain[v] = node_form(float(theta[at + zero[v]]), float(theta[at + one[v]]), loss)
    signs = False
    for e in range(m):
        u, v = field.ends[e, 0], field.ends[e, 1]
        weight[e] = 0.0
        if zero[u] == one[u] and zero[v] == one[v]:
            continue
        columns = states_of(field, v)
        above = field.edge_at[e] + zero[u] * columns
        below = field.edge_at[e] + one[u] * columns
        a, b = float(theta[above + zero[v]]), float(theta[above + one[v]])
        c, d = float(theta[below + zero[v]]), float(theta[below + one[v]])
        gu, gv, k = pair_form(a, b, c, d, loss)
        gain[u] += gu
        gain[v] += gv
        weight[e] = k
        signs |= k < -ROUNDING * (abs(b) + abs(c))
    choice = np.empty(n, np.int8)
    relaxation(field, gain, weight, signs, choice)
    other = np.empty(n, np.int32)
    for v in range(n):
        other[v] = y[v]
        if choice[v] != 1:
            other[v] = one[v] if choice[v] == 2 else zero[v]
    found = lowered_score(field, theta, loss, other)
    if found > score + ROUNDING * 1e-4 * abs(score):
        for v in range(n):
            y[v] = other[v]
        return found
    return score
