"""A motif at an unknown place: one label, and where a positive sequence has its site.

With letters x_1 .. x_n, width l and start h, a positive sequence scores
sum_j PSM_j(x_(h+j)) for its site and a Markov background for all other letters; a negative
one scores the background everywhere (section 5.4.1 of Yu's thesis, 2011). What both have in
common cancels, in every difference of outputs, so here

    Psi(x, -)    = 0
    Psi(x, +, h) = sum_j phi_PSM^j(x_(h+j)) - phi_BG(x_(h+j) and the k letters before it)
                   + phi_words(x)

where the last term, if it is asked for, tells what the whole sequence is made of, whatever
the site (``composition.py``).

The one slot holds 0 for a negative sequence, 1 + h for a site at h; with both strands,
sites of the reverse one, where the motif is read backwards in complementary letters, come
after all of the forward one. theta is one row: the score of every site. The loss is 0 or 1,
by the class alone. A letter that is not known is of no weight, in the motif and wherever it
is among those that a background letter depends on.

w is (l, 4) of the motif, then blocks of 4, 16, .. 4^(k+1) of the background: the first
letters of a sequence depend on those that there are; then the words of the composition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.rescale import violation
from maxmargin.motifs.composition import (
    N_WORDS,
    UNKNOWN,
    background_size,
    composition,
    no_composition,
)


class MotifBatch(NamedTuple):
    """Sequences as codes of letters, one after the other, and their classes."""

    cuts = cut_by(
        start="example",
        y="start",
        first="example",
        codes="first",
        quads="first",
        clean="example",
        back="first",
        label="example",
        words="example",
        word="words",
        share="words",
    )

    start: np.ndarray
    y: np.ndarray
    first: np.ndarray  # int64 (examples + 1): where sequences begin in codes
    codes: np.ndarray  # uint8: 0..3, or UNKNOWN
    quads: np.ndarray  # uint8: a letter and the three after it, in base 4
    clean: np.ndarray  # uint8: whether all letters of a sequence are known
    back: np.ndarray  # int32: the background weight of a letter, -1 if none
    label: np.ndarray  # uint8: what is known, the class
    words: np.ndarray  # int64 (examples + 1): where the words of a sequence begin
    word: np.ndarray  # int32: the weight of a word
    share: np.ndarray  # float64: its value
    width: int
    strands: int
    longest: int
    most: int  # words of a sequence


def n_weights(width: int, order: int, words: bool = False) -> int:
    return 4 * width + background_size(order) + words * N_WORDS


def make_batch(codes, first, label, width, order, strands) -> MotifBatch:
    """Encode sequences; ``label`` is zero where it is not known."""
    lengths = np.diff(first)
    n = len(lengths)
    none = no_composition(n)
    return MotifBatch(
        start=np.arange(n + 1, dtype=np.int64),
        y=np.ascontiguousarray(label, np.int32),  # the first place, until one is found
        first=np.ascontiguousarray(first, np.int64),
        codes=codes,
        quads=four_letters(codes),
        clean=np.logical_not(_any_unknown(codes, first)).astype(np.uint8),
        back=background_codes(codes, first, order) + np.int32(4 * width),
        label=np.ascontiguousarray(label, np.uint8),
        words=none.start,
        word=none.word,
        share=none.share,
        width=width,
        strands=strands,
        longest=strands * max(int(lengths.max(initial=0)) - width + 1, 1),
        most=0,
    )


def with_strands(batch: MotifBatch, strands: int) -> MotifBatch:
    """The same sequences, searched on one strand or on both."""
    one = batch.longest // batch.strands
    return batch._replace(strands=strands, longest=strands * one)


def with_composition(batch: MotifBatch, order: int, scale: float) -> MotifBatch:
    """The same sequences, whose words count too."""
    offset = n_weights(batch.width, order)
    found = composition(batch.codes, batch.first, batch.strands, offset, scale)
    return batch._replace(
        words=found.start, word=found.word, share=found.share, most=found.most
    )


def four_letters(codes) -> np.ndarray:
    """Whatever comes after: places beyond a site have no weight in its tables."""
    padded = np.append(codes & 3, np.zeros(3, np.uint8))
    n = len(codes)
    return sum(padded[k : n + k] << (6 - 2 * k) for k in range(4)).astype(np.uint8)


def _any_unknown(codes, first) -> np.ndarray:
    seen = np.concatenate([[0], np.cumsum(codes == UNKNOWN)])
    return seen[first[1:]] > seen[first[:-1]]


def background_codes(codes, first, order: int) -> np.ndarray:
    """For every letter, the number of the run that it ends among all runs of letters.

    Runs have order + 1 letters, at the head of a sequence fewer. One with a letter that is
    not known gets a number that stays negative whatever is added: see :func:`make_batch`.
    """
    place = np.arange(len(codes)) - np.repeat(first[:-1], np.diff(first))
    known = np.minimum(place, order)  # letters before this one
    number = codes.astype(np.int64)
    bad = codes == UNKNOWN
    for k in range(1, order + 1):
        before = np.zeros(len(codes), np.int64)
        before[k:] = codes[:-k]
        inside = known >= k
        bad |= inside & (before == UNKNOWN)
        number += np.where(inside, before, 0) * 4**k
    offset = np.array([background_size(k - 1) for k in range(order + 1)])
    return np.where(bad, np.iinfo(np.int32).min, number + offset[known]).astype(
        np.int32
    )


@inlined
def count_starts(batch, i):
    """On one strand."""
    return max(batch.first[i + 1] - batch.first[i] - batch.width + 1, 0)


@implements(contract.possible, MotifBatch)
def possible(batch, i, y):
    return 0 <= y[0] <= batch.strands * count_starts(batch, i)


@implements(contract.shape, MotifBatch)
def shape(batch):
    return 1, batch.longest


@implements(contract.extent, MotifBatch)
def extent(batch, i):
    return batch.strands * count_starts(batch, i)


@implements(contract.capacity, MotifBatch)
def capacity(batch):
    return 2 * batch.width + batch.most


@inlined
def words_score(batch, i, w):
    total = 0.0
    for e in range(batch.words[i], batch.words[i + 1]):
        total += batch.share[e] * w[batch.word[e]]
    return total


@implements(contract.score, MotifBatch)
def score(batch, i, w, theta):
    count, row = count_starts(batch, i), theta[0]
    if count == 0:
        return
    whole = words_score(batch, i, w)
    # sums of the background before each letter: those of a window are two of them apart
    before = np.empty(count + batch.width, np.float64)
    total, first = 0.0, batch.first[i]
    before[0] = 0.0
    for t in range(count + batch.width - 1):
        b = batch.back[first + t]
        total += w[b] if b >= 0 else 0.0
        before[t + 1] = total
    behind = before[batch.width :]
    for h in range(count):
        row[h] = before[h] - behind[h] + whole
    if batch.strands == 2:
        for h in range(count):
            row[count + h] = row[h]
    for strand in range(batch.strands):
        if batch.clean[i]:
            add_motif(batch, i, w, strand, row[strand * count : (strand + 1) * count])
        else:
            for h in range(strand * count, (strand + 1) * count):
                for j in range(batch.width):
                    k = motif_index(batch, i, h, j)
                    row[h] += w[k] if k >= 0 else 0.0


@inlined
def add_motif(batch, i, w, strand, row):
    """row += scores of the motif, by four letters at a time from tables of their sums."""
    pairs, table = np.empty((2, 16), w.dtype), np.empty(256, w.dtype)
    for j in range(0, batch.width, 4):
        for half in range(2):
            p = j + 2 * half
            for a in range(4):
                x = motif_weight(batch, w, strand, p, a)
                for b in range(4):
                    y = motif_weight(batch, w, strand, p + 1, b)
                    pairs[half, 4 * a + b] = x + y
        for a in range(16):
            for b in range(16):
                table[16 * a + b] = pairs[0, a] + pairs[1, b]
        quads = batch.quads[batch.first[i] + j :]
        for h in range(len(row)):
            row[h] += table[quads[h]]


@inlined
def motif_weight(batch, w, strand, p, letter):
    """Of a letter at the p-th place of a site, counted along the sequence."""
    if p >= batch.width:
        return w.dtype.type(0)
    if strand == 0:
        return w[4 * p + letter]
    return w[4 * (batch.width - 1 - p) + 3 - letter]


@inlined
def motif_index(batch, i, site, j):
    """The weight of motif position j at a site; -1 if its letter is not known."""
    count, first = count_starts(batch, i), batch.first[i]
    if site < count:
        c = batch.codes[first + site + j]
        return 4 * j + c if c < UNKNOWN else -1
    c = batch.codes[first + site - count + batch.width - 1 - j]
    return 4 * j + 3 - c if c < UNKNOWN else -1


@inlined
def left_end(batch, i, site):
    """Where in codes a site begins."""
    count = count_starts(batch, i)
    return batch.first[i] + (site if site < count else site - count)


@implements(contract.score_planes, MotifBatch)
def score_planes(batch, i, w, labellings, count, theta):
    whole = words_score(batch, i, w)
    for k in range(count):
        if labellings[k] > 0:
            site, total = labellings[k] - 1, whole
            left = left_end(batch, i, site)
            for j in range(batch.width):
                m, b = motif_index(batch, i, site, j), batch.back[left + j]
                total += w[m] if m >= 0 else 0.0
                total -= w[b] if b >= 0 else 0.0
            theta[0, site] = total


@inlined
def best_site(batch, i, theta):
    """(the best site, its score); -1 if the sequence is too short for any."""
    best, top, row = -1, -np.inf, theta[0]
    for h in range(batch.strands * count_starts(batch, i)):
        if row[h] > top:
            best, top = h, float(row[h])
    return best, top


@implements(contract.argmax, MotifBatch)
def argmax(batch, i, theta, scale, y):
    best, top = best_site(batch, i, theta)
    if batch.label[i]:
        y[0] = best + 1 if top > scale else 0
    else:
        y[0] = best + 1 if top + scale > 0 else 0


@implements(contract.argmax_rescaled, MotifBatch)
def argmax_rescaled(batch, i, theta, form, y):
    best, top = best_site(batch, i, theta)
    truth = batch.y[i]
    if best < 0:
        y[0] = 0
        return True
    base = float(theta[0, truth - 1]) if truth > 0 else 0.0
    positive = batch.label[i] > 0
    none = violation(form, 1.0 if positive else 0.0, base)
    some = violation(form, 0.0 if positive else 1.0, base - top)
    y[0] = best + 1 if some > none else 0
    if max(none, some) <= 0.0:
        y[0] = truth
    return True


@implements(contract.complete, MotifBatch)
def complete(batch, i, theta, y):
    y[0] = best_site(batch, i, theta)[0] + 1 if batch.label[i] else 0


@implements(contract.value, MotifBatch)
def value(batch, i, theta, y):
    return float(theta[0, y[0] - 1]) if y[0] > 0 else 0.0


@implements(contract.parts, MotifBatch)
def parts(batch, i, y, coefficient, mu):
    if y[0] > 0:
        mu[0, y[0] - 1] += coefficient


@implements(contract.loss, MotifBatch)
def loss(batch, i, y):
    return 1.0 if (y[0] > 0) != (batch.label[i] > 0) else 0.0


@implements(contract.least_loss, MotifBatch)
def least_loss(batch):
    return 1.0


@implements(contract.emit, MotifBatch)
def emit(batch, i, y, coefficient, index, values, m):
    m = emit_site(batch, i, y, coefficient, index, values, m)
    return emit_words(batch, i, coefficient if y[0] > 0 else 0.0, index, values, m)


@implements(contract.difference, MotifBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    """Words of the sequence are in all outputs with a site: they are listed once."""
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    m = emit_site(batch, i, truth, rs - ra, index, values, 0)
    m = emit_site(batch, i, s, -rs, index, values, m)
    m = emit_site(batch, i, a, ra, index, values, m)
    whole = rs - ra if truth[0] > 0 else 0.0
    whole -= rs if s[0] > 0 else 0.0
    whole += ra if a[0] > 0 else 0.0
    return emit_words(batch, i, whole, index, values, m)


@inlined
def emit_words(batch, i, coefficient, index, values, m):
    if coefficient == 0.0:
        return m
    for e in range(batch.words[i], batch.words[i + 1]):
        index[m] = batch.word[e]
        values[m] = coefficient * batch.share[e]
        m += 1
    return m


@inlined
def emit_site(batch, i, y, coefficient, index, values, m):
    if y[0] == 0 or coefficient == 0.0:
        return m
    left = left_end(batch, i, y[0] - 1)
    for j in range(batch.width):
        k, b = motif_index(batch, i, y[0] - 1, j), batch.back[left + j]
        if k >= 0:
            index[m] = k
            values[m] = coefficient
            m += 1
        if b >= 0:
            index[m] = b
            values[m] = -coefficient
            m += 1
    return m
