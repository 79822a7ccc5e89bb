"""Labellings of a parse: symbols and spans of their nodes, brackets and losses."""

from __future__ import annotations

import numpy as np

from maxmargin.kernel import inlined, kernel
from maxmargin.structures.cky_batch import F1, HAMMING
from maxmargin.structures.cky_chart import cell_of, seen_below


@inlined
def core_symbol(tables, y, m):
    """The symbol of node m below its chain."""
    r = y[3 * m + 1]
    return tables.parent[r] if r >= 0 else -1 - r


@inlined
def root_number(tables, y):
    """Place of the tree's top among the roots; -1 if it is none."""
    symbol = tables.top[y[0]] if y[0] >= 0 else core_symbol(tables, y, 0)
    for q in range(len(tables.roots)):
        if tables.roots[q] == symbol:
            return q
    return -1


@inlined
def node_spans(y, length, begins, ends):
    """Begin and end of every node; parents come before their children."""
    begins[0], ends[0] = 0, length
    for m in range(2 * length - 1):
        if y[3 * m + 1] >= 0:
            k = y[3 * m + 2]
            right = m + 2 * (k - begins[m])
            begins[m + 1], ends[m + 1] = begins[m], k
            begins[right], ends[right] = k, ends[m]


@kernel
def true_brackets(batch, i):
    """(table of how often each cell and label occurs in the truth, their number)."""
    tables = batch.grammar
    length = batch.token_start[i + 1] - batch.token_start[i]
    table = np.zeros((length * (length + 1) // 2, tables.n_labels), np.int8)
    y = batch.y[batch.start[i] : batch.start[i + 1]]
    begins, ends = np.empty(2 * length, np.int64), np.empty(2 * length, np.int64)
    node_spans(y, length, begins, ends)
    total = 0
    for m in range(2 * length - 1):
        cell = cell_of(begins[m], ends[m])
        label = tables.label[core_symbol(tables, y, m)]
        if label >= 0:
            table[cell, label] += 1
            total += 1
        c = y[3 * m]
        if c >= 0:
            for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
                if tables.chain_labels[u] >= 0:
                    table[cell, tables.chain_labels[u]] += 1
                    total += 1
    return table, total


@inlined
def core_brackets(tables, gold, cell, symbol):
    """(right brackets, all brackets) of an item without its chain: 0 or 1."""
    label = tables.label[symbol]
    if label < 0:
        return 0, 0
    return (1 if gold[cell, label] > 0 else 0), 1


@inlined
def chain_brackets(tables, gold, cell, c):
    """(right brackets, all brackets) that chain c puts on top of an item."""
    right, total = 0, 0
    for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
        label = tables.chain_labels[u]
        if label >= 0:
            total += 1
            if gold[cell, label] > seen_below(tables, c, u):
                right += 1
    return right, total


@kernel
def count_brackets(batch, i, gold, y):
    """(right brackets, all brackets) of a tree."""
    tables = batch.grammar
    length = batch.token_start[i + 1] - batch.token_start[i]
    begins, ends = np.empty(2 * length, np.int64), np.empty(2 * length, np.int64)
    node_spans(y, length, begins, ends)
    right, total = 0, 0
    for m in range(2 * length - 1):
        cell = cell_of(begins[m], ends[m])
        t, p = core_brackets(tables, gold, cell, core_symbol(tables, y, m))
        right, total = right + t, total + p
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
