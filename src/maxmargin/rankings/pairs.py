"""Pairs of documents (a, b) of a query, where a has the higher grade.

With N pairs, an output says which of them are swapped:

    Psi(x, y) = -1/N sum over swapped pairs of (x_a - x_b),       zero for the truth

so that documents of one grade may stand in any order, and nothing is hidden. The losses:

    pairwise            share of swapped pairs. The hinge is that of all pairs, divided by
                        N: Ranking SVM (Herbrich et al. 2000; Joachims 2002)
    average-precision   1 - AP, with two grades (Yue, Finley, Radlinski & Joachims 2007)
    ndcg                1 - NDCG of the whole ranking, with gains of any size (with two
                        grades: Chakrabarti, Khanna, Sawant & Bhattacharyya 2008)

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

More than two gains g_0 < g_1 < ... < g_T make T *levels*, at which the documents with a
gain of g_t or more are relevant. A gain is a sum of steps, so that for every ranking

    1 - NDCG = sum_t v_t (1 - NDCG_t),      v_t = (g_t - g_(t-1)) ideal_t / ideal,

with NDCG_t that of level t, of gains 0 and 1, and ideal DCGs. An output has a ranking for
every level, each with slots of its own; Psi and the loss are sums over levels with the
weights v_t. Rankings of different levels may disagree, as swapped pairs may: then searches
are exact level by level, whatever the number of grades, and the hinge bounds 1 - NDCG, for
one ranking at all levels is an output too. (Where it must be one, the programme runs over
as many counts as there are grades, and grows with the product of their sizes.)
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

    cuts = cut_by(
        **DOCUMENTS, grade="first", level="example", weight="level", pairs="level"
    )

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
    level: np.ndarray  # query i has the levels level[i] .. level[i + 1]
    weight: np.ndarray  # float64, v_t of every level
    pairs: np.ndarray  # float64, N of every level (1 where there is none)
    discount: np.ndarray  # D_p by place, from 1 on
    kind: int


def _levels(first: np.ndarray, grade: np.ndarray) -> tuple:
    """Level of each document; grades and sizes of levels, where those of queries begin."""
    query = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((grade, query))  # by query, which is the order they are in
    grade = grade[order]
    new = np.ones(len(grade), bool)
    new[1:] = (grade[1:] != grade[:-1]) | (query[1:] != query[:-1])
    begins = np.flatnonzero(new)
    edges = np.searchsorted(begins, first)
    own = np.empty(len(grade), np.int32)
    own[order] = np.cumsum(new) - 1 - edges[query]
    return own, grade[begins], np.diff(np.append(begins, len(grade))), edges


def make_batch(rows, first, n_features, grade, kind: int) -> PairBatch:
    """Encode CSR arrays ``rows`` of documents; query i has first[i] .. first[i + 1].

    For "ndcg", the grades are gains.
    """
    fields = row_fields(rows, first, n_features)
    discount = 1.0 / np.log2(1.0 + np.arange(1.0, fields["widest"] + 1))
    own, grades, sizes, edges = _levels(np.asarray(first), grade)
    found = []
    for a, b in pairwise(edges):
        values, counts = grades[a:b], sizes[a:b]
        if kind == NDCG and len(values) > 1:
            found.append(gain_levels(values.astype(np.float64), counts, discount))
        else:
            found.append(([1.0], [max(counts @ (np.cumsum(counts) - counts), 1)]))
    weights, pairs = zip(*found, strict=True)
    n_levels = np.array(list(map(len, weights)), np.int64)
    start = np.concatenate([[0], np.cumsum(n_levels * (np.diff(first) + 1))])
    return PairBatch(
        start=start.astype(np.int64),
        y=np.zeros(int(start[-1]), np.int32),
        grade=own,
        level=np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64),
        weight=np.concatenate(weights).astype(np.float64),
        pairs=np.concatenate(pairs).astype(np.float64),
        discount=np.append(0.0, discount),
        kind=kind,
        **fields,
    )


def gain_levels(values, counts, discount) -> tuple[np.ndarray, np.ndarray]:
    """v_t and N_t of a query with so many documents of these rising gains."""
    n = int(counts.sum())
    relevant = n - np.cumsum(counts)[:-1]
    ideal = np.cumsum(discount[:n])
    steps = np.diff(values) * ideal[relevant - 1]
    return steps / (values[0] * ideal[-1] + steps.sum()), relevant * (n - relevant)


@inlined
def add_swaps(batch, i, y, factor, c):
    """c_d += factor times what swapped pairs put before document d, over all levels."""
    n, at = batch.first[i + 1] - batch.first[i], 0
    for t in range(batch.level[i], batch.level[i + 1]):
        share = factor * batch.weight[t] / batch.pairs[t]
        for d in range(n):
            c[d] += share * y[at + d]
        at += n + 1


@inlined
def lead(batch, i, theta, y):
    """sum_t v_t / N_t times the sum over swapped pairs of theta_a - theta_b."""
    c = np.zeros(batch.first[i + 1] - batch.first[i])
    add_swaps(batch, i, y, 1.0, c)
    total = 0.0
    for d in range(len(c)):
        total += c[d] * theta[0, d]
    return total


@implements(contract.value, PairBatch)
def value(batch, i, theta, y):
    return -lead(batch, i, theta, y)


@implements(contract.parts, PairBatch)
def parts(batch, i, y, coefficient, mu):
    add_swaps(batch, i, y, -coefficient, mu[0])


@implements(contract.margin, PairBatch)
def margin(batch, i, theta, y):
    return lead(batch, i, theta, y)


@implements(contract.possible, PairBatch)
def possible(batch, i, y):
    n = batch.first[i + 1] - batch.first[i]
    if batch.kind == PAIRWISE:
        return pairs_exist(batch, i, n, y)
    for t in range(batch.level[i + 1] - batch.level[i]):
        if not is_ranking(batch, i, n, t, y):
            return False
    return True


@inlined
def pairs_exist(batch, i, n, y):
    """Whether so many pairs can be swapped: in each, the grades differ by 1 or more.

    So sum_d grade_d y_d, that of all differences, is at least the number of pairs, and at
    most that times the highest grade. (With two grades, both are the number itself.)
    """
    total, differences, top = 0, 0, 0
    for d in range(n):
        if not -n < y[d] < n:
            return False
        grade = batch.grade[batch.first[i] + d]
        total += y[d]
        differences += grade * y[d]
        top = max(top, grade)
    swapped = y[n]
    return total == 0 and 0 <= swapped <= differences <= top * swapped


@inlined
def is_ranking(batch, i, n, t, y):
    """Whether the slots of level t are those of a ranking.

    They are if the counts of the others are, in some order, -#{relevant: u >= j}, j > 0.
    """
    at, count, total = t * (n + 1), 0, 0
    for d in range(n):
        count += 1 if batch.grade[batch.first[i] + d] > t else 0
    least = np.zeros(n + 2, np.int64)  # relevant documents by u, then with u or more
    excess = np.zeros(n + 1, np.int64)  # others with a count, minus those there must be
    for d in range(n):
        if batch.grade[batch.first[i] + d] > t:
            if not 0 <= y[at + d] <= n - count:
                return False
            least[y[at + d]] += 1
            total += y[at + d]
        else:
            if not -count <= y[at + d] <= 0:
                return False
            excess[-y[at + d]] += 1
    for j in range(n - count, 0, -1):
        least[j] += least[j + 1]
        excess[least[j]] -= 1
    for v in range(n + 1):
        if excess[v] != 0:
            return False
    return total == y[at + n]


@implements(contract.loss, PairBatch)
def loss(batch, i, y):
    n, at, total = batch.first[i + 1] - batch.first[i], 0, 0.0
    above = np.empty(n, np.int32)
    for t in range(batch.level[i], batch.level[i + 1]):
        if batch.kind == PAIRWISE or y[at + n] == 0:
            total += batch.weight[t] * y[at + n] / batch.pairs[t]
        else:
            count = 0
            for d in range(n):
                if batch.grade[batch.first[i] + d] > t - batch.level[i]:
                    above[count] = y[at + d]
                    count += 1
            above[:count].sort()
            part = 0.0
            for r in range(count):
                part += cost(batch, r + 1, above[r])
            total += batch.weight[t] * part / whole(batch, count)
        at += n + 1
    return total


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
    c = np.zeros(batch.first[i + 1] - batch.first[i])
    add_swaps(batch, i, y, -factor, c)
    return append_sum(batch, i, c, index, values, m)


@implements(contract.difference, PairBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    c = np.zeros(batch.first[i + 1] - batch.first[i])
    add_swaps(batch, i, s, rs, c)
    add_swaps(batch, i, a, -ra, c)
    return append_sum(batch, i, c, index, values, 0)


# search ------------------------------------------------------------------------------


@implements(contract.argmax, PairBatch)
def argmax(batch, i, theta, scale, y):
    n = batch.first[i + 1] - batch.first[i]
    scores = np.empty(n)
    for d in range(n):
        scores[d] = theta[0, d]
    for slot in range(batch.start[i + 1] - batch.start[i]):
        y[slot] = 0
    if batch.kind == PAIRWISE:
        swap(batch, i, scores, scale, y)
    else:
        order = np.argsort(-scores, kind="mergesort")
        for t in range(batch.level[i + 1] - batch.level[i]):
            interleave(batch, i, t, scores, order, scale, y)


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
def interleave(batch, i, t, scores, order, scale, y):
    """The best u_1 <= u_2 <= ... of level t, by dynamic programming over (r, u_r)."""
    first, n, at = batch.first[i], len(scores), t * (len(scores) + 1)
    relevant, others = np.empty(n, np.int64), np.empty(n, np.int64)
    count, rest = 0, 0
    for d in order:
        if batch.grade[first + d] > t:
            relevant[count] = d
            count += 1
        else:
            others[rest] = d
            rest += 1
    if count == 0:
        return
    share, pairs = scale / whole(batch, count), batch.pairs[batch.level[i] + t]
    taken = np.zeros((count, rest + 1), np.int32)  # the best u_r up to u
    best = np.zeros(rest + 1)  # of the relevant documents so far, with u_r up to u
    above = np.zeros(rest + 1)  # sums of the scores of the first u others, over pairs
    for u in range(rest):
        above[u + 1] = above[u] + scores[others[u]] / pairs
    for r in range(count):
        own, top, chosen = scores[relevant[r]] / pairs, -np.inf, 0
        for u in range(rest + 1):
            v = best[u] + share * cost(batch, r + 1, u) - (u * own - above[u])
            if v > top:
                top, chosen = v, u
            taken[r, u] = chosen
            best[u] = top
    u, total = rest, 0
    leading = np.zeros(rest + 1, np.int32)  # relevant documents by u_r
    for r in range(count - 1, -1, -1):
        u = taken[r, u]
        y[at + relevant[r]] = u
        total += u
        leading[u] += 1
    y[at + n] = total
    led = 0
    for j in range(rest - 1, -1, -1):
        led += leading[j + 1]  # relevant documents with u_r > j
        y[at + others[j]] = -led
