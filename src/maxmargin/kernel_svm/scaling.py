"""Columns brought to one scale before the kernel sees them.

A kernel of distances or products hears the columns with the largest numbers. With ``scale``
a column x becomes (x - center) / width, center and width read from the training data:

    "standard"   mean and standard deviation
    "range"      least value and largest minus least: training values lie in [0, 1]

Sparse tables stay sparse: there the center is 0, and the width the root of the mean square,
or the largest absolute value. Columns that do not vary have the width 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.saved import Saved
from maxmargin.kernels.inputs import is_sparse


@dataclass(frozen=True)
class Scaling:
    """(x - center) / width, column by column."""

    center: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, X: Any, scale: str) -> Scaling:
        if is_sparse(X):
            center = np.zeros(X.shape[1])
            magnitudes = abs(X).astype(np.float64)
            if scale == "range":
                width = magnitudes.max(axis=0).toarray().ravel()
            else:
                squares = magnitudes.multiply(magnitudes).sum(axis=0)
                width = np.sqrt(np.asarray(squares).ravel() / X.shape[0])
        elif scale == "range":
            center = X.min(axis=0).astype(np.float64)
            width = X.max(axis=0) - center
        else:
            center = X.mean(axis=0, dtype=np.float64)
            width = X.std(axis=0, dtype=np.float64)
            # the rounded mean of equal numbers is not them
            width[X.min(axis=0) == X.max(axis=0)] = 0.0
        return cls(center, np.where(width > 0, width, 1.0))

    def apply(self, X: Any) -> Any:
        """The scaled table, of the same precision."""
        if is_sparse(X):
            if not self.center.any():
                return _times(X, 1.0 / self.width)
            X = X.toarray()
        return ((X - self.center) / self.width).astype(X.dtype)

    def undo(self, X: Any) -> Any:
        """Scaled rows in the units of the columns."""
        if is_sparse(X):
            return _times(X, self.width)
        return (X * self.width + self.center).astype(X.dtype)

    @classmethod
    def saved(cls, saved: Saved, columns: int) -> Scaling:
        center = saved.floats("center", columns, dtype=np.float64)
        width = saved.floats("width", columns, dtype=np.float64)
        if not (width > 0).all():
            raise ValueError("'width' is not positive")
        return cls(center, width)


def _times(X: Any, factors: np.ndarray) -> Any:
    X = X.tocsr(copy=True)
    X.data = (X.data * factors[X.indices]).astype(X.dtype)
    return X


def scaled(model: Any, X: Any) -> tuple[Any, Scaling | None]:
    """(what the kernel sees of training inputs, how it was made)."""
    if model.scale is None:
        return X, None
    given = getattr(model.kernel, "kind", model.kernel) == "precomputed"
    if given or getattr(X, "ndim", 0) != 2:
        what = (
            "a precomputed matrix" if given else "samples that are not rows of numbers"
        )
        raise ValueError(
            f"scale={model.scale!r} is not possible with {what}: leave it out."
        )
    scaling = Scaling.of(X, model.scale)
    return scaling.apply(X), scaling
