"""Outside scores: what the rest of a tree adds to an item of the chart.

above   outside an item with its chain, so that best + above is the score of the best
        tree (the log-sum over all trees) that has the item
around  outside its core, so that core + around is the same for the core
"""

from __future__ import annotations

import numpy as np

from maxmargin.kernel import inlined, kernel
from maxmargin.structures.cky_chart import add_logs, cell_of, chain_score, label_score


@inlined
def _outside(batch, i, theta, bonus, chart, soft):
    tables = batch.grammar
    length = batch.token_start[i + 1] - batch.token_start[i]
    cells, n = chart.best.shape
    above = np.full((cells, n), -np.inf, theta.dtype)
    around = np.full((cells, n), -np.inf, theta.dtype)
    rest = np.full(n, -np.inf, theta.dtype)  # around + the item's own label
    weight = theta[0]
    if length > 0:
        for q in range(len(tables.roots)):
            above[cells - length, tables.roots[q]] = weight[batch.root_at + q]
    for j in range(length, 0, -1):
        for b in range(j):
            cell = cell_of(b, j)
            for q in range(chart.first[cell], chart.last[cell]):
                a = chart.symbol[q]
                if chart.core[q] == -np.inf:
                    continue
                v = above[cell, a]
                for c in range(tables.by_bottom[a], tables.by_bottom[a + 1]):
                    x = above[cell, tables.top[c]] + theta.dtype.type(
                        chain_score(batch, theta, bonus, cell, c)
                    )
                    v = add_logs(v, x) if soft else max(v, x)
                around[cell, a] = v
                rest[a] = v + theta.dtype.type(
                    label_score(batch, theta, bonus, cell, tables.label[a], 0)
                )
            for k in range(b + 1, j):
                left, right = cell_of(b, k), cell_of(k, j)
                row, under = chart.best[right], above[right]
                for q in range(chart.first[left], chart.last[left]):
                    s = chart.symbol[q]
                    x, high = chart.best[left, s], above[left, s]
                    for r in range(tables.by_left[s], tables.by_left[s + 1]):
                        other = tables.right[r]
                        y, v = row[other], rest[tables.parent[r]] + weight[r]
                        if y == -np.inf or v == -np.inf:
                            continue
                        if soft:
                            high = add_logs(high, v + y)
                            under[other] = add_logs(under[other], v + x)
                        else:
                            high = max(high, v + y)
                            under[other] = max(under[other], v + x)
                    above[left, s] = high
            for q in range(chart.first[cell], chart.last[cell]):
                rest[chart.symbol[q]] = -np.inf
    return above, around


@kernel
def outside(batch, i, theta, bonus, chart):
    """(above, around): the best score outside an item and outside its core.

    best + above, or core + around, is the score of the best tree that has the item.
    """
    return _outside(batch, i, theta, bonus, chart, False)


@kernel
def outside_sums(batch, i, theta, bonus, chart):
    return _outside(batch, i, theta, bonus, chart, True)
