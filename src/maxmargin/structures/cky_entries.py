"""The dynamic programme over (item, right brackets, brackets), with exact pruning.

An *entry* is an item with counts (t, p) and the best score it has with them. In the plane
of ``bonus`` (see ``cky_counts.py``) an entry is worth score - a t + b p, and the best tree
that has it is worth that plus the outside score of its item. Entries for which this is at
or below the threshold cannot be part of a tree that beats the incumbent, and are dropped.
"""

from __future__ import annotations

import numpy as np

from maxmargin.kernel import inlined, kernel
from maxmargin.structures.cky_chart import (
    NONE,
    Bonus,
    cell_of,
    chain_score,
    label_score,
    longer,
    tag_score,
)
from maxmargin.structures.cky_goal import reached
from maxmargin.structures.cky_trees import chain_brackets, core_brackets

# columns of an entry; AFTER is the next entry of the same item, LEFT and OTHER those of
# its children
T, P, AFTER, SYMBOL, CHAIN, RULE, SPLIT, LEFT, OTHER = range(9)
COLUMNS = 9


@inlined
def place_for(entries, score, count, head, symbol, s, t, p):
    """Where to write an entry: over a worse one of equal counts, at the end, or -1."""
    e = head[symbol]
    while e >= 0:
        if entries[e, T] == t and entries[e, P] == p:
            return e if s > score[e] else -1
        e = entries[e, AFTER]
    entries[count, AFTER] = head[symbol]
    head[symbol] = count
    return count


@inlined
def put(entries, score, e, s, t, p, symbol, chain, rule, split, left, other):
    score[e] = s
    entries[e, T], entries[e, P] = t, p
    entries[e, SYMBOL], entries[e, CHAIN] = symbol, chain
    entries[e, RULE], entries[e, SPLIT] = rule, split
    entries[e, LEFT], entries[e, OTHER] = left, other


@inlined
def grown(entries):
    out = np.empty((2 * len(entries), COLUMNS), np.int32)
    out[: len(entries)] = entries
    return out


