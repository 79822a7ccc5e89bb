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


def named_weights(model) -> list[tuple[str, str, float]]:
    """(group, name, weight) of all weights; features have their numbers as names."""

    def by_type(value):
        return value if isinstance(value, dict) else {"": value}

    out, schema = [], model._schema
    feature = "feature" if model.kernel is None else "basis point"
    classes, coef = by_type(model.classes_), by_type(model.coef_)
    intercept = by_type(model.intercept_)
    for name, labels in classes.items():
        group = f"{name} nodes".strip()
        for k, label in enumerate(labels.tolist()):
            row = enumerate(coef[name][k].tolist())
            out += [(group, f"{label}, {feature} {j}", value) for j, value in row]
            if schema.constant:
                out.append((group, f"{label}, constant", float(intercept[name][k])))
    for s, key in enumerate(schema.edge_types):
        if (schema.cells(s) < 0).all():
            continue
        table = model.edge_coef_[key] if schema.typed else model.edge_coef_
        group = f"edges {' '.join(filter(None, key))}".strip()
        ends = [schema.labels[t] for t in schema.ends(s)]
        once = model.edges == "symmetric" and key[0] == key[2]
        rows = _edge_rows(table, ends, schema.featured[s], once)
        out += [(group, *row) for row in rows]
    return out


def _edge_rows(table, ends, featured: bool, once: bool) -> list[tuple[str, float]]:
    """(name, weight) of the edges of one type; each pair once, where orders are equal."""

    def of(j: int) -> str:
        return f", feature {j}" if featured else ""

    if table.ndim == 1:
        return [(f"equal labels{of(j)}", float(value)) for j, value in enumerate(table)]
    return [
        (f"{a} - {b}{of(j)}", float(value))
        for i, (a, row) in enumerate(zip(ends[0], table, strict=True))
        for k, (b, cell) in enumerate(zip(ends[1], row, strict=True))
        if k >= i or not once
        for j, value in enumerate(cell)
    ]
