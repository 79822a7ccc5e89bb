"""Losses between labels: by name, as weights, as a cost matrix or as a function.

Every loss of labels becomes one table ``cost[true, predicted]`` over the sorted classes;
sequences add it up over positions. The table is checked before any work: finite, never
negative, zero on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

Loss = str | Mapping | np.ndarray | Callable


def cost_table(loss: Loss, classes) -> np.ndarray:
    """``cost[true, predicted]`` for the given classes.

    ``loss`` is one of

    * ``"hamming"`` or ``"zero-one"``: 1 for every wrong label;
    * ``"absolute"``: ``|true - predicted|``, for labels that are numbers (grades, stages);
    * a dict ``{label: weight}``: weighted Hamming, a missed label costs its weight
      (labels left out weigh 1);
    * a square array, rows true and columns predicted, in the order of ``classes``;
    * a function ``loss(true, predicted)`` of two labels.

    >>> cost_table({"b": 2.0}, ["a", "b"])
    array([[0., 1.],
           [2., 0.]])
    """
    classes = list(classes)
    n = len(classes)
    if isinstance(loss, str):
        if loss == "absolute":
            values = np.array([_value(label) for label in classes])
            return np.abs(values[:, None] - values)
        if loss not in ("hamming", "zero-one"):
            raise _unknown(loss)
        return 1.0 - np.eye(n)
    if isinstance(loss, Mapping):
        table = label_weights(loss, classes)[:, None] * (1.0 - np.eye(n))
    elif callable(loss):
        table = np.array(
            [
                [
                    _number(loss(a, b), f"loss(true={a!r}, predicted={b!r})")
                    for b in classes
                ]
                for a in classes
            ]
        )
    elif not hasattr(loss, "__len__"):
        raise _unknown(loss)
    else:
        table = _matrix(loss)
        if table.shape != (n, n):
            raise ValueError(
                f"the cost matrix has shape {table.shape}, but there are {n} labels "
                f"({_some(classes)}): give an array of shape ({n}, {n}), rows true and "
                "columns predicted, in sorted order of the labels."
            )
    return check_cost_table(table, classes)


def label_weights(loss: Mapping, classes) -> np.ndarray:
    """What each label weighs: 1, unless the mapping says otherwise."""
    unknown = [label for label in loss if label not in set(classes)]
    if unknown:
        raise ValueError(
            f"loss gives a weight to {unknown[0]!r}, which is not among the labels "
            f"of the training data ({_some(list(classes))}); remove it."
        )
    weights = [
        _number(loss.get(label, 1.0), f"the weight of {label!r} in loss")
        for label in classes
    ]
    for label, weight in zip(classes, weights, strict=True):
        if not 0 <= weight < np.inf:
            raise ValueError(
                f"the weight of {label!r} in loss is {weight}, which is negative or not "
                "finite: weights must be numbers, zero or more."
            )
    return np.array(weights)


def check_cost_table(table: np.ndarray, classes) -> np.ndarray:
    """Refuse a table that is not a loss, naming the labels where it fails."""

    def fail(mask, what, remedy):
        a, b = np.argwhere(mask)[0]
        raise ValueError(
            f"loss(true={classes[a]!r}, predicted={classes[b]!r}) is {table[a, b]}, "
            f"{what}: {remedy}."
        )

    if not np.isfinite(table).all():
        fail(~np.isfinite(table), "which is not finite", "give every pair a number")
    if (table < 0).any():
        fail(table < 0, "which is negative", "losses must be zero or more")
    off = np.eye(len(table), dtype=bool) & (table != 0)
    if off.any():
        fail(off, "but a loss must be zero on the truth", "set the diagonal to zero")
    return table


def _value(label) -> float:
    """A label as the number that it stands for; files have texts, such as "3"."""
    try:
        value = float(label)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise ValueError(
            f"loss='absolute' is the distance of labels that are numbers, and {label!r} is "
            "none: choose another loss, such as a cost matrix."
        )
    return value


def _unknown(loss) -> ValueError:
    return ValueError(
        f'loss={loss!r} is not known; choose "hamming", "zero-one", "absolute", a '
        "dict of label weights, a cost matrix or a function of two labels."
    )


def _number(value, what) -> float:
    try:
        if isinstance(value, (str, bytes)):  # float() would read "1"
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{what} is {value!r}, which is not a number that a float can hold: give a "
            "finite number, zero or more."
        ) from None


def _matrix(loss) -> np.ndarray:
    try:
        table = np.asarray(loss)
        if table.dtype.kind not in "biufO":  # numpy would read texts and drop 1j
            raise TypeError
        return table.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "the cost matrix is not a table of numbers: give a square array of finite "
            "numbers, rows true and columns predicted."
        ) from None


def _some(labels) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return shown + (", ..." if len(labels) > 8 else "")
