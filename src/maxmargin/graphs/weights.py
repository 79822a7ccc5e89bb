"""The weights of a GraphLabeler as its users see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.graphs.schema import Schema


def public_weights(schema: Schema, w: np.ndarray) -> dict[str, Any]:
    """``classes_``, ``coef_``, ``intercept_`` and ``edge_coef_``; dicts where types are."""
    coef, intercept, edges, at = {}, {}, {}, 0
    for name, width, labels in zip(
        schema.node_types, schema.node_widths, schema.labels, strict=True
    ):
        size = width * len(labels)
        block = w[at : at + size].reshape(width, len(labels))
        d = width - schema.constant
        coef[name] = block[:d].T
        intercept[name] = block[d] if schema.constant else np.zeros(len(labels))
        at += size
    for s, key in enumerate(schema.edge_types):
        cells, width = schema.cells(s), schema.edge_widths[s]
        rows = int(cells.max(initial=-1)) + 1
        block = w[at : at + rows * width].reshape(width, rows)
        at += rows * width
        if schema.edges == "associative":
            edges[key] = block[:, 0] if rows else np.zeros(width)
        else:
            edges[key] = np.moveaxis(block[:, cells], 0, -1)
    classes = {
        name: np.array(labels)
        for name, labels in zip(schema.node_types, schema.labels, strict=True)
    }
    found = {
        "classes_": classes,
        "coef_": coef,
        "intercept_": intercept,
        "edge_coef_": edges,
    }
    if schema.typed:
        return found
    return {name: next(iter(table.values())) for name, table in found.items()}
