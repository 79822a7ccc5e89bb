"""Files of graphs: NPZ archives (``npz_file.py``) or JSON lines (``json_lines.py``).

Which of both a file is, its first bytes say; what is written, the name: ``.npz`` or not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.files.npz import is_npz
from maxmargin.files.text_files import RawText, read_raw
from maxmargin.graphs import json_lines, npz_file
from maxmargin.graphs.input import PLAIN, GraphInput, read_graph, read_graphs
from maxmargin.graphs.labels import read_labels

Shape = tuple[int, int]


class GraphFile(NamedTuple):
    """Graphs, as :class:`maxmargin.GraphLabeler` takes them, and what is known of them."""

    X: list[dict[str, Any]]
    y: list[Any] | None  # labels of every graph, None where they are not known
    shapes: list[Shape | None]  # (rows, columns) of grids
    path: str
    where: Callable[[int], str]  # the place of a graph in the file


def read_graph_file(
    path: str | os.PathLike | RawText, truth: bool = True, encoding: str = "utf-8"
) -> GraphFile:
    """Read graphs from an NPZ file or from JSON lines (both perhaps gzip).

    Without ``truth``, labels are not looked at, and y is None.
    """
    raw = read_raw(path)
    form = npz_file if is_npz(raw) else json_lines
    found, where = form.entries(raw, truth, encoding)
    if not found:
        raise ValueError(f"{raw.path} has no graphs: give one at least.")
    X, y, shapes = [], [], []
    for i, entry in enumerate(found):
        graph = _read(entry.x, where(i))
        shapes.append(_shape(entry.shape, graph, where(i)))
        if truth:
            _check_labels(entry.labels, graph, where(i))
        X.append(entry.x)
        y.append(entry.labels)
    return GraphFile(X, y if truth else None, shapes, raw.path, where)


def write_graph_file(
    path: str | os.PathLike,
    X: Any,
    y: Any = None,
    shapes: list[Shape | None] | None = None,
    encoding: str = "utf-8",
) -> None:
    """Write graphs, in any form that GraphLabeler takes, perhaps with their labels.

    ``shapes`` are (rows, columns) of those that are grids, for pictures.
    """
    inputs = read_graphs(X)
    rows = None if y is None else read_labels(list(y), inputs)
    shapes = [None] * len(inputs) if shapes is None else list(shapes)
    if len(shapes) != len(inputs):
        raise ValueError(
            f"there are {len(inputs)} graphs, but {len(shapes)} shapes: give one for each, "
            "or None."
        )
    for i, graph in enumerate(inputs):
        shapes[i] = _shape(shapes[i], graph, f"X[{i}]")
    _form(path).write_graphs(path, inputs, rows, shapes, encoding)


def _form(path: str | os.PathLike):
    name = os.fsdecode(path).lower().removesuffix(".gz")
    return npz_file if name.endswith(".npz") else json_lines


# checks ---------------------------------------------------------------------------------


def _read(x: dict[str, Any], where: str) -> GraphInput:
    try:
        graph = read_graph(x, where)
    except OverflowError:
        raise ValueError(f"{where} has a number that is too large.") from None
    tables = [(f"{name} node".strip(), table) for name, table in graph.nodes.items()]
    tables += [
        ("edge", table) for _, table in graph.edges.values() if table is not None
    ]
    for what, table in tables:
        bad = np.argwhere(~np.isfinite(table.astype(np.float64)))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"{where}: feature {column} of {what} {row} is {table[row, column]}: "
                "features must be finite numbers."
            )
    return graph


def _shape(shape, graph: GraphInput, where: str) -> Shape | None:
    """(rows, columns) of a grid."""
    if shape is None:
        return None
    try:
        whole = [int(side) for side in shape if int(side) == side and side >= 0]
    except (TypeError, ValueError, OverflowError):
        whole = []
    n = graph.counts.get(PLAIN, 0)
    if len(whole) != 2 or graph.typed or whole[0] * whole[1] != n:
        raise ValueError(
            f"{where} has {n} nodes without types, but the shape {shape}: give the numbers "
            "of rows and columns of a grid, or leave it out."
        )
    return whole[0], whole[1]


def _check_labels(labels, graph: GraphInput, where: str) -> None:
    if labels is None:
        return
    if graph.typed != isinstance(labels, dict):
        what = "an object with a list for each type" if graph.typed else "a list"
        raise ValueError(f"{where}: the labels are not {what}, like the nodes.")
    given = labels if graph.typed else {PLAIN: labels}
    for name, row in given.items():
        of = f" of the {name!r} nodes" if name else ""
        if name not in graph.nodes:
            raise ValueError(f"{where} has labels{of}, but no such nodes.")
        if row is None:
            continue
        n = graph.counts.get(name, 0)
        if not isinstance(row, list) or len(row) != n:
            have = len(row) if isinstance(row, list) else "no list of"
            raise ValueError(
                f"{where} has {n} nodes, but {have} labels{of}: give one "
                "per node, null where it is not known."
            )
        for v, label in enumerate(row):
            if label is not None and type(label) not in (str, int):
                raise ValueError(
                    f"{where}: the label of node {v}{of} is {label!r}: labels are texts or "
                    "whole numbers."
                )
