"""A basis of points, and coordinates in the subspace that their images span.

With points b_1 .. b_k, their Gram matrix G = L L' and k_B(x) = (k(b_1, x), .., k(b_k, x)),

    z(x) = L^-1 k_B(x)

are the coordinates of the projection of phi(x) onto the span in an orthonormal basis of
it: <P phi(x), P phi(x')> = z(x).z(x'). So a linear machine on z is the kernel machine
restricted to functions sum_j beta_j k(b_j, .), with beta = L^-T w; with all training points
as the basis it is the exact kernel machine. (Yu's thesis, section 6.4, where the same
Cholesky factor projects the cuts.)
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from scipy.linalg import cholesky, lapack, solve_triangular

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inputs import count, take

# A point whose image lies in the span of the others up to this share of its length says
# nothing new, and would make L^-1 large: it is left out.
DEPENDENT = 1e-6
NOTHING = (
    "All points of the basis have a zero length under the kernel: there is nothing to "
    "learn from. Choose another kernel, or look at the data."
)
ROWS = 8192  # of a Gram block at a time, so that no temporary is large


class Basis:
    """Points whose images are independent, and the inverse Cholesky factor of their Gram.

    Points that depend on those before them are left out: ``kept`` has the numbers of
    the others. ``len(basis)`` is the number of coordinates.
    """

    def __init__(self, kernel: Kernel, points: Any, gram: np.ndarray | None = None):
        self.kernel = kernel
        if gram is None:  # in double precision: pivots are small differences
            single = getattr(points, "dtype", None) == np.float32
            gram = kernel(points.astype(np.float64) if single else points)
        gram = np.asarray(gram, np.float64)
        factor, self.kept = independent_rows(gram)
        self.points = points if len(self.kept) == len(gram) else take(points, self.kept)
        self.inverse = _inverse(factor)

    @classmethod
    def restored(cls, kernel: Kernel, points: Any, inverse: np.ndarray) -> Basis:
        """The basis that had these points and this inverse factor."""
        basis = cls.__new__(cls)
        basis.kernel, basis.points, basis.inverse = kernel, points, inverse
        basis.kept = np.arange(len(inverse))
        return basis

    def __len__(self) -> int:
        return len(self.inverse)

    def transform(self, X: Any, dtype: Any = None) -> np.ndarray:
        """The coordinates z of every sample, of shape (n, k)."""
        n = count(X)
        out: np.ndarray | None = None
        for first in range(0, max(n, 1), ROWS):
            rows = X if n <= ROWS else take(X, slice(first, first + ROWS))
            block = self.kernel(rows, self.points)
            kind = dtype or block.dtype
            if out is None:
                out = np.empty((n, len(self)), kind)
            block = block.astype(kind, copy=False)
            out[first : first + len(block)] = block @ self.inverse.T.astype(kind)
        assert out is not None
        return out

    def coefficients(self, weights: np.ndarray) -> np.ndarray:
        """beta of shape (k, labels) from weights (k, labels) of the coordinates."""
        return self.inverse.T @ weights

    def left_over(self, X: Any, coordinates: np.ndarray) -> np.ndarray:
        """|phi(x) - P phi(x)|^2 for every sample, from its coordinates."""
        squares = np.einsum("ij,ij->i", coordinates, coordinates, dtype=np.float64)
        return np.maximum(
            np.asarray(self.kernel.diagonal(X), np.float64) - squares, 0.0
        )


def expand(kernel, X, points, coefficients: np.ndarray, device=None) -> np.ndarray:
    """sum_j beta_j k(b_j, x) for every sample, on a device where one is given."""
    n = count(X)
    out = np.empty((n, coefficients.shape[1]))
    away = device is not None and device.name != "cpu"
    if away:
        kind = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        points, beta = device.put(points, kind), device.put(coefficients, kind)
    for first in range(0, n, ROWS):
        rows = X if n <= ROWS else take(X, slice(first, first + ROWS))
        if away:
            rows = device.put(rows.toarray() if hasattr(rows, "tocsr") else rows, kind)
            out[first : first + ROWS] = device.get(kernel(rows, points) @ beta)
            continue
        block = kernel(rows, points)
        out[first : first + len(block)] = block @ coefficients.astype(block.dtype)
    return out


def independent_rows(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(L, kept): the Cholesky factor of the rows that do not depend on those before."""
    diagonal = np.diag(gram).copy()
    try:
        factor = cholesky(gram, lower=True)
        pivots = np.diag(factor) ** 2
        if (pivots > DEPENDENT * diagonal).all():
            return factor, np.arange(len(gram))
    except np.linalg.LinAlgError:
        pass
    # pivoted: the rows it has taken when the largest pivot is small are independent
    largest = float(diagonal.max(initial=0.0))
    if largest <= 0:
        raise ValueError(NOTHING)
    share = DEPENDENT
    while True:
        _, pivot, rank, _ = lapack.dpstrf(gram, lower=1, tol=share * largest)
        kept = np.sort(pivot[:rank] - 1)
        try:
            return cholesky(gram[np.ix_(kept, kept)], lower=True), kept
        except np.linalg.LinAlgError:  # values of the kernel are rounded more coarsely
            share *= 10


def _inverse(factor: np.ndarray) -> np.ndarray:
    return solve_triangular(factor, np.eye(len(factor)), lower=True)


# how much memory it takes, said before it is taken ------------------------------------


KERNEL_MEMORY = 4e9  # bytes that a machine may take where nobody says otherwise
INDEX = 4  # bytes of a column number beside every stored coordinate
TABLES = 3 * 8  # bytes per pair of points: Gram matrix, Cholesky factor, inverse
BLOCKS = 2 * 8  # bytes per sample and point of the rows at work


def bytes_needed(samples: int, points: int, itemsize: int = 8) -> int:
    """For coordinates of the samples in a basis of so many points, and to find them."""
    coordinates = samples * points * (itemsize + INDEX)
    return coordinates + points**2 * TABLES + min(samples, ROWS) * points * BLOCKS


def largest_basis(samples: int, allowed: float, itemsize: int = 8) -> int:
    """The most points whose machine fits."""
    each = samples * (itemsize + INDEX) + min(samples, ROWS) * BLOCKS
    found = math.sqrt(each**2 + 4 * TABLES * allowed) - each
    return min(samples, int(found / (2 * TABLES)))


def checked_memory(value: Any, name: str = "kernel_memory") -> float:
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and value > 0
    if not good:
        raise ValueError(
            f"{name}={value!r} is not possible: it must be a positive number of bytes."
        )
    return float(value)


def check_memory(
    samples: int,
    points: int,
    allowed: float,
    what: str = "samples",
    remedy: str = "",
    itemsize: int = 8,
    name: str = "kernel_memory",
) -> None:
    """Refuse a machine that needs more bytes than `allowed`; say how much it needs.

    In the remedy, {points} is the largest basis that fits.
    """
    needed = bytes_needed(samples, points, itemsize)
    if needed <= allowed:
        return
    most = largest_basis(samples, allowed, itemsize)
    if "{points}" in remedy:
        remedy = remedy.format(points=most) if most else "Allow more."
    raise ValueError(
        f"The kernel machine of {samples:,} {what} in a basis of {points:,} would take "
        f"{needed / 1e9:.3g} GB, but {name}={allowed:g} allows "
        f"{allowed / 1e9:.3g} GB. {remedy}"
    )
