"""Whether a kernel is one: symmetric, finite, positive semidefinite on a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel, must_be_kernel
from maxmargin.kernels.given import Precomputed
from maxmargin.kernels.inputs import count, is_tensor, take

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
