"""True sets of labels as users write them: a 0/1 table, or a list of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse


def is_table(y) -> bool:
    """Whether y is a 0/1 table and not a list of sets."""
    return issparse(y) or isinstance(y, np.ndarray) or hasattr(y, "iloc")


def read_sets(y, classes=None) -> tuple[np.ndarray, np.ndarray]:
    """(0/1 matrix, labels of its columns) of a table or of a list of sets.

    ``classes`` are those of a fitted model: others are then an error.
    """
    if is_table(y):
        return _from_table(y, classes)
    sets = [_labels(i, labels) for i, labels in enumerate(_listed(y))]
    if classes is None:
        names = set().union(*sets)
        kinds = {isinstance(name, str) for name in names}
        if len(kinds) > 1:
            raise ValueError(
                "y mixes texts and numbers as labels: write them all in one way."
            )
        if not names:
            raise ValueError("no sample in y has a label: there is nothing to learn.")
        classes = np.array(sorted(names))
    number = {name: k for k, name in enumerate(classes.tolist())}
    truth = np.zeros((len(sets), len(classes)), np.uint8)
    for i, labels in enumerate(sets):
        for label in labels:
            if label not in number:
                raise ValueError(
                    f"sample {i} has the label {label!r}, which the training data do not "
                    "have: remove it."
                )
            truth[i, number[label]] = 1
    return truth, classes


def write_sets(truth, classes) -> list[tuple[Any, ...]]:
    """Sets as tuples of labels, sorted."""
    names = classes.tolist()
    return [tuple(names[k] for k in np.flatnonzero(row).tolist()) for row in truth]


def _from_table(y, classes):
    table = y.toarray() if issparse(y) else np.asarray(y)
    if table.ndim != 2:
        raise ValueError(
            f"y is an array of shape {table.shape}: give a table of 0 and 1 with a row per "
            "sample and a column per label, or a list of sets of labels."
        )
    bad = np.argwhere((table != 0) & (table != 1))
    if table.dtype.kind not in "biuf" or len(bad):
        where = (
            f"y[{bad[0][0]}, {bad[0][1]}] is {table[tuple(bad[0])]!r}"
            if len(bad)
            else (f"y holds {table.dtype}")
        )
        raise ValueError(f"{where}: a table of labels holds 0 and 1 only.")
    if table.shape[1] == 0:
        raise ValueError("y has no columns: give one per label.")
    if classes is not None and table.shape[1] != len(classes):
        raise ValueError(
            f"y has {table.shape[1]} columns, but the model knows {len(classes)} labels."
        )
    names = np.arange(table.shape[1]) if classes is None else classes
    return table.astype(np.uint8), names


def _listed(y) -> list:
    if isinstance(y, (str, bytes, dict)) or y is None:
        raise ValueError(_WANTED.format(f"a {type(y).__name__}"))
    try:
        return list(y)
    except TypeError:
        raise ValueError(_WANTED.format(f"a {type(y).__name__}")) from None


_WANTED = "y is {}: give a set of labels per sample in a list, or a table of 0 and 1."


def _labels(i: int, labels) -> set:
    if isinstance(labels, (str, bytes)):
        raise ValueError(
            f"y[{i}] is the text {labels!r}: give a set of labels, also for one, such as "
            f"{{{labels!r}}}."
        )
    try:
        found = set(labels)
    except TypeError:
        raise ValueError(
            f"y[{i}] is {labels!r}: give a set of labels, texts or whole numbers."
        ) from None
    for label in found:
        if not isinstance(label, (str, int, np.integer)) or isinstance(label, bool):
            raise ValueError(
                f"y[{i}] has the label {label!r}: labels are texts or whole numbers."
            )
    return found


def check_as_many(n_inputs: int, n_sets: int) -> None:
    if n_inputs != n_sets:
        raise ValueError(
            f"X has {n_inputs} samples and y {n_sets}: give as many sets as samples."
        )
