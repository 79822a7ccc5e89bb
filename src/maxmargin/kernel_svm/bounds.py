"""Bounds on kernel machines: the exact dual of a point, and three theorems of Yu's thesis.

The theorems are in the thesis's scaling: 1/2 |w|^2 + C times a mean of losses, with cuts
g = mean_i psi_i and costs of at most 1. Here C is the sum of all masses C_i, the cuts of
``sampling.py`` are C times those, and psi_i = phi_(y_i) - phi_k has a part in two classes:
the R of the theorems, the length of psi, is sqrt(2 max_i k(x_i, x_i)).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inputs import count, double, take

TABLES = (
    3  # of a block's size that a kernel has at a time: itself and what it is made of
)
LARGEST = 8192  # rows of a block: larger ones are not faster


def exact_dual(
    kernel: Kernel, X: Any, coefficients: np.ndarray, linear: float, memory: float
) -> tuple[float, float]:
    """(value, |v|^2): max over t in [0, 1] of t linear - t^2 / 2 |v|^2.

    v = sum_i a_i (x) phi(x_i) for the signed `coefficients` a, of shape (n, classes), of a
    dual point alpha: a_ik = C_i [k = y_i] - alpha_ik; `linear` is its sum of alpha times
    costs. Dual points make a convex set with 0 in it, so t alpha is one as well, and the
    value is a lower bound for the optimum of the exact machine.

    |v|^2 = sum_k a_k' K a_k is summed in blocks over the rows with a_i != 0, in double
    precision whatever that of X is: of terms that cancel, as with a large C, single
    precision can promise too much. Tables of a block take at most `memory` bytes together
    (one pair of rows always fits): the smaller, the slower.
    """
    a = np.asarray(coefficients, np.float64)
    if a.ndim != 2 or len(a) != count(X):
        raise ValueError(
            f"coefficients must have a row for each of the {count(X)} samples and a column "
            f"per class, but have the shape {a.shape}."
        )
    if not np.isfinite(a).all() or not math.isfinite(linear):
        raise ValueError("coefficients and linear must be finite numbers.")
    square = _square(kernel, X, a, _block_rows(X, a.shape[1], memory))
    return best_multiple(linear, square), square


def best_multiple(linear: float, square: float) -> float:
    """max over t in [0, 1] of t linear - t^2 / 2 square."""
    t = min(max(linear / square, 0.0), 1.0) if square > 0 else float(linear > 0)
    return t * linear - 0.5 * t * t * square


def _block_rows(X: Any, classes: int, memory: float) -> int:
    """b with room for tables of b x b values and two times b rows of samples."""
    if not memory > 0:
        raise ValueError(f"memory must be a positive number of bytes, not {memory!r}.")
    shape = getattr(X, "shape", ())
    width = 2 * (shape[1] if len(shape) == 2 else 0) + classes
    # 8 (TABLES b^2 + width b) = memory
    b = (math.sqrt(width**2 + TABLES * memory / 2) - width) / (2 * TABLES)
    return min(max(int(b), 1), LARGEST)


def _square(kernel: Kernel, X: Any, a: np.ndarray, size: int) -> float:
    rows = np.flatnonzero(a.any(axis=1))
    total = 0.0
    for first in range(0, len(rows), size):
        here = rows[first : first + size]
        left = double(take(X, here))
        for second in range(first, len(rows), size):
            there = rows[second : second + size]
            same = second == first
            block = kernel(left) if same else kernel(left, double(take(X, there)))
            products = np.asarray(block, np.float64) @ a[there]
            total += (1 if same else 2) * float(np.vdot(a[here], products))
    return max(total, 0.0)


def theorem_6_1(C: float, R: float, r: int, epsilon: float) -> float:
    """The mean number of cuts of samples of r until they stop is no more than this.

    32 C R^2 / (epsilon^2 (1 - exp(-r epsilon^2 / (16 C R^2)))), for epsilon < 8 R^2 C^2:
    the exact cut is violated by at most epsilon, in units of the loss.
    """
    x = r * epsilon**2 / (16 * C * R**2)
    return 32 * C * R**2 / (epsilon**2 * -math.expm1(-x))


def theorem_6_2(
    C: float, R: float, r: int, rounds: int, epsilon: float, delta: float
) -> float:
    """How far the objective of sampled cuts is above the optimum, at most.

    C (epsilon + sqrt(4 C R^2 log(rounds / delta) / r)), with probability 1 - delta, after
    so many rounds with samples of r.
    """
    return C * (epsilon + math.sqrt(4 * C * R**2 * math.log(rounds / delta) / r))


def theorem_6_4(C: float, residual: float, tol: float) -> float:
    """How far the optimum within a span is above that of the whole space, at most.

    C (delta sqrt(2 C) + epsilon). `C` is the sum of all masses. `residual` is delta, the
    largest distance |g - P g| of a cut from the span, where g is a mean over examples: the
    cut of ``sampling.py`` over C. `tol` is epsilon, by which the last cut was violated:
    the gap within the span over C. The exact dual of ``exact_dual`` proves more: it knows
    the one mixture of cuts that matters.
    """
    return C * (residual * math.sqrt(2 * C) + tol)
