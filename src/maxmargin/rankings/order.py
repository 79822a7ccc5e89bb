"""Top-k lists: what stands in the first k places of a ranking, and nothing below.

With documents d_1, d_2, ... in the first places, discounts D_p and gains g,

    Psi(x, y) = sum_p D_p x_(d_p)         loss = max over lists of it - sum_p D_p g_(d_p)

    precision at k    D_p = 1/k,             g = [relevant]
    NDCG at k         D_p = 1/log2(1 + p),   g = (2^grade - 1) / the best DCG

As D falls, the best list for scores s sorts by s, so that all searches sort: prediction by
theta, the most violated list by theta - scale g (Chapelle, Le & Smola 2007).

Which of equally relevant documents come first is not known. For precision at k it is a
hidden part: completion takes the best list without loss, which sorts by g and then theta
(Yu & Joachims 2009; thesis of Yu, 5.4.3). For NDCG the truth is the mean of all orders
without loss, where nothing is hidden and the fit is convex.

Slot d of a labelling holds the place of document d, 0 for places below k; of places with
equal discounts the first. In the truth of NDCG it is -1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.rankings.documents import (
    append_sum,
    row_fields,
    score_documents,
)

NOTHING = 1e-12  # losses below it are rounding


class TopKBatch(NamedTuple):
    """Queries whose truth is any list without loss: the order of ties is hidden."""

    start: np.ndarray
    y: np.ndarray
    first: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    n_features: int
    widest: int
    entries: int
    gain: np.ndarray  # of every document
    best: np.ndarray  # sum_p D_p g_p of every query's best lists
    share: np.ndarray  # of every document: its mean discount in them
    discount: np.ndarray  # D_p, from place 1 on; discount[0] = 0
    place: np.ndarray  # the first place with the discount of place p


class MeanOrderBatch(NamedTuple):
    """Queries whose truth is the mean of all lists without loss; fields as above."""

    start: np.ndarray
    y: np.ndarray
    first: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    n_features: int
    widest: int
    entries: int
    gain: np.ndarray
    best: np.ndarray
    share: np.ndarray
    discount: np.ndarray
    place: np.ndarray


def discounts(loss: str, k: int) -> np.ndarray:
    """D_0 = 0 and D_1 .. D_k."""
    out = np.full(k + 1, 1.0 / k)
    if loss == "ndcg":
        out = 1.0 / np.log2(np.arange(k + 1) + 1.0, where=np.arange(k + 1) > 0, out=out)
    out[0] = 0.0
    return out


def make_batch(rows, first, n_features, gain, discount, hide: bool):
    """Encode CSR arrays ``rows`` of documents; query i has first[i] .. first[i + 1].

    Gains are scaled so that the best lists have a gain of 1, but for precision.
    """
    flat = np.ptp(discount[1:]) == 0
    gain = np.array(gain, np.float64)
    best, share = np.zeros(len(first) - 1), np.zeros(len(gain))
    k = len(discount) - 1
    for i, (a, b) in enumerate(pairwise(first)):
        row = gain[a:b]
        n = min(k, b - a)
        ideal = float(np.sort(row)[::-1][:n] @ discount[1 : n + 1])
        if not flat and ideal > 0:
            row /= ideal
            ideal = 1.0
        best[i] = ideal
        share[a:b] = _mean_discounts(row, discount)
    _, place = np.unique(-discount[1:], return_index=True)
    place = (place + 1)[np.searchsorted(-discount[place + 1], -discount[1:])]
    y = np.full(len(gain), -1, np.int32)
    kind = TopKBatch if hide else MeanOrderBatch
    return kind(
        start=first.copy(),
        y=y,
        gain=gain,
        best=best,
        share=share,
        discount=discount,
        place=np.concatenate([[0], place]).astype(np.int32),
        **row_fields(rows, first, n_features),
    )


def _mean_discounts(gain, discount) -> np.ndarray:
    """The mean discount of every document over the orders by falling gain."""
    n = len(gain)
    given = np.zeros(n)
    top = min(n, len(discount) - 1)
    given[:top] = discount[1 : top + 1]
    _, group = np.unique(-gain, return_inverse=True)
    sorted_groups = np.sort(group)
    sums = np.bincount(sorted_groups, given)
    return (sums / np.bincount(sorted_groups))[group]


def both(function):
    """For the contract: the two kinds of batch differ in ``complete`` alone."""

    def register(body):
        for kind in (TopKBatch, MeanOrderBatch):
            implements(function, kind)(body)
        return body

    return register


@both(contract.shape)
def shape(batch):
    return 1, batch.widest


@both(contract.capacity)
def capacity(batch):
    return batch.entries


@both(contract.score)
def score(batch, i, w, theta):
    score_documents(batch, i, w, theta)


@inlined
def discount_of(batch, i, d, slot):
    return batch.share[batch.first[i] + d] if slot < 0 else batch.discount[slot]


@both(contract.value)
def value(batch, i, theta, y):
    total = 0.0
    for d in range(batch.first[i + 1] - batch.first[i]):
        total += discount_of(batch, i, d, y[d]) * theta[0, d]
    return total


@both(contract.loss)
def loss(batch, i, y):
    first, total = batch.first[i], batch.best[i]
    for d in range(batch.first[i + 1] - first):
        total -= discount_of(batch, i, d, y[d]) * batch.gain[first + d]
    return total if total > NOTHING else 0.0


@both(contract.emit)
def emit(batch, i, y, factor, index, values, m):
    c = np.empty(batch.first[i + 1] - batch.first[i])
    for d in range(len(c)):
        c[d] = factor * discount_of(batch, i, d, y[d])
    return append_sum(batch, i, c, index, values, m)


@both(contract.difference)
def difference(batch, i, s, rs, a, ra, index, values):
    first = batch.first[i]
    c = np.empty(batch.first[i + 1] - first)
    for d in range(len(c)):
        c[d] = (rs - ra) * discount_of(batch, i, d, batch.y[first + d])
        c[d] += ra * discount_of(batch, i, d, a[d]) - rs * discount_of(
            batch, i, d, s[d]
        )
    return append_sum(batch, i, c, index, values, 0)


@both(contract.argmax)
def argmax(batch, i, theta, scale, y):
    first = batch.first[i]
    keys = np.empty(batch.first[i + 1] - first)
    for d in range(len(keys)):
        keys[d] = theta[0, d] - scale * batch.gain[first + d]
    set_places(batch, keys, y)


@inlined
def set_places(batch, keys, y):
    """The first k places to the documents with the largest keys; ties as they stand."""
    order = np.argsort(-keys, kind="mergesort")
    for p in range(len(keys)):
        y[order[p]] = batch.place[p + 1] if p + 1 < len(batch.place) else 0


@implements(contract.complete, TopKBatch)
def complete(batch, i, theta, y):
    """By falling gain, and among equals by falling theta."""
    first = batch.first[i]
    n = batch.first[i + 1] - first
    keys, gain = np.empty(n), np.empty(n)
    for d in range(n):
        keys[d] = -float(theta[0, d])
    order = np.argsort(keys, kind="mergesort")
    for d in range(n):
        gain[d] = -batch.gain[first + order[d]]
    by_gain = np.argsort(gain, kind="mergesort")
    for p in range(n):
        y[order[by_gain[p]]] = batch.place[p + 1] if p + 1 < len(batch.place) else 0
