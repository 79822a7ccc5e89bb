"""Labellings of a parse: their nodes, scores, brackets and losses; and the best one.

How a tree is written as a labelling is said in ``structure.py``.
"""

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.trees.cky.batch import F1, HAMMING
from maxmargin.trees.cky.cells import NONE, cell_of
from maxmargin.trees.cky.chart import chain_score, label_score

NO_PARSE = -2  # in every slot of a labelling: the grammar has no tree


@inlined
def core_symbol(parent_of, y, m):
    """The symbol of node m below its chain."""
    r = y[3 * m + 1]
    return parent_of[r] if r >= 0 else -1 - r


@inlined
def root_number(roots, top_of, parent_of, y):
    """Place of the tree's top among the roots; -1 if it is none."""
    symbol = top_of[y[0]] if y[0] >= 0 else core_symbol(parent_of, y, 0)
    for q in range(len(roots)):
        if roots[q] == symbol:
            return q
    return -1


@inlined
def node_spans(y, length):
    """Begin and end of every node; parents come before their children."""
    begins, ends = np.empty(2 * length, np.int64), np.empty(2 * length, np.int64)
    begins[0], ends[0] = 0, length
    for m in range(2 * length - 1):
        if y[3 * m + 1] >= 0:
            k = y[3 * m + 2]
            right = m + 2 * (k - begins[m])
            begins[m + 1], ends[m + 1] = begins[m], k
            begins[right], ends[right] = k, ends[m]
    return begins, ends


@inner
def is_tree(tables, length, tag_start, tags, y):
    """Whether a labelling is a tree of the grammar over words that may have these tags."""
    spans = np.zeros(
        (max(2 * length - 1, 1), 2), np.int64
    )  # of nodes; 0 0: not yet met
    spans[0, 1] = length
    for m in range(2 * length - 1):
        begin, end = spans[m, 0], spans[m, 1]
        c, r, k = y[3 * m], y[3 * m + 1], y[3 * m + 2]
        if end <= begin or not -1 <= c < len(tables.top):
            return False
        if r >= 0:
            if r >= len(tables.parent) or not begin < k < end:
                return False
            right = m + 2 * (k - begin)
            spans[m + 1, 0], spans[m + 1, 1] = begin, k
            spans[right, 0], spans[right, 1] = k, end
        else:
            found = False
            for t in range(tag_start[begin], tag_start[begin + 1]):
                found = found or tags[t] == -1 - r
            if end != begin + 1 or not found:
                return False
        if c >= 0 and tables.bottom[c] != core_symbol(tables.parent, y, m):
            return False
    for m in range(2 * length - 1):
        r = y[3 * m + 1]
        if r >= 0:
            right = m + 2 * (y[3 * m + 2] - spans[m, 0])
            if top_symbol(tables, y, m + 1) != tables.left[r]:
                return False
            if top_symbol(tables, y, right) != tables.right[r]:
                return False
    return root_number(tables.roots, tables.top, tables.parent, y) >= 0


@inlined
def top_symbol(tables, y, m):
    """The symbol of node m with its chain."""
    c = y[3 * m]
    return tables.top[c] if c >= 0 else core_symbol(tables.parent, y, m)


@inner
def tree_value(tables, sentence, y):
    """The score of a tree."""
    length, rule, chain = sentence.length, sentence.rule, sentence.chain
    tag, label, right = sentence.tag, sentence.label, sentence.right
    gold = sentence.gold
    begins, ends = node_spans(y, length)
    root = root_number(tables.roots, tables.top, tables.parent, y)
    total = float(sentence.root[root])
    for m in range(2 * length - 1):
        c, r, cell = y[3 * m], y[3 * m + 1], cell_of(begins[m], ends[m])
        if c >= 0:
            total += chain_score(tables, chain, label, right, gold, cell, c)
        if r >= 0:
            total += float(rule[r])
        elif len(tag) > 0:
            total += float(tag[begins[m], -1 - r])
        core = core_symbol(tables.parent, y, m)
        total += float(label_score(tables.label, label, cell, core))
    return total


# brackets -------------------------------------------------------------------------------


