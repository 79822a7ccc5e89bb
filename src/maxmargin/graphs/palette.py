"""Colours of labels, and the photograph behind a graph of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.graphs.input import PLAIN, dense, read_graph

# Okabe and Ito, in an order in which neighbours differ in lightness too
COLOURS: tuple[str, ...] = (
    *("#0072B2", "#F0E442", "#D55E00", "#56B4E9", "#009E73", "#E69F00"),
    *("#CC79A7", "#332288", "#DDDDDD", "#882255"),
)


def photograph(x: Any, shape: tuple[int, int]) -> np.ndarray:
    """The first three features of nodes as colours, or the first one as grey."""
    table = np.asarray(dense(read_graph(x, "the graph").nodes[PLAIN]), float)
    channels = 3 if table.shape[1] >= 3 else 1
    if table.shape[1] == 0:
        table = np.zeros((len(table), 1))
    pixels = table[:, :channels].reshape(*shape, channels)
    return pixels if channels == 3 else pixels[:, :, 0]
