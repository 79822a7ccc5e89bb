"""Pairs of documents (a, b) of a query, where a has the higher grade.

With N pairs, an output says which of them are swapped:

    Psi(x, y) = -1/N sum over swapped pairs of (x_a - x_b),       zero for the truth

    pairwise            loss = share of swapped pairs. The sum of hinges over all pairs,
                        divided by N: Ranking SVM (Herbrich et al. 2000; Joachims 2002)
    average precision   loss = 1 - AP, with two grades; y is a ranking
                        (Yue, Finley, Radlinski & Joachims 2007)

Slot d counts the swapped pairs in which document d is a, minus those in which it is b; the
slot behind the documents counts all swapped pairs. No search lists the pairs:

pairwise: those with theta_a - theta_b < scale are swapped, and counted in O(n log n) from
the sorted scores (Joachims 2006). Average precision: documents of either grade stand in the
order of their scores, so that a ranking says how many others, u_1 <= u_2 <= ..., stand
above the first, second, ... relevant document. Its objective is a sum of terms in (r, u_r)
each, maximised over all such u exactly.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.rankings.documents import append_sum, row_fields, score_documents


class PairBatch(NamedTuple):
    """Queries with graded documents."""

    start: np.ndarray
    y: np.ndarray
    first: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    n_features: int
    widest: int
    entries: int
    grade: np.ndarray  # int32 of every document, 0 .. of its query
    pairs: np.ndarray  # float64, N of every query (1 where there is none)
    precise: int  # 1: average precision; 0: pairwise


def make_batch(rows, first, n_features, grade, precise: bool) -> PairBatch:
    """Encode CSR arrays ``rows`` of documents; query i has first[i] .. first[i + 1]."""
    n = len(first) - 1
    own = np.zeros(len(grade), np.int32)
    pairs = np.zeros(n)
    for i, (a, b) in enumerate(pairwise(first)):
        _, own[a:b], counts = np.unique(
            grade[a:b], return_inverse=True, return_counts=True
        )
        pairs[i] = counts @ (np.cumsum(counts) - counts)
    start = first + np.arange(n + 1)
    return PairBatch(
        start=start,
        y=np.zeros(int(start[-1]), np.int32),
        grade=own,
        pairs=np.maximum(pairs, 1.0),
        precise=int(precise),
        **row_fields(rows, first, n_features),
    )


@implements(contract.shape, PairBatch)
def shape(batch):
    return 1, batch.widest


@implements(contract.capacity, PairBatch)
def capacity(batch):
    return batch.entries


@implements(contract.score, PairBatch)
def score(batch, i, w, theta):
    score_documents(batch, i, w, theta)


@inlined
def lead(batch, i, theta, y):
    """Mean over all pairs of theta_a - theta_b, or of 0 where they are not swapped."""
    total = 0.0
    for d in range(batch.first[i + 1] - batch.first[i]):
        total += y[d] * theta[0, d]
    return total / batch.pairs[i]


@implements(contract.value, PairBatch)
def value(batch, i, theta, y):
    return -lead(batch, i, theta, y)


@implements(contract.margin, PairBatch)
def margin(batch, i, theta, y):
    return lead(batch, i, theta, y)


@implements(contract.loss, PairBatch)
def loss(batch, i, y):
    n = batch.first[i + 1] - batch.first[i]
    if not batch.precise:
        return y[n] / batch.pairs[i]
    if y[n] == 0:
        return 0.0
    above = np.empty(n, np.int32)
    count = 0
    for d in range(n):
        if batch.grade[batch.first[i] + d] == 1:
            above[count] = y[d]
            count += 1
    above[:count].sort()
    total = 0.0
    for r in range(count):
        total += above[r] / (r + 1.0 + above[r])
    return total / count


@implements(contract.emit, PairBatch)
def emit(batch, i, y, factor, index, values, m):
    c = np.empty(batch.first[i + 1] - batch.first[i])
    for d in range(len(c)):
        c[d] = -factor / batch.pairs[i] * y[d]
    return append_sum(batch, i, c, index, values, m)


@implements(contract.difference, PairBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    c = np.empty(batch.first[i + 1] - batch.first[i])
    for d in range(len(c)):
        c[d] = (rs * s[d] - ra * a[d]) / batch.pairs[i]
    return append_sum(batch, i, c, index, values, 0)


@implements(contract.argmax, PairBatch)
def argmax(batch, i, theta, scale, y):
    n = batch.first[i + 1] - batch.first[i]
    for d in range(n + 1):
        y[d] = 0
    if batch.precise:
        interleave(batch, i, theta, scale, y)
    else:
        swap(batch, i, theta, scale, y)


# pairwise ----------------------------------------------------------------------------


@inlined
def swap(batch, i, theta, scale, y):
    """Swap every pair whose difference is below ``scale``.

    Two walks up the scores: to every a, the b that it leads by ``scale`` are those below
    one place, which rises with a; so with a and b exchanged. A Fenwick tree counts grades.
    """
    first = batch.first[i]
    n = batch.first[i + 1] - first
    scores = np.empty(n)
    top = 0
    for d in range(n):
        scores[d] = theta[0, d]
        top = max(top, batch.grade[first + d])
    order = np.argsort(scores, kind="mergesort")
    led, above = np.zeros(top + 2, np.int64), np.zeros(top + 2, np.int64)
    lower = np.zeros(top + 2, np.int64)
    for d in range(n):
        add(lower, batch.grade[first + d])
    p, q, total = 0, 0, 0
    for k in range(n):
        d = order[k]
        grade = batch.grade[first + d]
        while p < n and scores[order[p]] <= scores[d] - scale:
            add(led, batch.grade[first + order[p]])
            p += 1
        up = below(lower, grade) - below(led, grade)
        while q < n and scores[order[q]] - scale < scores[d]:
            add(above, batch.grade[first + order[q]])
            q += 1
        y[d] = up - (q - below(above, grade + 1))
        total += up
    y[n] = total


@inlined
def add(tree, grade):
    """Count one document of this grade."""
    k = grade + 1
    while k < len(tree):
        tree[k] += 1
        k += k & -k


@inlined
def below(tree, grade):
    """How many of lower grades were counted."""
    total, k = 0, grade
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total


# average precision -------------------------------------------------------------------


@inlined
def interleave(batch, i, theta, scale, y):
    """The best u_1 <= u_2 <= ..., by dynamic programming over (r, u_r)."""
    first = batch.first[i]
    n = batch.first[i + 1] - first
    scores = np.empty(n)
    for d in range(n):
        scores[d] = -float(theta[0, d])
    order = np.argsort(scores, kind="mergesort")
    relevant, others = np.empty(n, np.int64), np.empty(n, np.int64)
    count, rest = 0, 0
    for d in order:
        if batch.grade[first + d] == 1:
            relevant[count] = d
            count += 1
        else:
            others[rest] = d
            rest += 1
    if count == 0 or rest == 0:
        return
    taken = np.zeros((count, rest + 1), np.int32)  # the best u_r up to u
    best = np.zeros(rest + 1)  # of the relevant documents so far, with u_r up to u
    for r in range(count):
        behind, top = 0.0, -np.inf
        for u in range(rest + 1):
            if u > 0:
                behind += theta[0, relevant[r]] - theta[0, others[u - 1]]
            v = best[u] + scale * u / (r + 1.0 + u) / count - behind / batch.pairs[i]
            if v > top:
                top = v
                taken[r, u] = u
            else:
                taken[r, u] = taken[r, u - 1]
            best[u] = top
    u, total = rest, 0
    for r in range(count - 1, -1, -1):
        u = taken[r, u]
        y[relevant[r]] = u
        total += u
        for j in range(u):
            y[others[j]] -= 1
    y[n] = total
