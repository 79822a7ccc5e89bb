"""X of a GraphLabeler: graphs in the forms that people have, read with care.

A graph is one of

    (nodes, edges)                              a row of features per node, pairs of nodes
    (nodes, edges, edge_features)               a row of features per edge too
    (nodes, edges, edge_features, sizes)        and how much each node counts in the loss
    {"nodes": ..., "edges": ..., "edge_features": ..., "sizes": ...}          the same
    {"nodes": {type: table}, "edges": {(type, type): pairs}, ...}             with types
    the same with "edge_index", an array (2, edges), in place of "edges"
    a networkx graph: attributes "x" of nodes and edges, "size" of nodes
    an object with x, edge_index and perhaps edge_attr, as of PyTorch Geometric

An edge of an ``edge_index`` may be listed in both directions: it is one edge.

Nodes of an edge are numbered within their types. Two edge types between the same types of
nodes have names: ``(type, name, type)``. Whatever comes in, a :class:`GraphInput` goes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.encoded import listed_inputs
from maxmargin.core.tables.arrays import LARGEST
from maxmargin.graphs.objects import (
    as_array,
    data_parts,
    is_data,
    is_networkx,
    networkx_parts,
    one_direction,
    pairs_of_index,
)

PARTS = ("nodes", "edges", "edge_features", "sizes")
FORMS = (
    "give a tuple (node features, edges) or (node features, edges, edge features), a dict "
    "with the keys 'nodes' and 'edges' or 'edge_index', a networkx graph, or an object "
    "with x and edge_index"
)
PLAIN = ""  # the type of all nodes of a graph without types
EdgeKey = tuple[str, str, str]  # type of the first node, name, type of the second one


class RawGraph(NamedTuple):
    """One graph of a file, not checked yet."""

    x: dict[str, Any]
    labels: Any
    shape: Any


@dataclass
class GraphInput:
    """One graph: tables and pairs by type."""

    nodes: dict[str, Any]  # tables, dense or sparse
    edges: dict[EdgeKey, tuple[np.ndarray, Any]]  # int64 pairs, table or None
    sizes: dict[str, np.ndarray]  # empty: every node counts 1
    names: list | None = None  # of the nodes of a networkx graph

    def __post_init__(self) -> None:
        self.typed = PLAIN not in self.nodes
        self.counts = {name: table.shape[0] for name, table in self.nodes.items()}


def read_graphs(X) -> list[GraphInput]:
    """All graphs of X; ValueError with a sentence that names the first bad one."""
    refuse_one_graph(X)
    X = listed_inputs("X", X, "graphs")
    return [read_graph(x, f"X[{i}]") for i, x in enumerate(X)]


def refuse_one_graph(X) -> None:
    if isinstance(X, Mapping) or is_networkx(X) or is_data(X):
        raise ValueError("X is one graph: give a list of graphs, also for one.")


def read_graph(x, where: str) -> GraphInput:
    """A graph in any of the forms."""
    if isinstance(x, GraphInput):
        return x
    names, index = None, None
    if is_networkx(x):
        x, names = networkx_parts(x, where)
    elif is_data(x):
        x = data_parts(x, where)
    if isinstance(x, Mapping):
        if "edge_index" in x and "edges" in x:
            raise ValueError(f"{where} has both 'edges' and 'edge_index': give one.")
        index = pairs_of_index(x.get("edge_index"), where)
        x = {key: part for key, part in x.items() if key != "edge_index"}
        unknown = [key for key in x if key not in PARTS]
        if unknown or "nodes" not in x:
            what = f"the key {unknown[0]!r}" if unknown else "no key 'nodes'"
            raise ValueError(f"{where} is a dict with {what}: its keys are {PARTS}.")
        parts = [x.get(key) for key in PARTS]
        if isinstance(parts[0], Mapping):
            if index is not None:
                raise ValueError(
                    f"{where} has types of nodes: give 'edges' by type, no 'edge_index'."
                )
            return _with_types(*parts, where)
    elif isinstance(x, tuple) and 2 <= len(x) <= 4:
        parts = [*x, *([None] * (4 - len(x)))]
    else:
        what = f"a tuple of {len(x)}" if isinstance(x, tuple) else f"{_kind(x)}"
        raise ValueError(f"{where} is {what}, not a graph: {FORMS}.")
    nodes, pairs, features, sizes = parts
    nodes = _table(nodes, f"{where}: the node features")
    n = nodes.shape[0]
    pairs = _pairs(pairs if index is None else index, where)
    _check_ends(pairs, (n, n), where, ("", ""))
    features = _edge_table(features, len(pairs), where)
    if index is not None:
        pairs, features = one_direction(pairs, features, where)
    graph = GraphInput({PLAIN: nodes}, {}, {}, names)
    graph.edges[PLAIN, PLAIN, PLAIN] = pairs, features
    if sizes is not None:
        graph.sizes[PLAIN] = _sizes(sizes, n, where)
    _check_pairs(graph, where)
    return graph


def _kind(x) -> str:
    name = type(x).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


# graphs with types ----------------------------------------------------------------------


def _with_types(nodes, edges, features, sizes, where) -> GraphInput:
    tables = {}
    for name, table in nodes.items():
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"{where} has the node type {name!r}: the names of types are strings, not "
                "empty."
            )
        tables[name] = _table(table, f"{where}: the features of the {name!r} nodes")
    edges = {} if edges is None else edges
    features = {} if features is None else features
    sizes = {} if sizes is None else sizes
    for what, part in (
        ("edges", edges),
        ("edge_features", features),
        ("sizes", sizes),
    ):
        if not isinstance(part, Mapping):
            raise ValueError(
                f"{where} has types of nodes, so {what!r} must be a dict by type too, not "
                f"{_kind(part)}."
            )
    graph = GraphInput(tables, {}, {})
    features = {_edge_key(key, tables, where): t for key, t in features.items()}
    for key, given in edges.items():
        u, name, v = _edge_key(key, tables, where)
        here = f"{where}, edges {(u, name, v) if name else (u, v)}"
        pairs, table = _pairs(given, here), features.pop((u, name, v), None)
        _check_ends(
            pairs, (graph.counts.get(u, 0), graph.counts.get(v, 0)), here, (u, v)
        )
        graph.edges[u, name, v] = pairs, _edge_table(table, len(pairs), here)
    if features:
        raise ValueError(
            f"{where} has features of edges {next(iter(features))}, but no such edges."
        )
    for name, values in sizes.items():
        if name not in tables:
            raise ValueError(f"{where} has sizes of {name!r} nodes, but no such nodes.")
        graph.sizes[name] = _sizes(values, graph.counts.get(name, 0), where)
    _check_pairs(graph, where)
    return graph


def _edge_key(key, tables, where) -> EdgeKey:
    good = isinstance(key, tuple) and len(key) in (2, 3)
    if not good or not all(isinstance(part, str) for part in key):
        raise ValueError(
            f"{where} has edges of type {key!r}: give (type, type) or (type, name, type), "
            "where the types are those of nodes."
        )
    u, *name, v = key
    unknown = [t for t in (u, v) if t not in tables]
    if unknown:
        raise ValueError(
            f"{where} has edges of type {key!r}, but no {unknown[0]!r} nodes: its nodes "
            f"are of the types {', '.join(map(repr, tables))}."
        )
    return u, (name[0] if name else ""), v


# parts of graphs ------------------------------------------------------------------------


def _table(x, what: str):
    """A 2-D table of numbers, dense or sparse."""
    if issparse(x):
        if x.dtype.kind not in "biuf":
            raise ValueError(f"{what} are of type {x.dtype}: give real numbers.")
        return x
    try:
        table = np.asarray(as_array(x))
        if table.size == 0 and table.ndim == 1:
            table = table.reshape(len(table), 0)
        if table.dtype.kind not in "biuf" or table.ndim != 2:
            raise ValueError
    except (ValueError, TypeError):
        raise ValueError(
            f"{what} are not a table of numbers: give one row for each, all of one length."
        ) from None
    return table


def _edge_table(features, m: int, where: str):
    if features is None:
        return None
    table = _table(features, f"{where}: the edge features")
    if table.shape[0] != m:
        raise ValueError(
            f"{where} has {m} edges, but {table.shape[0]} rows of edge features: give "
            "every edge a row."
        )
    return table


def _pairs(edges, where: str) -> np.ndarray:
    if edges is None:
        return np.zeros((0, 2), np.int64)
    edges = as_array(edges)
    shape = getattr(edges, "shape", ())
    if len(shape) == 2 and shape[0] == 2 < shape[1]:
        raise ValueError(
            f"{where}: the edges have the shape {shape}, as an edge_index has: give a dict "
            "{'nodes': ..., 'edge_index': ...}, or edges of shape (edges, 2)."
        )
    try:
        pairs = np.asarray(edges)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError
        if pairs.dtype == np.uint64:  # no number of a node, but one to be named
            pairs = np.minimum(pairs, np.uint64(np.iinfo(np.int64).max))
    except (ValueError, TypeError):
        raise ValueError(
            f"{where}: the edges are not pairs of whole numbers: give an array of shape "
            "(edges, 2), the numbers of the two nodes of each."
        ) from None
    return pairs.astype(np.int64)


def _check_ends(pairs, counts, where: str, types) -> None:
    for side in (0, 1):
        bad = np.flatnonzero((pairs[:, side] < 0) | (pairs[:, side] >= counts[side]))
        if len(bad):
            e, n = int(bad[0]), counts[side]
            kind = f"{types[side]!r} nodes" if types[side] else "nodes"
            are = f"are 0 to {n - 1}" if n else "there are none"
            raise ValueError(
                f"{where}: edge {e} leads to node {pairs[e, side]}, but the {kind} {are}: "
                "edges must join nodes of their graph."
            )


def _check_pairs(graph: GraphInput, where: str) -> None:
    """No self-loops, and at most one edge between two nodes."""
    first, total = {}, 0
    for name in graph.nodes:
        first[name], total = total, total + graph.counts.get(name, 0)
    keys = []
    for (u, _, v), (pairs, _) in graph.edges.items():
        a, b = pairs[:, 0] + first[u], pairs[:, 1] + first[v]
        loops = np.flatnonzero(a == b)
        if len(loops):
            e = int(loops[0])
            raise ValueError(
                f"{where}: edge {e} joins node {pairs[e, 0]} with itself: remove "
                "self-loops (what they would say, features of the node can)."
            )
        keys.append(np.minimum(a, b) * total + np.maximum(a, b))
    flat = np.concatenate([np.zeros(0, np.int64), *keys])
    order = np.argsort(flat, kind="stable")
    again = np.flatnonzero(np.diff(flat[order]) == 0)
    if len(again):
        e, f = sorted(order[again[0] : again[0] + 2].tolist())
        a, b = divmod(int(flat[e]), total)
        raise ValueError(
            f"{where}: edges {e} and {f} both join nodes {a} and {b}: give each pair of "
            "nodes one edge, whose features may say more."
        )


def _sizes(values, n: int, where: str) -> np.ndarray:
    try:
        sizes = np.asarray(values)
        if sizes.dtype.kind not in "biuf" and sizes.size:
            raise ValueError
        sizes = sizes.astype(np.float64)
    except (ValueError, TypeError):
        raise ValueError(
            f"{where}: the sizes are not numbers: give every node one, 0 or more."
        ) from None
    if sizes.shape != (n,):
        raise ValueError(
            f"{where} has {n} nodes, but sizes of shape {sizes.shape}: give one per node."
        )
    bad = np.flatnonzero(~((sizes >= 0) & (sizes < LARGEST)))
    if len(bad):
        raise ValueError(
            f"{where}: the size of node {bad[0]} is {sizes[bad[0]]:g}: sizes must be "
            "finite and 0 or more, and of a moderate range."
        )
    return sizes


def dense(table) -> np.ndarray:
    return table.toarray() if hasattr(table, "toarray") else table
