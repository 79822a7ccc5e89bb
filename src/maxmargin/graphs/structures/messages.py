"""Room for the messages of every graph, which the next search begins with."""

from __future__ import annotations

import numpy as np

from maxmargin.graphs.batch import Graphs


def message_starts(graphs: Graphs) -> np.ndarray:
    """Where those of every example begin: a number per arc and state of its node."""
    n = len(graphs.node_start) - 1
    graph = np.repeat(np.arange(n), np.diff(graphs.node_start))
    nodes = np.arange(len(graph)) + graph
    degrees = graphs.arc_start[nodes + 1] - graphs.arc_start[nodes]
    sizes = degrees * graphs.blocks.states[graphs.node_type]
    each = np.bincount(graph, sizes, n)
    return np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
