"""Classes in a taxonomy: Psi(x, y) = Lambda(y) (x) x.

Lambda(y) marks y and all its ancestors, so classes share the weights of the nodes above
them, and what one class learns its relatives know:

    value(x, y) = sum over v in lineage(y) of  z_v w_v . x

where z_v is the weight of a node (1 unless told otherwise). Two outputs have the inner
product |x|^2 G[y, y'], G[y, y'] = sum of z_v^2 over the common ancestors. So within a
block everything happens in a space of as many dimensions as there are classes: scores are
computed once, the block's dual is solved there by pairwise steps, and w is touched once.

One slot per example, holding the number of its class. Nodes above all classes cancel in
differences; whoever makes the batch leaves them out.
(Tsochantaridis, Hofmann, Joachims & Altun 2004, section on taxonomies.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.classes import sparse as multiclass
from maxmargin.classes.sparse import add_to_rows, add_to_shared_rows, emit_rows
from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.core.vectors import add_rows, padded_width

SOLVED = 1e-3  # a block is solved down to this share of its gap ...
STEPS_PER_CLASS = 4  # ... or in so many steps


class TaxonomyBatch(NamedTuple):
    """CSR rows and their classes; w is (features, node_width), padded for SIMD.

    ``width`` is the padded number of classes: dual variables and costs have rows of it.
    Rows of theta: scores of classes, scores of nodes.
    """

    cuts = multiclass.MulticlassBatch.cuts

    start: np.ndarray
    y: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    norms: np.ndarray  # |x_i|^2
    cost: np.ndarray  # (classes, width): cost[true, predicted]
    line_ptr: np.ndarray  # int64: class k has the nodes lines[line_ptr[k] : ...]
    lines: np.ndarray  # int32
    node_weight: np.ndarray  # float64: z
    gram: np.ndarray  # float64 (classes, classes): G
    n_labels: int
    width: int
    node_width: int
    n_features: int
    longest: int
    deepest: int


PartialTaxonomyBatch = with_known(TaxonomyBatch)


def make_batch(
    indptr, indices, values, n_features, y, cost, lines, node_weight, dtype
) -> TaxonomyBatch:
    """Encode rows in CSR form. ``lines[k]`` lists the nodes of class k."""
    node_weight = np.ascontiguousarray(node_weight, np.float64)
    marks = np.zeros((len(cost), len(node_weight)))
    for number, line in enumerate(lines):
        marks[number, line] = node_weight[line]
    sizes = [len(line) for line in lines]
    return TaxonomyBatch(
        **multiclass.row_fields(indptr, indices, values, n_features, dtype),
        **multiclass.class_fields(len(indptr) - 1, y, cost),
        line_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        lines=np.array([v for line in lines for v in line], np.int32),
        node_weight=node_weight,
        gram=marks @ marks.T,
        node_width=padded_width(len(node_weight)),
        deepest=max(sizes),
    )


@implements(contract.shape, TaxonomyBatch)
def shape(batch):
    return 2, max(batch.width, batch.node_width)


@implements(contract.capacity, TaxonomyBatch)
def capacity(batch):
    return batch.longest * batch.deepest


@implements(contract.score, TaxonomyBatch)
def score(batch, i, w, theta):
    rows = w.reshape((batch.n_features, batch.node_width))
    by_node = theta[1, : batch.node_width]
    first, last = batch.indptr[i], batch.indptr[i + 1]
    add_rows(batch.indices, batch.values, first, last, rows, by_node)
    for k in range(batch.n_labels):
        total = 0.0
        for p in range(batch.line_ptr[k], batch.line_ptr[k + 1]):
            v = batch.lines[p]
            total += batch.node_weight[v] * by_node[v]
        theta[0, k] = total


@implements(contract.spread, TaxonomyBatch)
def spread(batch, i, coefficient, mu, w):
    by_node = np.zeros(batch.node_width)
    for k in range(batch.n_labels):
        add_line(batch, k, coefficient * mu[0, k], by_node)
    add_to_rows(batch, i, by_node, w)


# Once classes have scores, the rest is as without a taxonomy.
implements(contract.extent, TaxonomyBatch)(multiclass.extent)
implements(contract.sums, TaxonomyBatch)(multiclass.sums)
implements(contract.parts, TaxonomyBatch)(multiclass.parts)
implements(contract.argmax, TaxonomyBatch)(multiclass.argmax)
implements(contract.argmax_rescaled, TaxonomyBatch)(multiclass.argmax_rescaled)
implements(contract.value, TaxonomyBatch)(multiclass.value)
implements(contract.loss, TaxonomyBatch)(multiclass.loss)
implements(contract.possible, TaxonomyBatch)(multiclass.possible)
implements(contract.clamp, PartialTaxonomyBatch)(multiclass.clamp)


@implements(contract.emit, TaxonomyBatch)
def emit(batch, i, y, coefficient, index, values, m):
    for p in range(batch.line_ptr[y[0]], batch.line_ptr[y[0] + 1]):
        v = batch.lines[p]
        z = coefficient * batch.node_weight[v]
        for j in range(batch.indptr[i], batch.indptr[i + 1]):
            index[m] = batch.indices[j] * batch.node_width + v
            values[m] = z * batch.values[j]
            m += 1
    return m


@implements(contract.difference, TaxonomyBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    # by node first: common ancestors cancel
    by_node = np.zeros(batch.node_width)
    add_line(batch, batch.y[i], rs - ra, by_node)
    add_line(batch, s[0], -rs, by_node)
    add_line(batch, a[0], ra, by_node)
    return emit_rows(batch, i, by_node, batch.node_width, index, values)


@implements(contract.shift, TaxonomyBatch)
def shift(batch, i, step, s, rs, a, ra, theta):
    by_truth = batch.gram[batch.y[i]]
    by_s, by_a = batch.gram[s[0]], batch.gram[a[0]]
    size = step * batch.norms[i]
    for k in range(batch.n_labels):
        change = (rs - ra) * by_truth[k] - rs * by_s[k] + ra * by_a[k]
        theta[0, k] += size * change
    return True


@implements(contract.solve_block, TaxonomyBatch)
def solve_block(batch, i, theta, mass, alpha, w, locks):
    # v_k = theta_k + cost_k: the derivatives of the dual, up to one constant. A step
    # moves mass from class a to class s; s is the most violated, a the partner with
    # which the dual gains most (Fan, Chen & Lin 2005, for other duals).
    n, truth, square = batch.n_labels, batch.y[i], batch.norms[i]
    row, cost = theta[0], batch.cost[truth]
    base = float(row[truth])
    v, new = np.empty(n), np.empty(n)
    others = 0.0
    for k in range(n):
        v[k] = float(row[k]) + float(cost[k]) - base
        new[k] = float(alpha[k])
        if k != truth:
            others += new[k]
    new[truth] = max(mass - others, 0.0)  # so that rounding cannot pile up
    top, gap = block_gap(v, new, mass)
    first, hinge = gap, max(top, 0.0)
    if gap <= 1e-15 * mass * top:
        return max(gap, 0.0), hinge
    if square == 0.0:  # nothing to learn from: the dearest class takes all the mass
        alpha[:n] = 0
        alpha[np.argmax(v)] = mass
        return gap, hinge
    for _ in range(STEPS_PER_CLASS * n):
        s = np.argmax(v)
        a, best, best_step = -1, 0.0, 0.0
        for k in range(n):
            lead = v[s] - v[k]
            if new[k] > 0.0 and lead > 0.0:
                curve = square * (batch.gram[s, s] + batch.gram[k, k])
                curve -= 2.0 * square * batch.gram[s, k]
                step = min(lead / curve, new[k]) if curve > 0.0 else new[k]
                gain = step * (lead - 0.5 * step * curve)
                if gain > best:
                    a, best, best_step = k, gain, step
        if a < 0:
            break
        new[s] += best_step
        new[a] -= best_step
        for k in range(n):
            v[k] += best_step * square * (batch.gram[k, a] - batch.gram[k, s])
        if block_gap(v, new, mass)[1] <= SOLVED * first:
            break
    by_node = np.zeros(batch.node_width, w.dtype)
    for k in range(n):
        rounded = alpha.dtype.type(max(new[k], 0.0))
        if rounded != alpha[k]:
            add_line(batch, k, float(alpha[k]) - float(rounded), by_node)
            alpha[k] = rounded
    add_to_shared_rows(batch, i, by_node, w, locks)
    return first, hinge


@implements(contract.emit_block, TaxonomyBatch)
def emit_block(batch, i, mass, alpha, w):
    truth = batch.y[i]
    by_node = np.zeros(batch.node_width, w.dtype)
    total = 0.0
    for k in range(batch.n_labels):
        if alpha[k] > 0:
            add_line(batch, k, -float(alpha[k]), by_node)
            total += float(alpha[k]) * float(batch.cost[truth, k])
    add_line(batch, truth, mass, by_node)
    add_to_rows(batch, i, by_node, w)
    return total


@inlined
def block_gap(v, alpha, mass):
    """(largest v, gap of the block)."""
    top, mean = -np.inf, 0.0
    for k in range(len(v)):
        top = max(top, v[k])
        mean += alpha[k] * v[k]
    return top, mass * top - mean


@inlined
def add_line(batch, k, coefficient, by_node):
    """by_node += coefficient * Lambda(k), nodes weighted."""
    for p in range(batch.line_ptr[k], batch.line_ptr[k + 1]):
        v = batch.lines[p]
        by_node[v] += coefficient * batch.node_weight[v]
