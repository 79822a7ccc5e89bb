"""The best closed set of nodes of a tree for every number of wrong nodes.

With slack rescaling or quadratic slacks, the most violated set is not the best set under
any weights, but it is the best one among those with its own number of wrong nodes. In an
order in which every subtree stands together behind its root, a table over positions and
numbers of wrong nodes finds them all:

    best[p, l] = max( weight + best[p + 1, l - 1 if the node is wrong in],     taken
                      best[end of the subtree, l - true nodes in it] )        left out

It has n (n + 1) entries.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inner


def subtrees(parents) -> tuple[np.ndarray, np.ndarray]:
    """(nodes with subtrees standing together, position behind the subtree of each)."""
    n = len(parents)
    children = [[] for _ in range(n)]
    for v, above in enumerate(parents):
        for p in above:
            children[p].append(v)
    waiting = [v for v in range(n - 1, -1, -1) if not parents[v]]
    order = []
    while waiting:
        v = waiting.pop()
        order.append(v)
        waiting.extend(reversed(children[v]))
    size = np.ones(n, np.int64)
    for v in range(n - 1, -1, -1):  # parents have smaller numbers
        for p in parents[v]:
            size[p] += size[v]
    order = np.array(order, np.int64)
    return order, np.arange(n) + size[order]


@inner
def best_by_loss(order, end, weight, truth):
    """The table of the module; row 0 has the values of whole sets."""
    n = len(order)
    best = np.full((n + 1, n + 1), -np.inf)
    best[n, 0] = 0.0
    missed = missed_below(order, end, truth)
    for p in range(n - 1, -1, -1):
        v = order[p]
        wrong = 1 - truth[v]
        for loss in range(n - p + 1):
            value = -np.inf
            if loss >= wrong:
                value = weight[v] + best[p + 1, loss - wrong]
            if loss >= missed[p]:
                value = max(value, best[end[p], loss - missed[p]])
            best[p, loss] = value
    return best


@inner
def set_of_loss(order, end, weight, truth, best, loss, chosen):
    """chosen <- the best set with this number of wrong nodes."""
    missed = missed_below(order, end, truth)
    chosen[: len(order)] = 0
    p = 0
    while p < len(order):
        v = order[p]
        left = -np.inf
        if loss >= missed[p]:
            left = best[end[p], loss - missed[p]]
        if left == best[p, loss]:
            loss -= missed[p]
            p = end[p]
        else:
            chosen[v] = 1
            loss -= 1 - truth[v]
            p += 1


@inner
def missed_below(order, end, truth):
    """True nodes in the subtree at every position."""
    n = len(order)
    before = np.zeros(n + 1, np.int64)
    for p in range(n):
        before[p + 1] = before[p] + truth[order[p]]
    missed = np.empty(n, np.int64)
    for p in range(n):
        missed[p] = before[end[p]] - before[p]
    return missed
