"""Derivations of weighted hypergraphs: any dynamic programme behind the contract.

    value(x, y) = sum over the edges e of the derivation y of theta[part(e)]
    theta       = F_x w,   one row of features per part
    loss(y)     = sum over edges of cost[part(e)]  -  the same sum for the truth

Several edges may share a part; an edge without one (part -1) scores and costs nothing.
Slots are as many as the longest derivation has edges. A labelling holds the edges of a
derivation, ascending, then -1. Ascending is bottom-up, as tails come before heads, and
lets two derivations be compared in one pass. (Where a derivation uses a node twice, a
labelling does not say which use has which edges; values, losses and features are the
same.)

Every example has a graph of its own. ``program.py`` makes batches
from Python; ``inference.py`` and ``counts.py`` search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined, inner
from maxmargin.core.rescale import violation
from maxmargin.hypergraphs.counts import (
    fill_counts,
    make_counts,
    trace_counts,
)
from maxmargin.hypergraphs.inference import (
    Graph,
    backtrace,
    expected_uses,
    inside_logsum,
    inside_max,
    score_edges,
)


class HypergraphBatch(NamedTuple):
    """Graphs one after the other; numbers of nodes, edges and parts start at 0 in each.

    Pointer arrays have one entry more than they have items, in each example.
    """

    cuts = cut_by(
        start="example",
        y="start",
        node_start="example",
        edge_start="example",
        tail_start="example",
        part_start="example",
        in_ptr="node_start + 1",
        tail_ptr="edge_start + 1",
        tail="tail_start",
        part="edge_start",
        indptr="part_start",
        indices="indptr",
        values="indptr",
        cost="part_start",
        constant="example",
        low="node_start",
        high="node_start",
        counted="example",
    )

    start: np.ndarray  # slots of example i: start[i] .. start[i + 1]
    y: np.ndarray
    node_start: np.ndarray  # int64, like the next three: where example i starts
    edge_start: np.ndarray
    tail_start: np.ndarray
    part_start: np.ndarray
    in_ptr: np.ndarray  # the arrays of Graph
    tail_ptr: np.ndarray
    tail: np.ndarray
    part: np.ndarray
    indptr: np.ndarray  # features of parts: int64, into indices and values
    indices: np.ndarray
    values: np.ndarray
    cost: np.ndarray  # float64, by part
    constant: np.ndarray  # float64, by example: minus the costs of the truth
    low: np.ndarray  # int64, by node: the least sum of costs, where counted
    high: np.ndarray
    counted: np.ndarray  # int64, by example: 1 if losses can be indices of a table
    least: float  # a lower bound on the losses that are not zero
    most_parts: int
    most_entries: int


@inlined
def graph_of(batch, i):
    nodes, edges = batch.node_start, batch.edge_start
    return Graph(
        batch.in_ptr[nodes[i] + i : nodes[i + 1] + i + 1],
        batch.tail_ptr[edges[i] + i : edges[i + 1] + i + 1],
        batch.tail[batch.tail_start[i] : batch.tail_start[i + 1]],
        batch.part[edges[i] : edges[i + 1]],
        nodes[i + 1] - nodes[i] - 1,
    )


@implements(contract.shape, HypergraphBatch)
def shape(batch):
    return 1, max(batch.most_parts, 1)


@implements(contract.capacity, HypergraphBatch)
def capacity(batch):
    return batch.most_entries


@implements(contract.least_loss, HypergraphBatch)
def least_loss(batch):
    return batch.least


@inlined
def score_part(batch, row, w):
    total = 0.0
    for j in range(batch.indptr[row], batch.indptr[row + 1]):
        total += float(w[batch.indices[j]]) * batch.values[j]
    return total


@implements(contract.score, HypergraphBatch)
def score(batch, i, w, theta):
    first = batch.part_start[i]
    for p in range(batch.part_start[i + 1] - first):
        theta[0, p] = score_part(batch, first + p, w)


@implements(contract.extent, HypergraphBatch)
def extent(batch, i):
    return batch.part_start[i + 1] - batch.part_start[i]


@implements(contract.value, HypergraphBatch)
def value(batch, i, theta, y):
    total = 0.0
    for t in range(batch.start[i + 1] - batch.start[i]):
        if y[t] < 0:
            break
        p = batch.part[batch.edge_start[i] + y[t]]
        if p >= 0:
            total += float(theta[0, p])
    return total


@implements(contract.possible, HypergraphBatch)
def possible(batch, i, y):
    """The edges of a derivation of the root: each builds a node that is wanted."""
    graph, size = graph_of(batch, i), batch.start[i + 1] - batch.start[i]
    edges, count = len(graph.part), 0
    while count < size and y[count] >= 0:
        if y[count] >= edges or (count > 0 and y[count] < y[count - 1]):
            return False
        count += 1
    for t in range(count, size):
        if y[t] != -1:
            return False
    wanted = np.zeros(graph.root + 1, np.int64)
    wanted[graph.root], head = 1, graph.root
    for t in range(count - 1, -1, -1):
        while graph.in_ptr[head] > y[t]:
            head -= 1
        wanted[head] -= 1
        if wanted[head] < 0:
            return False
        for k in range(graph.tail_ptr[y[t]], graph.tail_ptr[y[t] + 1]):
            wanted[graph.tail[k]] += 1
    return not wanted.any()


@implements(contract.loss, HypergraphBatch)
def loss(batch, i, y):
    total = 0.0
    for t in range(batch.start[i + 1] - batch.start[i]):
        if y[t] < 0:
            break
        p = batch.part[batch.edge_start[i] + y[t]]
        if p >= 0:
            total += batch.cost[batch.part_start[i] + p]
    return max(total + batch.constant[i], 0.0)  # rounding may leave less than zero


@inlined
def edge_scores(batch, i, graph, theta, scale):
    """Scores of edges plus scale times their costs."""
    n = batch.part_start[i + 1] - batch.part_start[i]
    parts = np.empty(n)
    for p in range(n):
        parts[p] = theta[0, p] + scale * batch.cost[batch.part_start[i] + p]
    scores = np.empty(len(graph.part))
    score_edges(graph, parts, scores)
    return scores


@implements(contract.sums, HypergraphBatch)
def sums(batch, i, theta, mu, work):
    graph = graph_of(batch, i)
    scores = edge_scores(batch, i, graph, theta, 0.0)
    inside, uses = np.empty(graph.root + 1), np.empty(len(scores))
    inside_logsum(graph, scores, inside)
    expected_uses(graph, scores, inside, uses)
    for p in range(batch.part_start[i + 1] - batch.part_start[i]):
        mu[0, p] = 0.0
    for e in range(len(uses)):
        if graph.part[e] >= 0:
            mu[0, graph.part[e]] += uses[e]
    return inside[graph.root]


@implements(contract.parts, HypergraphBatch)
def parts(batch, i, y, coefficient, mu):
    for t in range(batch.start[i + 1] - batch.start[i]):
        if y[t] < 0:
            break
        p = batch.part[batch.edge_start[i] + y[t]]
        if p >= 0:
            mu[0, p] += coefficient


@implements(contract.spread, HypergraphBatch)
def spread(batch, i, coefficient, mu, w):
    first = batch.part_start[i]
    for p in range(batch.part_start[i + 1] - first):
        c = coefficient * mu[0, p]
        if c != 0.0:
            for j in range(batch.indptr[first + p], batch.indptr[first + p + 1]):
                w[batch.indices[j]] += c * batch.values[j]


@implements(contract.argmax, HypergraphBatch)
def argmax(batch, i, theta, scale, y):
    graph = graph_of(batch, i)
    scores = edge_scores(batch, i, graph, theta, scale)
    inside = np.empty(graph.root + 1)
    choice = np.empty(graph.root + 1, np.int64)
    inside_max(graph, scores, inside, choice)
    count = backtrace(graph, choice, y)
    y[count : batch.start[i + 1] - batch.start[i]] = -1


@implements(contract.argmax_rescaled, HypergraphBatch)
def argmax_rescaled(batch, i, theta, form, y):
    if batch.counted[i] == 0:
        return False
    graph = graph_of(batch, i)
    nodes, parts = batch.node_start, batch.part_start
    scores = edge_scores(batch, i, graph, theta, 0.0)
    costs = np.empty(len(scores))
    score_edges(graph, batch.cost[parts[i] : parts[i + 1]], costs)
    cost = costs.astype(np.int64)
    low = batch.low[nodes[i] : nodes[i + 1]]
    high = batch.high[nodes[i] : nodes[i + 1]]
    counts = make_counts(graph, low, high)
    fill_counts(graph, scores, cost, counts)
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    base = contract.value(batch, i, theta, truth)
    best, best_count, found = 0.0, low[graph.root], False
    for c in range(low[graph.root], high[graph.root] + 1):
        v = counts.table[counts.at[graph.root] + c - low[graph.root]]
        if v > -np.inf:
            v = violation(form, c + batch.constant[i], base - v)
            if v > best:
                best, best_count, found = v, c, True
    count = len(truth)
    y[:count] = truth
    if found:
        count = trace_counts(graph, scores, cost, counts, best_count, y)
    y[count : len(truth)] = -1
    return True


# Differences of derivations ----------------------------------------------------------
# Near the optimum most edges agree. Labellings ascend, so one pass over two or three of
# them visits the edges that are not in all.

NO_EDGE = 1 << 31  # above every edge


@inlined
def edge_at(y, t, size):
    """The edge in slot t, or one above all where there are no more."""
    return np.int64(y[t]) if t < size and y[t] >= 0 else NO_EDGE


@inlined
def edge_score(batch, i, e, theta):
    p = batch.part[batch.edge_start[i] + e]
    return float(theta[0, p]) if p >= 0 else 0.0


@implements(contract.margin, HypergraphBatch)
def margin(batch, i, theta, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    size = len(truth)
    total = 0.0
    a = b = 0
    while True:
        left, right = edge_at(truth, a, size), edge_at(y, b, size)
        if left == NO_EDGE and right == NO_EDGE:
            return total
        if left < right:
            total += edge_score(batch, i, left, theta)
        elif right < left:
            total -= edge_score(batch, i, right, theta)
        a += left <= right
        b += right <= left


@implements(contract.score_planes, HypergraphBatch)
def score_planes(batch, i, w, labellings, count, theta):
    # margin() reads only the edges in which a plane and the truth, plane 0, differ.
    size = batch.start[i + 1] - batch.start[i]
    first = batch.part_start[i]
    for plane in range(1, count):
        a, b, skip = 0, 0, plane * size
        while True:
            left = edge_at(labellings, a, size)
            right = edge_at(labellings[skip:], b, size)
            if left == NO_EDGE and right == NO_EDGE:
                break
            if left != right:
                p = batch.part[batch.edge_start[i] + min(left, right)]
                if p >= 0:
                    theta[0, p] = score_part(batch, first + p, w)
            a += left <= right
            b += right <= left


@implements(contract.emit, HypergraphBatch)
def emit(batch, i, y, coefficient, index, values, m):
    for t in range(batch.start[i + 1] - batch.start[i]):
        if y[t] < 0:
            break
        m = put_edge(batch, i, y[t], coefficient, index, values, m)
    return m


@implements(contract.difference, HypergraphBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    size = len(truth)
    m = 0
    u = v = z = 0
    while True:
        et, es, ea = edge_at(truth, u, size), edge_at(s, v, size), edge_at(a, z, size)
        e = min(et, es, ea)
        if e == NO_EDGE:
            return m
        coefficient = 0.0
        if et == e:
            coefficient += rs - ra
            u += 1
        if es == e:
            coefficient -= rs
            v += 1
        if ea == e:
            coefficient += ra
            z += 1
        m = put_edge(batch, i, e, coefficient, index, values, m)


@inner
def put_edge(batch, i, e, coefficient, index, values, m):
    p = batch.part[batch.edge_start[i] + e]
    if p < 0 or coefficient == 0.0:
        return m
    row = batch.part_start[i] + p
    for j in range(batch.indptr[row], batch.indptr[row + 1]):
        index[m] = batch.indices[j]
        values[m] = coefficient * batch.values[j]
        m += 1
    return m
