"""Kernels by the names and parameters that scikit-learn's estimators have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.distances import laplace, rbf
from maxmargin.kernels.given import function, precomputed
from maxmargin.kernels.vectors import linear, polynomial

NAMES = ("linear", "poly", "polynomial", "rbf", "laplace", "laplacian", "precomputed")


def as_kernel(
    kernel: str | Kernel | Callable,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    X: Any = None,
) -> Kernel:
    """A kernel of a name, a function or a kernel; what is left open is read from X.

    `gamma` is a number, "scale" (one over columns times variance of X) or "auto" (one over
    columns); `degree` and `coef0` are of the polynomial kernel. A function is one of two
    samples, or of two batches.

    >>> as_kernel("poly", gamma=1.0, degree=2)
    (x·x')²
    """
    if isinstance(kernel, type):
        raise ValueError(
            f"kernel is the class {kernel.__name__}: give a kernel, made by it."
        )
    if isinstance(kernel, str):
        kernel = _by_name(kernel, gamma, degree, coef0)
    elif callable(kernel) and not isinstance(kernel, Kernel):
        kernel = function(kernel)
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"kernel must be a name ({', '.join(NAMES)}), a kernel of maxmargin.kernels or "
            f"a function, not {type(kernel).__name__}."
        )
    return kernel if X is None else kernel.fitted(X)


def _by_name(name: str, gamma: float | str, degree: int, coef0: float) -> Kernel:
    if name == "linear":
        return linear()
    if name in ("poly", "polynomial"):
        return polynomial(degree, gamma, coef0)
    if name == "rbf":
        return rbf(gamma)
    if name in ("laplace", "laplacian"):
        return laplace(gamma)
    if name == "precomputed":
        return precomputed()
    if name == "sigmoid":
        raise ValueError(
            "The sigmoid kernel is not positive semidefinite, so no margin is maximised "
            'with it. Take "rbf", or kernels.pairwise("sigmoid", gamma=..., coef0=...) and '
            "kernels.check."
        )
    raise ValueError(f"There is no kernel {name!r}: there are {', '.join(NAMES)}.")
