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
    """From numbers of samples to their rows, which hold until the next call."""

    def __init__(self, X: np.ndarray, gamma: float):
        self.X, self.gamma = np.ascontiguousarray(X), X.dtype.type(gamma)
        self.buffer = np.empty((0, len(X)), X.dtype)
        self.columns = None
        if X.shape[1] <= FEW:
            self.columns = np.ascontiguousarray(X.T)
        else:
            self.X = self.X - X.mean(0)
            self.norms = squared_norms(self.X)
            self.near = X.dtype.type(np.finfo(X.dtype).eps ** 0.5)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        if len(self.buffer) < len(rows):  # new memory costs as much as a row's values
            self.buffer = np.empty((len(rows), len(self.X)), self.X.dtype)
        out, rows = self.buffer[: len(rows)], np.asarray(rows, np.int64)
        if self.columns is not None:
            by_differences(self.X, self.columns, rows, self.gamma, out)
        else:
            np.matmul(self.X[rows], self.X.T, out=out)
            from_products(self.X, self.norms, rows, self.near, self.gamma, out)
        return np.exp(out, out=out)


@kernel
def by_differences(X, columns, rows, gamma, out):
    """out_ij = -gamma |x_(rows_i) - x_j|^2."""
    d, n = columns.shape
    zero = gamma - gamma
    for low in range(0, n, TILE):
        high = min(low + TILE, n)
        for i in range(len(rows)):
            x, values = X[rows[i]], out[i, low:high]
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
def from_products(X, norms, rows, near, gamma, out):
    """The same, where ``out`` holds products; those that cancel by differences."""
    n, two = len(norms), gamma / gamma + gamma / gamma
    for i in range(len(rows)):
        values, norm = out[i], norms[rows[i]]
        for j in range(n):
            values[j] = (norm + norms[j]) - two * values[j]
        for j in range(n):
            if values[j] <= near * (norm + norms[j]):
                values[j] = distance(X[rows[i]], X[j], gamma - gamma)
        for j in range(n):
            values[j] *= -gamma


@inlined
def distance(x, y, total):
    for k in range(len(x)):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return total
