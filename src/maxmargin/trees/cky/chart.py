"""The chart of a sentence: the best score, or the sum, of every item.

An item is a symbol over a span. It has two scores: its *core* is built by a binary rule
(or is a tag), its *best* may be topped by a unary chain:

    core(i, j, P) = max_(k, P -> B C)  best(i, k, B) + best(k, j, C) + rule + label
    best(i, j, A) = max(core(i, j, A), max_(chain A..B)  core(i, j, B) + chain + labels)

(Cocke, Kasami and Younger.) The sum over all trees replaces max by log-sum-exp. Labels
score by the features of their span; the search for a violated tree adds ``extra`` to
every bracket and takes ``right`` from every one that is in the true tree (brackets of
one span and label match one to one, so a chain may match twice only if the truth does).

Spans are numbered by end, then begin: the cells that end at j lie together, and those
are what a split of (i, j) looks into while it walks along the items of (i, k).

Scores that are no numbers make no items, so that weights which overflowed in training give
no tree rather than a wrong one.

Kernels here take arrays and small tuples, never a whole batch: numba copies a tuple at
every call, and a batch is thirty arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.compile.declared import (
    Bytes,
    Doubles,
    Float,
    Indices,
    Int,
    Labels,
    Table,
    tuple_of,
)
from maxmargin.core.kernel import inlined, inner, kernel, outlined
from maxmargin.trees.cky.cells import NONE, admits, cell_of, crossed


class Sentence(NamedTuple):
    """The scores that the trees of one sentence are made of."""

    length: int
    tag_start: np.ndarray  # the tags that a word may have, as in the batch
    tags: np.ndarray
    rule: np.ndarray  # scores, slices of theta
    chain: np.ndarray
    root: np.ndarray
    tag: np.ndarray  # (words, tags), or no rows if words have no features
    label: np.ndarray  # (cells, labels), or no rows if brackets have no scores
    right: float  # taken from label for brackets in gold, once per true bracket
    gold: np.ndarray  # int8 (cells, labels): how often the true tree has the bracket


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


SENTENCE = tuple_of(
    *(Sentence, Int, Indices, Labels, Doubles, Doubles, Doubles, Table, Table),
    *(Float, Bytes),
)
CHART = tuple_of(
    *(Chart, Table, Indices, Indices, Labels, Doubles, Labels, Labels, Labels)
)


@inner
def marked(sentence, extra, right, gold):
    """The sentence with ``extra`` on every bracket and ``-right`` on right ones."""
    s = sentence
    label = np.empty(gold.shape, s.rule.dtype)
    for cell in range(gold.shape[0]):
        for a in range(gold.shape[1]):
            x = float(s.label[cell, a]) if len(s.label) > 0 else 0.0
            label[cell, a] = x + extra - (right if gold[cell, a] > 0 else 0.0)
    return Sentence(
        s.length,
        s.tag_start,
        s.tags,
        s.rule,
        s.chain,
        s.root,
        s.tag,
        label,
        right,
        gold,
    )


@inlined
def chain_score(tables, chain, label, right, gold, cell, c):
    """Score of chain c on top of an item, with that of its brackets.

    (To pass the Sentence would count references to all its arrays, in inner loops.)
    """
    total = float(chain[c])
    if len(label) > 0:
        for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
            a, seen = tables.chain_labels[u], tables.chain_seen[u]
            if a >= 0:
                total += float(label[cell, a])
                if seen > 0 and right != 0.0 and 0 < gold[cell, a] <= seen:
                    total += right  # the true brackets are used up further down
    return total


@inlined
def label_score(label_of, label, cell, symbol):
    """Score of the bracket of an item's core; 0 where it is none."""
    a = label_of[symbol]
    return label[cell, a] if a >= 0 and len(label) > 0 else label.dtype.type(0)


@inlined
def add_logs(a, b):
    """log(exp a + exp b)."""
    high, low = max(a, b), min(a, b)
    if low == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@inner
def impossible(like, rows, columns):
    """An array of -inf (np.full takes numba seconds to compile, again for each type)."""
    out = np.empty((rows, columns), like.dtype)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = -np.inf
    return out


@inner
def longer(array, size):
    out = np.empty(size, array.dtype)
    for k in range(len(array)):
        out[k] = array[k]
    return out


class Cores(NamedTuple):
    """What is built in one cell, by symbol."""

    score: np.ndarray  # -inf where there is none
    rule: np.ndarray
    split: np.ndarray
    chain: np.ndarray
    live: (
        np.ndarray
    )  # the symbols that there are, in the order in which they were found


