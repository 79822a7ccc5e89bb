"""Graphs of other libraries as parts: networkx, and the ``Data`` of PyTorch Geometric.

They are known by what they have (``nodes`` and ``edges``; ``x`` and ``edge_index``), and
none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Names = str | Sequence[str]  # of attributes


def as_array(value: Any) -> Any:
    """A tensor as an array; all else as it is."""
    for method in ("detach", "cpu", "numpy"):
        if callable(getattr(value, method, None)):
            value = getattr(value, method)()
    return value


# Data ---------------------------------------------------------------------------------


def is_data(x: Any) -> bool:
    """Whether a graph is an object with ``x`` and ``edge_index``."""
    return not isinstance(x, Mapping) and hasattr(x, "edge_index") and hasattr(x, "x")


def data_parts(x: Any, where: str) -> dict[str, Any]:
    """The parts of such an object."""
    if x.x is None:
        raise ValueError(f"{where}: x is None: give every node features.")
    return {
        "nodes": as_array(x.x),
        "edge_index": as_array(x.edge_index),
        "edge_features": as_array(getattr(x, "edge_attr", None)),
    }


def pairs_of_index(edge_index: Any, where: str) -> Any:
    """An array (2, edges), as ``edge_index`` is, with a row for each edge."""
    if edge_index is None:
        return None
    table = np.asarray(as_array(edge_index))
    if table.ndim != 2 or table.shape[0] != 2:
        raise ValueError(
            f"{where}: edge_index has the shape {table.shape}: it must be (2, edges), the "
            "first nodes of all edges over the second ones."
        )
    return table.T


def one_direction(pairs: np.ndarray, features: Any, where: str) -> tuple:
    """(pairs, features) in which an edge that is listed in both directions stands once.

    The direction that stays is from the smaller number.
    """
    u, v = pairs.T
    n = int(pairs.max(initial=0)) + 1
    keys, back = u * n + v, v * n + u
    again = np.flatnonzero((u > v) & np.isin(back, keys))
    if not len(again):
        return pairs, features
    order = np.argsort(keys, kind="stable")
    first = order[np.searchsorted(keys, back[again], sorter=order)]
    kept = np.ones(len(pairs), bool)
    kept[again] = False
    if features is None:
        return pairs[kept], None
    rows = features.tocsr() if hasattr(features, "tocsr") else features
    differ = np.asarray(abs(rows[first] - rows[again]).sum(axis=1)).ravel() > 0
    if differ.any():
        e, f = (int(edges[differ][0]) for edges in (first, again))
        raise ValueError(
            f"{where}: edges {e} and {f} join nodes {u[e]} and {v[e]} in both directions, "
            "with different features: give the two one edge, whose features say both."
        )
    return pairs[kept], rows[kept]


# networkx -----------------------------------------------------------------------------


def is_networkx(x: Any) -> bool:
    """Whether a graph is one of networkx."""
    return all(callable(getattr(x, name, None)) for name in ("nodes", "edges")) and (
        hasattr(x, "is_directed")
    )


def networkx_parts(
    x: Any, where: str, features: Names = "x", edge_features: Names | None = None
) -> tuple[tuple, list]:
    """((nodes, edges, features of edges, sizes), names of the nodes).

    ``edge_features=None`` is the attribute "x" of edges, if they have it.
    """
    names = list(x.nodes())
    number = {name: v for v, name in enumerate(names)}
    data = dict(x.nodes(data=True))
    rows = []
    for name in names:
        row = _row(data[name], features, f"{where}: node {name!r}")
        if row is None:
            missing = _missing(data[name], features)
            raise ValueError(
                f"{where}: node {name!r} has no attribute {missing!r}: give every node "
                "features."
            )
        rows.append(row)
    triples = list(x.edges(data=True))
    pairs = [(number[u], number[v]) for u, v, _ in triples]
    wanted = "x" if edge_features is None else edge_features
    of_edges = [
        _row(given, wanted, f"{where}: the edge ({u!r}, {v!r})")
        for u, v, given in triples
    ]
    there = [row is not None for row in of_edges]
    if not all(there) and (any(there) or edge_features is not None):
        u, v, given = triples[there.index(False)]
        missing = repr(_missing(given, wanted)) + ", but others have" * any(there)
        raise ValueError(
            f"{where}: the edge ({u!r}, {v!r}) has no attribute {missing}: give all edges "
            "features, or none."
        )
    sizes = [data[name].get("size", 1.0) for name in names]
    return (rows, pairs, of_edges if any(there) else None, sizes), names


def _missing(given: Mapping, wanted: Names) -> str:
    names = [wanted] if isinstance(wanted, str) else wanted
    return next(name for name in names if given.get(name) is None)


def _row(given: Mapping, wanted: Names, where: str) -> np.ndarray | None:
    """The attributes of a node or an edge as one row of numbers; None if one is missing."""
    parts = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        value = given.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            raise ValueError(
                f"{where} has {value!r} as its {name!r}, a text: give numbers, such as a 1 "
                "in the place of each kind and 0 elsewhere."
            )
        parts.append(np.atleast_1d(as_array(value)))
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
