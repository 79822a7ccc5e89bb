"""Kernels by the names that scikit-learn has, and whether a kernel is one.

It must be symmetric, finite, and positive semidefinite on a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel, must_be_kernel
from maxmargin.kernels.distances import laplace, rbf
from maxmargin.kernels.given import Precomputed, function, precomputed
from maxmargin.kernels.inputs import count, is_tensor, take
from maxmargin.kernels.vectors import linear, polynomial

LARGEST = 200  # samples: their eigenvalues take milliseconds


def check(kernel: Kernel, X: Any) -> None:
    """Raise ValueError unless k is a kernel as far as (at most 200) samples of X can show.

    >>> from maxmargin import kernels
    >>> kernels.check(kernels.rbf(), [[0.0], [1.0], [2.0]])
    """
    must_be_kernel(kernel, "What is checked")
    kernel = kernel.fitted(X)
    n = count(X)
    if n == 0:
        raise ValueError("A kernel can be checked on samples only, and X has none.")
    chosen = np.arange(n)
    if n > LARGEST:
        chosen = np.sort(np.random.default_rng(0).choice(n, LARGEST, replace=False))
    with np.errstate(all="ignore"):
        if looks_up(kernel):  # rows of a matrix mean nothing without its columns
            K = _array(kernel._block(X, None))[np.ix_(chosen, chosen)]
            diagonal = _array(kernel._diagonal(X))[chosen]
        else:  # two batches: a kernel may assume symmetry within one
            one, other = take(X, chosen), take(X, chosen)
            K = _array(kernel._block(one, other))
            diagonal = _array(kernel._diagonal(one))
    _check_table(kernel, K, diagonal, chosen)


def _check_table(
    kernel: Kernel, K: np.ndarray, diagonal: np.ndarray, chosen: np.ndarray
) -> None:
    tolerance = 1e-3 if K.dtype == np.float32 else 1e-8
    K, diagonal = K.astype(np.float64), diagonal.astype(np.float64)
    if not np.isfinite(K).all():
        i, j = np.unravel_index(np.argmin(np.isfinite(K)), K.shape)
        raise ValueError(
            f"{kernel} is {K[i, j]} for the samples {chosen[i]} and {chosen[j]} of X. "
            "Scale the features, or mend the function."
        )
    size = max(float(np.abs(K).max()), np.finfo(np.float64).tiny)
    gap = np.abs(K - K.T)
    i, j = np.unravel_index(np.argmax(gap), K.shape)
    if gap[i, j] > tolerance * size:
        raise ValueError(
            f"{kernel} is not symmetric: k(x, x') is {K[i, j]:.6g} for the samples "
            f"{chosen[i]} and {chosen[j]} of X, but {K[j, i]:.6g} the other way round. "
            "The mean of both, (k(x, x') + k(x', x)) / 2, would be symmetric."
        )
    if diagonal.shape != (len(chosen),):
        raise ValueError(
            f"{kernel}: diagonal(X) must have a number per sample, {len(chosen)}, but has "
            f"the shape {diagonal.shape}."
        )
    gap = np.abs(K.diagonal() - diagonal)
    i = int(np.argmax(gap))  # type: ignore[assignment]
    if not gap[i] <= tolerance * size:
        raise ValueError(
            f"{kernel}: diagonal(X) says {diagonal[i]:.6g} for sample {chosen[i]} of X, "
            f"but k(x, x) is {K[i, i]:.6g}. Both must be the same number."
        )
    allowed = tolerance * size * len(chosen)
    K = (K + K.T) / 2
    try:  # ten times quicker than eigenvalues
        np.linalg.cholesky(K + allowed * np.eye(len(K)))
        return
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(K)[0])
    if smallest < -allowed:
        raise ValueError(
            f"{kernel} is not positive semidefinite: the smallest eigenvalue of its matrix "
            f"over {len(chosen)} samples of X is {smallest:.4g} (the largest entry is "
            f"{size:.4g}), so it is no inner product. Take another kernel, or make the "
            "samples' rows of values with some landmarks the features of a linear one."
        )


def looks_up(kernel: Kernel) -> bool:
    """Whether its samples are rows of a precomputed matrix."""
    return isinstance(kernel, Precomputed) or any(map(looks_up, kernel._children()))


def _array(K: Any) -> np.ndarray:
    return K.detach().cpu().numpy() if is_tensor(K) else K


# kernels by name ----------------------------------------------------------------------


NAMES = ("linear", "poly", "polynomial", "rbf", "laplace", "laplacian", "precomputed")


def as_kernel(
    kernel: str | Kernel | Callable,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    X: Any = None,
) -> Kernel:
    """A kernel from a name, a function or a kernel; open parameters are determined by X.

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
