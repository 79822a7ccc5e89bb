"""What all methods of inference on graphs share: scores of parts, features, losses.

    theta[node_at[v] + s]                   = w_type(v)[:, s] . x_v
    theta[table_at[p] + a * states + b]     = w_type(p)[:, cells[a, b]] . x_p

:func:`of_graphs` has what speaks of parts; :func:`of_labellings` adds what speaks of
outputs that give every node one state. ``batch.graphs`` are the graphs (``batch.py``).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.graphs.field import Field


def of_graphs(batch_class: type) -> type:
    """Class decorator: scores of parts and what they are made of."""
    for function, body in (
        (contract.shape, shape),
        (contract.extent, extent),
        (contract.score, score),
        (contract.spread, spread),
        (contract.least_loss, least_loss),
    ):
        implements(function, batch_class)(body)
    return batch_class


def of_labellings(batch_class: type) -> type:
    """Class decorator: the same, for outputs that are states of nodes."""
    of_graphs(batch_class)
    for function, body in (
        (contract.value, value),
        (contract.score_planes, score_planes),
        (contract.margin, margin),
        (contract.possible, possible),
        (contract.loss, loss),
        (contract.parts, parts),
        (contract.capacity, capacity),
        (contract.emit, emit),
        (contract.difference, difference),
    ):
        implements(function, batch_class)(body)
    return batch_class


@inlined
def field_of(batch, i):
    """The Field of example i."""
    g = batch.graphs
    a, b = g.node_start[i] + i, g.node_start[i + 1] + i + 1
    e, f = g.edge_start[i], g.edge_start[i + 1]
    return Field(
        g.node_at[a:b],
        g.ends[e:f],
        g.edge_at[e:f],
        g.arc_start[a:b],
        g.arcs[2 * e : 2 * f],
    )


def shape(batch):
    return 1, batch.graphs.most_parts


def least_loss(batch):
    return batch.graphs.least


def extent(batch, i):
    g = batch.graphs
    last = g.table_start[i + 1] - 1
    if last < g.table_start[i]:
        return g.node_at[g.node_start[i + 1] + i]
    s = g.table_type[last]
    return g.table_at[last] + g.blocks.cell_at[s + 1] - g.blocks.cell_at[s]


def score(batch, i, w, theta):
    g = batch.graphs
    for v in range(g.node_start[i], g.node_start[i + 1]):
        score_node(g, i, v, w, theta[0])
    for p in range(g.table_start[i], g.table_start[i + 1]):
        score_table(g, p, w, theta[0])


@inlined
def score_node(g, i, v, w, out):
    t, at, row = g.node_type[v], g.node_at[v + i], g.node_row[v]
    k, base = g.blocks.states[t], g.blocks.node_w[t]
    for s in range(k):
        out[at + s] = 0
    for j in range(g.nodes.indptr[row], g.nodes.indptr[row + 1]):
        x, place = g.nodes.values[j], base + g.nodes.indices[j] * k
        for s in range(k):
            out[at + s] += x * w[place + s]


@inlined
def score_table(g, p, w, out):
    b = g.blocks
    t, at, row = g.table_type[p], g.table_at[p], g.table_row[p]
    first, rows = b.cell_at[t], b.rows[t]
    size = b.cell_at[t + 1] - first
    for c in range(size):
        out[at + c] = 0
    for j in range(g.edges.indptr[row], g.edges.indptr[row + 1]):
        x, place = g.edges.values[j], b.edge_w[t] + g.edges.indices[j] * rows
        for c in range(size):
            r = b.cells[first + c]
            if r >= 0:
                out[at + c] += x * w[place + r]


def spread(batch, i, coefficient, mu, w):
    g = batch.graphs
    b, nodes, edges, given = g.blocks, g.nodes, g.edges, mu[0]
    for v in range(g.node_start[i], g.node_start[i + 1]):
        t, at, row = g.node_type[v], g.node_at[v + i], g.node_row[v]
        k, base = b.states[t], b.node_w[t]
        for j in range(nodes.indptr[row], nodes.indptr[row + 1]):
            x, place = coefficient * nodes.values[j], base + nodes.indices[j] * k
            for s in range(k):
                w[place + s] += x * given[at + s]
    for p in range(g.table_start[i], g.table_start[i + 1]):
        t, at, row = g.table_type[p], g.table_at[p], g.table_row[p]
        first, rows = b.cell_at[t], b.rows[t]
        size = b.cell_at[t + 1] - first
        for j in range(edges.indptr[row], edges.indptr[row + 1]):
            x, place = (
                coefficient * edges.values[j],
                b.edge_w[t] + edges.indices[j] * rows,
            )
            for c in range(size):
                r = b.cells[first + c]
                if r >= 0:
                    w[place + r] += x * given[at + c]


# search with losses ----------------------------------------------------------------------


@inlined
def add_losses(batch, i, scale, truth, theta):
    """Scores of nodes <- with scale * loss; returns what they were before."""
    g = batch.graphs
    at, first = g.node_at, g.node_start[i]
    n = g.node_start[i + 1] - first
    before = np.empty(at[g.node_start[i + 1] + i], theta.dtype)
    for j in range(len(before)):
        before[j] = theta[0, j]
    for v in range(n):
        t = g.node_type[first + v]
        k, c = g.blocks.states[t], scale * g.size[first + v]
        row = g.blocks.cost_at[t] + truth[v] * k
        place = at[first + i + v]
        for s in range(k):
            theta[0, place + s] += c * g.blocks.cost[row + s]
    return before


@inlined
def put_back(before, theta):
    for j in range(len(before)):
        theta[0, j] = before[j]


# labellings ------------------------------------------------------------------------------


def clamp(batch, i, theta):
    """``contract.clamp`` of partial twins: states of known nodes that are not theirs."""
    g = batch.graphs
    first = batch.start[i]
    for v in range(batch.start[i + 1] - first):
        if batch.known[first + v]:
            at = g.node_at[g.node_start[i] + i + v]
            for s in range(g.node_at[g.node_start[i] + i + v + 1] - at):
                if s != batch.y[first + v]:
                    theta[0, at + s] = -np.inf
    return 0.0


def score_planes(batch, i, w, labellings, count, theta):
    # only nodes on which the planes disagree, and their edges, matter to differences
    g = batch.graphs
    first = g.node_start[i]
    n = g.node_start[i + 1] - first
    differs = np.zeros(n, np.bool_)
    for v in range(n):
        for p in range(1, count):
            differs[v] |= labellings[p * n + v] != labellings[v]
        if differs[v]:
            score_node(g, i, first + v, w, theta[0])
        else:
            for k in range(g.node_at[first + i + v], g.node_at[first + i + v + 1]):
                theta[0, k] = 0
    for p in range(g.table_start[i], g.table_start[i + 1]):
        used = False
        for e in range(g.table_edges[p], g.table_edges[p + 1]):
            if differs[g.ends[e, 0]] or differs[g.ends[e, 1]]:
                used = True
                break
        if used:
            score_table(g, p, w, theta[0])
        else:
            clear_table(g, p, theta[0])


@inlined
def clear_table(g, p, out):
    t = g.table_type[p]
    for c in range(g.blocks.cell_at[t + 1] - g.blocks.cell_at[t]):
        out[g.table_at[p] + c] = 0


def value(batch, i, theta, y):
    g = batch.graphs
    first, total = g.node_start[i] + i, 0.0
    for v in range(g.node_start[i + 1] - g.node_start[i]):
        total += theta[0, g.node_at[first + v] + y[v]]
    for e in range(g.edge_start[i], g.edge_start[i + 1]):
        total += theta[0, g.edge_at[e] + cell_of(g, first, e, y)]
    return total


@inlined
def cell_of(g, first, e, y):
    """The pair of states at an edge, as a place in its table."""
    u, v = g.ends[e, 0], g.ends[e, 1]
    return y[u] * (g.node_at[first + v + 1] - g.node_at[first + v]) + y[v]


def margin(batch, i, theta, y):
    # near the optimum most states agree: visit only the parts that differ
    g = batch.graphs
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    first, total = g.node_start[i] + i, 0.0
    for v in range(len(truth)):
        if y[v] != truth[v]:
            at = g.node_at[first + v]
            total += float(theta[0, at + truth[v]]) - float(theta[0, at + y[v]])
    for e in range(g.edge_start[i], g.edge_start[i + 1]):
        u, v = g.ends[e, 0], g.ends[e, 1]
        if y[u] != truth[u] or y[v] != truth[v]:
            at = g.edge_at[e]
            total += float(theta[0, at + cell_of(g, first, e, truth)])
            total -= float(theta[0, at + cell_of(g, first, e, y)])
    return total


def possible(batch, i, y):
    """A state of every node."""
    first = batch.graphs.node_start[i] + i
    at = batch.graphs.node_at
    for v in range(batch.start[i + 1] - batch.start[i]):
        if not 0 <= y[v] < at[first + v + 1] - at[first + v]:
            return False
    return True


def loss(batch, i, y):
    g = batch.graphs
    first, total = g.node_start[i], 0.0
    for v in range(g.node_start[i + 1] - first):
        truth = batch.y[batch.start[i] + v]
        if truth != y[v]:
            t = g.node_type[first + v]
            place = g.blocks.cost_at[t] + truth * g.blocks.states[t] + y[v]
            total += g.size[first + v] * g.blocks.cost[place]
    return total


def parts(batch, i, y, coefficient, mu):
    g = batch.graphs
    first = g.node_start[i] + i
    for v in range(g.node_start[i + 1] - g.node_start[i]):
        mu[0, g.node_at[first + v] + y[v]] += coefficient
    for e in range(g.edge_start[i], g.edge_start[i + 1]):
        mu[0, g.edge_at[e] + cell_of(g, first, e, y)] += coefficient


def capacity(batch):
    return batch.graphs.most_entries


def emit(batch, i, y, coefficient, index, values, m):
    g = batch.graphs
    first = g.node_start[i]
    for v in range(g.node_start[i + 1] - first):
        m = put_node(g, first + v, y[v], coefficient, index, values, m)
    for p in range(g.table_start[i], g.table_start[i + 1]):
        count = no_counts(g, p)
        count_rows(g, i, p, y, coefficient, count)
        m = put_rows(g, p, count, index, values, m)
    return m


def difference(batch, i, s, rs, a, ra, index, values):
    # leave out nodes and tables on which s, a and the truth cancel; edges of a table are
    # counted before they are written
    g = batch.graphs
    first, m = g.node_start[i], 0
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    for v in range(len(truth)):
        if s[v] == a[v] and (rs == ra or s[v] == truth[v]):
            continue
        m = put_node(g, first + v, truth[v], rs - ra, index, values, m)
        m = put_node(g, first + v, s[v], -rs, index, values, m)
        m = put_node(g, first + v, a[v], ra, index, values, m)
    for p in range(g.table_start[i], g.table_start[i + 1]):
        if not differs(g, p, s, a, truth, rs == ra):
            continue
        count = no_counts(g, p)
        count_rows(g, i, p, truth, rs - ra, count)
        count_rows(g, i, p, s, -rs, count)
        count_rows(g, i, p, a, ra, count)
        m = put_rows(g, p, count, index, values, m)
    return m


@inlined
def differs(g, p, s, a, truth, even):
    """Whether s and a differ on an edge of a table, or (if not ``even``) from the truth."""
    for e in range(g.table_edges[p], g.table_edges[p + 1]):
        u, v = g.ends[e, 0], g.ends[e, 1]
        if s[u] != a[u] or s[v] != a[v]:
            return True
        if not even and (s[u] != truth[u] or s[v] != truth[v]):
            return True
    return False


@inlined
def put_node(g, v, state, coefficient, index, values, m):
    if coefficient == 0.0:
        return m
    t, row = g.node_type[v], g.node_row[v]
    base, k = g.blocks.node_w[t] + state, g.blocks.states[t]
    for j in range(g.nodes.indptr[row], g.nodes.indptr[row + 1]):
        index[m] = base + g.nodes.indices[j] * k
        values[m] = coefficient * g.nodes.values[j]
        m += 1
    return m


@inlined
def no_counts(g, p):
    return np.zeros(g.blocks.rows[g.table_type[p]])


@inlined
def count_rows(g, i, p, y, coefficient, count):
    """count += coefficient at the rows of weights that y uses on the edges of a table."""
    if coefficient != 0.0:
        first, cells = g.node_start[i] + i, g.blocks.cell_at[g.table_type[p]]
        for e in range(g.table_edges[p], g.table_edges[p + 1]):
            r = g.blocks.cells[cells + cell_of(g, first, e, y)]
            if r >= 0:
                count[r] += coefficient


@inlined
def put_rows(g, p, count, index, values, m):
    t, row = g.table_type[p], g.table_row[p]
    rows = len(count)
    for r in range(rows):
        c = count[r]
        if c != 0.0:
            for j in range(g.edges.indptr[row], g.edges.indptr[row + 1]):
                index[m] = g.blocks.edge_w[t] + g.edges.indices[j] * rows + r
                values[m] = c * g.edges.values[j]
                m += 1
    return m
