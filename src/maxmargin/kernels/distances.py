"""Kernels of vectors that see distances: Gaussian (rbf) and Laplace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels.base import Kernel, known, read_width, set_field, width
from maxmargin.kernels.formulas import ATOM, Formula, factor
from maxmargin.kernels.inputs import (
    BLOCK,
    exponential,
    full,
    is_sparse,
    is_tensor,
    multiply,
    pair,
    product,
    row_blocks,
    squared_norms,
    toarray,
    vectors,
    weighted_rows,
)

_FEW = 4  # rows whose distances are computed one by one


@dataclass(frozen=True, repr=False)
class _Radial(Kernel):
    """exp(-gamma distance): one where x = x'."""

    gamma: float | str

    def __post_init__(self) -> None:
        set_field(self, "gamma", width(self.gamma))

    def _block(self, X: Any, Y: Any) -> Any:
        gamma = known(self.gamma, self)
        return exponential(multiply(self._distances(*pair(X, Y)), -gamma))

    def _diagonal(self, X: Any) -> Any:
        X = vectors(X)
        return full(X, (X.shape[0],), 1.0, X.dtype)

    def _distances(self, X: Any, Y: Any) -> Any:
        raise NotImplementedError

    def fitted(self, X: Any) -> Kernel:
        return read_width(self, X)


@dataclass(frozen=True, repr=False)
class Gaussian(_Radial):
    """exp(-gamma |x - x'|²)"""

    kind: ClassVar[str] = "rbf"

    def _distances(self, X: Any, Y: Any) -> Any:
        return squared_distances(X, Y)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        # dk/db = 2 gamma k (x - b)
        W = multiply(self._block(X, B), C)
        pull = weighted_rows(W, X) - W.sum(0)[:, None] * B
        return multiply(pull, 2 * known(self.gamma, self))

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"exp(-{factor(self.gamma)}|{x} - {y}|²)", ATOM)


@dataclass(frozen=True, repr=False)
class Laplace(_Radial):
    """exp(-gamma |x - x'|₁)"""

    kind: ClassVar[str] = "laplace"

    def _distances(self, X: Any, Y: Any) -> Any:
        return city_distances(X, Y)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        # dk/db = gamma k sign(x - b), and 0 in the columns where x and b agree
        W = multiply(self._block(X, B), C)
        W = multiply(W, known(self.gamma, self))
        pull = full(B, tuple(B.shape), 0.0, B.dtype)
        for rows in row_blocks(X.shape[0], X.shape[1]):
            part, weights = toarray(X[rows]), W[rows]
            for j in range(B.shape[0]):
                step = part - B[j]
                step = step.sign() if is_tensor(step) else np.sign(step, out=step)
                pull[j] += weights[:, j] @ step
        return pull

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"exp(-{factor(self.gamma)}|{x} - {y}|₁)", ATOM)


def squared_distances(X: Any, Y: Any) -> Any:
    """|x - y|² = |x|² + |y|² - 2 x·y around the mean; by differences where that cancels.

    The product is rounded in proportion to the norms, so it says little of points that are
    near each other for their norms; these few pairs are computed again. None is negative,
    equal rows have distance 0, and the table of X with itself is exactly symmetric.
    """
    same = X is Y
    if not is_sparse(X) and not is_sparse(Y) and len(Y):  # zeros of sparse tables stay
        if len(X) <= _FEW and not is_tensor(X):
            return _by_differences(X, Y)
        center = Y.mean(0)
        if (center * center).sum() > 0.25 * squared_norms(
            Y
        ).mean():  # else they are near 0
            X = X - center
            Y = X if same else Y - center
    a = squared_norms(X)
    b = a if same else squared_norms(Y)
    D = multiply(product(X, Y), -2)
    eps = float(np.finfo(np.float32 if "float32" in str(D.dtype) else np.float64).eps)
    if is_tensor(D):
        return _finished_tensor(D, X, Y, a, b, eps**0.5)
    for rows in row_blocks(*D.shape):
        block, norms = D[rows], a[rows, None] + b
        block += norms
        norms *= eps**0.5
        near = block <= norms
        if same:
            at = np.arange(rows.start, rows.stop)
            near[at - rows.start, at] = False
            block[at - rows.start, at] = 0
        if near.any():
            _again(block, near, X[rows], Y)
    return D


def _by_differences(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """One row of distances after the other, for a few rows the quickest way."""
    D = np.empty((len(X), len(Y)), X.dtype)
    for rows in row_blocks(*Y.shape):
        for i, x in enumerate(X):
            D[i, rows] = squared_norms(Y[rows] - x)
    return D


def _again(D: np.ndarray, near: np.ndarray, X: Any, Y: Any) -> None:
    """Compute the marked distances from differences, or in double precision if many."""
    i, j = near.nonzero()
    if len(i) > D.size // 16 and D.dtype == np.float32:
        X, Y = X.astype(np.float64), Y.astype(np.float64)
        exact = product(X, Y)
        exact *= -2
        exact += squared_norms(X)[:, None] + squared_norms(Y)
        D[near] = np.maximum(exact[near], 0)
        return
    sparse = is_sparse(X) and is_sparse(Y)
    size = max(1, BLOCK // max(1, X.shape[1]))
    for top in range(0, len(i), size):
        p, q = i[top : top + size], j[top : top + size]
        if sparse:
            D[p, q] = squared_norms(X[p] - Y[q])
        else:
            D[p, q] = squared_norms(toarray(X[p]) - toarray(Y[q]))


def _finished_tensor(D: Any, X: Any, Y: Any, a: Any, b: Any, share: float) -> Any:
    norms = a[:, None] + b[None, :]
    if D.requires_grad:  # in place nothing: autograd may need it
        return (D + norms).clamp(min=0)
    D += norms
    near = (norms.mul_(share) >= D).nonzero()
    size = max(1, BLOCK // max(1, X.shape[1]))
    for top in range(0, len(near), size):
        p, q = near[top : top + size].T
        D[p, q] = squared_norms(X[p] - Y[q])
    return D


def city_distances(X: Any, Y: Any) -> Any:
    """The sums of absolute differences."""
    if is_tensor(X):
        D = X.new_empty((X.shape[0], Y.shape[0]))
        for rows in row_blocks(X.shape[0], Y.shape[0] * X.shape[1] // 64):
            D[rows] = (X[rows, None, :] - Y[None, :, :]).abs().sum(-1)
        return D
    D = np.empty((X.shape[0], Y.shape[0]), X.dtype)
    if is_sparse(X) or is_sparse(Y):
        from sklearn.metrics.pairwise import manhattan_distances as distances
    else:
        from scipy.spatial.distance import cdist

        def distances(A: Any, B: Any) -> Any:
            return cdist(A, B, "cityblock")

    for rows in row_blocks(*D.shape):
        D[rows] = distances(X[rows], Y)
    return D


def rbf(gamma: float | str = 1.0) -> Kernel:
    """exp(-gamma |x - x'|²), the Gaussian kernel.

    `gamma` may be "scale" or "auto", to be read from the training inputs (`fitted`).

    >>> rbf(gamma=0.5)
    exp(-0.5 |x - x'|²)
    """
    return Gaussian(gamma)


def laplace(gamma: float | str = 1.0) -> Kernel:
    """exp(-gamma |x - x'|₁), of the sum of absolute differences.

    Its gradient is one almost everywhere: columns where two points agree count as flat.

    >>> laplace()
    exp(-|x - x'|₁)
    """
    return Laplace(gamma)
