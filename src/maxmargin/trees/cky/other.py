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

from maxmargin.core.kernel import inner
from maxmargin.trees.cky.chart import NONE, cell_of, chain_marks
from maxmargin.trees.cky.trees import (
    core_symbol,
    node_spans,
    root_number,
    write_below,
    write_item,
)

CHAIN, RULE, LEFT, RIGHT = range(1, 5)  # how a node deviates


@inner
def best_other(tables, sentence, chart, truth, y):
    """y <- the best tree but the truth; returns its score, -inf if there is none."""
    label_of, parent_of, top_of = tables.label, tables.parent, tables.top
    left_of, right_of, bottom_of = tables.left, tables.right, tables.bottom
    by_parent, of_parent = tables.by_parent, tables.of_parent
    by_bottom, roots = tables.by_bottom, tables.roots
    chain_start, labels, seen = (
        tables.chain_start,
        tables.chain_labels,
        tables.chain_seen,
    )
    weight, chain_weight, label = sentence.rule, sentence.chain, sentence.label
    right, gold = sentence.right, sentence.gold
    best, core, symbol = chart.best, chart.core, chart.symbol
    length = sentence.length
    nodes = 2 * length - 1
    begins, ends = node_spans(truth, length)
    score = np.empty(nodes)  # D
    how, chain = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    rule, split = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    for m in range(nodes - 1, -1, -1):
        score[m] = -np.inf
        b, e = begins[m], ends[m]
        cell = cell_of(b, e)
        below, true_chain = core_symbol(parent_of, truth, m), truth[3 * m]
        topped = top_of[true_chain] if true_chain >= 0 else below
        top = 0.0  # what the true chain and the label of the core add
        if len(label) > 0 and label_of[below] >= 0:
            top = float(label[cell, label_of[below]])
        # another chain, or none
        for q in range(chart.first[cell], chart.last[cell]):
            a = symbol[q]
            if a == topped and true_chain != NONE and core[q] > score[m]:
                score[m], how[m], chain[m] = core[q], CHAIN, NONE
            for c in range(by_bottom[a], by_bottom[a + 1]):
                if top_of[c] != topped:
                    continue
                v = float(chain_weight[c])
                if len(label) > 0:
                    u, z = chain_start[c], chain_start[c + 1]
                    v += chain_marks(label, right, gold, cell, labels, seen, u, z)
                if c == true_chain:
                    top += v
                elif v + core[q] > score[m]:
                    score[m], how[m], chain[m] = v + core[q], CHAIN, c
        if truth[3 * m + 1] < 0:
            continue
        # the same chain over another rule or split
        for p in range(by_parent[below], by_parent[below + 1]):
            r = of_parent[p]
            for k in range(b + 1, e):
                if r == truth[3 * m + 1] and k == truth[3 * m + 2]:
                    continue
                v = float(best[cell_of(b, k), left_of[r]])
                v += float(best[cell_of(k, e), right_of[r]])
                v += top + float(weight[r])
                if v > score[m]:
                    score[m], how[m], rule[m], split[m] = v, RULE, r, k
        # all is true here, but not in a child
        r, k = truth[3 * m + 1], truth[3 * m + 2]
        top += float(weight[r])
        v = top + score[m + 1] + float(best[cell_of(k, e), right_of[r]])
        if v > score[m]:
            score[m], how[m] = v, LEFT
        v = top + score[m + 2 * (k - b)] + float(best[cell_of(b, k), left_of[r]])
        if v > score[m]:
            score[m], how[m] = v, RIGHT
    root = root_number(roots, top_of, parent_of, truth)
    high, other = score[0] + float(sentence.root[root]), -1
    for q in range(len(roots)):
        v = float(best[cell_of(0, length), roots[q]]) + float(sentence.root[q])
        if q != root and v > high:
            high, other = v, q
    if high == -np.inf:
        return high
    if other >= 0:
        write_item(tables, chart, 0, length, roots[other], 0, y)
        return high
    for slot in range(3 * nodes):
        y[slot] = truth[slot]
    m = 0
    while how[m] == LEFT or how[m] == RIGHT:
        r, k = truth[3 * m + 1], truth[3 * m + 2]
        left, second = m + 1, m + 2 * (k - begins[m])
        if how[m] == LEFT:
            write_item(tables, chart, k, ends[m], right_of[r], second, y)
            m = left
        else:
            write_item(tables, chart, begins[m], k, left_of[r], left, y)
            m = second
    b, e = begins[m], ends[m]
    if how[m] == CHAIN:
        c = chain[m]
        bottom = bottom_of[c] if c >= 0 else top_of[truth[3 * m]]
        y[3 * m] = c
        write_below(tables, chart, b, e, bottom, False, m, y)
    else:
        r, k = rule[m], split[m]
        y[3 * m + 1], y[3 * m + 2] = r, k
        write_item(tables, chart, b, k, left_of[r], m + 1, y)
        write_item(tables, chart, k, e, right_of[r], m + 2 * (k - b), y)
    return high
