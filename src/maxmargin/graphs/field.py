"""A pairwise Markov random field: the graph of one example, scores kept apart.

A labelling gives every node one of its states, and

    score(y) = sum over nodes v of  theta[node_at[v] + y[v]]
             + sum over edges e = (u, v) of  theta[edge_at[e] + y[u] * states(v) + y[v]]

is to be large. Scores may be -inf, which makes states or pairs of states impossible; some
labelling is always possible. Search with a loss is search with other scores of nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, inner


class Field(NamedTuple):
    """n nodes and m edges; where each has its scores in a flat vector theta."""

    node_at: np.ndarray  # int64[n + 1]: node v has theta[node_at[v] : node_at[v + 1]]
    ends: (
        np.ndarray
    )  # int32[m, 2]: edge e joins two different nodes, a pair at most once
    edge_at: np.ndarray  # int64[m]: its table starts here, row-major; it may be shared
    arc_start: (
        np.ndarray
    )  # int64[n + 1]: node v has arcs[arc_start[v] : arc_start[v + 1]]
    arcs: np.ndarray  # int64[2 m]: 2 e + side, where ends[e, side] == v; ascending


def offsets(lengths) -> np.ndarray:
    """Where things of these lengths begin that lie one after the other, and the end."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def make_field(states, edges, tables=None) -> Field:
    """The field of nodes with so many states each, and pairs of nodes as its edges.

    ``tables`` numbers the table of every edge, 0 .. count - 1: edges with the same number
    share it, and have the same states on either side. Without it, every edge has a table
    of its own. In theta, the nodes come first, then the tables in order.
    """
    states = np.asarray(states, np.int64).reshape(-1)
    ends = np.ascontiguousarray(np.asarray(edges, np.int32).reshape(-1, 2))
    node_at = offsets(states)
    sizes = states[ends[:, 0]] * states[ends[:, 1]]
    tables = np.arange(len(ends)) if tables is None else np.asarray(tables, np.int64)
    lengths = np.zeros(tables.max(initial=-1) + 1, np.int64)
    lengths[tables] = sizes
    edge_at = (node_at[-1] + np.cumsum(lengths) - lengths)[tables]
    degrees = np.bincount(ends.ravel(), minlength=len(states))
    arc_start = offsets(degrees)
    arcs = np.argsort(ends.ravel(), kind="stable").astype(np.int64)
    return Field(node_at, ends, edge_at, arc_start, arcs)


def extent(field: Field) -> int:
    """The length of theta."""
    if len(field.ends) == 0:
        return int(field.node_at[-1])
    states = np.diff(field.node_at)
    sizes = states[field.ends[:, 0]] * states[field.ends[:, 1]]
    return int(max(field.node_at[-1], (field.edge_at + sizes).max()))


@inlined
def states_of(field, v):
    """The number of states of node v."""
    return field.node_at[v + 1] - field.node_at[v]


@inner
def field_score(field, theta, y):
    """score(y), summed in doubles."""
    total = 0.0
    for v in range(len(field.node_at) - 1):
        total += theta[field.node_at[v] + y[v]]
    for e in range(len(field.ends)):
        u, v = field.ends[e, 0], field.ends[e, 1]
        total += theta[field.edge_at[e] + y[u] * states_of(field, v) + y[v]]
    return total
