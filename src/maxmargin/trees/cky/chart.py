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

from maxmargin.core.entries import (
    Bytes,
    Float,
    Indices,
    Int,
    Labels,
    Table,
    Vector,
    tuple_of,
)
from maxmargin.core.kernel import apart, inlined, inner, kernel

NONE = -1  # no chain, no rule


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
    *(Sentence, Int, Indices, Labels, Vector, Vector, Vector, Table, Table),
    *(Float, Bytes),
)
CHART = tuple_of(
    *(Chart, Table, Indices, Indices, Labels, Vector, Labels, Labels, Labels)
)


@inlined
def cell_of(begin, end):
    return end * (end - 1) // 2 + begin


@kernel
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
def chain_marks(label, right, gold, cell, labels, seen, first, last):
    """Scores of the brackets of a chain, places first .. last of its lists."""
    total = 0.0
    for u in range(first, last):
        a = labels[u]
        if a >= 0:
            total += float(label[cell, a])
            if seen[u] > 0 and right != 0.0 and 0 < gold[cell, a] <= seen[u]:
                total += right  # the true brackets are used up further down
    return total


@inlined
def add_logs(a, b):
    """log(exp a + exp b)."""
    high, low = max(a, b), min(a, b)
    if low == -np.inf:
        return high
    return high + np.log1p(np.exp(low - high))


@kernel
def impossible(like, rows, columns):
    """An array of -inf (np.full takes numba seconds to compile, again for each type)."""
    out = np.empty((rows, columns), like.dtype)
    for i in range(rows):
        for j in range(columns):
            out[i, j] = -np.inf
    return out


@kernel
def longer(array, size):
    out = np.empty(size, array.dtype)
    for k in range(len(array)):
        out[k] = array[k]
    return out


@inlined
def _inside(tables, sentence, soft):
    n, label_of = tables.n_symbols, tables.label
    by_left, right_of, parent_of = tables.by_left, tables.right, tables.parent
    by_bottom, top_of = tables.by_bottom, tables.top
    chain_start, labels, seen = (
        tables.chain_start,
        tables.chain_labels,
        tables.chain_seen,
    )
    length, weight, chain_weight = sentence.length, sentence.rule, sentence.chain
    tag_start, tags, tag_score = sentence.tag_start, sentence.tags, sentence.tag
    label, right, gold = sentence.label, sentence.right, sentence.gold
    labelled = len(label) > 0
    cells = length * (length + 1) // 2
    best = impossible(weight, cells, n)
    first, last = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    room = 64 * cells + n
    symbol, chain = np.empty(room, np.int32), np.empty(room, np.int32)
    rule, split = np.empty(room, np.int32), np.empty(room, np.int32)
    core = np.empty(room, weight.dtype)
    score = impossible(weight, 1, n)[0]  # of the cores of one cell
    by_rule, at_split = np.empty(n, np.int32), np.empty(n, np.int32)
    by_chain, live = np.empty(n, np.int32), np.empty(n, np.int32)
    items = 0
    for j in range(1, length + 1):
        for i in range(j - 1, -1, -1):
            cell = cell_of(i, j)
            count = 0
            if j - i == 1:
                for p in range(tag_start[i], tag_start[j]):
                    a = tags[p]
                    score[a] = tag_score[i, a] if len(tag_score) > 0 else 0.0
                    by_rule[a], at_split[a] = NONE, 0
                    live[count] = a
                    count += 1
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
                            by_rule[parent], at_split[parent] = r, k
            # the cores are known: label them, then top them with chains
            out = best[cell]
            cores = 0
            for p in range(count):
                a = live[p]
                if labelled and label_of[a] >= 0:
                    score[a] += label[cell, label_of[a]]
                if score[a] > -np.inf:
                    out[a] = score[a]
                    by_chain[a] = NONE
                    live[cores] = a
                    cores += 1
                else:  # it overflowed, and would stand twice in the list below
                    score[a] = -np.inf
            count = cores
            for p in range(cores):
                a = live[p]
                for c in range(by_bottom[a], by_bottom[a + 1]):
                    v = score[a] + chain_weight[c]
                    if labelled:
                        v += weight.dtype.type(
                            chain_marks(
                                label,
                                right,
                                gold,
                                cell,
                                labels,
                                seen,
                                chain_start[c],
                                chain_start[c + 1],
                            )
                        )
                    top = top_of[c]
                    if v > (-np.inf if soft else out[top]):
                        if out[top] == -np.inf:
                            live[count] = top
                            count += 1
                            by_rule[top], at_split[top] = NONE, 0
                        out[top] = add_logs(out[top], v) if soft else v
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
def inside(tables, sentence):
    """The chart of the best trees."""
    return _inside(tables, sentence, False)


@apart
def chart_of(batch, sentence: SENTENCE) -> CHART:
    """The same, of a sentence of a batch."""
    return _inside(batch.grammar, sentence, False)


@inner
def inside_sums(tables, sentence):
    """The chart with log-sums over trees; its chains and rules mean nothing."""
    return _inside(tables, sentence, True)
