"""What all graphs of a model have in common: types of nodes and edges, and their weights.

The weights w are one block per type of nodes, then one per type of edges:

    nodes    w[at + feature * states + state]
    edges    w[at + feature * rows + row]        row = cells[state u, state v], or none (-1)

``cells`` says which pairs of states share weights:

    directed       every pair of states has its own row
    symmetric      (a, b) and (b, a) share one; only where both nodes are of one type
    associative    pairs of equal labels share one row, the others have none: Potts. With
                   weights and features that are not negative, binary fields are submodular
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.saved import Saved, distinct
from maxmargin.core.tables.arrays import MAX_FEATURES
from maxmargin.graphs.input import PLAIN, EdgeKey, GraphInput


class Blocks(NamedTuple):
    """The same for kernels."""

    states: np.ndarray  # int64[node types]
    node_w: np.ndarray  # int64[node types]: where the weights begin
    edge_w: np.ndarray  # int64[edge types]
    rows: np.ndarray  # int64[edge types]
    cell_at: np.ndarray  # int64[edge types + 1]: where its cells begin, row-major
    cells: np.ndarray  # int32
    cost_at: np.ndarray  # int64[node types]
    cost: np.ndarray  # float64, cost[true, predicted] of every node type


@dataclass
class Schema:
    """Types in the order of training; a plain graph has one of each."""

    node_types: list[str]
    given_widths: list[int]  # features of nodes as they are given
    node_widths: list[int]  # those that have weights, with the constant
    constant: int  # 1: the last feature of every node is 1
    labels: list[list[Any]]
    edge_types: list[EdgeKey]
    edge_widths: list[int]
    featured: list[bool]  # edge types with features; the others have a constant one
    edges: str

    @property
    def typed(self) -> bool:
        return PLAIN not in self.node_types

    def cells(self, s: int) -> np.ndarray:
        """int32[states u, states v]: the row of weights of every pair of states, or -1."""
        u, v = self.ends(s)
        a, b = len(self.labels[u]), len(self.labels[v])
        if self.edges == "associative":
            same = [[p == q for q in self.labels[v]] for p in self.labels[u]]
            return np.array(same, np.int32).reshape(a, b) - 1
        table = np.arange(a * b, dtype=np.int32).reshape(a, b)
        if self.edges == "symmetric" and u == v:
            rows = np.cumsum(np.triu(np.ones((a, a), np.int32)).ravel()) - 1
            upper = np.triu(rows.reshape(a, a))
            table = (upper + np.triu(upper, 1).T).astype(np.int32)
        return table

    def ends(self, s: int) -> tuple[int, int]:
        """The numbers of the node types that an edge type joins."""
        u, _, v = self.edge_types[s]
        return self.node_types.index(u), self.node_types.index(v)

    def blocks(self, costs: list[np.ndarray]) -> Blocks:
        states = np.array([len(some) for some in self.labels], np.int64)
        tables = [self.cells(s) for s in range(len(self.edge_types))]
        rows = np.array([t.max(initial=-1) + 1 for t in tables], np.int64)
        node_sizes = states * np.array(self.node_widths, np.int64)
        edge_sizes = rows * np.array(self.edge_widths, np.int64)
        total = int(node_sizes.sum())
        return Blocks(
            states=states,
            node_w=np.cumsum(node_sizes) - node_sizes,
            edge_w=total + np.cumsum(edge_sizes) - edge_sizes,
            rows=rows,
            cell_at=np.cumsum([0, *(t.size for t in tables)]).astype(np.int64),
            cells=np.concatenate([np.zeros(0, np.int32), *(t.ravel() for t in tables)]),
            cost_at=(np.cumsum(states**2) - states**2),
            cost=np.concatenate([np.zeros(0), *(c.ravel() for c in costs)]),
        )

    @property
    def n_node_weights(self) -> int:
        widths = zip(self.labels, self.node_widths, strict=True)
        return sum(len(some) * width for some, width in widths)

    @property
    def n_weights(self) -> int:
        edges = sum(
            (int(self.cells(s).max(initial=-1)) + 1) * d
            for s, d in enumerate(self.edge_widths)
        )
        return self.n_node_weights + edges

    # saving ------------------------------------------------------------------------------

    def state(self) -> dict:
        return {
            "node_types": list(self.node_types),
            "given_widths": [int(width) for width in self.given_widths],
            "node_widths": [int(width) for width in self.node_widths],
            "constant": self.constant,
            "labels": [list(labels) for labels in self.labels],
            "edge_types": [list(key) for key in self.edge_types],
            "edge_widths": [int(width) for width in self.edge_widths],
            "featured": list(self.featured),
        }

    @classmethod
    def from_state(cls, saved: Saved, edges: str) -> Schema:
        node_types = saved.texts("node_types")
        labels = saved.value("labels", list)
        for some in labels:
            distinct(some, "labels", str, int)
        keys = [tuple(key) for key in _lists(saved, "edge_types")]
        if len(set(keys)) < len(keys) or any(
            len(key) != 3
            or not all(isinstance(part, str) for part in key)
            or not {key[0], key[2]} <= set(node_types)
            for key in keys
        ):
            raise ValueError("its types of edges are not valid")
        constant = saved.whole("constant", high=1)
        given = _widths(saved, "given_widths", len(node_types), 0)
        node_widths = _widths(saved, "node_widths", len(node_types), constant)
        edge_widths = _widths(saved, "edge_widths", len(keys), 0)
        featured = saved.value("featured", list)
        if len(featured) != len(keys) or not set(map(type, featured)) <= {bool}:
            raise ValueError("'featured' does not fit the types of edges")
        if len(labels) != len(node_types) or not all(labels) or not node_types:
            raise ValueError("labels and types of nodes do not fit together")
        if PLAIN in node_types and len(node_types) > 1:
            raise ValueError("its types of nodes are not valid")
        return cls(
            node_types,
            given,
            node_widths,
            constant,
            labels,
            keys,
            edge_widths,
            featured,
            edges,
        )


def _lists(saved: Saved, name: str) -> list[list]:
    values = saved.value(name, list)
    if not all(type(value) is list for value in values):
        raise ValueError(f"{name!r} is not a list of lists")
    return values


def _widths(saved: Saved, name: str, count: int, low: int) -> list[int]:
    values = saved.value(name, list)
    if len(values) != count or not all(
        type(width) is int and low <= width <= MAX_FEATURES for width in values
    ):
        raise ValueError(f"{name!r} has numbers out of range")
    return values


def learn(graphs: list[GraphInput], edges: str, constant: int) -> Schema:
    """The types of these graphs; labels come later."""
    node_types = list(dict.fromkeys(name for g in graphs for name in g.nodes))
    edge_types = list(dict.fromkeys(key for g in graphs for key in g.edges))
    if PLAIN in node_types and len(node_types) > 1:
        i = [g.typed for g in graphs].index(True)
        raise ValueError(
            f"X[{i}] has types of nodes, but others have none: write all in one way."
        )
    given = [_node_width(graphs, name) for name in node_types]
    found = [_edge_width(graphs, key) for key in edge_types]
    return Schema(
        node_types,
        given,
        [width + constant for width in given],
        constant,
        [],
        edge_types,
        [1 if width is None else width for width in found],
        [width is not None for width in found],
        edges,
    )


def node_tables(schema: Schema, graphs: list[GraphInput]) -> list[list[tuple]]:
    """By type, the tables of nodes: (table, number of the graph, type)."""
    return [
        [
            (g.nodes[name], i, name)
            for i, g in enumerate(graphs)
            if g.counts.get(name, 0)
        ]
        for name in schema.node_types
    ]


def _node_width(graphs, name) -> int:
    """The width of the first table with rows; check_graphs() compares the others."""
    for g in graphs:
        if g.counts.get(name, 0):
            return g.nodes[name].shape[1]
    return 0


def _edge_width(graphs, key) -> int | None:
    for g in graphs:
        pairs, table = g.edges.get(key, ((), None))
        if len(pairs):
            return None if table is None else table.shape[1]
    return None


def check_graphs(schema: Schema, graphs: list[GraphInput]) -> None:
    """Refuse types and widths that are not those of training."""
    for i, g in enumerate(graphs):
        for name, table in g.nodes.items():
            if name not in schema.node_types:
                raise ValueError(f"X[{i}] has {_nodes(name)}, which training had not.")
            width = schema.given_widths[schema.node_types.index(name)]
            if table.shape[0] and table.shape[1] != width:
                raise ValueError(
                    f"X[{i}] has {table.shape[1]} features for each of its {_nodes(name)}, "
                    f"but others have {width}: give all the same."
                )
        for key, (pairs, table) in g.edges.items():
            if not len(pairs):
                continue
            of = f" {key}" if schema.typed else ""
            if key not in schema.edge_types:
                raise ValueError(f"X[{i}] has edges{of}, which training had not.")
            s = schema.edge_types.index(key)
            width = schema.edge_widths[s] if schema.featured[s] else None
            if (None if table is None else table.shape[1]) != width:
                have = "no" if table is None else table.shape[1]
                want = "none" if width is None else width
                raise ValueError(
                    f"X[{i}] has {have} features for each of its edges{of}, but others "
                    f"have {want}: give all the same."
                )


def _nodes(name: str) -> str:
    return f"{name!r} nodes" if name else "nodes without types"


# weights as users see them ------------------------------------------------------------


def public_weights(schema: Schema, w: np.ndarray) -> dict[str, Any]:
    """``classes_``, ``coef_``, ``intercept_`` and ``edge_coef_``; dicts where types are."""
    coef, intercept, edges, at = {}, {}, {}, 0
    for name, width, labels in zip(
        schema.node_types, schema.node_widths, schema.labels, strict=True
    ):
        size = width * len(labels)
        block = w[at : at + size].reshape(width, len(labels))
        d = width - schema.constant
        coef[name] = block[:d].T
        intercept[name] = block[d] if schema.constant else np.zeros(len(labels))
        at += size
    for s, key in enumerate(schema.edge_types):
        cells, width = schema.cells(s), schema.edge_widths[s]
        rows = int(cells.max(initial=-1)) + 1
        block = w[at : at + rows * width].reshape(width, rows)
        at += rows * width
        if schema.edges == "associative":
            edges[key] = block[:, 0] if rows else np.zeros(width)
        else:
            edges[key] = np.moveaxis(block[:, cells], 0, -1)
    classes = {
        name: np.array(labels)
        for name, labels in zip(schema.node_types, schema.labels, strict=True)
    }
    found = {
        "classes_": classes,
        "coef_": coef,
        "intercept_": intercept,
        "edge_coef_": edges,
    }
    if schema.typed:
        return found
    return {name: next(iter(table.values())) for name, table in found.items()}


def named_weights(model) -> list[tuple[str, str, float]]:
    """(group, name, weight) of all weights; features have their numbers as names."""

    def by_type(value):
        return value if isinstance(value, dict) else {"": value}

    out, schema = [], model.structure_.schema
    feature = "feature" if model.kernel is None else "basis point"
    classes, coef = by_type(model.classes_), by_type(model.coef_)
    intercept = by_type(model.intercept_)
    for name, labels in classes.items():
        group = f"{name} nodes".strip()
        for k, label in enumerate(labels.tolist()):
            row = enumerate(coef[name][k].tolist())
            out += [(group, f"{label}, {feature} {j}", value) for j, value in row]
            if schema.constant:
                out.append((group, f"{label}, constant", float(intercept[name][k])))
    for s, key in enumerate(schema.edge_types):
        if (schema.cells(s) < 0).all():
            continue
        table = model.edge_coef_[key] if schema.typed else model.edge_coef_
        group = f"edges {' '.join(filter(None, key))}".strip()
        ends = [schema.labels[t] for t in schema.ends(s)]
        once = model.edges == "symmetric" and key[0] == key[2]
        rows = _edge_rows(table, ends, schema.featured[s], once)
        out += [(group, *row) for row in rows]
    return out


def _edge_rows(table, ends, featured: bool, once: bool) -> list[tuple[str, float]]:
    """(name, weight) of the edges of one type; each pair once, where orders are equal."""

    def of(j: int) -> str:
        return f", feature {j}" if featured else ""

    if table.ndim == 1:
        return [(f"equal labels{of(j)}", float(value)) for j, value in enumerate(table)]
    return [
        (f"{a} - {b}{of(j)}", float(value))
        for i, (a, row) in enumerate(zip(ends[0], table, strict=True))
        for k, (b, cell) in enumerate(zip(ends[1], row, strict=True))
        if k >= i or not once
        for j, value in enumerate(cell)
    ]
