"""The dynamic programme over (item, right brackets, brackets), with exact pruning.

An *entry* is an item with counts (t, p) and the best *worth* it has with them: its score
in the plane (see ``cky_counts.py``), score - a t + b p, which is what a marked sentence
gives. The best tree that has an entry is worth that plus the outside score of its item.
Entries for which this is at or below the threshold cannot be part of a tree that beats
the incumbent, and are dropped.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.entries import Bool, Float, Labels, Tables
from maxmargin.core.kernel import apart, inner, kernel
from maxmargin.trees.cky.chart import (
    CHART,
    NONE,
    SENTENCE,
    cell_of,
    chain_marks,
    impossible,
    longer,
)
from maxmargin.trees.cky.goal import GOAL, reached
from maxmargin.trees.cky.trees import chain_brackets

# columns of an entry; AFTER is the next entry of the same item, LEFT and OTHER those of
# its children
T, P, AFTER, SYMBOL, CHAIN, RULE, SPLIT, LEFT, OTHER = range(9)
COLUMNS = 9
FIRST_ROOM = 1024


@inner
def put(entries, worth, count, head, v, t, p, symbol, chain, rule, split, left, other):
    """Write an entry at the end or over a worse one of equal counts; returns the count."""
    e = head[symbol]
    while e >= 0 and (entries[e, T] != t or entries[e, P] != p):
        e = entries[e, AFTER]
    if e >= 0 and v <= worth[e]:
        return count
    if e < 0:
        e = count
        entries[e, AFTER] = head[symbol]
        head[symbol] = e
        count += 1
    worth[e] = v
    entries[e, T], entries[e, P] = t, p
    entries[e, SYMBOL], entries[e, CHAIN] = symbol, chain
    entries[e, RULE], entries[e, SPLIT] = rule, split
    entries[e, LEFT], entries[e, OTHER] = left, other
    return count


@kernel
def grown(entries):
    out = np.empty((2 * len(entries), COLUMNS), np.int32)
    for e in range(len(entries)):
        for column in range(COLUMNS):
            out[e, column] = entries[e, column]
    return out


@inner
def nowhere(rows, columns):
    """Heads of lists that are empty."""
    out = np.empty((rows, columns), np.int32)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = -1
    return out


@apart
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
    none, zero = np.int64(NONE), np.int64(0)  # bare numbers would be types of their own
    label_of, by_left = tables.label, tables.by_left
    right_of, parent_of = tables.right, tables.parent
    by_bottom, top_of, roots = tables.by_bottom, tables.top, tables.roots
    chain_start, labels, seen = (
        tables.chain_start,
        tables.chain_labels,
        tables.chain_seen,
    )
    length, weight, chain_weight = sentence.length, sentence.rule, sentence.chain
    tag_start, tags, tag_score = sentence.tag_start, sentence.tags, sentence.tag
    label, right, gold = sentence.label, sentence.right, sentence.gold
    best, first, last, symbol = chart.best, chart.first, chart.last, chart.symbol
    head = nowhere(best.shape[0], best.shape[1])
    entries, worth = np.empty((FIRST_ROOM, COLUMNS), np.int32), np.empty(FIRST_ROOM)
    cores, core_worth = np.empty((FIRST_ROOM, COLUMNS), np.int32), np.empty(FIRST_ROOM)
    core_head = nowhere(1, tables.n_symbols)[0]
    rest = impossible(weight, 1, tables.n_symbols)[
        0
    ]  # the outside of a core and its label
    count = 0
    for end in range(1, length + 1):
        for begin in range(end - 1, -1, -1):
            cell = cell_of(begin, end)
            for q in range(first[cell], last[cell]):
                s = symbol[q]
                rest[s] = around[cell, s]
                if label_of[s] >= 0:
                    rest[s] += float(label[cell, label_of[s]])
            n = 0  # cores of this cell
            if end - begin == 1:
                for k in range(tag_start[begin], tag_start[end]):
                    s = tags[k]
                    v = float(tag_score[begin, s]) if len(tag_score) > 0 else 0.0
                    if n + 1 >= len(cores):
                        cores, core_worth = (
                            grown(cores),
                            longer(core_worth, 2 * len(cores)),
                        )
                    if v + rest[s] > threshold:
                        n = put(
                            cores,
                            core_worth,
                            n,
                            core_head,
                            v,
                            zero,
                            zero,
                            s,
                            none,
                            none,
                            zero,
                            zero,
                            zero,
                        )
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
                        parent = parent_of[r]
                        w = float(weight[r])
                        limit = threshold - rest[parent] - w
                        high = float(best[second, other])
                        e = head[left, s]
                        while e >= 0:
                            f = head[second, other] if worth[e] + high > limit else -1
                            while f >= 0:
                                v = worth[e] + worth[f]
                                if v > limit:
                                    if n + 1 >= len(cores):
                                        core_worth = longer(core_worth, 2 * len(cores))
                                        cores = grown(cores)
                                    n = put(
                                        cores,
                                        core_worth,
                                        n,
                                        core_head,
                                        v + w,
                                        entries[e, T] + entries[f, T],
                                        entries[e, P] + entries[f, P],
                                        parent,
                                        none,
                                        np.int64(r),
                                        np.int64(k),
                                        np.int64(e),
                                        np.int64(f),
                                    )
                                f = entries[f, AFTER]
                            e = entries[e, AFTER]
            for m in range(n):
                s = cores[m, SYMBOL]
                core_head[s] = -1
                t, p, v = cores[m, T], cores[m, P], core_worth[m]
                if label_of[s] >= 0:
                    v += float(label[cell, label_of[s]])
                    t += 1 if gold[cell, label_of[s]] > 0 else 0
                    p += 1
                for c in range(by_bottom[s] - 1, by_bottom[s + 1]):
                    top, x, dt, dp, chain = s, 0.0, 0, 0, none
                    if c >= by_bottom[s]:
                        u, z = chain_start[c], chain_start[c + 1]
                        top, chain = top_of[c], c
                        x = float(chain_weight[c])
                        x += chain_marks(label, right, gold, cell, labels, seen, u, z)
                        dt, dp = chain_brackets(gold, cell, labels, seen, u, z)
                    if v + x + above[cell, top] <= threshold:
                        continue
                    if count + 1 >= len(entries):
                        worth = longer(worth, 2 * len(entries))
                        entries = grown(entries)
                    count = put(
                        entries,
                        worth,
                        count,
                        head[cell],
                        v + x,
                        t + dt,
                        p + dp,
                        top,
                        chain,
                        np.int64(cores[m, RULE]),
                        np.int64(cores[m, SPLIT]),
                        np.int64(cores[m, LEFT]),
                        np.int64(cores[m, OTHER]),
                    )
            for q in range(first[cell], last[cell]):
                rest[symbol[q]] = -np.inf
    winner = -1
    for q in range(len(roots)):
        e = head[cell_of(0, length), roots[q]]
        while e >= 0:
            t, p = entries[e, T], entries[e, P]
            v = worth[e] + float(sentence.root[q]) + right * t - extra * p
            v = reached(goal, v, t, p)
            if v > incumbent:
                winner, incumbent = e, v
            e = entries[e, AFTER]
    if winner >= 0:
        write_entry(tables.bottom, entries, winner, length, y)
    return winner >= 0


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
