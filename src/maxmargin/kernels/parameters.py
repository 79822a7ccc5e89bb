"""Numbers that kernels have: what may be, said in sentences."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.kernels.inputs import detached, is_sparse, vectors

if TYPE_CHECKING:
    from maxmargin.kernels.base import Kernel

MAX_DEGREE = 100


def real(value: Any, name: str) -> float:
    """A finite number as a float."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise ValueError(f"{name} must be a finite number, not {_shown(value)}.")


def positive(value: Any, name: str, why: str = "") -> float:
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, not {number:g}.{why}")
    return number


def width(value: Any, name: str = "gamma") -> float | str:
    """gamma of a kernel: positive, or "scale" or "auto" until the data is known."""
    if isinstance(value, str) and value in ("scale", "auto"):
        return value
    if isinstance(value, str):
        raise ValueError(f'{name} must be a number, "scale" or "auto", not {value!r}.')
    return positive(value, name)


def whole(value: Any, name: str, low: int = 1, high: int = MAX_DEGREE) -> int:
    """A whole number in a range, as an int."""
    number = real(value, name)
    if number != math.floor(number) or not low <= number <= high:
        raise ValueError(
            f"{name} must be a whole number from {low} to {high}, not {_shown(value)}."
        )
    return int(number)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


# widths that are read from the data: gamma "scale" and "auto", as in scikit-learn ------


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
