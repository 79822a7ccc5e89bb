"""Features of pairs of mentions, for kernels.

The pairs (a, b), a < b, of a document of n mentions stand in the order of
``itertools.combinations``: (0, 1), (0, 2), ..., (1, 2), ... A pair has features through
*patterns*: rows of a sparse table that many pairs of its document share. Its features are
the sum of its patterns, one of each group:

    phi(a, b) = sum_g  pattern[code_g(a, b)]

so a document of 300 mentions has 45,000 pairs but only some thousands of rows, and all its
pairs are scored by one sparse product and a few look-ups each. Features that a user gives
as a table are the case of one group, where every pair is a pattern of its own.

In long documents only pairs with b - a <= *window* stand there, in the same order, so that
memory grows with mentions, not with their square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined

ALL = 2**31 - 1  # a window that no document exceeds


class PairTable(NamedTuple):
    """Documents one after the other; codes count patterns from the first of theirs."""

    cuts = cut_by(
        pair_start="example",
        codes="pair_start",
        row_start="example",
        indptr="row_start",
        indices="indptr",
        values="indptr",
    )

    pair_start: np.ndarray  # int64[documents + 1], rows of codes
    codes: np.ndarray  # int32[pairs, groups]
    row_start: np.ndarray  # int64[documents + 1], patterns
    indptr: np.ndarray  # of the patterns, CSR
    indices: np.ndarray
    values: np.ndarray
    n_features: int
    most_pairs: int  # of one document
    most_entries: int  # of all patterns of one document
    longest: int  # features of one pair, at most
    window: int = ALL  # pairs further apart are not there


def windowed_pairs(n: int, window: int) -> tuple[np.ndarray, np.ndarray]:
    """The mentions a and b of all pairs of n mentions, in their order."""
    counts = np.minimum(window, np.arange(n - 1, -1, -1))
    a = np.repeat(np.arange(n, dtype=np.int32), counts)
    first = np.cumsum(counts) - counts
    return a, np.arange(1, len(a) + 1, dtype=np.int32) - first.astype(np.int32)[a] + a


def n_pairs(n: int, window: int) -> int:
    span = min(n, window)
    return span * (2 * n - span - 1) // 2


def pair_table(codes, patterns, n_features: int, window: int = ALL) -> PairTable:
    """Of per-document arrays of codes and CSR triples of patterns."""
    sizes = [len(c) for c in codes]
    rows = [len(indptr) - 1 for indptr, _, _ in patterns]
    entries = [len(indices) for _, indices, _ in patterns]
    groups = codes[0].shape[1] if codes else 1
    shift = np.cumsum([0, *entries])
    longest = [int(np.diff(indptr).max(initial=0)) for indptr, _, _ in patterns]

    def joined(arrays, dtype):
        return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)

    return PairTable(
        pair_start=np.cumsum([0, *sizes]),
        codes=np.concatenate([np.zeros((0, groups), np.int32), *codes]),
        row_start=np.cumsum([0, *rows]),
        indptr=joined(
            [np.zeros(1, np.int64)]
            + [p[0][1:] + s for p, s in zip(patterns, shift, strict=False)],
            np.int64,
        ),
        indices=joined([p[1] for p in patterns], np.int32),
        values=joined([p[2] for p in patterns], np.float64),
        n_features=n_features,
        most_pairs=max(sizes, default=0),
        most_entries=max(entries, default=0),
        longest=groups * max(longest, default=0),
        window=window,
    )


@inlined
def pair_index(n, window, a, b):
    """Place of the pair of two mentions, less than window + 1 apart, among those of n.

    All mentions but the last ones have ``window`` pairs with later ones.
    """
    low, high = min(a, b), max(a, b)
    span = min(window, n)
    full = min(low, n - span)
    last = low - full
    return full * span + last * (2 * span - last - 1) // 2 + high - low - 1


def of_pairs(batch_class: type) -> type:
    """Class decorator: the functions that batches with a PairTable have in common."""
    for function, body in (
        (contract.shape, shape),
        (contract.extent, extent),
        (contract.score, score),
    ):
        implements(function, batch_class)(body)
    return batch_class


def shape(batch):
    return 1, max(batch.pairs.most_pairs, 1)


def extent(batch, i):
    return batch.pairs.pair_start[i + 1] - batch.pairs.pair_start[i]


def score(batch, i, w, theta):
    """theta[0] <- scores of all pairs of document i."""
    pairs = batch.pairs
    first, last = pairs.row_start[i], pairs.row_start[i + 1]
    by_pattern = np.empty(last - first)
    for row in range(first, last):
        total = 0.0
        for k in range(pairs.indptr[row], pairs.indptr[row + 1]):
            total += pairs.values[k] * w[pairs.indices[k]]
        by_pattern[row - first] = total
    start, groups = pairs.pair_start[i], pairs.codes.shape[1]
    for p in range(pairs.pair_start[i + 1] - start):
        total = 0.0
        for g in range(groups):
            total += by_pattern[pairs.codes[start + p, g]]
        theta[0, p] = total


@inlined
def weigh_pair(batch, i, p, c, weight):
    """weight += c at the patterns of pair p of document i."""
    place = batch.pairs.pair_start[i] + p
    for g in range(batch.pairs.codes.shape[1]):
        weight[batch.pairs.codes[place, g]] += c


@inlined
def no_weights(batch, i):
    return np.zeros(batch.pairs.row_start[i + 1] - batch.pairs.row_start[i])


@inlined
def emit_patterns(batch, i, weight, index, values, m):
    """Append the features of weighted patterns after position m; the end."""
    pairs = batch.pairs
    first = pairs.row_start[i]
    for row in range(len(weight)):
        c = weight[row]
        if c != 0.0:
            for k in range(pairs.indptr[first + row], pairs.indptr[first + row + 1]):
                index[m] = pairs.indices[k]
                values[m] = c * pairs.values[k]
                m += 1
    return m
