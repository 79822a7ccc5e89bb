"""Pairs of documents (a, b) of a query, where a has the higher grade.

With N pairs, an output says which of them are swapped:

    Psi(x, y) = -1/N sum over swapped pairs of (x_a - x_b),       zero for the truth

so that documents of one grade may stand in any order, and nothing is hidden. The losses:

    pairwise            share of swapped pairs. The hinge is that of all pairs, divided by
                        N: Ranking SVM (Herbrich et al. 2000; Joachims 2002)
    average-precision   1 - AP, with two grades (Yue, Finley, Radlinski & Joachims 2007)
    ndcg                1 - NDCG of the whole ranking, with two grades (Chakrabarti,
                        Khanna, Sawant & Bhattacharyya 2008)

Slot d counts the swapped pairs in which document d is a, minus those in which it is b; the
slot behind the documents counts all swapped pairs. No search lists the pairs:

pairwise: those with theta_a - theta_b < scale are swapped, and counted in O(n log n) from
the sorted scores (Joachims 2006).

The others: y is a ranking. Documents of either grade stand in the order of their scores, so
that it says how many others, u_1 <= u_2 <= ..., stand above the first, second, ... relevant
document, which has the place r + u_r. The loss is a sum of terms in (r, u_r),

    average-precision   u_r / (r + u_r) / relevant documents
    ndcg                (D_r - D_(r + u_r)) / sum_r D_r       with D_p = 1 / log2(1 + p)

and so is the score: the best u is found exactly, by dynamic programming.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.rankings.documents import DOCUMENTS, append_sum, of_documents, row_fields

PAIRWISE, AVERAGE_PRECISION, NDCG = range(3)
KINDS = {"pairwise": PAIRWISE, "average-precision": AVERAGE_PRECISION, "ndcg": NDCG}


@of_documents
class PairBatch(NamedTuple):
    """Queries with graded documents."""

    cuts = cut_by(**DOCUMENTS, grade="first", pairs="example")

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
    discount: np.ndarray  # D_p by place, from 1 on
    kind: int


def make_batch(rows, first, n_features, grade, kind: int) -> PairBatch:
    """Encode CSR arrays ``rows`` of documents; query i has first[i] .. first[i + 1]."""
    n = len(first) - 1
    own = np.zeros(len(grade), np.int32)
    pairs = np.zeros(n)
    for i, (a, b) in enumerate(pairwise(first)):
        _, own[a:b], counts = np.unique(
            grade[a:b], return_inverse=True, return_counts=True
        )
        pairs[i] = counts @ (np.cumsum(counts) - counts)
    fields = row_fields(rows, first, n_features)
    places = np.arange(1.0, fields["widest"] + 1)
    start = first + np.arange(n + 1)
    return PairBatch(
        start=start,
        y=np.zeros(int(start[-1]), np.int32),
        grade=own,
        pairs=np.maximum(pairs, 1.0),
        discount=np.append(0.0, 1.0 / np.log2(1.0 + places)),
        kind=kind,
        **fields,
    )


@inlined
def lead(batch, i, theta, y):
    """1/N sum over swapped pairs of theta_a - theta_b."""
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


@implements(contract.possible, PairBatch)
def possible(batch, i, y):
    """Counts of swapped pairs: no more than there are, and each has two documents."""
    first, total, above = batch.first[i], 0, 0
    n = batch.first[i + 1] - first
    if not 0 <= y[n] <= batch.pairs[i]:
        return False
    for d in range(n):
        if not -n < y[d] < n:
            return False
        total += y[d]
        if batch.kind != PAIRWISE:
            if (y[d] < 0) != (batch.grade[first + d] != 1) and y[d] != 0:
                return False
            above += max(y[d], 0)
    return total == 0 and (batch.kind == PAIRWISE or above == y[n])


@implements(contract.loss, PairBatch)
def loss(batch, i, y):
    n = batch.first[i + 1] - batch.first[i]
    if batch.kind == PAIRWISE or y[n] == 0:
        return y[n] / batch.pairs[i]
    above = np.empty(n, np.int32)
    count = 0
    for d in range(n):
        if batch.grade[batch.first[i] + d] == 1:
            above[count] = y[d]
            count += 1
    above[:count].sort()
    total = 0.0
    for r in range(count):
        total += cost(batch, r + 1, above[r])
    return total / whole(batch, count)


@inlined
def cost(batch, r, u):
    """What the r-th relevant document costs with u others above it, times whole()."""
    if batch.kind == NDCG:
        return batch.discount[r] - batch.discount[r + u]
    return u / (r + u)


@inlined
def whole(batch, count):
    """What a query with so many relevant documents can gain."""
    if batch.kind != NDCG:
        return float(count)
    total = 0.0
    for r in range(count):
        total += batch.discount[r + 1]
    return total


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


# search ------------------------------------------------------------------------------


@implements(contract.argmax, PairBatch)
def argmax(batch, i, theta, scale, y):
    n = batch.first[i + 1] - batch.first[i]
    scores = np.empty(n)
    for d in range(n):
        y[d] = 0
        scores[d] = theta[0, d]
    y[n] = 0
    if batch.kind == PAIRWISE:
        swap(batch, i, scores, scale, y)
    else:
        interleave(batch, i, scores, scale, y)


@inlined
def swap(batch, i, scores, scale, y):
    """Swap every pair whose difference is below ``scale``.

    One walk up the scores: to every a, the b that it leads by ``scale`` are those below
    one place, which rises with a; so with a and b exchanged. Fenwick trees count grades.
    """
    first, n = batch.first[i], len(scores)
    top = 0
    for d in range(n):
        top = max(top, batch.grade[first + d])
    order = np.argsort(scores, kind="mergesort")
    everyone = np.zeros(top + 2, np.int64)
    led, leading = np.zeros(top + 2, np.int64), np.zeros(top + 2, np.int64)
    for d in range(n):
        add(everyone, batch.grade[first + d])
    p, q, total = 0, 0, 0
    for d in order:
        grade = batch.grade[first + d]
        while p < n and scores[order[p]] <= scores[d] - scale:
            add(led, batch.grade[first + order[p]])
            p += 1
        while q < n and scores[order[q]] - scale < scores[d]:
            add(leading, batch.grade[first + order[q]])
            q += 1
        up = below(everyone, grade) - below(led, grade)
        y[d] = up - (q - below(leading, grade + 1))
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


@inlined
def interleave(batch, i, scores, scale, y):
    """The best u_1 <= u_2 <= ..., by dynamic programming over (r, u_r)."""
    first, n = batch.first[i], len(scores)
    order = np.argsort(-scores, kind="mergesort")
    relevant, others = np.empty(n, np.int64), np.empty(n, np.int64)
    count, rest = 0, 0
    for d in order:
        if batch.grade[first + d] == 1:
            relevant[count] = d
            count += 1
        else:
            others[rest] = d
            rest += 1
    if count == 0:
        return
    share = scale / whole(batch, count)
    taken = np.zeros((count, rest + 1), np.int32)  # the best u_r up to u
    best = np.zeros(rest + 1)  # of the relevant documents so far, with u_r up to u
    for r in range(count):
        behind, top = 0.0, -np.inf
        for u in range(rest + 1):
            if u > 0:
                behind += scores[relevant[r]] - scores[others[u - 1]]
            v = best[u] + share * cost(batch, r + 1, u) - behind / batch.pairs[i]
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