@inner
def true_brackets(tables, length, y):
    """(table of how often each cell and label occurs in a tree, their number)."""
    label_of, parent_of = tables.label, tables.parent
    chain_start, labels = tables.chain_start, tables.chain_labels
    table = np.zeros((length * (length + 1) // 2, tables.n_labels), np.int8)
    begins, ends = node_spans(y, length)
    total = 0
    for m in range(2 * length - 1):
        cell = cell_of(begins[m], ends[m])
        a = label_of[core_symbol(parent_of, y, m)]
        if a >= 0:
            table[cell, a] += 1
            total += 1
        c = y[3 * m]
        if c >= 0:
            for u in range(chain_start[c], chain_start[c + 1]):
                if labels[u] >= 0:
                    table[cell, labels[u]] += 1
                    total += 1
    return table, total


@inlined
def chain_brackets(tables, gold, cell, c):
    """(right brackets, all brackets) that chain c puts on top of an item."""
    right, total = 0, 0
    for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
        a = tables.chain_labels[u]
        if a >= 0:
            total += 1
            if gold[cell, a] > tables.chain_seen[u]:
                right += 1
    return right, total


@inner
def count_brackets(tables, length, gold, y):
    """(right brackets, all brackets) of a tree."""
    begins, ends = node_spans(y, length)
    right, total = 0, 0
    for m in range(2 * length - 1):
        cell = cell_of(begins[m], ends[m])
        a = tables.label[core_symbol(tables.parent, y, m)]
        if a >= 0:
            right, total = right + (1 if gold[cell, a] > 0 else 0), total + 1
        if y[3 * m] >= 0:
            t, p = chain_brackets(tables, gold, cell, y[3 * m])
            right, total = right + t, total + p
    return right, total


@inlined
def loss_of(kind, t, p, g):
    """Loss of a tree with p brackets, t of them among the g true ones."""
    if kind == HAMMING:
        return float(g + p - 2 * t)
    if kind == F1 and g + p > 0:
        return 1.0 - 2.0 * t / (g + p)
    return 0.0


# the best tree of a chart ---------------------------------------------------------------


@inlined
def find_item(chart, cell, symbol):
    for q in range(chart.first[cell], chart.last[cell]):
        if chart.symbol[q] == symbol:
            return q
    return -1


@inlined
def push(waiting, n, begin, end, symbol, node):
    waiting[n, 0], waiting[n, 1] = begin, end
    waiting[n, 2], waiting[n, 3] = symbol, node


@inner
def write_item(tables, chart, begin, end, symbol, node, y):
    """Slots of y from ``node`` on <- the best derivation of symbol over a span."""
    write_below(tables, chart, begin, end, np.int64(symbol), True, node, y)


@inner
def write_below(tables, chart, begin, end, symbol, topped, node, y):
    """The same; if not ``topped``, only what is below the chain of ``node``."""
    left_of, right_of, bottom_of = tables.left, tables.right, tables.bottom
    waiting = np.empty((end - begin + 2, 4), np.int64)  # begin, end, symbol, node
    push(waiting, 0, begin, end, symbol, node)
    n = 1
    while n > 0:
        n -= 1
        begin, end, symbol = waiting[n, 0], waiting[n, 1], waiting[n, 2]
        node = waiting[n, 3]
        cell = cell_of(begin, end)
        q = find_item(chart, cell, symbol)
        if topped:
            c = chart.chain[q]
            y[3 * node] = c
            if c != NONE:
                q = find_item(chart, cell, bottom_of[c])
        topped = True
        r, k = chart.rule[q], chart.split[q]
        y[3 * node + 2] = k
        if r == NONE:
            y[3 * node + 1] = -1 - chart.symbol[q]
            continue
        y[3 * node + 1] = r
        push(waiting, n, begin, k, left_of[r], node + 1)
        push(waiting, n + 1, k, end, right_of[r], node + 2 * (k - begin))
        n += 2


@inner
def write_best(tables, sentence, chart, y):
    """y <- the best tree of the chart; returns its score, -inf if there is none."""
    length, roots = sentence.length, tables.roots
    row = chart.best[cell_of(0, length)]
    winner, best = -1, -np.inf
    for q in range(len(roots)):
        v = float(row[roots[q]]) + float(sentence.root[q])
        if v > best:
            winner, best = roots[q], v
    if winner < 0:
        for slot in range(6 * length - 3):
            y[slot] = NO_PARSE
    else:
        zero = np.int64(0)  # a bare 0 would be a type of its own, compiled again
        write_item(tables, chart, zero, length, winner, zero, y)
    return best
