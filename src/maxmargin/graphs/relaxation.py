"""What the relaxed search says of nodes: shares of labels, not all of them 0 or 1."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from maxmargin.graphs.choice import relaxed_batch
from maxmargin.graphs.inference.fractional import UNIT


def relaxed_shares(graphs, w, tol: float, threads: int) -> list[np.ndarray]:
    """Shares of the states of all nodes of every graph, in the layout of theta."""
    from maxmargin.core.decode import decode

    y = np.zeros(int(graphs.node_start[-1]), np.int32)
    batch = relaxed_batch(graphs, y, tol)
    flat = decode(batch, w, threads)
    found = []
    for i, (a, _) in enumerate(pairwise(batch.start.tolist())):
        # places of nodes have one entry more than nodes, graph by graph
        nodes = int(graphs.node_at[graphs.node_start[i + 1] + i])
        found.append(flat[a : a + nodes] / UNIT)
    return found
