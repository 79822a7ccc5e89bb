"""C by the scale of the features and the size of graphs: what C=None means here.

    C = l / (s max(1, p / 20)),    s = v, but from e / 10 to 10 e

v is the total variance of the features of nodes (``core/tables/variances.py``), e the mean
of ``|x_uv|^2`` over edges, p the number of nodes and edges per graph, and l the mean cost
of a wrong label.

* A graph of one node is a sample of a classifier, and C is that of ``MulticlassSVM``.
* A hinge is summed over the nodes of a graph, whose neighbours tell much the same: a graph
  counts for no more than twenty parts. Larger C do not predict better on large graphs, but
  take many times as long.
* Nodes and edges share C: by features of nodes in a small unit alone (colours up to 255),
  it would be too small for edges to learn anything.
* Log-losses are flatter than hinges where labels are right: objective="log" takes 5 C.
* With losses and l multiplied by a, training has the same solution times a.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from maxmargin.core.tables.variances import C_for_scale, total_variance
from maxmargin.graphs.batch import Graphs

MOST_PARTS = 20.0
MOST_OVER_EDGES = 10.0
TIMES = {"log": 5.0}  # other objectives: 1


def C_by_scale(graphs: Graphs, weights: np.ndarray, objective: str) -> float:
    """The C of graphs with these sample weights, to three digits; 1 if nothing varies."""
    counts = np.diff(graphs.node_start)
    of_node = np.repeat(weights, counts)
    n_nodes = float(of_node.sum())
    if n_nodes == 0:
        return 1.0
    scale = _scale_of_nodes(graphs, of_node / n_nodes)
    of_edge = np.repeat(weights, np.diff(graphs.edge_start))
    if of_edge.any():
        edge = float(of_edge @ _squares_of_edges(graphs) / of_edge.sum())
        if edge > 0:
            scale = np.clip(scale, edge / MOST_OVER_EDGES, MOST_OVER_EDGES * edge)
    n_parts = (n_nodes + float(of_edge.sum())) / float(weights[counts > 0].sum())
    wrong = graphs.blocks.cost[graphs.blocks.cost > 0]
    cost = (
        float(of_node @ graphs.size) / n_nodes * (wrong.mean() if len(wrong) else 1.0)
    )
    cost = (cost or 1.0) * TIMES.get(objective, 1.0)
    return C_for_scale(scale * max(1.0, n_parts / MOST_PARTS) / cost)


def _scale_of_nodes(graphs: Graphs, share: np.ndarray) -> float:
    """The total variance of the features of a node, the mean over types."""
    rows = graphs.nodes
    width = int(rows.indices.max(initial=0)) + 1
    shape = len(rows.indptr) - 1, width
    table = csr_matrix((rows.values, rows.indices, rows.indptr), shape)
    total = 0.0
    for kind in range(len(graphs.blocks.states)):
        here = graphs.node_type == kind
        if here.any():
            weights = share[here]
            some = table[graphs.node_row[here]]
            total += float(weights.sum()) * total_variance(some, weights)
    return total


def _squares_of_edges(graphs: Graphs) -> np.ndarray:
    """|x_uv|^2 of every edge."""
    rows = graphs.edges
    before = np.concatenate([[0.0], np.cumsum(rows.values**2)])
    squares = before[rows.indptr[1:]] - before[rows.indptr[:-1]]
    return np.repeat(squares[graphs.table_row], np.diff(graphs.table_edges))
