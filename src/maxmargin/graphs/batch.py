"""Graphs in flat arrays, as the kernels of all methods of inference read them.

Nodes of an example are numbered type by type. Its edges are sorted by type and features:
edges with equal features have equal scores, so they share a *table*, and a grid without
features of edges has one for all its edges. In theta, the scores of the nodes come first,
then the tables (``field.py``).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.cutting import cut_by
from maxmargin.core.tables.arrays import LARGEST, from_dense, from_sparse, runs
from maxmargin.graphs.field import Field, offsets
from maxmargin.graphs.input import GraphInput
from maxmargin.graphs.schema import Blocks, Schema, node_tables


class Graphs(NamedTuple):
    """Examples one after the other. Offsets into theta, nodes and edges are their own.

    ``node_at`` and ``arc_start`` have one number more than nodes: those of example i begin
    at node_start[i] + i.
    """

    cuts = cut_by(
        node_start="example",
        edge_start="example",
        table_start="example",
        node_type="node_start",
        node_row="node_start",
        size="node_start",
        node_at="node_start + 1",
        arc_start="node_start + 1",
        arcs="edge_start * 2",
        ends="table_edges",
        edge_at="table_edges",
        table_type="table_start",
        table_row="table_start",
        table_at="table_start",
        table_edges="table_start",
    )

    node_start: np.ndarray  # int64[n + 1]
    edge_start: np.ndarray  # int64[n + 1]
    table_start: np.ndarray  # int64[n + 1]
    node_type: np.ndarray  # int32[nodes]
    node_row: np.ndarray  # int64[nodes]: its row of features
    size: np.ndarray  # float64[nodes]: what a loss there is multiplied with
    node_at: np.ndarray  # the Field of every example, field.py
    arc_start: np.ndarray
    arcs: np.ndarray
    ends: np.ndarray
    edge_at: np.ndarray
    table_type: np.ndarray  # int32[tables]: type of its edges
    table_row: np.ndarray  # int64[tables]: their row of features
    table_at: np.ndarray  # int64[tables]: place in theta
    table_edges: np.ndarray  # int64[tables + 1]: its edges, counted over all examples
    nodes: Rows  # features
    edges: Rows
    blocks: Blocks
    most_parts: int  # numbers of theta of one example, at most
    most_entries: int  # features of one labelling, at most
    least: float  # the smallest loss that is not zero

    def compact(self) -> Graphs:
        """With the rows of features of its own nodes and edges alone."""
        nodes, node_row = used_rows(self.nodes, self.node_row)
        edges, table_row = used_rows(self.edges, self.table_row)
        return self._replace(
            nodes=nodes, node_row=node_row, edges=edges, table_row=table_row
        )


def make_graphs(
    schema: Schema, inputs: list[GraphInput], costs: list[np.ndarray], nodes: Rows
) -> tuple[Graphs, np.ndarray]:
    """(the graphs in flat arrays, where their edges were in the input).

    ``nodes`` has the features of all nodes, type by type and graph by graph in each.
    """
    blocks = schema.blocks(costs)
    counts = np.array(
        [[g.counts.get(name, 0) for name in schema.node_types] for g in inputs],
        np.int64,
    ).reshape(len(inputs), len(schema.node_types))
    node_start = offsets(counts.sum(1))
    n_nodes = int(node_start[-1])
    node_type = np.repeat(
        np.tile(np.arange(counts.shape[1], dtype=np.int32), len(inputs)), counts.ravel()
    )
    # rows stand type by type, nodes graph by graph
    node_row = np.empty(n_nodes, np.int64)
    node_row[np.argsort(node_type, kind="stable")] = np.arange(n_nodes)
    states = blocks.states[node_type]
    node_at = _within(states, node_start)
    graph = np.repeat(np.arange(len(inputs)), np.diff(node_start))
    size = _sizes(schema, inputs, n_nodes)

    first = np.cumsum(counts, axis=1) - counts  # of the nodes of a type in their graph
    kinds, pairs, patterns, owner, given, edges = _edges(schema, inputs, first)
    order = np.lexsort((patterns, kinds, owner))
    kinds, pairs, patterns, owner = (a[order] for a in (kinds, pairs, patterns, owner))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(owner) > 0) | (np.diff(kinds) > 0) | (np.diff(patterns) > 0)
    heads = np.flatnonzero(new)
    table_type = kinds[heads].astype(np.int32)
    table_owner = owner[heads]
    cells = np.diff(blocks.cell_at)[table_type]
    table_start = offsets(np.bincount(table_owner, minlength=len(inputs)))
    ends_of_nodes = node_at[node_start[1:] + np.arange(len(inputs))]
    before = np.cumsum(cells) - cells
    begun = np.append(before, before[-1:] + cells[-1:])
    begun = begun if len(begun) else np.zeros(1, np.int64)
    table_at = (
        before - begun[table_start[:-1]][table_owner] + ends_of_nodes[table_owner]
    )
    edge_start = offsets(np.bincount(owner, minlength=len(inputs)))
    arc_start, arcs = _arcs(pairs, owner, node_start, edge_start)
    parts = ends_of_nodes + begun[table_start[1:]] - begun[table_start[:-1]]
    table_edges = np.append(heads, len(order)).astype(np.int64)
    table_row = patterns[heads]
    # entries of a labelling: rows of the nodes; of every table, for as many rows of
    # weights as its edges can have
    used = np.minimum(np.diff(table_edges), blocks.rows[table_type])
    entries = np.bincount(
        graph, np.diff(nodes.indptr)[node_row], len(inputs)
    ) + np.bincount(table_owner, used * np.diff(edges.indptr)[table_row], len(inputs))
    return Graphs(
        node_start=node_start,
        edge_start=edge_start,
        table_start=table_start,
        node_type=node_type,
        node_row=node_row,
        size=size,
        node_at=node_at,
        arc_start=arc_start,
        arcs=arcs,
        ends=np.ascontiguousarray(pairs, np.int32),
        edge_at=table_at[np.cumsum(new) - 1] if len(order) else np.zeros(0, np.int64),
        table_type=table_type,
        table_row=table_row,
        table_at=table_at,
        table_edges=table_edges,
        nodes=nodes,
        edges=edges,
        blocks=blocks,
        most_parts=int(parts.max(initial=1)),
        most_entries=int(entries.max(initial=0)),
        least=_least_loss(blocks, size),
    ), given[order]


def fields_of(graphs: Graphs) -> list[Field]:
    """The Field of every example, in Python."""
    nodes, edges = graphs.node_start.tolist(), graphs.edge_start.tolist()
    return [
        Field(
            graphs.node_at[a + i : b + i + 1],
            graphs.ends[e:f],
            graphs.edge_at[e:f],
            graphs.arc_start[a + i : b + i + 1],
            graphs.arcs[2 * e : 2 * f],
        )
        for i, ((a, b), (e, f)) in enumerate(
            zip(pairwise(nodes), pairwise(edges), strict=True)
        )
    ]


def node_rows(schema: Schema, inputs: list[GraphInput]) -> Rows:
    """Features of all nodes, type by type, with the constant."""
    tables = node_tables(schema, inputs)
    return stacked(tables, schema.node_widths, schema.constant, "node")


def _edges(schema, inputs, first):
    """(types, pairs, rows of features, graphs, places in the input) of all edges, Rows."""
    places, kinds, pairs, owner, given = [], [], [], [], []
    for s, key in enumerate(schema.edge_types):
        u, v = schema.ends(s)
        here = []
        for i, g in enumerate(inputs):
            ends, table = g.edges.get(key, (np.zeros((0, 2), np.int64), None))
            if not len(ends):
                continue
            here.append((np.ones((len(ends), 1)) if table is None else table, i, key))
            pairs.append(ends + first[i, [u, v]])
            kinds.append(np.full(len(ends), s))
            owner.append(np.full(len(ends), i))
            given.append(np.arange(len(ends)))
        places.append(here)
    rows = stacked(places, schema.edge_widths, 0, "edge")
    if schema.edges == "associative":
        _check_signs(rows, places)
    rows, patterns = distinct_rows(rows, max(schema.edge_widths, default=1))
    flat = [
        np.concatenate([np.zeros(0, np.int64), *part]) for part in (kinds, owner, given)
    ]
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
    return flat[0], pairs, patterns, flat[1], flat[2], rows


def _check_signs(rows: Rows, places) -> None:
    bad = np.flatnonzero(rows.values < 0)
    if len(bad):
        row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        for table, i, _ in (place for some in places for place in some):
            if row < table.shape[0]:
                raise ValueError(
                    f"X[{i}]: edge {row} has a feature of {rows.values[bad[0]]:g}, but "
                    "with edges='associative' features of edges must be 0 or more, so that "
                    "equal labels are never punished: shift them, or choose other edges."
                )
            row -= table.shape[0]


def _sizes(schema, inputs, n_nodes) -> np.ndarray:
    parts = [
        g.sizes.get(name, np.ones(g.counts.get(name, 0)))
        for g in inputs
        for name in schema.node_types
    ]
    sizes = np.concatenate([np.zeros(0), *parts])
    assert len(sizes) == n_nodes
    return sizes


def _least_loss(blocks: Blocks, size) -> float:
    costs, sizes = blocks.cost[blocks.cost > 0], size[size > 0]
    return float(costs.min(initial=np.inf) * sizes.min(initial=np.inf))


def _within(lengths, start) -> np.ndarray:
    """Offsets of runs, counted anew in every example: one more than runs in each."""
    total = offsets(lengths)
    examples = len(start) - 1
    owner = np.repeat(np.arange(examples), np.diff(start) + 1)
    place = np.arange(len(owner)) - owner
    return total[place] - total[start[:-1]][owner]


def _arcs(pairs, owner, node_start, edge_start):
    """(arc_start, arcs) of all examples: ``field.py``."""
    flat = (pairs + node_start[owner][:, None]).ravel()
    degrees = np.bincount(flat, minlength=int(node_start[-1]))
    order = np.argsort(flat, kind="stable")
    return _within(degrees, node_start), order - 2 * edge_start[owner[order // 2]]


# features as rows of one sparse table -------------------------------------------------


WIDEST = 64  # rows of more columns are not compared with each other


class Rows(NamedTuple):
    """CSR; equal indices of different types of nodes mean different features."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32
    values: np.ndarray  # float64


