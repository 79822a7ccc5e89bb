"""Rows of a Gaussian kernel's table, in few passes over what is computed.

With few columns, exponents are sums of squared differences, one pass for all. With more,
they are |x|^2 + |y|^2 - 2 x.y around the mean, as in ``kernels/distances.py``, and pairs of
which that says little are computed again.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined, kernel
from maxmargin.kernels.tables import squared_norms

FEW = 32  # columns, up to which differences are as quick as products
TILE = 1024  # samples whose distances stay in the processor's cache


class GaussianRows:
    """From numbers of samples to their rows, which hold until the worker's next call."""

    def __init__(self, X: np.ndarray, gamma: float):
        self.X, self.gamma = np.ascontiguousarray(X), X.dtype.type(gamma)
        self.buffers: dict[int, np.ndarray] = {}
        self.columns = None
        if X.shape[1] <= FEW:
            self.columns = np.ascontiguousarray(X.T)
        else:
            self.X = self.X - X.mean(0)
            self.norms = squared_norms(self.X)
            self.near = X.dtype.type(np.finfo(X.dtype).eps ** 0.5)

    def __call__(
        self, rows: np.ndarray, part: slice | None = None, worker: int = 0
    ) -> np.ndarray:
        """At a slice of the samples, or at all."""
        part = part or slice(0, len(self.X))
        out = self._buffer(worker, len(rows), part.stop - part.start)
        rows = np.asarray(rows, np.int64)
        if self.columns is not None:
            by_differences(self.X, self.columns, rows, self.gamma, part.start, out)
        else:
            np.matmul(self.X[rows], self.X[part].T, out=out)
            here = rows, self.near, self.gamma, part.start, out
            from_products(self.X, self.norms, *here)
        return np.exp(out, out=out)

    def _buffer(self, worker: int, rows: int, width: int) -> np.ndarray:
        """Memory of a worker's: new memory costs as much as a row's values."""
        known = self.buffers.get(worker)
        if known is None or len(known) < rows * width:
            known = self.buffers[worker] = np.empty(rows * width, self.X.dtype)
        return known[: rows * width].reshape(rows, width)


@kernel
def by_differences(X, columns, rows, gamma, first, out):
    """out_ij = -gamma |x_(rows_i) - x_(first + j)|^2."""
    d, end = len(columns), first + out.shape[1]
    zero = gamma - gamma
    for low in range(first, end, TILE):
        high = min(low + TILE, end)
        for i in range(len(rows)):
            x, values = X[rows[i]], out[i, low - first : high - first]
            for j in range(high - low):
                values[j] = zero
            k = 0
            while k + 2 <= d:
                a, b = columns[k, low:high], columns[k + 1, low:high]
                s, t = x[k], x[k + 1]
                for j in range(high - low):
                    values[j] -= (a[j] - s) * (a[j] - s) + (b[j] - t) * (b[j] - t)
                k += 2
            if k < d:
                a, s = columns[k, low:high], x[k]
                for j in range(high - low):
                    values[j] -= (a[j] - s) * (a[j] - s)
            for j in range(high - low):
                values[j] *= gamma


@kernel
def from_products(X, all_norms, rows, near, gamma, first, out):
    """The same, where ``out`` holds products; those that cancel by differences."""
    n, two = out.shape[1], gamma / gamma + gamma / gamma
    norms = all_norms[first : first + n]
    for i in range(len(rows)):
        values, norm = out[i], all_norms[rows[i]]
        for j in range(n):
            values[j] = (norm + norms[j]) - two * values[j]
        for j in range(n):
            if values[j] <= near * (norm + norms[j]):
                values[j] = distance(X[rows[i]], X[first + j], gamma - gamma)
        for j in range(n):
            values[j] *= -gamma


@inlined
def distance(x, y, total):
    for k in range(len(x)):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return total
