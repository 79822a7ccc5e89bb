"""Precision at k: the first k documents of a ranking, and nothing below.

    Psi(x, y) = 1/k sum of the x_d that stand in the first k places
    loss = (min(k, relevant documents) - relevant ones in the first k places) / k

Which of the relevant documents come first is not known: it is a hidden part. All searches
sort: prediction by theta, the most violated list by theta - scale [relevant], completion
the relevant ones first and equals by theta; where fewer than k are relevant, the best of
the others fill the list. (Yu & Joachims 2009; thesis of Yu, 5.4.3.)

A list of at most k documents holds them all, in any order: precision at k has nothing to
lose, and would teach nothing. There, k is the number of relevant documents, and the loss
what R-precision lacks of 1.

Slot d of a labelling is 1 if document d is in the list; an order within it has no meaning.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.rescale import violation
from maxmargin.rankings.documents import DOCUMENTS, append_sum, of_documents, row_fields


@of_documents
class TopKBatch(NamedTuple):
    """Queries whose truth is any list with as many relevant documents as can be."""

    cuts = cut_by(**DOCUMENTS, relevant="first", k="example")

    start: np.ndarray
    y: np.ndarray
    first: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    n_features: int
    widest: int
    entries: int
    relevant: np.ndarray  # uint8 of every document
    k: np.ndarray  # int64 of every query


def make_batch(rows, first, n_features, relevant, k: int) -> TopKBatch:
    """Encode CSR arrays ``rows`` of documents; query i has first[i] .. first[i + 1].

    The first truths are those relevant documents that stand first.
    """
    relevant = np.ascontiguousarray(relevant, np.uint8)
    y = np.zeros(len(relevant), np.int32)
    places = places_that_count(first, relevant, k)
    for (a, b), size in zip(pairwise(first.tolist()), places.tolist(), strict=True):
        y[a + np.argsort(1 - relevant[a:b], kind="stable")[:size]] = 1
    return TopKBatch(
        start=first.copy(),
        y=y,
        relevant=relevant,
        k=places,
        **row_fields(rows, first, n_features),
    )


def places_that_count(first, relevant, k: int) -> np.ndarray:
    """k of every query: where all documents would be in the list, the relevant ones."""
    counts = np.add.reduceat(np.asarray(relevant, np.int64), first[:-1])
    return np.where(np.diff(first) > k, k, np.maximum(counts, 1)).astype(np.int64)


@implements(contract.value, TopKBatch)
def value(batch, i, theta, y):
    total = 0.0
    for d in range(batch.first[i + 1] - batch.first[i]):
        if y[d]:
            total += theta[0, d]
    return total / batch.k[i]


@implements(contract.parts, TopKBatch)
def parts(batch, i, y, coefficient, mu):
    for d in range(batch.first[i + 1] - batch.first[i]):
        if y[d]:
            mu[0, d] += coefficient / batch.k[i]


@implements(contract.possible, TopKBatch)
def possible(batch, i, y):
    """Marks of documents, as many as places count."""
    count = 0
    for d in range(batch.first[i + 1] - batch.first[i]):
        if y[d] != 0 and y[d] != 1:
            return False
        count += y[d]
    return count == batch.k[i]


@implements(contract.loss, TopKBatch)
def loss(batch, i, y):
    first, wanted, found = batch.first[i], 0, 0
    for d in range(batch.first[i + 1] - first):
        wanted += batch.relevant[first + d]
        found += batch.relevant[first + d] * y[d]
    return (min(wanted, batch.k[i]) - found) / batch.k[i]


@implements(contract.least_loss, TopKBatch)
def least_loss(batch):
    return 1.0 / batch.k.max()


@implements(contract.emit, TopKBatch)
def emit(batch, i, y, factor, index, values, m):
    c = np.empty(batch.first[i + 1] - batch.first[i])
    for d in range(len(c)):
        c[d] = factor / batch.k[i] * y[d]
    return append_sum(batch, i, c, index, values, m)


@implements(contract.difference, TopKBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    first = batch.first[i]
    c = np.empty(batch.first[i + 1] - first)
    for d in range(len(c)):
        c[d] = ((rs - ra) * batch.y[first + d] - rs * s[d] + ra * a[d]) / batch.k[i]
    return append_sum(batch, i, c, index, values, 0)


# search ------------------------------------------------------------------------------


@inlined
def ordered(batch, i, theta):
    """The documents of query i by falling score; equal ones as they stand."""
    scores = np.empty(batch.first[i + 1] - batch.first[i])
    for d in range(len(scores)):
        scores[d] = -float(theta[0, d])
    return np.argsort(scores, kind="mergesort")


@inlined
def take(batch, i, order, wanted, y):
    """The list of the first ``wanted`` relevant documents of an order, and of the others
    the first, as many as there is room for."""
    first = batch.first[i]
    room = batch.k[i] - wanted
    for d in order:
        if batch.relevant[first + d]:
            y[d] = 1 if wanted > 0 else 0
            wanted -= 1
        else:
            y[d] = 1 if room > 0 else 0
            room -= 1


@inlined
def count_relevant(batch, i):
    count = 0
    for d in range(batch.first[i], batch.first[i + 1]):
        count += 1 if batch.relevant[d] else 0  # sums of bytes would wrap
    return count


@implements(contract.argmax, TopKBatch)
def argmax(batch, i, theta, scale, y):
    first = batch.first[i]
    keys = np.empty(batch.first[i + 1] - first)
    for d in range(len(keys)):
        keys[d] = scale * batch.relevant[first + d] - theta[0, d]
    order = np.argsort(keys, kind="mergesort")
    for p in range(len(order)):
        y[order[p]] = 1 if p < batch.k[i] else 0


@implements(contract.argmax_rescaled, TopKBatch)
def argmax_rescaled(batch, i, theta, form, y):
    """By the number of relevant documents in the list: the best of either kind."""
    first = batch.first[i]
    n, count = batch.first[i + 1] - first, count_relevant(batch, i)
    order = ordered(batch, i, theta)
    inside, outside = np.zeros(count + 1), np.zeros(n - count + 1)  # sums of the best
    r, s, truth = 0, 0, 0.0
    for d in order:
        if batch.relevant[first + d]:
            r += 1
            inside[r] = inside[r - 1] + theta[0, d]
        else:
            s += 1
            outside[s] = outside[s - 1] + theta[0, d]
        truth += batch.y[first + d] * theta[0, d]
    size, most = min(n, batch.k[i]), min(count, batch.k[i])
    best, chosen = -np.inf, most
    for hits in range(max(0, size - (n - count)), most + 1):
        lead = (truth - inside[hits] - outside[size - hits]) / batch.k[i]
        v = violation(form, (most - hits) / batch.k[i], lead)
        if v > best:
            best, chosen = v, hits
    take(batch, i, order, chosen, y)
    return True


@implements(contract.complete, TopKBatch)
def complete(batch, i, theta, y):
    wanted = min(count_relevant(batch, i), batch.k[i])
    take(batch, i, ordered(batch, i, theta), wanted, y)
