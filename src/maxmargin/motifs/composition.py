"""Composition: which words a whole sequence is made of, wherever they stand.

A motif says what one place of a sequence looks like. Much of what tells two kinds of DNA
apart is everywhere: letters and short words that one of them has more of, copies of a
repeat, other motifs. So the score of a positive sequence has one term more, that of a
linear support vector machine on counts of words (the spectrum kernel of Leslie, Eskin &
Noble 2002), which does not depend on the site:

    sum_k v_k . c_k(x) / |c_k(x)|        c_k: how often each word of k letters is in x

for the lengths of :data:`SIZES`, times a scale. On both strands a word and its reverse
complement are one. Words with a letter that is not known do not count.

The scale s makes words as dear as in a machine of their own: C with features of norm s is
C s^2 with those of norm 1, which :data:`WEIGHT` and :data:`LEAST` say. Motifs have few
weights, words have thousands: the C of a sample shrinks as samples get more for the one,
for the other not without end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

UNKNOWN = 4  # the code of letters outside the alphabet
SIZES = (4, 6)  # letters of words
N_WORDS = sum(4**size for size in SIZES)
WEIGHT = 256.0  # C s^2 of all samples together,
LEAST = 0.3  # but so much of each at least


def background_size(order: int) -> int:
    return sum(4**k for k in range(1, order + 2))


class Composition(NamedTuple):
    """Words of sequences, as rows of a sparse matrix."""

    start: np.ndarray  # int64 (sequences + 1): where rows begin
    word: np.ndarray  # int32: weights
    share: np.ndarray  # float64: values

    @property
    def most(self) -> int:
        """Entries of the longest row."""
        return int(np.diff(self.start).max(initial=0))


def composition_scale(weights, C: float) -> float:
    """The norm s of words of a sequence, for samples of these weights."""
    n = weights.sum() ** 2 / (weights**2).sum()  # samples of equal weight (Kish 1965)
    return float(np.sqrt(max(WEIGHT / n, LEAST) * n / (C * weights.sum())))


def no_composition(n: int) -> Composition:
    start = np.zeros(n + 1, np.int64)
    return Composition(start, np.zeros(0, np.int32), np.zeros(0))


def composition(codes, first, strands: int, offset: int, scale: float) -> Composition:
    """Shares of words, each length a vector of norm ``scale`` / sqrt(lengths)."""
    numbers, known, end = [], [], offset
    for size in SIZES:
        number, full = word_numbers(codes, first, size, strands)
        numbers.append(number + end)
        known.append(full)
        end += 4**size
    # words of both lengths at a letter stand side by side, so that rows stay together
    start, word, count = counted(
        np.stack(numbers, axis=1), np.stack(known, axis=1), first, end
    )
    row = np.repeat(np.arange(len(first) - 1), np.diff(start))
    group = len(SIZES) * row + (word >= offset + 4 ** SIZES[0])
    norm = np.sqrt(np.bincount(group, count**2, minlength=1))
    share = scale * count / (np.sqrt(len(SIZES)) * norm[group])
    return Composition(start, word, share)


def counted(numbers, known, first, end: int):
    """(where sequences begin, their words, how often each): each word of a sequence once.

    ``numbers`` and ``known`` have a row for every letter, as :func:`word_numbers` finds.
    """
    total = np.cumsum(known if known.ndim == 1 else known.sum(axis=1))
    start = np.concatenate([[0], total])[first]
    word = numbers[known]
    table = csr_array(
        (np.ones(len(word)), word, start), shape=(len(first) - 1, max(end, 1))
    )
    table = table.tocsc().tocsr()  # sorts rows, in less time than sorting does
    table.has_sorted_indices = True
    table.sum_duplicates()
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data


def word_numbers(codes, first, size: int, strands: int):
    """(the number of the word that begins at each letter, whether there is one).

    Words are numbered in the order of the alphabet; on both strands a word has the number
    of its reverse complement if that is smaller.
    """
    total = len(codes)
    ends = np.repeat(first[1:], np.diff(first))
    known = np.arange(total) + size <= ends
    padded = np.append(codes, np.zeros(size, codes.dtype)).astype(np.int32)
    number = np.zeros(total, np.int32)
    turned = np.zeros(total, np.int32)
    for k in range(size):
        letter = padded[k : total + k]
        known &= letter != UNKNOWN
        number = 4 * number + letter
        turned += (3 - letter) * 4**k
    if strands == 2:
        number = np.minimum(number, turned)
    return number, known
