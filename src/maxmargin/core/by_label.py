"""What solvers may know of structures whose outputs are labels: classes.

The functions of such a structure are solve_block() and emit_block() of the contract, which
``testing.check_structure`` compares with a list of all outputs.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np


class OutputsByLabel(Protocol):
    """A batch with solve_block() and emit_block().

    Every output is a label in one slot and has its own dual variable, so that those of all
    examples are a table with a row for each.
    """

    start: np.ndarray
    y: np.ndarray
    values: np.ndarray  # of the features, all examples one after the other
    norms: np.ndarray  # |x_i|^2
    cost: np.ndarray  # (labels, width): cost[true, predicted]
    n_labels: int
    width: int  # of the table: n_labels, padded
    n_features: int


@runtime_checkable
class LinearInLabels(OutputsByLabel, Protocol):
    """The same where <w, Psi(x, y)> = x.w_y: second-order steps need the tables themselves.

    (``solvers/by_label/proximal_newton.py``)
    """

    def dense_rows(self) -> np.ndarray:
        """x as a table (examples, features), in double precision."""

    def weight_table(self, w: np.ndarray) -> np.ndarray:
        """w as a table (features, labels), a view."""


def by_label(batch: Any) -> OutputsByLabel:
    """The batch, if it has all that is read of it; else TypeError says what it lacks."""
    lacking = [n for n in OutputsByLabel.__annotations__ if not hasattr(batch, n)]
    if lacking:
        raise TypeError(
            f"{type(batch).__name__} has solve_block(), but not what solvers read beside "
            f"it: {', '.join(lacking)} (core/by_label.py)."
        )
    return batch
