"""The best of all sets of a few labels, where too many pairs have scores to eliminate.

Scores are, but for a constant, the sum of gain_k over the labels k in a set and of extra_jk
over the pairs in it. Those of all sets of the first k labels are one half of the scores of
the first k + 1; the other half adds gain_k and the extras of k with every set, which
double in the same way. So a set costs two additions, in loops without branches.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inner
from maxmargin.graphs.labellings import find_labelling

MOST = 16  # labels


class AllSets(NamedTuple):
    """The search of graphs of a few nodes with two states each."""

    cuts = cut_by()


@implements(find_labelling, AllSets)
def find_set(search, i, field, theta, y):
    best_subset(field, theta, y)
    return 0.0


@inner
def best_subset(field, theta, y):
    """y <- the best labelling; the scores of edges are finite."""
    n = len(field.node_at) - 1
    gain, extra = np.zeros(n), np.zeros((n, n))
    must, never = 0, 0
    for k in range(n):
        zero, one = float(theta[2 * k]), float(theta[2 * k + 1])
        if one == -np.inf:
            never |= 1 << k
        elif zero == -np.inf:
            must |= 1 << k
        else:
            gain[k] = one - zero
    for e in range(len(field.ends)):
        u, v, at = field.ends[e, 0], field.ends[e, 1], field.edge_at[e]
        a, b = float(theta[at]), float(theta[at + 1])
        c, d = float(theta[at + 2]), float(theta[at + 3])
        gain[u] += c - a
        gain[v] += b - a
        extra[u, v] = extra[v, u] = (a + d) - (b + c)
    scores, adds = np.zeros(1 << n), np.zeros(max(1 << n >> 1, 1))
    for k in range(n):
        adds[0] = gain[k]
        for j in range(k):
            shift(adds, 1 << j, extra[k, j])
        double(scores, adds, 1 << k)
    best, found = -np.inf, must
    for s in range(1 << n):
        if scores[s] > best and s & must == must and s & never == 0:
            best, found = scores[s], s
    for k in range(n):
        y[k] = found >> k & 1


@inner
def shift(adds, half, by):
    """The second half is the first one and so much more."""
    for s in range(half):
        adds[half + s] = adds[s] + by


@inner
def double(scores, adds, half):
    for s in range(half):
        scores[half + s] = scores[s] + adds[s]
