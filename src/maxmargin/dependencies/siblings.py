"""Projective trees whose scores also see neighbouring modifiers (second order).

Beside its arcs, a tree scores every word m with its *sibling* s: the modifier before it of
the same head h on the same side, counted from the head outwards, or none (s = h). Features
are those of McDonald & Pereira (2006): tags of the three, with the word of the head, too,
and words and tags of both modifiers; each with direction and distance from s to m. These
scores stand behind those of arcs and labels in theta, as a cube [h, s, m].

The best tree is found by Eisner's algorithm with one more kind of span: what lies between
two siblings. O(n^3), as without.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.dependencies import arcs
from maxmargin.dependencies.arcs import n_parts, n_words, of_arcs
from maxmargin.dependencies.features import (
    ANY,
    N_KEYS,
    WIDTH,
    Sentences,
    mixed,
    salted,
    slot_of,
)
from maxmargin.dependencies.second_order import best_with_siblings
from maxmargin.dependencies.within import (
    best_arcs,
    clamp_known,
    with_costs,
    write_codes,
)

# what arcs are to these functions, compiled into them
score_arcs, score_arcs_of_planes, value_of_arcs, emit_arcs, difference_of_arcs = map(
    inlined, (arcs.score, arcs.score_planes, arcs.value, arcs.emit, arcs.difference)
)
capacity_of_arcs = inlined(arcs.capacity)

# columns of keys: the head in two triples, then sibling and modifier in all templates
TRIPLES, TEMPLATES = 2, 6
SIBLING, MODIFIER = TRIPLES, TRIPLES + TEMPLATES
N_SIBLING_KEYS = MODIFIER + TEMPLATES
# whether words, not tags: of the head in triples, of sibling and modifier in templates
HEAD_WORD = (False, True)
SIBLING_WORD = (False, False, False, True, True, False)
MODIFIER_WORD = (False, False, False, True, False, True)


@of_arcs
class SiblingBatch(NamedTuple):
    """Sentences as in ``batches.py``."""

    cuts = cut_by(start="example", y="start", sentences="example")

    start: np.ndarray
    y: np.ndarray
    sentences: Sentences
    n_labels: int
    arc_rows: int
    label_rows: int
    width: int


PartialSiblingBatch = of_arcs(with_known(SiblingBatch))


# scores ---------------------------------------------------------------------------------


@inlined
def n_numbers(batch, i):
    n = n_words(batch, i)
    return n_parts(batch, i) + (n + 1) * (n + 1) * (n + 1) * (n > 0)


@inlined
def cube_place(batch, i, h, s, m):
    n = n_words(batch, i)
    return n_parts(batch, i) + (h * (n + 1) + s) * (n + 1) + m


@inlined
def sibling_keys(sentences, i):
    """Keys of all tokens in these templates; the last row is that of no sibling."""
    first = sentences.first[i]
    n = sentences.first[i + 1] - first
    keys = np.empty((n + 1, N_SIBLING_KEYS), np.int64)
    for t in range(n + 1):
        word, tag = np.int64(-1), np.int64(-1)
        if t < n:
            word = np.int64(sentences.words[first + t])
            tag = np.int64(sentences.tags[first + t])
        for j in range(TRIPLES):
            value = word if HEAD_WORD[j] else tag
            keys[t, j] = token_key(j, value)
        for j in range(TEMPLATES):
            value = word if SIBLING_WORD[j] else tag
            keys[t, SIBLING + j] = token_key(SIBLING + j, value)
            value = word if MODIFIER_WORD[j] else tag
            keys[t, MODIFIER + j] = token_key(MODIFIER + j, value)
    return keys


@inlined
def token_key(column, value):
    return mixed(mixed(salted(2 * N_KEYS + column), value + 1), salted(column))


@inlined
def row_of(batch, keys, h, s, m, j):
    """Where the row of a template begins; s is the row of keys of the sibling."""
    key = keys[s, SIBLING + j] ^ keys[m, MODIFIER + j]
    if j < TRIPLES:
        key ^= keys[h, j]
    return (key & (batch.arc_rows - 1)) * WIDTH


@inlined
def weigh(batch, w, keys, h, s, m, begin, end):
    """The score of templates ``begin`` .. ``end``; s == h stands for none."""
    none = len(keys) - 1
    slot, total = slot_of(s, m), 0.0
    any_ = (slot & 8) + ANY
    for j in range(begin, end):
        row = row_of(batch, keys, h, none if s == h else s, m, j)
        total += np.float64(w[row + slot]) + np.float64(w[row + any_])
    return total


def score(batch, i, w, theta):
    score_arcs(batch, i, w, theta)
    n, base = n_words(batch, i), n_parts(batch, i)
    if n == 0:
        return
    keys, out = sibling_keys(batch.sentences, i), theta[0]
    for place in range(base, base + (n + 1) * (n + 1) * (n + 1)):
        out[place] = 0.0
    pairs = np.zeros((n + 1, n + 1))
    for s in range(1, n + 1):
        for m in range(1, n + 1):
            if s != m:
                pairs[s, m] = weigh(batch, w, keys, 0, s, m, TRIPLES, TEMPLATES)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if m == h:
                continue
            at = base + h * (n + 1) * (n + 1) + m
            out[at + h * (n + 1)] = weigh(batch, w, keys, h, h, m, 0, TEMPLATES)
            low, high = min(h, m) + 1, max(h, m)
            for s in range(low if h > 0 else high, high):
                triple = weigh(batch, w, keys, h, s, m, 0, TRIPLES)
                out[at + s * (n + 1)] = triple + pairs[s, m]


def score_planes(batch, i, w, labellings, count, theta):
    score_arcs_of_planes(batch, i, w, labellings, count, theta)
    n = n_words(batch, i)
    if n == 0:
        return
    keys, before = sibling_keys(batch.sentences, i), np.empty(n, np.int64)
    for p in range(count):
        y = labellings[p * n : (p + 1) * n]
        find_siblings(y, batch.n_labels, before)
        for t in range(n):
            h, s = y[t] // batch.n_labels, before[t]
            found = weigh(batch, w, keys, h, s, t + 1, 0, TEMPLATES)
            theta[0, cube_place(batch, i, h, s, t + 1)] = found


def extent(batch, i):
    return n_numbers(batch, i)


def shape(batch):
    most = 1
    for i in range(len(batch.start) - 1):
        most = max(most, n_numbers(batch, i))
    return 1, most


# outputs --------------------------------------------------------------------------------


@inlined
def find_siblings(y, labels, before):
    """before[t] <- the sibling of word t + 1, or its head if there is none."""
    n = len(before)
    last = np.zeros(n + 1, np.int64)
    for m in range(1, n + 1):
        h = y[m - 1] // labels
        if h < m:
            before[m - 1] = last[h] if last[h] > 0 else h
            last[h] = m
    for h in range(n + 1):
        last[h] = 0
    for m in range(n, 0, -1):
        h = y[m - 1] // labels
        if h > m:
            before[m - 1] = last[h] if last[h] > 0 else h
            last[h] = m


def value(batch, i, theta, y):
    n, total = n_words(batch, i), value_of_arcs(batch, i, theta, y)
    before = np.empty(n, np.int64)
    find_siblings(y[:n], batch.n_labels, before)
    for t in range(n):
        h = y[t] // batch.n_labels
        total += float(theta[0, cube_place(batch, i, h, before[t], t + 1)])
    return total


@implements(contract.argmax, SiblingBatch)
def argmax(batch, i, theta, scale, y):
    n = n_words(batch, i)
    if n == 0:
        return
    costed = with_costs(batch, i, theta, scale)
    heads = np.zeros(n + 1, np.int64)
    cube = theta[0, n_parts(batch, i) : n_numbers(batch, i)]
    best_with_siblings(best_arcs(batch, i, theta, costed), cube, heads)
    write_codes(batch, i, theta, costed, heads, y)


@implements(contract.clamp, PartialSiblingBatch)
def clamp(batch, i, theta):
    return clamp_known(batch, i, theta)


# features -------------------------------------------------------------------------------


def capacity(batch):
    words = 0
    for i in range(len(batch.start) - 1):
        words = max(words, n_words(batch, i))
    return capacity_of_arcs(batch) + 2 * TEMPLATES * words


@inlined
def emit_sibling(batch, keys, h, s, m, c, index, values, k):
    none = len(keys) - 1
    slot = slot_of(s, m)
    for j in range(TEMPLATES):
        row = row_of(batch, keys, h, none if s == h else s, m, j)
        index[k], values[k] = row + slot, c
        index[k + 1], values[k + 1] = row + (slot & 8) + ANY, c
        k += 2
    return k


def emit(batch, i, y, coefficient, index, values, k):
    k = emit_arcs(batch, i, y, coefficient, index, values, k)
    return emit_siblings(batch, i, y, coefficient, y, 0.0, index, values, k)


def difference(batch, i, s, rs, a, ra, index, values):
    k = difference_of_arcs(batch, i, s, rs, a, ra, index, values)
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    k = emit_siblings(batch, i, truth, rs, s, rs, index, values, k)
    return emit_siblings(batch, i, truth, -ra, a, -ra, index, values, k)


@inlined
def emit_siblings(batch, i, y, c, z, d, index, values, k):
    """c times the siblings of y minus d times those of z; none where they cancel."""
    n, labels = n_words(batch, i), batch.n_labels
    if n == 0:
        return k
    keys = sibling_keys(batch.sentences, i)
    one, other = np.empty(n, np.int64), np.empty(n, np.int64)
    find_siblings(y[:n], labels, one)
    find_siblings(z[:n], labels, other)
    for t in range(n):
        h, g, m = y[t] // labels, z[t] // labels, t + 1
        if c == d and h == g and one[t] == other[t]:
            continue
        if c != 0.0:
            k = emit_sibling(batch, keys, h, one[t], m, c, index, values, k)
        if d != 0.0:
            k = emit_sibling(batch, keys, g, other[t], m, -d, index, values, k)
    return k


for _function, _body in (
    (contract.shape, shape),
    (contract.extent, extent),
    (contract.score, score),
    (contract.score_planes, score_planes),
    (contract.value, value),
    (contract.capacity, capacity),
    (contract.emit, emit),
    (contract.difference, difference),
):
    for _class in (SiblingBatch, PartialSiblingBatch):
        implements(_function, _class)(_body)
