"""Inputs that are rows of features: one of them, and what differs between two outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.explain.explanation import Contribution, ranked

CONSTANT = "(intercept)"


def one_row(check: Callable[[Any], Any], x: Any) -> tuple[np.ndarray, np.ndarray]:
    """(columns, values) of one sample that are not zero; ``check`` is of the estimator."""
    if hasattr(x, "to_frame") and getattr(x, "ndim", 1) == 1:  # a row of a DataFrame
        x = x.to_frame().T.infer_objects()
    elif not hasattr(x, "iloc") and not hasattr(x, "tocsr") and np.ndim(x) == 1:
        x = [x]
    table = check(x)
    if table.shape[0] != 1:
        raise ValueError(
            f"x has {table.shape[0]} rows: explain takes one sample, a row of features."
        )
    row = np.asarray(table.toarray() if hasattr(table, "toarray") else table)[0]
    columns = np.flatnonzero(row)
    return columns, row[columns].astype(float)


def differences(
    row: tuple[np.ndarray, np.ndarray], weights: Any, constant: float, names: list[str]
) -> list[Contribution]:
    """What the features of a row contribute, by the weights of the two outputs apart."""
    columns, values = row
    found = [
        (names[j], value, float(weights[j]))
        for j, value in zip(columns.tolist(), values.tolist(), strict=True)
    ]
    return ranked([*found, (CONSTANT, 1.0, float(constant))])
