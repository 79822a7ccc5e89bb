"""Outputs that are points of the local polytope: shares of states, not states.

The slots of an example are mu in units of 1 / UNIT (``inference/fractional.py``): the
states of its nodes, then a full table for every edge. Scores, losses and features are
linear in mu, and the truth is a corner, so that such points are planes like any other:
training is that of the relaxed problem, and its certificate bounds the optimum of that.
(Finley & Joachims 2008: over-generating search; Kulesza & Pereira 2007.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.fractional import UNIT, integral
from maxmargin.graphs.inference.rounding import good_labelling
from maxmargin.graphs.parts import (
    clear_table,
    field_of,
    no_counts,
    of_graphs,
    put_node,
    put_rows,
    score_node,
    score_table,
)

ONE = float(UNIT)


class GraphPoints(NamedTuple):
    """Graphs and the search for points, whose type chooses what is compiled."""

    cuts = cut_by(
        start="example",
        y="start",
        graphs="example",
        slot_at="graphs.edge_start",
        short="example",
        search="example",
    )

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    slot_at: (
        np.ndarray
    )  # where the table of every edge begins in the slots of its example
    most_entries: int
    short: np.ndarray  # contract.shortfall, by example
    search: Any


PartialGraphPoints = with_known(GraphPoints)
of_graphs(GraphPoints)


def with_points(graphs: Graphs, states, search) -> GraphPoints:
    """These graphs with the corners of these states as truths."""
    n = len(graphs.node_start) - 1
    owner = np.repeat(np.arange(n), np.diff(graphs.edge_start))
    tables = np.repeat(graphs.table_type, np.diff(graphs.table_edges))
    cells = np.diff(graphs.blocks.cell_at)[tables]
    nodes = graphs.node_at[graphs.node_start[1:] + np.arange(n)]
    start = np.concatenate([[0], np.cumsum(nodes + np.bincount(owner, cells, n))])
    start = start.astype(np.int64)
    before = np.cumsum(cells) - cells
    first = np.append(before, 0)[np.minimum(graphs.edge_start[:-1], len(before))]
    slot_at = before - first[owner] + nodes[owner]
    y = corners(graphs, start, slot_at, states)
    entries = _most_entries(graphs)
    return GraphPoints(start, y, graphs, slot_at, entries, np.zeros(n), search)


def corners(graphs: Graphs, start, slot_at, states) -> np.ndarray:
    """Labellings of all examples as points."""
    mu = np.zeros(start[-1], np.int32)
    n = len(start) - 1
    graph = np.repeat(np.arange(n), np.diff(graphs.node_start))
    nodes = np.arange(len(graph)) + graph
    mu[start[graph] + graphs.node_at[nodes] + states] = UNIT
    owner = np.repeat(np.arange(n), np.diff(graphs.edge_start))
    ends = graphs.ends + graphs.node_start[owner][:, None]
    columns = graphs.blocks.states[graphs.node_type[ends[:, 1]]]
    cells = states[ends[:, 0]] * columns + states[ends[:, 1]]
    mu[start[owner] + slot_at + cells] = UNIT
    return mu


def _most_entries(graphs: Graphs) -> int:
    """Features of one point, at most: all states of nodes, all rows of tables."""
    n = len(graphs.node_start) - 1
    states = graphs.blocks.states[graphs.node_type]
    nodes = states * np.diff(graphs.nodes.indptr)[graphs.node_row]
    tables = graphs.blocks.rows[graphs.table_type]
    tables = tables * np.diff(graphs.edges.indptr)[graphs.table_row]
    graph = np.repeat(np.arange(n), np.diff(graphs.node_start))
    owner = np.repeat(np.arange(n), np.diff(graphs.table_start))
    entries = np.bincount(graph, nodes, n) + np.bincount(owner, tables, n)
    return int(entries.max(initial=0))


@inlined
def states_at(batch, i, states):
    """states <- those of the truth of example i, which is a corner."""
    g = batch.graphs
    first = g.node_start[i] + i
    for v in range(len(states)):
        at = g.node_at[first + v]
        for s in range(g.node_at[first + v + 1] - at):
            if batch.y[batch.start[i] + at + s] == UNIT:
                states[v] = s


@implements(contract.shortfall, GraphPoints)
def shortfall(batch, i):
    return batch.short[i]


@implements(contract.capacity, GraphPoints)
def capacity(batch):
    return batch.most_entries


@implements(contract.score_planes, GraphPoints)
def score_planes(batch, i, w, labellings, count, theta):
    # only parts on which the planes disagree matter to differences
    g = batch.graphs
    size = batch.start[i + 1] - batch.start[i]
    for v in range(g.node_start[i], g.node_start[i + 1]):
        at = g.node_at[v + i]
        if disagree(labellings, count, size, at, g.node_at[v + i + 1] - at):
            score_node(g, i, v, w, theta[0])
        else:
            for k in range(at, g.node_at[v + i + 1]):
                theta[0, k] = 0
    for p in range(g.table_start[i], g.table_start[i + 1]):
        used = False
        for e in range(g.table_edges[p], g.table_edges[p + 1]):
            if disagree(labellings, count, size, batch.slot_at[e], cells_of(g, p)):
                used = True
                break
        if used:
            score_table(g, p, w, theta[0])
        else:
            clear_table(g, p, theta[0])


@inlined
def disagree(labellings, count, size, first, length):
    """Whether some labelling differs from the first one in these slots."""
    for p in range(1, count):
        for k in range(first, first + length):
            if labellings[p * size + k] != labellings[k]:
                return True
    return False


@implements(contract.value, GraphPoints)
def value(batch, i, theta, y):
    g = batch.graphs
    total = 0.0
    for k in range(g.node_at[g.node_start[i + 1] + i]):
        if y[k] != 0:
            total += y[k] * float(theta[0, k])
    for p in range(g.table_start[i], g.table_start[i + 1]):
        size = cells_of(g, p)
        at = g.table_at[p]
        for e in range(g.table_edges[p], g.table_edges[p + 1]):
            slot = batch.slot_at[e]
            for c in range(size):
                if y[slot + c] != 0:
                    total += y[slot + c] * float(theta[0, at + c])
    return total / ONE


@inlined
def cells_of(g, p):
    t = g.table_type[p]
    return g.blocks.cell_at[t + 1] - g.blocks.cell_at[t]


@implements(contract.possible, GraphPoints)
def possible(batch, i, y):
    """Shares, those of a node or of an edge adding up to one."""
    g, size = batch.graphs, batch.start[i + 1] - batch.start[i]
    first = g.node_start[i] + i
    for k in range(size):
        if not 0 <= y[k] <= UNIT:
            return False
    for v in range(g.node_start[i + 1] - g.node_start[i]):
        total = 0
        for k in range(g.node_at[first + v], g.node_at[first + v + 1]):
            total += y[k]
        if total != UNIT:
            return False
    for e in range(g.edge_start[i], g.edge_start[i + 1]):
        last = e + 1 == g.edge_start[i + 1]
        total = 0
        for k in range(batch.slot_at[e], size if last else batch.slot_at[e + 1]):
            total += y[k]
        if total != UNIT:
            return False
    return True


@implements(contract.loss, GraphPoints)
def loss(batch, i, y):
    g = batch.graphs
    first, total = g.node_start[i], 0.0
    states = np.zeros(g.node_start[i + 1] - first, np.int32)
    states_at(batch, i, states)
    for v in range(len(states)):
        t = g.node_type[first + v]
        k, at = g.blocks.states[t], g.node_at[first + i + v]
        row = g.blocks.cost_at[t] + states[v] * k
        for s in range(k):
            if s != states[v] and y[at + s] != 0:
                total += g.size[first + v] * g.blocks.cost[row + s] * y[at + s]
    return total / ONE


@implements(contract.emit, GraphPoints)
def emit(batch, i, y, coefficient, index, values, m):
    return put_points(batch, i, y, coefficient, y, 0.0, y, 0.0, index, values, m)


@implements(contract.difference, GraphPoints)
def difference(batch, i, s, rs, a, ra, index, values):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    return put_points(batch, i, truth, rs - ra, s, -rs, a, ra, index, values, 0)


@inlined
def put_points(batch, i, x, cx, y, cy, z, cz, index, values, m):
    """Append the features of cx x + cy y + cz z."""
    g = batch.graphs
    first = g.node_start[i]
    cx, cy, cz = cx / ONE, cy / ONE, cz / ONE
    for v in range(first, g.node_start[i + 1]):
        at = g.node_at[v + i]
        for s in range(g.node_at[v + i + 1] - at):
            c = cx * x[at + s] + cy * y[at + s] + cz * z[at + s]
            m = put_node(g, v, s, c, index, values, m)
    for p in range(g.table_start[i], g.table_start[i + 1]):
        count = no_counts(g, p)
        cells, size = g.blocks.cell_at[g.table_type[p]], cells_of(g, p)
        for e in range(g.table_edges[p], g.table_edges[p + 1]):
            at = batch.slot_at[e]
            for k in range(size):
                r = g.blocks.cells[cells + k]
                if r >= 0:
                    count[r] += cx * x[at + k] + cy * y[at + k] + cz * z[at + k]
        m = put_rows(g, p, count, index, values, m)
    return m


# labels that are not known ---------------------------------------------------------------


def known_slots(batch, known) -> np.ndarray:
    """Which slots belong to nodes whose labels are known, or to edges between such."""
    g = batch.graphs
    n = len(batch.start) - 1
    out = np.zeros(int(batch.start[-1]), bool)
    graph = np.repeat(np.arange(n), np.diff(g.node_start))
    nodes = np.arange(len(graph)) + graph
    _fill(
        out,
        batch.start[graph] + g.node_at[nodes],
        g.node_at[nodes + 1] - g.node_at[nodes],
        known,
    )
    owner = np.repeat(np.arange(n), np.diff(g.edge_start))
    ends = g.ends + g.node_start[owner][:, None]
    types = np.repeat(g.table_type, np.diff(g.table_edges))
    cells = np.diff(g.blocks.cell_at)[types]
    _fill(out, batch.start[owner] + batch.slot_at, cells, known[ends].all(axis=1))
    return out


def _fill(out, first, sizes, values) -> None:
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    out[np.repeat(first, sizes) + within] = np.repeat(values, sizes)


@implements(contract.complete, PartialGraphPoints)
def complete(batch, i, theta, y):
    """``contract.complete`` of partial twins: a good labelling that agrees, as a corner."""
    g = batch.graphs
    states = np.zeros(g.node_start[i + 1] - g.node_start[i], np.int32)
    for k in range(g.node_at[g.node_start[i + 1] + i]):
        slot = batch.start[i] + k
        if batch.known[slot] and batch.y[slot] == 0:
            theta[0, k] = -np.inf
    field = field_of(batch, i)
    good_labelling(field, theta[0], states)
    integral(field, states, y[: batch.start[i + 1] - batch.start[i]])