@inlined
def _inside(tables, sentence, soft, limits):
    """``limits`` is None, or what is known of the tree (``cells.py``)."""
    n, length, weight = tables.n_symbols, sentence.length, sentence.rule
    cells = length * (length + 1) // 2
    best = impossible(weight, cells, n)
    first, last = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    room = 64 * cells + n
    symbol, chain = np.empty(room, np.int32), np.empty(room, np.int32)
    rule, split = np.empty(room, np.int32), np.empty(room, np.int32)
    core = np.empty(room, weight.dtype)
    cores = Cores(
        impossible(weight, 1, n)[0],
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
    )
    items = 0
    for j in range(1, length + 1):
        for i in range(j - 1, -1, -1):
            cell = cell_of(i, j)
            if crossed(limits, cell):
                continue
            count = tag_cores(sentence, i, cores) if j - i == 1 else 0
            count = rule_cores(
                tables, weight, best, first, last, symbol, i, j, soft, cores, count
            )
            count = label_cores(
                tables, sentence, cell, cores, count, limits, best[cell]
            )
            count = top_cores(
                tables, sentence, cell, cores, count, soft, limits, best[cell]
            )
            if items + count > len(symbol):
                room = 2 * len(symbol) + n
                symbol, chain = longer(symbol, room), longer(chain, room)
                rule, split = longer(rule, room), longer(split, room)
                core = longer(core, room)
            first[cell] = items
            for p in range(count):
                a = cores.live[p]
                symbol[items], core[items] = a, cores.score[a]
                chain[items], rule[items] = cores.chain[a], cores.rule[a]
                split[items] = cores.split[a]
                cores.score[a] = -np.inf
                items += 1
            last[cell] = items
    return Chart(best, first, last, symbol, core, chain, rule, split)


@inlined
def tag_cores(sentence, i, cores):
    """The tags that word i may have; returns how many."""
    first, last = sentence.tag_start[i], sentence.tag_start[i + 1]
    for p in range(first, last):
        a = sentence.tags[p]
        cores.score[a] = sentence.tag[i, a] if len(sentence.tag) > 0 else 0.0
        cores.rule[a], cores.split[a] = NONE, 0
        cores.live[p - first] = a
    return last - first


@inlined
def rule_cores(tables, weight, best, first, last, symbol, i, j, soft, cores, count):
    """What binary rules build over i .. j; returns how many there are with them."""
    by_left, right_of, parent_of = tables.by_left, tables.right, tables.parent
    score, rule, split, live = cores.score, cores.rule, cores.split, cores.live
    for k in range(i + 1, j):
        left = cell_of(i, k)
        row, mine = best[cell_of(k, j)], best[left]
        for q in range(first[left], last[left]):
            a = symbol[q]
            s = mine[a]
            for r in range(by_left[a], by_left[a + 1]):
                x = row[right_of[r]]
                if x == -np.inf:
                    continue
                v = s + x + weight[r]
                parent = parent_of[r]
                if v > (-np.inf if soft else score[parent]):
                    if score[parent] == -np.inf:
                        live[count] = parent
                        count += 1
                    score[parent] = add_logs(score[parent], v) if soft else v
                    rule[parent], split[parent] = r, k
    return count


@inlined
def label_cores(tables, sentence, cell, cores, count, limits, out):
    """Score the brackets of the cores; returns how many are left."""
    score, label, kept = cores.score, sentence.label, 0
    for p in range(count):
        a = cores.live[p]
        score[a] += label_score(tables.label, label, cell, a)
        if score[a] > -np.inf:
            if admits(tables, limits, cell, a, NONE):
                out[a] = score[a]
            cores.chain[a] = NONE
            cores.live[kept] = a
            kept += 1
        else:  # it overflowed, and would stand twice in the list of symbols
            score[a] = -np.inf
    return kept


@inlined
def top_cores(tables, sentence, cell, cores, count, soft, limits, out):
    """Put chains on the cores; returns how many symbols there are with them."""
    chain, label = sentence.chain, sentence.label
    right, gold = sentence.right, sentence.gold
    real, by_bottom, found = chain.dtype.type, tables.by_bottom, count
    for p in range(count):
        a = cores.live[p]
        for c in range(by_bottom[a], by_bottom[a + 1]):
            if not admits(tables, limits, cell, a, c):
                continue
            x = chain_score(tables, chain, label, right, gold, cell, c)
            v = cores.score[a] + real(x)
            top = tables.top[c]
            if v > (-np.inf if soft else out[top]):
                if out[top] == -np.inf and cores.score[top] == -np.inf:
                    cores.live[found] = top
                    found += 1
                    cores.rule[top], cores.split[top] = NONE, 0
                out[top] = add_logs(out[top], v) if soft else v
                cores.chain[top] = c
    return found


@kernel
def inside(tables, sentence):
    """The chart of the best trees."""
    return _inside(tables, sentence, False, None)


@outlined
def chart_of(batch, sentence: SENTENCE) -> CHART:
    """The same, of a sentence of a batch."""
    return _inside(batch.grammar, sentence, False, None)


@inner
def known_chart(tables, sentence, limits):
    """The same, of the trees within limits."""
    return _inside(tables, sentence, False, limits)


@inner
def inside_sums(tables, sentence, limits):
    """The chart with log-sums over trees; its chains and rules mean nothing."""
    return _inside(tables, sentence, True, limits)
