"""The best tree that is not the true one: the search of the zero-one loss.

Such a tree leaves the truth at some node. Let D(m) be the best score of an item of the
truth over all its derivations but the true one: either its chain, its rule or its split
is another, with the best below; or all three are true and one of the children deviates:

    D(m) = max(other choices at m,
               rule + D(left) + best(right), rule + best(left) + D(right))

which needs the chart and one walk over the 2L - 1 true nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.core.vectors import copy_into
from maxmargin.trees.cky.cells import NONE, cell_of
from maxmargin.trees.cky.chart import chain_score, label_score
from maxmargin.trees.cky.trees import (
    core_symbol,
    node_spans,
    root_number,
    write_below,
    write_item,
)

CHAIN, RULE, LEFT, RIGHT = range(1, 5)  # how a node deviates


class Deviations(NamedTuple):
    """By true node: the best derivation of its item that is not the true one."""

    score: np.ndarray  # D
    how: np.ndarray
    chain: np.ndarray
    rule: np.ndarray
    split: np.ndarray


@inner
def best_other(tables, sentence, chart, truth, y):
    """y <- the best tree but the truth; returns its score, -inf if there is none."""
    best, length, roots = chart.best, sentence.length, tables.roots
    nodes = 2 * length - 1
    spans = node_spans(truth, length)
    found = Deviations(
        np.empty(nodes),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
    )
    for m in range(nodes - 1, -1, -1):
        found.score[m] = -np.inf
        top = other_chain(tables, sentence, chart, truth, spans, m, found)
        if truth[3 * m + 1] >= 0:
            other_below(tables, sentence, best, truth, spans, m, top, found)
    root = root_number(roots, tables.top, tables.parent, truth)
    high, other = found.score[0] + float(sentence.root[root]), -1
    for q in range(len(roots)):
        v = float(best[cell_of(0, length), roots[q]]) + float(sentence.root[q])
        if q != root and v > high:
            high, other = v, q
    if high > -np.inf:
        if other >= 0:
            write_item(tables, chart, 0, length, roots[other], 0, y)
        else:
            write_deviation(tables, chart, truth, spans, found, y)
    return high


@inlined
def other_chain(tables, sentence, chart, truth, spans, m, found):
    """Another chain than the true one, or none, over the best below.

    Returns what the true chain and the label of the true core add.
    """
    chain, label = sentence.chain, sentence.label
    right, gold = sentence.right, sentence.gold
    cell = cell_of(spans[0][m], spans[1][m])
    below, true_chain = core_symbol(tables.parent, truth, m), truth[3 * m]
    topped = tables.top[true_chain] if true_chain >= 0 else below
    top = float(label_score(tables.label, label, cell, below))
    for q in range(chart.first[cell], chart.last[cell]):
        a, core = chart.symbol[q], chart.core[q]
        if a == topped and true_chain != NONE and core > found.score[m]:
            found.score[m], found.how[m], found.chain[m] = core, CHAIN, NONE
        for c in range(tables.by_bottom[a], tables.by_bottom[a + 1]):
            if tables.top[c] != topped:
                continue
            v = chain_score(tables, chain, label, right, gold, cell, c)
            if c == true_chain:
                top += v
            elif v + core > found.score[m]:
                found.score[m], found.how[m], found.chain[m] = v + core, CHAIN, c
    return top


@inlined
def other_below(tables, sentence, best, truth, spans, m, top, found):
    """The same chain over another rule or split, or a child that deviates."""
    left_of, right_of, weight = tables.left, tables.right, sentence.rule
    below, b, e = core_symbol(tables.parent, truth, m), spans[0][m], spans[1][m]
    true_rule, true_split = truth[3 * m + 1], truth[3 * m + 2]
    for p in range(tables.by_parent[below], tables.by_parent[below + 1]):
        r = tables.of_parent[p]
        for k in range(b + 1, e):
            if r == true_rule and k == true_split:
                continue
            v = float(best[cell_of(b, k), left_of[r]])
            v += float(best[cell_of(k, e), right_of[r]])
            v += top + float(weight[r])
            if v > found.score[m]:
                found.score[m], found.how[m] = v, RULE
                found.rule[m], found.split[m] = r, k
    r, k = true_rule, true_split
    top += float(weight[r])
    v = top + found.score[m + 1] + float(best[cell_of(k, e), right_of[r]])
    if v > found.score[m]:
        found.score[m], found.how[m] = v, LEFT
    v = top + found.score[m + 2 * (k - b)] + float(best[cell_of(b, k), left_of[r]])
    if v > found.score[m]:
        found.score[m], found.how[m] = v, RIGHT


@inlined
def write_deviation(tables, chart, truth, spans, found, y):
    """y <- the tree of the best deviation of the top node."""
    left_of, right_of, (begins, ends) = tables.left, tables.right, spans
    copy_into(y, 0, truth, len(truth))
    m = 0
    while found.how[m] == LEFT or found.how[m] == RIGHT:
        r, k = truth[3 * m + 1], truth[3 * m + 2]
        left, second = m + 1, m + 2 * (k - begins[m])
        if found.how[m] == LEFT:
            write_item(tables, chart, k, ends[m], right_of[r], second, y)
            m = left
        else:
            write_item(tables, chart, begins[m], k, left_of[r], left, y)
            m = second
    b, e = begins[m], ends[m]
    if found.how[m] == CHAIN:
        c = found.chain[m]
        bottom = tables.bottom[c] if c >= 0 else tables.top[truth[3 * m]]
        y[3 * m] = c
        write_below(tables, chart, b, e, bottom, False, m, y)
    else:
        r, k = found.rule[m], found.split[m]
        y[3 * m + 1], y[3 * m + 2] = r, k
        write_item(tables, chart, b, k, left_of[r], m + 1, y)
        write_item(tables, chart, k, e, right_of[r], m + 2 * (k - b), y)
