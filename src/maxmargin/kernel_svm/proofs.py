"""What is proved of the functions that a training found, in double precision.

Training may compute in single precision, on a device or with rounded coordinates. What a
certificate says is computed anew from what is returned: the primal from the functions, the
bounds from dual variables alpha (``certificate.py``), of which any that are
feasible will do. With a the signed ones and z the coordinates of an example,

    within = sum_ik alpha_ik cost(y_i, k) - 1/2 |sum_i a_i (x) z_i|^2,

and the same with phi(x_i) in place of z_i for the exact machine (:func:`exact_dual`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.kernel_svm.certificate import KernelCertificate
from maxmargin.kernel_svm.linear import Solved, signed
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.basis import ROWS, expand
from maxmargin.kernels.inputs import count, double, take
from maxmargin.kernels.tables import toarray
from maxmargin.solvers.clock import Clock
from maxmargin.solvers.result import Certificate

HASTY_TERMS = 2000  # that a proof has at most when time is up
UNKNOWN = float("nan")
TABLES = (
    3  # of a block's size that a kernel has at a time: itself and what it is made of
)
LARGEST = 8192  # rows of a block: larger ones are not faster


def prove(problem, basis, Z, solved: Solved, model, clock: Clock) -> KernelCertificate:
    """See ``certificate.py``; after Ctrl-C, what training said of the span."""
    found = solved.solution.certificate
    try:
        return _proved(problem, basis, Z, solved, model, clock)
    except KeyboardInterrupt:
        clock.interrupted = True
        return _certificate(found.primal, found.dual, found.dual, False, UNKNOWN)


def prove_sampled(
    problem, rows, beta, primal: float, model, clock: Clock
) -> KernelCertificate:
    """Of a mixture of sampled cuts: with no more mass than C_i, its terms are a dual point.

    A sampled example stands for others and may have more mass than its own C_i; it is cut
    back to that. The optimum of the sampled cuts themselves, the ``dual`` of their solver,
    is no bound, and is not said here.
    """
    y, mass = problem.y[rows], problem.mass[rows]
    nothing = _certificate(primal, 0.0, 0.0, False, UNKNOWN)
    if len(beta) > _most(model, clock):
        return nothing
    try:
        X = double(problem.X)
        points = take(X, rows)
        scores = expand(problem.kernel, X, points, beta)
        square = _square(beta, np.asarray(problem.kernel(points)))
        primal = 0.5 * square + _risk(problem, slice(None), scores)
        alpha = _feasible(-beta, y, mass)
        linear = float((alpha * problem.cost[y]).sum())
        a = signed(alpha, y, mass)
        bound, _ = exact_dual(problem.kernel, points, a, linear, model.memory)
        return _certificate(primal, bound, bound, True, UNKNOWN)
    except KeyboardInterrupt:
        clock.interrupted = True
        return nothing


def _feasible(alpha, y, mass) -> np.ndarray:
    """Dual variables but those of the truth: not negative, of no more than C_i together."""
    alpha = np.maximum(alpha, 0.0)
    alpha[np.arange(len(y)), y] = 0.0
    total = alpha.sum(axis=1)
    return alpha * np.minimum(1.0, mass / np.where(total > 0, total, 1.0))[:, None]


def _proved(problem, basis, Z, solved: Solved, model, clock) -> KernelCertificate:
    classes = (
        problem.lines is None
    )  # with a taxonomy, there are no dual variables by class
    alpha = _feasible(solved.alpha, problem.y, problem.mass) if classes else None
    a = signed(alpha, problem.y, problem.mass) if classes else None
    primal, inside = _passed(problem, basis, Z, basis.coefficients(solved.weights), a)
    if a is None:
        dual = solved.solution.certificate.dual
        return _certificate(primal, dual, dual, False, UNKNOWN)
    linear = float((alpha * problem.cost[problem.y]).sum())
    within = best_multiple(linear, inside)
    counts = np.abs(a).max(axis=1) > 1e-12 * problem.mass.max()
    if counts.sum() > _most(model, clock):
        return _certificate(primal, within, within, False, UNKNOWN)
    if problem.given:
        rows = np.flatnonzero(counts)
        gram = toarray(problem.X[rows][:, rows]).astype(np.float64)
        square = _square(a[rows], gram)
        bound = best_multiple(linear, square)
    else:
        a = np.where(counts[:, None], a, 0.0)
        bound, square = exact_dual(problem.kernel, problem.X, a, linear, model.memory)
    residual = float(np.sqrt(max(square - inside, 0.0)))
    return _certificate(primal, bound, max(within, bound), True, residual)


def _passed(problem, basis, Z, beta, a) -> tuple[float, float]:
    """(primal, |sum_i a_i (x) z_i|^2) in one pass over the examples.

    Of tables, values of the kernel are computed anew, as they are in a prediction. Those of
    other inputs may be dear, and follow from the coordinates.
    """
    kernel, X, points = problem.kernel, problem.X, double(basis.points)
    if problem.given:
        gram = toarray(X[points][:, points]).astype(np.float64)
        values = lambda rows: toarray(X[rows][:, points]).astype(np.float64)  # noqa: E731
    elif Z is not None and Z.dtype == np.float64 and not hasattr(X, "shape"):
        factor = np.linalg.inv(basis.inverse)
        gram = factor @ factor.T
        values = lambda rows: Z[rows] @ factor.T  # noqa: E731
    else:
        gram = np.asarray(kernel(points), np.float64)
        values = lambda rows: kernel(double(X, rows), points)  # noqa: E731
    by_class = beta if problem.lines is None else beta @ problem.lines.T
    risk, sums = 0.0, 0.0
    for first in range(0, problem.n, ROWS):
        rows = slice(first, first + ROWS)
        block = np.asarray(values(rows), np.float64)
        risk += _risk(problem, rows, block @ by_class)
        if a is not None:
            sums = sums + block.T @ a[rows]
    inside = 0.0 if a is None else float(np.square(basis.inverse @ sums).sum())
    return 0.5 * max(_square(beta, gram), 0.0) + risk, inside


def _risk(problem, rows: slice, scores: np.ndarray) -> float:
    """sum_i C_i max_k [cost(y_i, k) + f_k(x_i) - f_(y_i)(x_i)] over these examples."""
    y = problem.y[rows]
    truth = scores[np.arange(len(y)), y]
    hinges = (scores + problem.cost[y]).max(axis=1) - truth
    return float(problem.mass[rows] @ np.maximum(hinges, 0.0))


def _square(a: np.ndarray, gram: np.ndarray) -> float:
    return float((a * (gram @ a)).sum())


def _most(model, clock: Clock) -> int:
    return min(model.max_terms, HASTY_TERMS) if clock.over() else model.max_terms


def _certificate(primal, dual, within, exact, residual) -> KernelCertificate:
    """Bounds that rounding put above the primal are the primal."""
    proof = Certificate.of(primal, min(dual, primal), exact)
    return KernelCertificate(
        **vars(proof), within=min(within, primal), residual=residual
    )


# the exact dual ---------------------------------------------------------------------


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
    square = _square_in_blocks(kernel, X, a, _block_rows(X, a.shape[1], memory))
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


def _square_in_blocks(kernel: Kernel, X: Any, a: np.ndarray, size: int) -> float:
    rows = np.flatnonzero(a.any(axis=1))
    total = 0.0
    for first in range(0, len(rows), size):
        here = rows[first : first + size]
        left = double(X, here)
        for second in range(first, len(rows), size):
            there = rows[second : second + size]
            same = second == first
            block = kernel(left) if same else kernel(left, double(X, there))
            products = np.asarray(block, np.float64) @ a[there]
            total += (1 if same else 2) * float(np.vdot(a[here], products))
    return max(total, 0.0)
