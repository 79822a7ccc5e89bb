"""Exact search for rescaled formulations on hypergraphs whose losses are whole numbers.

    table(v, c) = the best value of a derivation of v whose costs sum to c

An edge adds its cost, and the tables of its tails are folded into it one by one:

    P_0 = {cost(e): score(e)},     P_m(c) = max_d P_(m-1)(c - d) + table(tail_m, d)

From table(root, .) every formulation takes its maximum over c, as the loss is c plus a
constant. (For chains: Bauer, Goernitz, Biegler, Mueller & Kloft 2014.) Winners are not
stored but found again on the way back, by the same arithmetic and so without error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inner, kernel


class CostTables(NamedTuple):
    """Tables of all nodes, one after the other, and the rows P_m of one edge."""

    low: np.ndarray  # int64 by node: the least sum of costs
    high: np.ndarray
    at: np.ndarray  # int64 by node: where its table starts
    table: np.ndarray  # float64
    rows: np.ndarray  # float64 (most tails + 1, widest table)
    start: np.ndarray  # int64: the least count of each row
    width: np.ndarray  # int64: how many counts each row has


@kernel
def count_ranges(graph, cost, low, high):
    """The least and largest sum of costs of every node; returns the work of the tables.

    ``cost`` holds whole numbers, by edge. Every node must have a derivation.
    """
    work = 0.0
    for v in range(graph.root + 1):
        least, most = np.inf, -np.inf
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            a, b, width = cost[e], cost[e], 1.0
            for t in range(graph.tail_ptr[e], graph.tail_ptr[e + 1]):
                u = graph.tail[t]
                a += low[u]
                b += high[u]
                work += width * (high[u] - low[u] + 1.0)
                width = b - a + 1.0
            least, most = min(least, a), max(most, b)
            work += 1.0
        low[v], high[v] = least, most
    return work


@inner
def make_counts(graph, low, high):
    at = np.zeros(graph.root + 2, np.int64)
    widest, most_tails = 1, 0
    for v in range(graph.root + 1):
        size = high[v] - low[v] + 1
        at[v + 1] = at[v] + size
        widest = max(widest, size)
    for e in range(len(graph.part)):
        most_tails = max(most_tails, graph.tail_ptr[e + 1] - graph.tail_ptr[e])
    return CostTables(
        low,
        high,
        at,
        np.full(at[graph.root + 1], -np.inf),
        np.empty((most_tails + 1, widest)),
        np.empty(most_tails + 1, np.int64),
        np.empty(most_tails + 1, np.int64),
    )


@kernel
def fold(graph, e, score, cost, counts):
    """rows <- P_0, P_1, ... of edge e; returns the number of the last."""
    rows, start, width = counts.rows, counts.start, counts.width
    rows[0, 0], start[0], width[0] = score, cost, 1
    m = 0
    for t in range(graph.tail_ptr[e], graph.tail_ptr[e + 1]):
        u = graph.tail[t]
        size = counts.high[u] - counts.low[u] + 1
        below = counts.table[counts.at[u] : counts.at[u] + size]
        m += 1
        start[m] = start[m - 1] + counts.low[u]
        width[m] = width[m - 1] + size - 1
        before, row = rows[m - 1], rows[m]
        for c in range(width[m]):
            row[c] = -np.inf
        for a in range(width[m - 1]):
            for d in range(size):
                row[a + d] = max(row[a + d], before[a] + below[d])
    return m


@inner
def fill_counts(graph, scores, cost, counts):
    """The tables of all nodes up to the root."""
    for v in range(graph.root + 1):
        base = counts.at[v] - counts.low[v]
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            m = fold(graph, e, scores[e], cost[e], counts)
            for c in range(counts.width[m]):
                where = base + counts.start[m] + c
                counts.table[where] = max(counts.table[where], counts.rows[m, c])


@inner
def trace_counts(graph, scores, cost, counts, count, edges):
    """edges <- the best derivation with this sum of costs; returns their number."""
    nodes, wanted = [graph.root], [np.int64(count)]
    n = 0
    while len(nodes) > 0:
        v, c = nodes.pop(), wanted.pop()
        best = counts.table[counts.at[v] + c - counts.low[v]]
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            m = fold(graph, e, scores[e], cost[e], counts)
            k = c - counts.start[m]
            if k < 0 or k >= counts.width[m] or counts.rows[m, k] != best:
                continue
            edges[n] = e
            n += 1
            for t in range(graph.tail_ptr[e + 1] - 1, graph.tail_ptr[e] - 1, -1):
                u = graph.tail[t]
                d = split(counts, m, k, u)
                nodes.append(np.int64(u))
                wanted.append(d + counts.low[u])
                k -= d
                m -= 1
            break
    edges[:n].sort()
    return n


@kernel
def split(counts, m, k, u):
    """What the last tail u adds to entry k of row m."""
    size = counts.high[u] - counts.low[u] + 1
    for d in range(size):
        if 0 <= k - d < counts.width[m - 1]:
            both = counts.rows[m - 1, k - d] + counts.table[counts.at[u] + d]
            if both == counts.rows[m, k]:
                return d
    return 0
