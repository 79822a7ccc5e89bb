"""Outside scores: what the rest of a tree adds to an item of the chart.

above   outside an item with its chain, so that best + above is the score of the best
        tree that has the item
around  outside its core, so that core + around is the same for the core
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.compile.declared import Tables
from maxmargin.core.kernel import outlined
from maxmargin.trees.cky.cells import cell_of
from maxmargin.trees.cky.chart import (
    CHART,
    SENTENCE,
    chain_score,
    impossible,
    label_score,
)


@outlined
def outside(batch, sentence: SENTENCE, chart: CHART) -> Tables:
    """(above, around) of the best trees."""
    tables = batch.grammar
    right_of, parent_of, by_bottom = tables.right, tables.parent, tables.by_bottom
    length, weight, chain = sentence.length, sentence.rule, sentence.chain
    label, right, gold = sentence.label, sentence.right, sentence.gold
    best, first, last = chart.best, chart.first, chart.last
    symbol, core = chart.symbol, chart.core
    real = weight.dtype.type
    above = impossible(weight, best.shape[0], best.shape[1])
    around = impossible(weight, best.shape[0], best.shape[1])
    rest = impossible(weight, 1, tables.n_symbols)[0]  # around + the item's label
    if length > 0:
        whole = above[cell_of(0, length)]
        for q in range(len(tables.roots)):
            whole[tables.roots[q]] = sentence.root[q]
    for j in range(length, 0, -1):
        for i in range(j):
            cell = cell_of(i, j)
            for q in range(first[cell], last[cell]):
                a = symbol[q]
                if core[q] == -np.inf:
                    continue
                v = above[cell, a]
                for c in range(by_bottom[a], by_bottom[a + 1]):
                    x = chain_score(tables, chain, label, right, gold, cell, c)
                    v = max(v, above[cell, tables.top[c]] + real(x))
                around[cell, a] = v
                rest[a] = v + label_score(tables.label, label, cell, a)
            for k in range(i + 1, j):
                left = cell_of(i, k)
                row, under = best[cell_of(k, j)], above[cell_of(k, j)]
                for q in range(first[left], last[left]):
                    a = symbol[q]
                    x, high = best[left, a], above[left, a]
                    for r in range(tables.by_left[a], tables.by_left[a + 1]):
                        other = right_of[r]
                        y, v = row[other], rest[parent_of[r]]
                        if y == -np.inf or v == -np.inf:
                            continue
                        v += weight[r]
                        high = max(high, v + y)
                        under[other] = max(under[other], v + x)
                    above[left, a] = high
            for q in range(first[cell], last[cell]):
                rest[symbol[q]] = -np.inf
    return above, around
