"""True and predicted labels of graphs side by side, type by type."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.graphs.input import GraphInput
from maxmargin.graphs.labels import read_labels

Rows = list[list[Any]]


def compared(inputs: list[GraphInput], y: Any, outputs: Any) -> tuple[list, Rows, Rows]:
    """(sizes, true labels, predicted labels) of every graph; None is not known."""
    sizes, truth, found = [], [], []
    for graph, row, output in zip(inputs, read_labels(y, inputs), outputs, strict=True):
        given = output if graph.typed else {"": output}
        truth.append([label for name in given for label in row[name]])
        found.append([v for name in given for v in np.asarray(given[name]).tolist()])
        each = [graph.sizes.get(t, np.ones(graph.count(t))) for t in given]
        sizes.append(np.concatenate([np.zeros(0), *each]))
    return sizes, truth, found
