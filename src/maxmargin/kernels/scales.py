"""Widths that are read from the data: gamma "scale" and "auto", as in scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inputs import detached, is_sparse, vectors


def known(gamma: float | str, kernel: Kernel) -> float:
    """gamma as a number, or a sentence that it is still open."""
    if isinstance(gamma, str):
        raise ValueError(
            f'The gamma of {kernel} is still "{gamma}": k.fitted(X), or '
            "kernels.as_kernel(k, X=X), reads it from the training inputs X."
        )
    return gamma


def read_width(kernel: Any, X: Any) -> Kernel:
    """The kernel with an open gamma read from X."""
    if not isinstance(kernel.gamma, str):
        return kernel
    return replace(kernel, gamma=gamma_of(kernel.gamma, X))


def gamma_of(gamma: str, X: Any) -> float:
    """ "scale": 1 / (columns * variance of all entries); "auto": 1 / columns."""
    X = detached(vectors(X))
    d = max(1, X.shape[1])
    if gamma == "auto":
        return 1.0 / d
    if X.shape[0] == 0:
        raise ValueError('gamma="scale" needs samples to read the variance from.')
    if is_sparse(X):
        data = X.data.astype(np.float64)
        entries = X.shape[0] * d
        variance = np.vdot(data, data) / entries - (data.sum() / entries) ** 2
    else:
        variance = float(((X - X.mean()) ** 2).mean())  # as tensors, too, can say it
    return 1.0 / (d * float(variance)) if variance > 0 else 1.0
