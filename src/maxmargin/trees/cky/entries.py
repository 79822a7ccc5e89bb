"""The dynamic programme over (item, right brackets, brackets), with exact pruning.

An *entry* is an item with counts (t, p) and the best *worth* it has with them: its score
in the plane (see ``counts.py``), score - a t + b p, which is what a marked sentence
gives. The best tree that has an entry is worth that plus the outside score of its item.
Entries for which this is at or below the threshold cannot be part of a tree that beats
the incumbent, and are dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.compile.declared import Bool, Float, Labels, Tables
from maxmargin.core.kernel import inlined, inner, outlined
from maxmargin.trees.cky.cells import NONE, cell_of
from maxmargin.trees.cky.chart import (
    CHART,
    SENTENCE,
    chain_score,
    impossible,
    label_score,
    longer,
)
from maxmargin.trees.cky.goal import GOAL, reached
from maxmargin.trees.cky.trees import chain_brackets

# columns of an entry; AFTER is the next entry of the same item, LEFT and OTHER those of
# its children
T, P, AFTER, SYMBOL, CHAIN, RULE, SPLIT, LEFT, OTHER = range(9)
COLUMNS = 9
FIRST_ROOM = 1024


class Entries(NamedTuple):
    """A list with room for more."""

    rows: np.ndarray  # int32 (room, COLUMNS)
    worth: np.ndarray
    count: int


class Way(NamedTuple):
    """How an entry is built: columns CHAIN to OTHER."""

    chain: int
    rule: int
    split: int
    left: int
    other: int


@inner
def no_entries():
    rows = np.empty((FIRST_ROOM, COLUMNS), np.int32)
    return Entries(rows, np.empty(FIRST_ROOM), np.int64(0))


@inner
def put(entries, head, v, t, p, symbol, way):
    """The list with an entry at its end, or over a worse one of equal counts."""
    rows, worth, count = entries
    e = head[symbol]
    while e >= 0 and (rows[e, T] != t or rows[e, P] != p):
        e = rows[e, AFTER]
    if e >= 0 and v <= worth[e]:
        return entries
    if e < 0:
        e = count
        count += 1
        if count > len(rows):
            rows, worth = twice(rows), longer(worth, 2 * len(rows))
        rows[e, AFTER] = head[symbol]
        head[symbol] = e
    worth[e] = v
    rows[e, T], rows[e, P] = t, p
    rows[e, SYMBOL], rows[e, CHAIN] = symbol, way.chain
    rows[e, RULE], rows[e, SPLIT] = way.rule, way.split
    rows[e, LEFT], rows[e, OTHER] = way.left, way.other
    return Entries(rows, worth, count)


@inner
def twice(rows):
    out = np.empty((2 * len(rows), COLUMNS), np.int32)
    for e in range(len(rows)):
        for column in range(COLUMNS):
            out[e, column] = rows[e, column]
    return out


@inner
def nowhere(rows, columns):
    """Heads of lists that are empty."""
    out = np.empty((rows, columns), np.int32)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = -1
    return out


@outlined
def best_entry_tree(
    batch,
    sentence: SENTENCE,
    extra: Float,
    chart: CHART,
    outside: Tables,
    threshold: Float,
    goal: GOAL,
    incumbent: Float,
    y: Labels,
) -> Bool:
    """y <- the tree with the largest goal above the incumbent; False if there is none.

    ``sentence`` and ``chart`` are those of the plane, with ``extra`` per bracket.
    """
    tables, (above, around) = batch.grammar, outside
    length, label, first, last = (
        sentence.length,
        sentence.label,
        chart.first,
        chart.last,
    )
    head = nowhere(chart.best.shape[0], chart.best.shape[1])
    core_head = nowhere(1, tables.n_symbols)[0]
    # the outside of a core and its label
    rest = impossible(sentence.rule, 1, tables.n_symbols)[0]
    entries, cores = no_entries(), no_entries()
    for end in range(1, length + 1):
        for begin in range(end - 1, -1, -1):
            cell = cell_of(begin, end)
            for q in range(first[cell], last[cell]):
                s = chart.symbol[q]
                rest[s] = around[cell, s] + label_score(tables.label, label, cell, s)
            cores = Entries(cores.rows, cores.worth, np.int64(0))
            if end - begin == 1:
                cores = put_tags(sentence, begin, rest, threshold, cores, core_head)
            cores = put_rules(
                *(tables, sentence.rule, chart, begin, end),
                *(entries, head, rest, threshold, cores, core_head),
            )
            for m in range(cores.count):
                core_head[cores.rows[m, SYMBOL]] = -1
            entries = put_topped(
                tables, sentence, cell, cores, above[cell], threshold, entries, head
            )
            for q in range(first[cell], last[cell]):
                rest[chart.symbol[q]] = -np.inf
    rows, winner = entries.rows, -1
    for q in range(len(tables.roots)):
        e = head[cell_of(0, length), tables.roots[q]]
        while e >= 0:
            t, p = rows[e, T], rows[e, P]
            v = entries.worth[e] + float(sentence.root[q])
            v = reached(goal, v + sentence.right * t - extra * p, t, p)
            if v > incumbent:
                winner, incumbent = e, v
            e = rows[e, AFTER]
    if winner >= 0:
        write_entry(tables.bottom, rows, winner, length, y)
    return winner >= 0


@inlined
def put_tags(sentence, begin, rest, threshold, cores, head):
    """The tags of a word, as cores."""
    # bare numbers would be types of their own
    zero, none = np.int64(0), np.int64(NONE)
    for k in range(sentence.tag_start[begin], sentence.tag_start[begin + 1]):
        s = sentence.tags[k]
        v = float(sentence.tag[begin, s]) if len(sentence.tag) > 0 else 0.0
        if v + rest[s] > threshold:
            way = Way(none, none, zero, zero, zero)
            cores = put(cores, head, v, zero, zero, s, way)
    return cores


@inlined
def put_rules(
    tables, weight, chart, begin, end, entries, head, rest, threshold, cores, core_head
):
    """What binary rules build of the entries on both sides of every split, as cores."""
    rows, worth, _ = entries
    best, first, last, symbol = chart.best, chart.first, chart.last, chart.symbol
    by_left, right_of, parent_of = tables.by_left, tables.right, tables.parent
    for k in range(begin + 1, end):
        left, second = cell_of(begin, k), cell_of(k, end)
        for q in range(first[left], last[left]):
            s = symbol[q]
            if head[left, s] < 0:
                continue
            for r in range(by_left[s], by_left[s + 1]):
                other = right_of[r]
                if head[second, other] < 0:
                    continue
                parent, w = parent_of[r], float(weight[r])
                limit = threshold - rest[parent] - w
                high = float(best[second, other])
                e = head[left, s]
                while e >= 0:
                    f = head[second, other] if worth[e] + high > limit else -1
                    while f >= 0:
                        v = worth[e] + worth[f]
                        if v > limit:
                            t, p = rows[e, T] + rows[f, T], rows[e, P] + rows[f, P]
                            way = Way(np.int64(NONE), r, k, np.int64(e), np.int64(f))
                            cores = put(cores, core_head, v + w, t, p, parent, way)
                        f = rows[f, AFTER]
                    e = rows[e, AFTER]
    return cores


@inlined
def put_topped(tables, sentence, cell, cores, above, threshold, entries, head):
    """The cores, labelled, alone and under every chain, as entries."""
    weight, label = sentence.chain, sentence.label
    right, gold = sentence.right, sentence.gold
    rows, by_bottom = cores.rows, tables.by_bottom
    for m in range(cores.count):
        s, v = rows[m, SYMBOL], cores.worth[m]
        t, p = np.int64(rows[m, T]), np.int64(rows[m, P])
        if tables.label[s] >= 0:
            v += label_score(tables.label, label, cell, s)
            t += 1 if gold[cell, tables.label[s]] > 0 else 0
            p += 1
        rule, split = np.int64(rows[m, RULE]), np.int64(rows[m, SPLIT])
        left, other = np.int64(rows[m, LEFT]), np.int64(rows[m, OTHER])
        for c in range(by_bottom[s] - 1, by_bottom[s + 1]):
            top, chain, x, dt, dp = s, np.int64(NONE), 0.0, 0, 0
            if c >= by_bottom[s]:
                top, chain = tables.top[c], c
                x = chain_score(tables, weight, label, right, gold, cell, c)
                dt, dp = chain_brackets(tables, gold, cell, c)
            if v + x + above[top] > threshold:
                way = Way(chain, rule, split, left, other)
                entries = put(entries, head[cell], v + x, t + dt, p + dp, top, way)
    return entries


@inner
def write_entry(bottom_of, entries, e, length, y):
    """y <- the tree of an entry of the whole sentence."""
    waiting = np.empty((length + 1, 3), np.int64)  # entry, node, begin
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = e, 0, 0
    n = 1
    while n > 0:
        n -= 1
        e, node, begin = waiting[n, 0], waiting[n, 1], waiting[n, 2]
        r, k = entries[e, RULE], entries[e, SPLIT]
        c, symbol = entries[e, CHAIN], entries[e, SYMBOL]
        if c != NONE:
            symbol = bottom_of[c]
        y[3 * node], y[3 * node + 2] = c, k
        y[3 * node + 1] = r if r != NONE else -1 - symbol
        if r != NONE:
            right = node + 2 * (k - begin)
            waiting[n, 0], waiting[n, 1], waiting[n, 2] = entries[e, OTHER], right, k
            n += 1
            waiting[n, 0], waiting[n, 1] = entries[e, LEFT], node + 1
            waiting[n, 2] = begin
            n += 1
