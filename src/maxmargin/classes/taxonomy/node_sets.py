"""Sets of nodes of a taxonomy: an output holds, with every node, all its parents.

    value(x, S) = sum over v in S of w_v . x
    loss(S, S') = sum of cost_v over the nodes in one of S, S' but not in both

One slot per node, 1 if it is in the set. The loss adds up over nodes, so the search for
the most violated set is that for the best set with other weights (``closure.py``). Where
no node has a parent, the labels are independent, and so is their training: one binary
support vector machine each, with slacks of their own.

Rescaled formulations are searched exactly in trees whose nodes all cost the same
(``closure_by_loss.py``); elsewhere the search is bounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.classes import sparse as multiclass
from maxmargin.classes.sparse import emit_rows
from maxmargin.classes.taxonomy.closure import Dag, Tree, best_closure, make_network
from maxmargin.classes.taxonomy.closure_by_loss import (
    best_by_loss,
    set_of_loss,
    subtrees,
)
from maxmargin.core import contract
from maxmargin.core.kernel import implements
from maxmargin.core.rescale import violation
from maxmargin.core.vectors import padded_width

MAX_TABLE = 1 << 20  # entries of a table by loss; beyond it, searches are bounded


class NodeSetBatch(NamedTuple):
    """CSR rows and their sets; w is (features, width), padded for SIMD."""

    cuts = multiclass.MulticlassBatch.cuts

    start: np.ndarray
    y: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    norms: np.ndarray  # |x_i|^2
    cost: np.ndarray  # float64, by node
    network: Tree | Dag
    least: float  # the smallest cost that is not zero
    order: np.ndarray  # of a tree whose nodes cost the same, else empty
    end: np.ndarray
    n_nodes: int
    width: int
    n_features: int
    longest: int


def make_batch(
    indptr, indices, values, n_features, y, cost, parents, dtype
) -> NodeSetBatch:
    """Encode rows in CSR form; ``y`` is (rows, nodes)."""
    n, k = len(indptr) - 1, len(parents)
    cost = np.ascontiguousarray(cost, np.float64)
    network = make_network(parents)
    order = end = np.zeros(0, np.int64)
    if isinstance(network, Tree) and k * k <= MAX_TABLE and (cost == cost[0]).all():
        order, end = subtrees(parents)
    return NodeSetBatch(
        start=np.arange(n + 1, dtype=np.int64) * k,
        y=np.ascontiguousarray(y, np.int32).ravel(),
        **multiclass.row_fields(indptr, indices, values, n_features, dtype),
        cost=cost,
        network=network,
        least=float(min(cost[cost > 0], default=0.0)),
        order=order,
        end=end,
        n_nodes=k,
        width=padded_width(k),
    )


# Nodes have scores as classes do.
implements(contract.shape, NodeSetBatch)(multiclass.shape)
implements(contract.score, NodeSetBatch)(multiclass.score)


@implements(contract.capacity, NodeSetBatch)
def capacity(batch):
    return batch.longest * batch.n_nodes


@implements(contract.least_loss, NodeSetBatch)
def least_loss(batch):
    return batch.least


@implements(contract.argmax, NodeSetBatch)
def argmax(batch, i, theta, scale, y):
    # a wrong node costs: cost (1 - y) if it is put in, minus cost y if it is left out
    weight = np.empty(batch.n_nodes)
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    for v in range(batch.n_nodes):
        weight[v] = float(theta[0, v]) + scale * batch.cost[v] * (1 - 2 * truth[v])
    best_closure(batch.network, weight, y)


@implements(contract.argmax_rescaled, NodeSetBatch)
def argmax_rescaled(batch, i, theta, form, y):
    if len(batch.order) == 0:
        return False
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    weight = np.empty(batch.n_nodes)
    own = 0.0
    for v in range(batch.n_nodes):
        weight[v] = float(theta[0, v])
        own += truth[v] * weight[v]
    table = best_by_loss(batch.order, batch.end, weight, truth)
    best, wrong = 0.0, 0
    for n in range(1, batch.n_nodes + 1):
        if table[0, n] > -np.inf:
            found = violation(form, n * batch.cost[0], own - table[0, n])
            if found > best:
                best, wrong = found, n
    set_of_loss(batch.order, batch.end, weight, truth, table, wrong, y)
    return True


@implements(contract.value, NodeSetBatch)
def value(batch, i, theta, y):
    total = 0.0
    for v in range(batch.n_nodes):
        if y[v]:
            total += float(theta[0, v])
    return total


@implements(contract.margin, NodeSetBatch)
def margin(batch, i, theta, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    total = 0.0
    for v in range(batch.n_nodes):
        total += (truth[v] - y[v]) * float(theta[0, v])
    return total


@implements(contract.loss, NodeSetBatch)
def loss(batch, i, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    total = 0.0
    for v in range(batch.n_nodes):
        if truth[v] != y[v]:
            total += batch.cost[v]
    return total


@implements(contract.possible, NodeSetBatch)
def possible(batch, i, y):
    """Marks of nodes, each with all its parents."""
    up = batch.network
    for v in range(batch.n_nodes):
        if y[v] != 0 and y[v] != 1:
            return False
        for e in range(up.parent_ptr[v], up.parent_ptr[v + 1]):
            if y[v] == 1 and y[up.parent[e]] != 1:
                return False
    return True


@implements(contract.emit, NodeSetBatch)
def emit(batch, i, y, coefficient, index, values, m):
    for v in range(batch.n_nodes):
        if y[v]:
            for j in range(batch.indptr[i], batch.indptr[i + 1]):
                index[m] = batch.indices[j] * batch.width + v
                values[m] = coefficient * batch.values[j]
                m += 1
    return m


@implements(contract.difference, NodeSetBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    change = np.empty(batch.n_nodes)
    for v in range(batch.n_nodes):
        change[v] = rs * (truth[v] - s[v]) - ra * (truth[v] - a[v])
    return emit_rows(batch, i, change, batch.width, index, values)


@implements(contract.shift, NodeSetBatch)
def shift(batch, i, step, s, rs, a, ra, theta):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    size = step * batch.norms[i]
    for v in range(batch.n_nodes):
        theta[0, v] += size * (rs * (truth[v] - s[v]) - ra * (truth[v] - a[v]))
    return True
