"""The chart of a sentence: inside and outside scores of all items, and the best tree.

An item is a symbol over a span. It has two scores: its *core* is built by a binary rule
(or is a tag), its *best* may be topped by a unary chain:

    core(i, j, P) = max_(k, P -> B C)  best(i, k, B) + best(k, j, C) + rule + label
    best(i, j, A) = max(core(i, j, A), max_(chain A..B)  core(i, j, B) + chain + labels)

(Cocke, Kasami and Younger.) The sum over all trees replaces max by log-sum-exp. Labels
score by the features of their span; the search for a violated tree adds ``extra`` to
every bracket and takes ``right`` from every one that is in the true tree (brackets of
one span and label match one to one, so a chain may match twice only if the truth does).

Spans are numbered by end, then start: the cells that end at j lie together, and those
are what a split of (i, j) looks into while it walks along the items of (i, k).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.kernel import inlined, kernel

NONE = -1  # no chain, no rule
NO_PARSE = -2  # in every slot of a labelling: the grammar has no tree


class Chart(NamedTuple):
    """Scores by cell and symbol, and lists of the items that exist."""

    best: np.ndarray  # (cells, symbols), -inf where there is no item
    first: np.ndarray  # int64[cells]: the items of a cell are first .. last
    last: np.ndarray
    symbol: np.ndarray  # int32[items]
    core: np.ndarray  # score before chains, -inf if there is only a chain
    chain: np.ndarray  # int32: that gives the best score, or NONE
    rule: np.ndarray  # int32: that gives the core, NONE for a tag
    split: np.ndarray  # int32: end of its left child


class Bonus(NamedTuple):
    """What the search adds: ``extra`` per bracket, ``-right`` per bracket in gold."""

    extra: float
    right: float
    gold: np.ndarray  # int8 (cells, labels): how often the true tree has the bracket


@inlined
def cell_of(i, j):
    return j * (j - 1) // 2 + i


@kernel
def no_bonus():
    return Bonus(0.0, 0.0, np.zeros((0, 0), np.int8))


@inlined
def label_score(batch, theta, bonus, cell, label, seen):
    """Score of one more bracket on a cell that has ``seen`` brackets of this label."""
    total = 0.0
    if label >= 0:
        if batch.n_span_features > 0:
            total = float(
                theta[0, batch.span_at + cell * batch.grammar.n_labels + label]
            )
        total += bonus.extra
        if bonus.right != 0.0 and bonus.gold[cell, label] > seen:
            total -= bonus.right
    return total


@inlined
def seen_below(tables, c, u):
    """Brackets with the label of place u of chain c that lie below it on its span."""
    label = tables.chain_labels[u]
    seen = 1 if tables.label[tables.bottom[c]] == label else 0
    for v in range(u + 1, tables.chain_start[c + 1]):
        if tables.chain_labels[v] == label:
            seen += 1
    return seen


@inlined
def chain_score(batch, theta, bonus, cell, c):
    tables = batch.grammar
    total = float(theta[0, batch.chain_at + c])
    if batch.n_span_features > 0 or bonus.extra != 0.0 or bonus.right != 0.0:
        for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
            seen = seen_below(tables, c, u)
            label = tables.chain_labels[u]
            total += label_score(batch, theta, bonus, cell, label, seen)
    return total


@inlined
def tag_score(batch, theta, position, tag):
    if batch.n_word_features == 0:
        return 0.0
    return float(theta[0, batch.tag_at + position * batch.grammar.n_tags + tag])


@inlined
def add_logs(a, b):
    """log(exp a + exp b)."""
    high, low = max(a, b), min(a, b)
    if low == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@inlined
def longer(array, size):
    out = np.empty(size, array.dtype)
    out[: len(array)] = array
    return out


@inlined
def _inside(batch, i, theta, bonus, soft):
    tables = batch.grammar
    n = tables.n_symbols
    token = batch.token_start[i]
    length = batch.token_start[i + 1] - token
    cells = length * (length + 1) // 2
    dtype = theta.dtype
    best = np.full((cells, n), -np.inf, dtype)
    first, last = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    room = 64 * cells + n
    symbol, chain = np.empty(room, np.int32), np.empty(room, np.int32)
    rule, split = np.empty(room, np.int32), np.empty(room, np.int32)
    core = np.empty(room, dtype)
    score = np.full(n, -np.inf, dtype)  # of the cores of one cell
    by_rule, at_split = np.empty(n, np.int32), np.empty(n, np.int32)
    by_chain = np.empty(n, np.int32)
    live = np.empty(n, np.int32)
    weight = theta[0]
    items = 0
    for j in range(1, length + 1):
        for b in range(j - 1, -1, -1):
            cell = cell_of(b, j)
            count = 0
            if j - b == 1:
                for p in range(batch.tag_start[token + b], batch.tag_start[token + j]):
                    tag = batch.tags[p]
                    score[tag] = tag_score(batch, theta, b, tag)
                    by_rule[tag], at_split[tag] = NONE, 0
                    live[count] = tag
                    count += 1
            for k in range(b + 1, j):
                left = cell_of(b, k)
                row = best[cell_of(k, j)]
                for q in range(first[left], last[left]):
                    s = best[left, symbol[q]]
                    for r in range(
                        tables.by_left[symbol[q]], tables.by_left[symbol[q] + 1]
                    ):
                        x = row[tables.right[r]]
                        if x == -np.inf:
                            continue
                        v = s + x + weight[r]
                        parent = tables.parent[r]
                        if score[parent] == -np.inf:
                            live[count] = parent
                            count += 1
                        if soft:
                            score[parent] = add_logs(score[parent], v)
                        elif v > score[parent]:
                            score[parent] = v
                            by_rule[parent], at_split[parent] = r, k
            # the cores are known: label them, then top them with chains
            out = best[cell]
            cores = count
            for p in range(cores):
                a = live[p]
                score[a] += dtype.type(
                    label_score(batch, theta, bonus, cell, tables.label[a], 0)
                )
                out[a] = score[a]
                by_chain[a] = NONE
            for p in range(cores):
                a = live[p]
                for c in range(tables.by_bottom[a], tables.by_bottom[a + 1]):
                    v = score[a] + dtype.type(chain_score(batch, theta, bonus, cell, c))
                    top = tables.top[c]
                    if out[top] == -np.inf:
                        live[count] = top
                        count += 1
                        by_rule[top], at_split[top] = NONE, 0
                    if soft:
                        out[top] = add_logs(out[top], v)
                    elif v > out[top]:
                        out[top] = v
                        by_chain[top] = c
            if items + count > len(symbol):
                room = 2 * len(symbol) + n
                symbol, chain = longer(symbol, room), longer(chain, room)
                rule, split = longer(rule, room), longer(split, room)
                core = longer(core, room)
            first[cell] = items
            for p in range(count):
                a = live[p]
                symbol[items], core[items], chain[items] = a, score[a], by_chain[a]
                rule[items], split[items] = by_rule[a], at_split[a]
                score[a] = -np.inf
                items += 1
            last[cell] = items
    return Chart(best, first, last, symbol, core, chain, rule, split)


@kernel
def inside(batch, i, theta, bonus):
    """The chart of the best trees of example i."""
    return _inside(batch, i, theta, bonus, False)


@kernel
def inside_sums(batch, i, theta, bonus):
    """The chart with log-sums over trees; its chains and rules mean nothing."""
    return _inside(batch, i, theta, bonus, True)


# the best tree --------------------------------------------------------------------------


@inlined
def find_item(chart, cell, symbol):
    for q in range(chart.first[cell], chart.last[cell]):
        if chart.symbol[q] == symbol:
            return q
    return -1


@kernel
def best_root(batch, i, theta, chart):
    """(number of the best root or -1, its score)."""
    length = batch.token_start[i + 1] - batch.token_start[i]
    roots = batch.grammar.roots
    winner, best = -1, -np.inf
    if length > 0:
        row = chart.best[cell_of(0, length)]
        for q in range(len(roots)):
            v = float(row[roots[q]]) + float(theta[0, batch.root_at + q])
            if v > best:
                winner, best = q, v
    return winner, best


@kernel
def write_item(batch, chart, b, e, symbol, node, y):
    """Slots of y from ``node`` on <- the best derivation of symbol over b .. e."""
    q = find_item(chart, cell_of(b, e), symbol)
    c = chart.chain[q]
    y[3 * node] = c
    if c != NONE:
        q = find_item(chart, cell_of(b, e), batch.grammar.bottom[c])
    write_core(batch, chart, b, e, q, node, y)


@kernel
def write_core(batch, chart, b, e, item, node, y):
    """The same below the chain of ``node``, from an item of the chart."""
    tables = batch.grammar
    # to do: spans whose core is known, as (begin, end, item, node)
    size = 2 * (e - b) + 2
    begins, ends = np.empty(size, np.int64), np.empty(size, np.int64)
    cores, nodes = np.empty(size, np.int64), np.empty(size, np.int64)
    begins[0], ends[0], cores[0], nodes[0] = b, e, item, node
    waiting = 1
    while waiting > 0:
        waiting -= 1
        b, e, q, m = begins[waiting], ends[waiting], cores[waiting], nodes[waiting]
        r, k = chart.rule[q], chart.split[q]
        if r == NONE:
            y[3 * m + 1], y[3 * m + 2] = -1 - chart.symbol[q], 0
            continue
        y[3 * m + 1], y[3 * m + 2] = r, k
        for side in range(2):
            child = tables.left[r] if side == 0 else tables.right[r]
            low, high = (b, k) if side == 0 else (k, e)
            at = m + 1 if side == 0 else m + 2 * (k - b)
            cell = cell_of(low, high)
            q = find_item(chart, cell, child)
            c = chart.chain[q]
            y[3 * at] = c
            if c != NONE:
                q = find_item(chart, cell, tables.bottom[c])
            begins[waiting], ends[waiting] = low, high
            cores[waiting], nodes[waiting] = q, at
            waiting += 1


@kernel
def write_best(batch, i, theta, chart, y):
    """y <- the best tree of the chart; returns its score, -inf if there is none."""
    length = batch.token_start[i + 1] - batch.token_start[i]
    q, best = best_root(batch, i, theta, chart)
    if q < 0:
        for slot in range(batch.start[i + 1] - batch.start[i]):
            y[slot] = NO_PARSE
        return best
    write_item(batch, chart, 0, length, batch.grammar.roots[q], 0, y)
    return best
