"""The cells of a chart, which are spans, and what is known of them: *limits*.

Limits are a table (cells, labels + 1): 1 for brackets that a tree must have, and in the
last column what the cell is; or None. A binary tree has a node over a span if and only if
none of its nodes crosses that span. So it is enough to leave out cells that cross a known
bracket, and items on its span that do not have it. (Pereira & Schabes 1992.)
"""

import numpy as np

from maxmargin.core.kernel import inlined, inner

NONE = -1  # no chain, no rule
FREE, NEEDED, CROSSED = range(3)


@inlined
def cell_of(begin, end):
    return end * (end - 1) // 2 + begin


@inner
def limits_of(tables, length, brackets):
    """The limits of known brackets, rows (begin, end, label or -1 for any label)."""
    limits = np.zeros((length * (length + 1) // 2, tables.n_labels + 1), np.int8)
    for row in range(len(brackets)):
        begin, end, label = brackets[row, 0], brackets[row, 1], brackets[row, 2]
        limits[cell_of(begin, end), -1] = NEEDED
        if label >= 0:
            limits[cell_of(begin, end), label] = 1
        for inner_end in range(begin + 1, end):
            for outer in range(begin):
                limits[cell_of(outer, inner_end), -1] = CROSSED
            for outer in range(end + 1, length + 1):
                limits[cell_of(inner_end, outer), -1] = CROSSED
    return limits


@inlined
def crossed(limits, cell):
    """Whether no tree has a node there."""
    if limits is None:
        return False
    return limits[cell, -1] == CROSSED


@inlined
def admits(tables, limits, cell, symbol, chain):
    """Whether a core with this chain on top (or NONE) has the brackets that must be."""
    if limits is None:
        return True
    if limits[cell, -1] != NEEDED:
        return True
    core, first, last = tables.label[symbol], 0, 0
    if chain != NONE:
        first, last = tables.chain_start[chain], tables.chain_start[chain + 1]
    labelled = core >= 0
    for u in range(first, last):
        labelled = labelled or tables.chain_labels[u] >= 0
    for a in range(tables.n_labels):
        if limits[cell, a] and core != a:
            found = False
            for u in range(first, last):
                found = found or tables.chain_labels[u] == a
            labelled = labelled and found
    return labelled
