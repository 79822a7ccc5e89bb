"""Graphs in an NPZ file: arrays of all graphs one after the other.

    node_features   (N, d)     a row for each of the N nodes of all n graphs
    node_start      (n + 1,)   nodes of graph i are rows node_start[i] to node_start[i + 1]
    edges           (M, 2)     pairs of nodes, counted from 0 within their graph
    edge_start      (n + 1,)   the same for edges
    edge_features   (M, k)     may be left out
    sizes           (N,)       may be left out
    labels          (N,)       integers or texts; may be left out
    known           (N,)       booleans: which labels are known; left out: all
    shapes          (n, 2)     rows and columns of grids, 0 0 for others; may be left out

With types, the texts ``node_types`` (T,) and ``edge_types`` (S, 3) name them (first type,
name or empty, second type), and every array of nodes or edges is there for each of these:
"labels.0", "edges.2". Without edges, ``edges`` and ``edge_start`` may be left out.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.files.npz import read_npz, write_npz
from maxmargin.files.text_files import RawText
from maxmargin.graphs.field import offsets
from maxmargin.graphs.input import RawGraph, dense

KINDS = {
    "f": "numbers",
    "i": "whole numbers",
    "b": "booleans",
    "y": "labels",
    "U": "texts",
}
ALLOWED = {"f": "biuf", "i": "iu", "b": "b", "y": "iuU", "U": "U"}


class _Archive:
    """Arrays of a file, asked for by name, kind and number of axes."""

    def __init__(self, raw: RawText):
        self.arrays, self.path = read_npz(raw), raw.path

    def get(self, name: str, kind: str, axes: int, rows: int | None = None):
        """The array, or None if there is none; with so many rows."""
        found = self.arrays.get(name)
        if found is None:
            return None
        if found.dtype.kind not in ALLOWED[kind] or found.ndim != axes:
            raise ValueError(
                f"{self.path}: {name} is of type {found.dtype} and shape {found.shape}: it "
                f"must have {KINDS[kind]} and {axes} {'axis' if axes == 1 else 'axes'}."
            )
        if rows is not None and len(found) != rows:
            raise ValueError(
                f"{self.path}: {name} has {len(found)} rows, but there must be {rows}."
            )
        return found

    def need(self, name: str, kind: str, axes: int, rows: int | None = None):
        found = self.get(name, kind, axes, rows)
        if found is None:
            have = ", ".join(sorted(self.arrays)[:8]) or "nothing"
            raise ValueError(f"{self.path} has no array {name!r}; it has {have}.")
        return found

    def starts(self, name: str, of: str, rows: int, n: int | None) -> list[int]:
        start = self.need(name, "i", 1, None if n is None else n + 1)
        values = start.tolist()
        rising = all(a <= b for a, b in pairwise(values))
        if not values or values[0] != 0 or values[-1] != rows or not rising:
            raise ValueError(
                f"{self.path}: {name} must rise from 0 to {rows}, the rows of {of}."
            )
        return values


def entries(raw: RawText, truth: bool, encoding: str):
    """(graphs, a function that says where the i-th is)."""
    file = _Archive(raw)
    node_types = file.get("node_types", "U", 1)
    if node_types is None:
        found = _plain(file, truth)
    else:
        found = _typed(file, node_types.tolist(), truth)
    return found, lambda i: f"{raw.path}, graph {i}"


def _plain(file: _Archive, truth: bool) -> list[RawGraph]:
    nodes = _nodes(file, "", None, truth)
    edges = _edges(file, "", len(nodes))
    shapes = file.get("shapes", "i", 2, len(nodes))
    found = []
    for i, (node, edge) in enumerate(zip(nodes, edges, strict=True)):
        x = {"nodes": node["nodes"], **edge}
        if node["sizes"] is not None:
            x["sizes"] = node["sizes"]
        shape = None if shapes is None else tuple(shapes[i].tolist())
        if shape is not None and not any(shape) and len(node["nodes"]):
            shape = None
        found.append(RawGraph(x, node["labels"], shape))
    return found


def _typed(file: _Archive, types: list[str], truth: bool) -> list[RawGraph]:
    if not types or "" in types or len(set(types)) < len(types):
        raise ValueError(f"{file.path}: node_types must be different texts, not empty.")
    keys = file.get("edge_types", "U", 2)
    keys = [] if keys is None else [tuple(key) for key in keys.tolist()]
    if any(len(key) != 3 for key in keys) or len(set(keys)) < len(keys):
        raise ValueError(
            f"{file.path}: edge_types must have different rows of three texts: the type of "
            "the first node, a name or nothing, the type of the second one."
        )
    nodes: list[list[dict]] = []
    for t in range(len(types)):
        n = len(nodes[0]) if nodes else None
        nodes.append(_nodes(file, f".{t}", n, truth))
    n = len(nodes[0])
    edges = [_edges(file, f".{s}", n) for s in range(len(keys))]
    found = []
    for i in range(n):
        own = dict(zip(types, (some[i] for some in nodes), strict=True))
        joined = dict(zip(keys, (some[i] for some in edges), strict=True))
        x: dict[str, Any] = {"nodes": {t: node["nodes"] for t, node in own.items()}}
        x["edges"] = {key: edge["edges"] for key, edge in joined.items()}
        for what in ("edge_features", "sizes"):
            source = joined if what == "edge_features" else own
            given = {k: part.get(what) for k, part in source.items()}
            x[what] = {k: part for k, part in given.items() if part is not None}
        labels = {t: node["labels"] for t, node in own.items()}
        none = all(row is None for row in labels.values())
        found.append(RawGraph(x, None if none else labels, None))
    return found


def _nodes(file: _Archive, end: str, n: int | None, truth: bool) -> list[dict]:
    """Parts of every graph."""
    table = file.need(f"node_features{end}", "f", 2)
    rows = len(table)
    start = file.starts(f"node_start{end}", f"node_features{end}", rows, n)
    sizes = file.get(f"sizes{end}", "f", 1, rows)
    labels = known = None
    if truth:
        labels = file.get(f"labels{end}", "y", 1, rows)
        known = file.get(f"known{end}", "b", 1, rows)
    found = []
    for a, b in pairwise(start):
        row = None if labels is None else labels[a:b].tolist()
        if row is not None and known is not None:
            row = [k if sure else None for k, sure in zip(row, known[a:b], strict=True)]
        own = None if sizes is None else sizes[a:b]
        found.append({"nodes": table[a:b], "labels": row, "sizes": own})
    return found


def _edges(file: _Archive, end: str, n: int) -> list[dict]:
    pairs = file.get(f"edges{end}", "i", 2)
    if pairs is None:
        return [{"edges": np.zeros((0, 2), np.int64)} for _ in range(n)]
    if pairs.shape[1] != 2:
        raise ValueError(
            f"{file.path}: edges{end} has {pairs.shape[1]} columns: give two nodes."
        )
    start = file.starts(f"edge_start{end}", f"edges{end}", len(pairs), n)
    table = file.get(f"edge_features{end}", "f", 2, len(pairs))
    found = []
    for a, b in pairwise(start):
        part = {"edges": pairs[a:b]}
        if table is not None:
            part["edge_features"] = table[a:b]
        found.append(part)
    return found


# writing --------------------------------------------------------------------------------


def write_graphs(path: str | os.PathLike, inputs, rows, shapes, _encoding) -> None:
    typed = any(graph.typed for graph in inputs)
    types = list(dict.fromkeys(name for graph in inputs for name in graph.nodes))
    keys = list(dict.fromkeys(key for graph in inputs for key in graph.edges))
    arrays: dict[str, np.ndarray] = {}
    if typed:
        arrays["node_types"] = np.array(types, str)
        arrays["edge_types"] = np.array(keys, str).reshape(-1, 3)
    for t, name in enumerate(types):
        end = f".{t}" if typed else ""
        _put_nodes(arrays, end, name, inputs, rows)
    for s, key in enumerate(keys):
        _put_edges(arrays, f".{s}" if typed else "", key, inputs)
    if any(shape is not None for shape in shapes):
        arrays["shapes"] = np.array([shape or (0, 0) for shape in shapes], np.int64)
    write_npz(path, arrays)


def _put_nodes(arrays, end: str, name: str, inputs, rows) -> None:
    tables = [dense(graph.nodes[name]) for graph in inputs if name in graph.nodes]
    counts = [graph.counts.get(name, 0) for graph in inputs]
    arrays[f"node_features{end}"] = _stacked(tables, "node features", name)
    arrays[f"node_start{end}"] = offsets(counts)
    if any(name in graph.sizes for graph in inputs):
        each = [g.sizes.get(name, np.ones(g.counts.get(name, 0))) for g in inputs]
        arrays[f"sizes{end}"] = np.concatenate(each)
    if rows is not None:
        flat = [label for row in rows for label in row.get(name, ())]
        _put_labels(arrays, end, flat)


def _put_edges(arrays, end: str, key, inputs) -> None:
    found = [
        graph.edges.get(key, (np.zeros((0, 2), np.int64), None)) for graph in inputs
    ]
    arrays[f"edges{end}"] = np.concatenate([pairs for pairs, _ in found])
    arrays[f"edge_start{end}"] = offsets([len(pairs) for pairs, _ in found])
    tables = [
        dense(table) for pairs, table in found if table is not None and len(pairs)
    ]
    if tables:
        if sum(map(len, tables)) < len(arrays[f"edges{end}"]):
            raise ValueError(
                "some graphs have features of edges, others not: give all."
            )
        arrays[f"edge_features{end}"] = _stacked(tables, "edge features", key)


def _stacked(tables: list[np.ndarray], what: str, name) -> np.ndarray:
    tables = [t for t in tables if len(t)] or tables[:1]
    widths = {table.shape[1] for table in tables}
    if len(widths) > 1:
        of = f" of {name!r}" if any(name) else ""
        raise ValueError(f"the {what}{of} have different widths, {sorted(widths)}.")
    return np.concatenate(tables)


def _put_labels(arrays, end: str, flat: list) -> None:
    known = [label is not None for label in flat]
    some = [label for label in flat if label is not None]
    if not some:
        return
    blank = "" if isinstance(some[0], str) else 0
    try:
        if len(set(map(type, some))) > 1:
            raise TypeError
        values = np.array([blank if label is None else label for label in flat])
    except (TypeError, OverflowError):
        values = np.zeros(0, object)
    if values.dtype.kind not in ALLOWED["y"]:
        raise ValueError(
            "the labels cannot be written: they must be all texts or all whole numbers of "
            "64 bits."
        )
    arrays[f"labels{end}"] = values
    if not all(known):
        arrays[f"known{end}"] = np.array(known, bool)


def write_labels(path: str | os.PathLike, y, marginals, called: str, _encoding) -> None:
    """``labels``, ``node_start``, perhaps marginals (N, labels); types as above."""
    arrays: dict[str, np.ndarray] = {}
    typed = any(isinstance(labels, dict) for labels in y)
    types = list(dict.fromkeys(t for row in y for t in row)) if typed else [None]
    if typed:
        arrays["node_types"] = np.array(types, str)
    for t, name in enumerate(types):
        end = f".{t}" if typed else ""
        rows = [list(row.get(name, ()) if typed else row) for row in y]
        _put_labels(arrays, end, [_item(label) for row in rows for label in row])
        arrays[f"node_start{end}"] = offsets([len(row) for row in rows])
        if marginals is not None:
            tables = [m.get(name) if typed else m for m in marginals]
            arrays[f"{called}{end}"] = np.concatenate(
                [table for table in tables if table is not None]
            )
    write_npz(path, arrays)


def _item(label):
    return label.item() if isinstance(label, np.generic) else label
