"""Rows of a Gaussian kernel's table by differences of columns, in one pass.

With few columns, products and norms (``kernels/distances.py``) cost many passes over a
table; differences need one, and lose no digits.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import kernel

FEW = 64  # columns, up to which products are not quicker
TILE = 1024  # samples whose distances stay in the processor's cache


class GaussianRows:
    """From numbers of samples to their rows, which hold until the next call."""

    def __init__(self, X: np.ndarray, gamma: float):
        self.X, self.columns = np.ascontiguousarray(X), np.ascontiguousarray(X.T)
        self.gamma = X.dtype.type(gamma)
        self.buffer = np.empty((0, len(X)), X.dtype)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        if len(self.buffer) < len(rows):  # new memory costs as much as a row's values
            self.buffer = np.empty((len(rows), len(self.X)), self.X.dtype)
        out = self.buffer[: len(rows)]
        exponents(self.X, self.columns, np.asarray(rows, np.int64), self.gamma, out)
        return np.exp(out, out=out)


@kernel
def exponents(X, columns, rows, gamma, out):
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
