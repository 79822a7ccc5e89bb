"""Kernels of vectors that see distances: Gaussian (rbf) and Laplace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels.base import Kernel, known, set_field, width
from maxmargin.kernels.formulas import ATOM, Formula, factor
from maxmargin.kernels.inputs import is_tensor, pair, vectors
from maxmargin.kernels.tables import (
    city_distances,
    exponential,
    full,
    multiply,
    row_blocks,
    squared_distances,
    toarray,
    weighted_rows,
)


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
