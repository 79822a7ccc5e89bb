"""y of a GraphLabeler: a label for every node, ``None`` where it is not known.

y[i] is a list or an array of any shape, in the order of the nodes (an image of labels for
a grid); by type, a dict {type: labels}; for a networkx graph also a dict {node: label}; or
an object with labels ``y``, as of PyTorch Geometric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import chain
from typing import Any

import numpy as np

from maxmargin.core.tables.label_costs import cost_table
from maxmargin.graphs.input import PLAIN, GraphInput
from maxmargin.graphs.objects import as_array, is_data
from maxmargin.graphs.schema import Schema

WANTED = "labels must be all strings or all integers"


def read_labels(
    y: list, graphs: list[GraphInput], name: str = "y"
) -> list[dict[str, list]]:
    """The labels of every graph by type of node, as many as nodes."""
    return [
        _read(labels, graph, f"{name}[{i}]")
        for i, (labels, graph) in enumerate(zip(y, graphs, strict=True))
    ]


def compared(y: list, predicted: list, graphs: list[GraphInput]):
    """(sizes, true labels, predicted labels) of the nodes of every graph, type by type."""
    truth, found = read_labels(y, graphs), read_labels(predicted, graphs, "predicted")
    sizes = [
        [graph.sizes.get(t, np.ones(graph.counts.get(t, 0))) for t in row]
        for graph, row in zip(graphs, truth, strict=True)
    ]
    return (
        [np.concatenate([np.zeros(0), *each]) for each in sizes],
        *(
            [list(chain.from_iterable(row.values())) for row in y]
            for y in (truth, found)
        ),
    )


def _read(labels, graph: GraphInput, where: str) -> dict[str, list]:
    if is_data(labels):
        labels = labels.y
        if labels is None:
            raise ValueError(f"{where} has no labels: its y is None.")
    if labels is None:
        return {name: [None] * graph.counts.get(name, 0) for name in graph.nodes}
    if graph.typed:
        if not isinstance(labels, Mapping):
            raise ValueError(
                f"{where} must be a dict {{type: labels}}, like the nodes of its graph."
            )
        unknown = [name for name in labels if name not in graph.nodes]
        if unknown:
            raise ValueError(
                f"{where} has labels of {unknown[0]!r} nodes, but its graph has no such "
                "nodes."
            )
        given = {name: labels.get(name) for name in graph.nodes}
        where += "[{!r}]"
    else:
        if isinstance(labels, Mapping):
            labels = _by_name(labels, graph, where)
        given = {PLAIN: labels}
    out = {}
    for name, values in given.items():
        here, n = where.format(name), graph.counts.get(name, 0)
        out[name] = [None] * n if values is None else _row(values, here)
        if len(out[name]) != n:
            raise ValueError(
                f"{here} has {len(out[name])} labels, but its graph has {n} nodes: give "
                "one label per node, None where it is not known."
            )
    return out


def _by_name(labels, graph, where) -> list:
    if graph.names is None:
        raise ValueError(
            f"{where} is a dict, but its graph has no types and no names of nodes: give a "
            "list of labels."
        )
    unknown = [name for name in labels if name not in set(graph.names)]
    if unknown:
        raise ValueError(
            f"{where} has a label of {unknown[0]!r}, no node of its graph."
        )
    return [labels.get(name) for name in graph.names]


def _row(values, where: str) -> list:
    values = as_array(values)
    if isinstance(values, np.ndarray) and values.ndim:
        return values.ravel().tolist()
    if not isinstance(values, Iterable) or isinstance(
        values, (str, bytes, Mapping, Set, np.ndarray)
    ):
        raise ValueError(f"{where} is {values!r}: give a list of labels, one per node.")
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def label_sets(rows: list[dict[str, list]], types: list[str]) -> list[list]:
    """The distinct labels of every type of node, sorted."""
    found: dict[str, set] = {name: set() for name in types}
    kind: Any = None
    for i, row in enumerate(rows):
        for name, labels in row.items():
            try:
                new = set(labels) - found[name] - {None}
            except TypeError:
                raise ValueError(
                    f"y[{i}] holds something that cannot be a label: {WANTED}."
                ) from None
            for label in new:
                here = next((k for k in (str, int) if type(label) is k), None)
                if here is None:
                    raise ValueError(f"y[{i}] holds {label!r}: {WANTED}.")
                if kind not in (None, here):
                    raise ValueError(
                        f"y[{i}] holds {label!r}, but labels before it are of type "
                        f"{kind.__name__}: {WANTED}."
                    )
                kind = here
            found[name] |= new
    nothing = [name for name in types if not found[name]]
    if nothing:
        of = f" of the {nothing[0]!r} nodes" if nothing[0] else ""
        raise ValueError(f"y holds no known label{of}: some are needed.")
    if all(len(labels) == 1 for labels in found.values()):
        (label, *_) = found[types[0]]
        raise ValueError(
            f"y holds one label only ({label!r}): at least two labels are needed to learn "
            "to tell them apart."
        )
    return [sorted(found[name]) for name in types]


def numbered(rows, types, labels, missing: int = -1) -> np.ndarray:
    """int32: the numbers of all labels, graph by graph and type by type; None is -1."""
    numbers = [{label: k for k, label in enumerate(some)} for some in labels]
    flat: list[int] = []
    for i, row in enumerate(rows):
        for name, table in zip(types, numbers, strict=True):
            for label in row.get(name, ()):
                k = missing
                if label is not None:  # True is no 1, and a list no label
                    k = table.get(label, -2) if type(label) in (str, int) else -2
                if k == -2:
                    raise ValueError(
                        f"y[{i}] holds {label!r}, which is no label of the training data."
                    )
                flat.append(k)
    return np.array(flat, np.int32)


# losses -------------------------------------------------------------------------------


def node_costs(loss, schema: Schema) -> list[np.ndarray]:
    """For each type; a loss given as {type: loss} may differ by type."""
    if isinstance(loss, str) and loss == "zero-one":
        raise ValueError(
            "loss='zero-one' of whole graphs is not possible: choose 'hamming', weights of "
            "labels, a cost matrix or a function of two labels, summed over nodes."
        )
    if schema.typed and isinstance(loss, Mapping):
        if loss and set(loss) <= set(schema.node_types):
            each = [loss.get(name, "hamming") for name in schema.node_types]
            return [
                cost_table(own, labels)
                for own, labels in zip(each, schema.labels, strict=True)
            ]
        cost_table(loss, sorted({label for some in schema.labels for label in some}))
        return [
            cost_table({k: v for k, v in loss.items() if k in set(labels)}, labels)
            for labels in schema.labels
        ]
    return [cost_table(loss, labels) for labels in schema.labels]
