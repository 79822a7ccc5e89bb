"""Fewer columns for the same distances: a rotation, and one column for the rest.

A basis point may lie anywhere, and good ones lie near averages of data, that is in the
span of the first principal components. With these as axes around the mean, and the length
of what is left of x as one more column, |x - b|^2 is exact for every b in that span:

    |x - b|^2 = |U'(x - mean) - U'(b - mean)|^2 + |rest of x|^2.

So the search for basis points of a kernel of distances works on r + 1 columns instead of
d, with the same kernel values (images of 784 pixels: about 100). That costs nothing where
neighbouring columns are alike, as of pixels. Where rare columns matter, points that cannot
have them are bad ones (w8a: 97.6% instead of 98.7), so the variance must lie in few axes.
"""

from __future__ import annotations

import numpy as np

# Share of the variance that the axes keep: as many as are cheap for the first, others only
# as far as the second.
VARIANCE, ENOUGH = 0.97, 0.9
CHEAP = 100
SAMPLE = 10_000  # rows from which they are read
NOTHING = 1e-12  # of an axis of length 1
MANY = 400  # columns; fewer are searched as they are
CONCENTRATED = 0.35  # share of columns that may hold the first share of the variance


class Isometry:
    """``encode`` gives the columns, ``decode`` the points whose last column is 0."""

    def __init__(self, mean: np.ndarray, axes: np.ndarray):
        self.mean, self.axes = mean, axes

    def encode(self, X: np.ndarray) -> np.ndarray:
        centred = X - self.mean
        out = np.empty((len(X), self.axes.shape[1] + 1), X.dtype)
        along = np.matmul(centred, self.axes, out=out[:, :-1])
        rest = np.einsum("ij,ij->i", centred, centred)
        rest -= np.einsum("ij,ij->i", along, along)
        out[:, -1] = np.sqrt(np.maximum(rest, 0))
        return out

    def decode(self, points: np.ndarray) -> np.ndarray:
        return points[:, :-1] @ self.axes.T + self.mean


def find_isometry(X: np.ndarray, rng: np.random.Generator) -> Isometry | None:
    """The rotation for X, or None where it would not save much."""
    n, d = X.shape
    if d < MANY or n < 2:
        return None
    sample = X if n <= SAMPLE else X[rng.choice(n, SAMPLE, replace=False)]
    mean = sample.mean(axis=0)
    centred = sample - mean
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    total = values.sum()
    if total <= 0:
        return None
    kept = np.searchsorted(np.cumsum(values), [ENOUGH * total, VARIANCE * total]) + 1
    r = max(int(kept[0]), min(CHEAP, int(kept[1])))
    if kept[1] > CONCENTRATED * d:  # rare columns matter too, as in sparse tables
        return None
    axes = vectors[:, :r]
    # A pixel that is always 0 gets weights such as 1e-20, whose products are subnormal
    # numbers, and these are several times slower in every later product.
    axes = np.where(np.abs(axes) < NOTHING, 0.0, axes)
    return Isometry(mean, np.ascontiguousarray(axes, X.dtype))
