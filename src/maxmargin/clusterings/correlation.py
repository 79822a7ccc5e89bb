"""Correlation clustering, the baseline of the forests (Finley & Joachims 2005).

    Psi(x, y) = 100 / T sum over pairs inside clusters of phi(a, b)
    Delta     = 100 / T (number of pairs that are together in one of y, y' only)

with T = n (n - 1) / 2 pairs. A slot holds the first mention of its cluster. The best
clustering is NP-hard to find; clusters are joined greedily, the pair with the largest sum
of scores first, and then single mentions move to better clusters until none gains. So the
certificate says ``exact=False``: a search may miss the most violated output.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.clusterings.pairs import (
    PairTable,
    emit_patterns,
    no_weights,
    of_pairs,
    weigh_pair,
)
from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined, kernel

MOST_MOVES = 20  # rounds of moves of single mentions


@of_pairs
class CorrelationBatch(NamedTuple):
    """As LinkBatch; y is gold, and nothing is hidden."""

    cuts = cut_by(start="example", y="start", gold="start", pairs="example")

    start: np.ndarray
    y: np.ndarray
    gold: np.ndarray
    pairs: PairTable
    exact: bool = False


def make_batch(start, gold, pairs: PairTable) -> CorrelationBatch:
    return CorrelationBatch(start, gold.copy(), gold, pairs)


@inlined
def unit(batch, i):
    return 100.0 / max(batch.pairs.pair_start[i + 1] - batch.pairs.pair_start[i], 1)


@implements(contract.value, CorrelationBatch)
def value(batch, i, theta, y):
    n, p, total = batch.start[i + 1] - batch.start[i], 0, 0.0
    for a in range(n):
        for b in range(a + 1, n):
            if y[a] == y[b]:
                total += theta[0, p]
            p += 1
    return unit(batch, i) * total


@implements(contract.parts, CorrelationBatch)
def parts(batch, i, y, coefficient, mu):
    n, p, share = batch.start[i + 1] - batch.start[i], 0, unit(batch, i)
    for a in range(n):
        for b in range(a + 1, n):
            if y[a] == y[b]:
                mu[0, p] += share * coefficient
            p += 1


@implements(contract.possible, CorrelationBatch)
def possible(batch, i, y):
    """First mentions of clusters."""
    for v in range(batch.start[i + 1] - batch.start[i]):
        if not 0 <= y[v] <= v or y[y[v]] != y[v]:
            return False
    return True


@implements(contract.loss, CorrelationBatch)
def loss(batch, i, y):
    first, wrong = batch.start[i], 0
    n = batch.start[i + 1] - first
    for a in range(n):
        for b in range(a + 1, n):
            together = batch.gold[first + a] == batch.gold[first + b]
            wrong += together != (y[a] == y[b])
    return unit(batch, i) * wrong


@implements(contract.capacity, CorrelationBatch)
def capacity(batch):
    return batch.pairs.most_entries


@implements(contract.emit, CorrelationBatch)
def emit(batch, i, y, coefficient, index, values, m):
    weight = no_weights(batch, i)
    weigh_clusters(batch, i, y, coefficient, y, 0.0, y, 0.0, weight)
    return emit_patterns(batch, i, weight, index, values, m)


@implements(contract.difference, CorrelationBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    weight = no_weights(batch, i)
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    weigh_clusters(batch, i, truth, rs - ra, s, -rs, a, ra, weight)
    return emit_patterns(batch, i, weight, index, values, 0)


@inlined
def weigh_clusters(batch, i, y, c, s, cs, t, ct, weight):
    """weight += c, cs and ct at the patterns of pairs inside clusters of y, s and t."""
    n, p, share = batch.start[i + 1] - batch.start[i], 0, unit(batch, i)
    for a in range(n):
        for b in range(a + 1, n):
            x = c * (y[a] == y[b]) + cs * (s[a] == s[b]) + ct * (t[a] == t[b])
            if x != 0.0:
                weigh_pair(batch, i, p, share * x, weight)
            p += 1


@implements(contract.argmax, CorrelationBatch)
def argmax(batch, i, theta, scale, y):
    first = batch.start[i]
    n = batch.start[i + 1] - first
    table = np.zeros((n, n))
    p = 0
    for a in range(n):
        for b in range(a + 1, n):
            same = batch.gold[first + a] == batch.gold[first + b]
            table[a, b] = float(theta[0, p]) + (-scale if same else scale)
            table[b, a] = table[a, b]
            p += 1
    join(table, y)
    move(table, y)
    if scale > 0.0 and inside(table, y) < inside(table, batch.gold[first : first + n]):
        for v in range(n):
            y[v] = batch.gold[first + v]


@kernel
def inside(table, y):
    """Sum over pairs inside clusters."""
    total = 0.0
    for a in range(len(table)):
        for b in range(a):
            if y[a] == y[b]:
                total += table[a, b]
    return total


@kernel
def join(table, y):
    """y <- clusters joined greedily while that gains; the largest sum first."""
    n = len(table)
    sums = table.copy()
    alive = np.ones(n, np.bool_)
    best = np.zeros(n, np.int64)  # of the clusters after this one
    for a in range(n):
        y[a] = a
        best[a] = next_best(sums, alive, a)
    while True:
        a = -1
        for v in range(n):
            gain = sums[v, best[v]] if alive[v] and best[v] >= 0 else 0.0
            if gain > 0.0 and (a < 0 or gain > sums[a, best[a]]):
                a = v
        if a < 0:
            return
        b = best[a]
        alive[b] = False
        for v in range(n):
            if y[v] == b:
                y[v] = a
            sums[a, v] += sums[b, v]
            sums[v, a] = sums[a, v]
        best[a] = next_best(sums, alive, a)
        for v in range(b):
            if alive[v] and v != a:
                if best[v] == b or best[v] == a:
                    best[v] = next_best(sums, alive, v)
                elif v < a and (best[v] < 0 or sums[v, a] > sums[v, best[v]]):
                    best[v] = a


@kernel
def next_best(sums, alive, a):
    found = -1
    for b in range(a + 1, len(sums)):
        if alive[b] and (found < 0 or sums[a, b] > sums[a, found]):
            found = b
    return found


@kernel
def move(table, y):
    """Move single mentions to better clusters, or out of theirs, while that gains."""
    n = len(table)
    gain = np.empty(n)
    slack = 1e-9 * (1.0 + np.abs(table).max()) if n else 0.0
    for _ in range(MOST_MOVES):
        moved = False
        for v in range(n):
            gain[:] = 0.0
            for u in range(n):
                if u != v:
                    gain[y[u]] += table[v, u]
            target = y[v]  # a number that nobody else has counts 0: alone
            for c in range(n):
                if gain[c] > gain[target] + slack:
                    target = c
            if target != y[v]:
                y[v] = target
                moved = True
        if not moved:
            break
    named = np.full(n, -1)
    for v in range(n):
        if named[y[v]] < 0:
            named[y[v]] = v
        y[v] = named[y[v]]
