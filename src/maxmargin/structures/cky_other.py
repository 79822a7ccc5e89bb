"""The best tree that is not the true one: the search of the zero-one loss.

Such a tree leaves the truth at some node. Let D(m) be the best score of an item of the
truth over all its derivations but the true one: either its chain, its rule or its split
is another, with the best below; or all three are true and one of the children deviates:

    D(m) = max(other choices at m,
               rule + D(left) + best(right), rule + best(left) + D(right))

which needs the chart and one walk over the 2L - 1 true nodes.
"""

from __future__ import annotations

import numpy as np

from maxmargin.kernel import inlined, kernel
from maxmargin.structures.cky_chart import (
    NONE,
    cell_of,
    chain_score,
    find_item,
    label_score,
    write_core,
    write_item,
)
from maxmargin.structures.cky_trees import core_symbol, node_spans, root_number

NOWHERE, CHAIN, RULE, LEFT, RIGHT = range(5)  # how a node deviates


@kernel
def best_other(batch, i, theta, bonus, chart, y):
    """y <- the best tree but the truth; returns its score, -inf if there is none."""
    tables = batch.grammar
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    length = batch.token_start[i + 1] - batch.token_start[i]
    nodes = 2 * length - 1
    begins, ends = np.empty(2 * length, np.int64), np.empty(2 * length, np.int64)
    node_spans(truth, length, begins, ends)
    score = np.full(nodes, -np.inf)
    how = np.full(nodes, NOWHERE)
    chain, rule, split = (
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        ends.copy(),
    )
    for m in range(nodes - 1, -1, -1):
        b, e = begins[m], ends[m]
        cell = cell_of(b, e)
        core = core_symbol(tables, truth, m)
        topped = tables.top[truth[3 * m]] if truth[3 * m] >= 0 else core
        # another chain, or none
        for q in range(chart.first[cell], chart.last[cell]):
            a = chart.symbol[q]
            if a == topped and truth[3 * m] != NONE and chart.core[q] > score[m]:
                score[m], how[m], chain[m] = chart.core[q], CHAIN, NONE
            for c in range(tables.by_bottom[a], tables.by_bottom[a + 1]):
                if tables.top[c] == topped and c != truth[3 * m]:
                    v = float(chart.core[q]) + chain_score(batch, theta, bonus, cell, c)
                    if v > score[m]:
                        score[m], how[m], chain[m] = v, CHAIN, c
        if truth[3 * m + 1] < 0:
            continue
        # the same chain over another rule or split, or over children that deviate
        top = label_score(batch, theta, bonus, cell, tables.label[core], 0)
        if truth[3 * m] >= 0:
            top += chain_score(batch, theta, bonus, cell, truth[3 * m])
        for p in range(tables.by_parent[core], tables.by_parent[core + 1]):
            r = tables.of_parent[p]
            for k in range(b + 1, e):
                if r == truth[3 * m + 1] and k == truth[3 * m + 2]:
                    continue
                v = top + pair_score(tables, theta, chart, r, b, k, e)
                if v > score[m]:
                    score[m], how[m], rule[m], split[m] = v, RULE, r, k
        r, k = truth[3 * m + 1], truth[3 * m + 2]
        left, right = m + 1, m + 2 * (k - b)
        top += float(theta[0, r])
        v = top + score[left] + float(chart.best[cell_of(k, e), tables.right[r]])
        if v > score[m]:
            score[m], how[m] = v, LEFT
        v = top + float(chart.best[cell_of(b, k), tables.left[r]]) + score[right]
        if v > score[m]:
            score[m], how[m] = v, RIGHT
    root = root_number(tables, truth)
    best, other = score[0] + float(theta[0, batch.root_at + root]), -1
    whole = chart.best[cell_of(0, length)]
    for q in range(len(tables.roots)):
        v = float(whole[tables.roots[q]]) + float(theta[0, batch.root_at + q])
        if q != root and v > best:
            best, other = v, q
    if best == -np.inf:
        return best
    if other >= 0:
        write_item(batch, chart, 0, length, tables.roots[other], 0, y)
        return best
    y[: 3 * nodes] = truth
    m = 0
    while how[m] == LEFT or how[m] == RIGHT:
        r, k = truth[3 * m + 1], truth[3 * m + 2]
        left, right = m + 1, m + 2 * (k - begins[m])
        if how[m] == LEFT:
            write_item(batch, chart, k, ends[m], tables.right[r], right, y)
            m = left
        else:
            write_item(batch, chart, begins[m], k, tables.left[r], left, y)
            m = right
    b, e = begins[m], ends[m]
    if how[m] == CHAIN:
        bottom = tables.bottom[chain[m]] if chain[m] >= 0 else -1
        if bottom < 0:  # the topped symbol itself, without a chain
            bottom = tables.top[truth[3 * m]]
        y[3 * m] = chain[m]
        write_core(batch, chart, b, e, find_item(chart, cell_of(b, e), bottom), m, y)
    else:
        r, k = rule[m], split[m]
        y[3 * m + 1], y[3 * m + 2] = r, k
        write_item(batch, chart, b, k, tables.left[r], m + 1, y)
        write_item(batch, chart, k, e, tables.right[r], m + 2 * (k - b), y)
    return best


@inlined
def pair_score(tables, theta, chart, r, b, k, e):
    left = chart.best[cell_of(b, k), tables.left[r]]
    right = chart.best[cell_of(k, e), tables.right[r]]
    if left == -np.inf or right == -np.inf:
        return -np.inf
    return float(left) + float(right) + float(theta[0, r])