def stacked(places: list[list[tuple]], widths, constant: int, what: str) -> Rows:
    """The rows of tables (table, number of the graph, type), type by type."""
    parts = []
    for some, width in zip(places, widths, strict=True):
        tables = [table for table, _, _ in some]
        sparse = [issparse(table) for table in tables]
        if any(sparse) and not all(sparse):
            tables = [t.toarray() if issparse(t) else t for t in tables]
        convert = from_sparse if all(sparse) and sparse else from_dense
        rows = Rows(*convert(tables, width - constant, np.dtype(np.float64)))
        _check(rows, some, what)
        parts.append(with_ones(rows, width - 1) if constant else rows)
    return joined(parts)


def joined(parts: list[Rows]) -> Rows:
    """One after the other."""
    shift = np.cumsum([0, *(len(p.indices) for p in parts)])
    none = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    return Rows(
        np.concatenate(
            [
                none.indptr,
                *(p.indptr[1:] + s for p, s in zip(parts, shift, strict=False)),
            ]
        ),
        np.concatenate([none.indices, *(p.indices for p in parts)]),
        np.concatenate([none.values, *(p.values for p in parts)]),
    )


def with_ones(rows: Rows, column: int) -> Rows:
    """With a last column of ones."""
    indptr, indices, values = rows
    return Rows(
        np.arange(len(indptr)) + indptr,
        np.insert(indices, indptr[1:], column).astype(np.int32),
        np.insert(values, indptr[1:], 1.0),
    )