@kernel
def best_entry_tree(
    batch, i, theta, bonus, chart, above, around, threshold, goal, incumbent, y
):
    """y <- the tree with the largest goal above the incumbent.

    Returns (whether there is one, entries made).
    """
    tables = batch.grammar
    token = batch.token_start[i]
    length = batch.token_start[i + 1] - token
    a, b = bonus.right, bonus.extra
    plain = Bonus(0.0, 0.0, bonus.gold)
    head = np.full(chart.best.shape, -1, np.int32)
    entries, score = np.empty((1024, COLUMNS), np.int32), np.empty(1024)
    cores, core_score = np.empty((1024, COLUMNS), np.int32), np.empty(1024)
    core_head = np.full(tables.n_symbols, -1, np.int32)
    rest = np.full(tables.n_symbols, -np.inf)  # the outside of a core and its label
    count = 0
    for end in range(1, length + 1):
        for begin in range(end - 1, -1, -1):
            cell = cell_of(begin, end)
            for q in range(chart.first[cell], chart.last[cell]):
                s = chart.symbol[q]
                rest[s] = around[cell, s]
                rest[s] += label_score(batch, theta, bonus, cell, tables.label[s], 0)
            n_cores = 0
            if end - begin == 1:
                word = token + begin
                for k in range(batch.tag_start[word], batch.tag_start[word + 1]):
                    tag = batch.tags[k]
                    v = tag_score(batch, theta, begin, tag)
                    if v + rest[tag] > threshold:
                        e = place_for(
                            cores, core_score, n_cores, core_head, tag, v, 0, 0
                        )
                        put(cores, core_score, e, v, 0, 0, tag, NONE, NONE, 0, 0, 0)
                        n_cores += 1
                    if n_cores >= len(cores):
                        cores, core_score = (
                            grown(cores),
                            longer(core_score, 2 * n_cores),
                        )
            for k in range(begin + 1, end):
                left, right = cell_of(begin, k), cell_of(k, end)
                for q in range(chart.first[left], chart.last[left]):
                    s = chart.symbol[q]
                    if head[left, s] < 0:
                        continue
                    for r in range(tables.by_left[s], tables.by_left[s + 1]):
                        other = tables.right[r]
                        if head[right, other] < 0:
                            continue
                        parent = tables.parent[r]
                        w = float(theta[0, r])
                        limit = threshold - rest[parent] - w
                        high = float(chart.best[right, other])
                        e = head[left, s]
                        while e >= 0:
                            t, p, x = entries[e, T], entries[e, P], score[e]
                            worth = x - a * t + b * p
                            f = head[right, other] if worth + high > limit else -1
                            while f >= 0:
                                t2, p2 = t + entries[f, T], p + entries[f, P]
                                v = x + score[f]
                                if v - a * t2 + b * p2 > limit:
                                    v += w
                                    at = place_for(
                                        cores,
                                        core_score,
                                        n_cores,
                                        core_head,
                                        parent,
                                        v,
                                        t2,
                                        p2,
                                    )
                                    if at >= 0:
                                        put(
                                            cores,
                                            core_score,
                                            at,
                                            v,
                                            t2,
                                            p2,
                                            parent,
                                            NONE,
                                            r,
                                            k,
                                            e,
                                            f,
                                        )
                                    if at == n_cores:
                                        n_cores += 1
                                        if n_cores >= len(cores):
                                            cores = grown(cores)
                                            core_score = longer(core_score, 2 * n_cores)
                                f = entries[f, AFTER]
                            e = entries[e, AFTER]
            for m in range(n_cores):
                symbol = cores[m, SYMBOL]
                core_head[symbol] = -1
                dt, dp = core_brackets(tables, bonus.gold, cell, symbol)
                t, p = cores[m, T] + dt, cores[m, P] + dp
                s = core_score[m]
                s += label_score(batch, theta, plain, cell, tables.label[symbol], 0)
                first = tables.by_bottom[symbol]
                for c in range(first - 1, tables.by_bottom[symbol + 1]):
                    top, chain, v, t2, p2 = symbol, NONE, s, t, p
                    if c >= first:
                        top, chain = tables.top[c], c
                        v += chain_score(batch, theta, plain, cell, c)
                        dt, dp = chain_brackets(tables, bonus.gold, cell, c)
                        t2, p2 = t + dt, p + dp
                    if v - a * t2 + b * p2 + above[cell, top] <= threshold:
                        continue
                    at = place_for(entries, score, count, head[cell], top, v, t2, p2)
                    if at >= 0:
                        put(
                            entries,
                            score,
                            at,
                            v,
                            t2,
                            p2,
                            top,
                            chain,
                            cores[m, RULE],
                            cores[m, SPLIT],
                            cores[m, LEFT],
                            cores[m, OTHER],
                        )
                    if at == count:
                        count += 1
                        if count >= len(entries):
                            entries, score = grown(entries), longer(score, 2 * count)
            for q in range(chart.first[cell], chart.last[cell]):
                rest[chart.symbol[q]] = -np.inf
    winner = -1
    whole = cell_of(0, length)
    for q in range(len(tables.roots)):
        e = head[whole, tables.roots[q]]
        while e >= 0:
            v = score[e] + float(theta[0, batch.root_at + q])
            v = reached(goal, v, entries[e, T], entries[e, P])
            if v > incumbent:
                winner, incumbent = e, v
            e = entries[e, AFTER]
    if winner < 0:
        return False, count
    write_entry(batch, entries, winner, length, y)
    return True, count


@kernel
def write_entry(batch, entries, e, length, y):
    """y <- the tree of an entry of the whole sentence."""
    tables = batch.grammar
    waiting = np.empty((length + 1, 3), np.int64)  # entry, node, begin
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = e, 0, 0
    n = 1
    while n > 0:
        n -= 1
        e, node, begin = waiting[n, 0], waiting[n, 1], waiting[n, 2]
        r, k = entries[e, RULE], entries[e, SPLIT]
        c, symbol = entries[e, CHAIN], entries[e, SYMBOL]
        if c != NONE:
            symbol = tables.bottom[c]
        y[3 * node], y[3 * node + 2] = c, k
        y[3 * node + 1] = r if r != NONE else -1 - symbol
        if r != NONE:
            right = node + 2 * (k - begin)
            waiting[n, 0], waiting[n, 1], waiting[n, 2] = entries[e, OTHER], right, k
            n += 1
            waiting[n, 0], waiting[n, 1], waiting[n, 2] = (
                entries[e, LEFT],
                node + 1,
                begin,
            )
            n += 1
