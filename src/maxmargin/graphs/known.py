"""Graphs of which only some labels are known: what of them is known for sure.

Training begins with the known nodes and the edges between them (``core/partial.py``).
"""

from __future__ import annotations

import numpy as np

from maxmargin.graphs.input import GraphInput


def known_parts(inputs: list[GraphInput], rows: list[dict]) -> list[GraphInput]:
    """The graphs without the nodes whose labels are not known."""
    return [_known_part(graph, row) for graph, row in zip(inputs, rows, strict=True)]


def _known_part(graph: GraphInput, row: dict[str, list]) -> GraphInput:
    kept = {
        name: np.array([label is not None for label in row[name]], bool)
        for name in graph.nodes
    }
    nodes = {name: _rows(table, kept[name]) for name, table in graph.nodes.items()}
    sizes = {name: values[kept[name]] for name, values in graph.sizes.items()}
    edges = {}
    for (u, name, v), (pairs, table) in graph.edges.items():
        both = kept[u][pairs[:, 0]] & kept[v][pairs[:, 1]]
        number = np.cumsum(kept[u]) - 1, np.cumsum(kept[v]) - 1
        ends = np.stack([number[k][pairs[both, k]] for k in (0, 1)], 1)
        edges[u, name, v] = ends, None if table is None else _rows(table, both)
    return GraphInput(nodes, edges, sizes)


def _rows(table, kept):
    return (table.tocsr() if hasattr(table, "tocsr") else table)[np.flatnonzero(kept)]