def _check(rows: Rows, places, what: str) -> None:
    bad = np.flatnonzero(~(np.abs(rows.values) < LARGEST))
    if not len(bad):
        return
    value, column = rows.values[bad[0]], rows.indices[bad[0]]
    row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
    firsts = np.cumsum([0, *(table.shape[0] for table, _, _ in places)])
    place = int(np.searchsorted(firsts, row, side="right")) - 1
    row -= int(firsts[place])
    _, i, kind = places[place]
    of = f" of type {kind!r}" if kind and kind != ("", "", "") else ""
    remedy = (
        "scale the features to a moderate range"
        if np.isfinite(value)
        else "replace or leave out missing (NaN) and infinite values"
    )
    raise ValueError(
        f"X[{i}], {what} {row}{of}: the value of feature {column} is {value:g}: {remedy}."
    )


def distinct_rows(rows: Rows, width: int) -> tuple[Rows, np.ndarray]:
    """(different rows, the number of every row among them)."""
    n = len(rows.indptr) - 1
    if width > WIDEST or n == 0:
        return rows, np.arange(n)
    table = np.zeros((n, width))
    table[np.repeat(np.arange(n), np.diff(rows.indptr)), rows.indices] = rows.values
    _, first, number = _unique(table)
    return _chosen(rows, first), number


def used_rows(rows: Rows, numbers: np.ndarray) -> tuple[Rows, np.ndarray]:
    """(the rows of these numbers, the numbers among them)."""
    kept, numbers = np.unique(numbers, return_inverse=True)
    return _chosen(rows, kept), numbers


def _chosen(rows: Rows, which: np.ndarray) -> Rows:
    sizes = np.diff(rows.indptr)[which]
    indptr = offsets(sizes)
    entries = runs(rows.indptr[which], sizes)
    return Rows(indptr, rows.indices[entries], rows.values[entries])


def _unique(table: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """np.unique over rows; by bytes, which is quicker than by columns."""
    if table.shape[1] == 0:
        return table[:1], np.zeros(1, np.int64), np.zeros(len(table), np.int64)
    flat = np.ascontiguousarray(table + 0.0)  # no negative zeros
    flat = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1])))
    found, first, number = np.unique(
        flat.ravel(), return_index=True, return_inverse=True
    )
    return found, first, number.ravel()
