"""Labels of a TaxonomySVM: single classes and sets of nodes, checked and numbered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.classes.taxonomy import (
    Node,
    Taxonomy,
    as_taxonomy,
    taxonomy_of_labels,
)
from maxmargin.core.listed import listed


class Lines(NamedTuple):
    """The nodes that have weights, and which of them each class has."""

    nodes: list[int]  # positions in the taxonomy
    by_class: list[list[int]]  # numbers within nodes


class NodeSets(NamedTuple):
    """Sets of nodes as a table, closed under parents."""

    taxonomy: Taxonomy
    nodes: list[int]  # positions in the taxonomy: those that occur
    table: np.ndarray  # (samples, nodes), 0 or 1
    columns: list[Node] | None  # of an indicator matrix


def resolve(given: Any, labels, separator: str) -> Taxonomy:
    """The taxonomy that was given, or the one that is written in the labels."""
    if given is None:
        return taxonomy_of_labels(labels, separator)
    return as_taxonomy(given, separator)


def check_known(taxonomy: Taxonomy, y, classes) -> None:
    """Name the first sample whose label is not a node."""
    unknown = [label for label in classes if label not in taxonomy]
    if unknown:
        i = next(i for i, label in enumerate(y) if label in unknown)
        label = y[i].item() if isinstance(y[i], np.generic) else y[i]
        raise ValueError(unknown_label(f"y[{i}]", label, taxonomy))


def unknown_label(where: str, label: Any, taxonomy: Taxonomy) -> str:
    shown = ", ".join(repr(node) for node in taxonomy.leaves[:3])
    return (
        f"{where} is {label!r}, which is not in the taxonomy (nodes such as {shown}): "
        "correct the label or add it to the taxonomy."
    )


def class_lines(taxonomy: Taxonomy, classes) -> Lines:
    """Lineages of the classes without the nodes above all of them, which cancel."""
    lines = [taxonomy.lineage(taxonomy.position_of(label)) for label in classes]
    shared = set(lines[0]).intersection(*lines[1:])
    used = sorted(set().union(*lines) - shared)
    number = {v: k for k, v in enumerate(used)}
    return Lines(used, [[number[v] for v in line if v in number] for line in lines])


def node_weights(given: Any, taxonomy: Taxonomy, nodes: list[int]) -> np.ndarray:
    """z of the nodes: from None, a dict by name, or a function of the depth."""
    if given is None:
        return np.ones(len(nodes))
    names = [taxonomy.nodes[v] for v in nodes]
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in taxonomy]
        if unknown:
            raise ValueError(
                f"node_weights names {unknown[0]!r}, which is not in the taxonomy: "
                "remove it."
            )
        found = [given.get(name, 1.0) for name in names]
    elif isinstance(given, Callable):
        found = [given(int(taxonomy.depth[v])) for v in nodes]
    else:
        raise ValueError(
            f"node_weights={given!r} is not possible: give None, a dict {{node: weight}} "
            "or a function of the depth."
        )
    for name, z in zip(names, found, strict=True):
        try:
            good = 0 < float(z) < np.inf and not isinstance(z, str)
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            raise ValueError(
                f"the weight of the node {name!r} is {z!r}: it must be a positive number."
            )
    return np.array(found, float)


# sets of nodes -----------------------------------------------------------------------


def read_sets(y, n: int, given: Any, separator: str, columns) -> NodeSets:
    """Training labels of many nodes each: lists of labels, or an indicator matrix."""
    sets, columns = as_sets(y, columns)
    if len(sets) != n:
        raise ValueError(f"X has {n} samples, but y has {len(sets)}.")
    labels = sorted(set().union(*sets), key=lambda z: (str(type(z)), z))
    if given is None and columns is not None:
        labels = columns
    if not labels or not any(sets):
        raise ValueError("y holds no label at all: give some samples labels.")
    taxonomy = resolve(given, labels, separator)
    for name in columns or ():
        if name not in taxonomy:
            raise ValueError(
                f"column {columns.index(name)} of y stands for {name!r}, which is not in "
                "the taxonomy: name the columns with nodes=[...]."
            )
    marks = mark_sets(taxonomy, sets)
    used = np.flatnonzero(marks.any(axis=0)).tolist()
    return NodeSets(taxonomy, used, marks[:, used].astype(np.int32), columns)


def as_sets(y, columns) -> tuple[list[set], list | None]:
    """Sets of labels from lists or a 0/1 matrix; columns are named if it is a matrix."""
    matrix = y.toarray() if issparse(y) else y
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
        return _from_matrix(matrix, columns)
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind != "O":
        raise ValueError(
            "y has one label per sample; with multilabel=True give a list of labels "
            "for every sample, also for one, or a 0/1 matrix."
        )
    rows = listed(matrix, f"y is {y!r}, not a list with the labels of samples.")
    return [_one_set(row, i) for i, row in enumerate(rows)], None


def _one_set(row, i: int) -> set:
    wanted = "with multilabel=True give a list of labels, also for one label or none."
    some = isinstance(row, (set, frozenset))
    out = set()
    for label in row if some else listed(row, f"y[{i}] is {row!r}; {wanted}"):
        label = label.item() if isinstance(label, np.generic) else label
        if isinstance(label, bool) or not isinstance(label, (str, int)):
            raise ValueError(
                f"y[{i}] holds {label!r}: labels must be strings or whole numbers."
            )
        out.add(label)
    return out


def _from_matrix(matrix, columns) -> tuple[list[set], list]:
    if columns is None:
        columns = range(matrix.shape[1])
    columns = [c.item() if isinstance(c, np.generic) else c for c in columns]
    if len(columns) != matrix.shape[1] or len(set(columns)) != len(columns):
        raise ValueError(
            f"y has {matrix.shape[1]} columns, but nodes names {len(set(columns))} "
            "different ones: give every column its own name."
        )
    good = np.isin(matrix, (0, 1)) if matrix.dtype.kind in "biuf" else None
    if good is None or not good.all():
        i, j = (0, 0) if good is None else np.argwhere(~good)[0]
        raise ValueError(
            f"y[{i}, {j}] is {matrix[i, j]!r}, but a matrix of labels holds only 0 and 1."
        )
    return [{columns[j] for j in np.flatnonzero(row)} for row in matrix], columns


def mark_sets(taxonomy: Taxonomy, sets) -> np.ndarray:
    """(samples, all nodes) bool: the sets and all ancestors."""
    marks = np.zeros((len(sets), len(taxonomy)), bool)
    for i, labels in enumerate(sets):
        for label in labels:
            if label not in taxonomy:
                raise ValueError(unknown_label(f"a label of y[{i}]", label, taxonomy))
            marks[i, list(taxonomy.lineage(taxonomy.position[label]))] = True
    return marks


def parents_within(taxonomy: Taxonomy, nodes: list[int]) -> list[list[int]]:
    """Parents of the nodes, as numbers within them. They hold all their ancestors."""
    number = {v: k for k, v in enumerate(nodes)}
    return [[number[p] for p in taxonomy.parents[v]] for v in nodes]
