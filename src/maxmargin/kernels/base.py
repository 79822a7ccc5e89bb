"""What a kernel is: a function k(x, x') that is an inner product in some space.

Kernels are values: they have no state, compare equal when they are the same formula, and
make new ones by ``+``, ``*``, ``**``, ``exp``, ``normalized``, ``after`` and ``of``, rules
under which positive semidefinite kernels stay so (Bishop, *Pattern Recognition and Machine
Learning*, 6.13-6.22).

A new kernel is a frozen dataclass with a ``kind``, ``_block`` and ``_diagonal``, and with
``_gradient`` where it is differentiable. What ``_block`` gives is new: its caller may
change it.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels import inputs
from maxmargin.kernels.formulas import ATOM, Formula
from maxmargin.kernels.inputs import detached, vectors
from maxmargin.kernels.tables import is_sparse, toarray

MAX_DEPTH = 50  # of kernels in kernels
_MINUS = (
    "A difference of kernels is no kernel: it need not be positive semidefinite. "
    "Add kernels, or scale one by a positive number."
)


@dataclass(frozen=True, repr=False)
class Kernel:
    """A function of two samples; ``k(X, Y)`` is its table over two batches."""

    kind: ClassVar[str] = ""
    __array_ufunc__: ClassVar[None] = None  # numpy's numbers leave * and + to us

    # what users ask ------------------------------------------------------------------

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """The (n, m) table of k(x, y) over the samples of X and Y (of X and X)."""
        with np.errstate(all="ignore"):
            K = self._block(X, Y)
        check_finite(K, self)
        return K

    def diagonal(self, X: Any) -> Any:
        """k(x, x) of every sample, without the table."""
        with np.errstate(all="ignore"):
            return self._diagonal(X)

    def gradient(self, X: Any, B: Any, coefficients: Any) -> Any:
        """Row j is the sum over i of coefficients[i, j] dk(x_i, b)/db at b = b_j."""
        if not self.differentiable:
            raise ValueError(
                f"{self} has no gradient: it is no smooth kernel of vectors."
            )
        X, B = inputs.pair(X, toarray(B))
        if not inputs.is_tensor(X):
            coefficients = np.asarray(coefficients, dtype=X.dtype)
        elif not inputs.is_tensor(coefficients):
            coefficients = X.new_tensor(coefficients)
        if tuple(coefficients.shape) != (X.shape[0], B.shape[0]):
            raise ValueError(
                f"coefficients must have a row per sample of X and a column per row of B, "
                f"({X.shape[0]}, {B.shape[0]}), not {tuple(coefficients.shape)}."
            )
        with np.errstate(all="ignore"):
            return self._gradient(X, B, coefficients)

    @property
    def differentiable(self) -> bool:
        """Whether `gradient` can be asked for."""
        return all(k.differentiable for k in self._children())

    def fitted(self, X: Any) -> Kernel:
        """The kernel with what is left open ("scale", an alphabet) read from X."""
        kernel = self._mapped(lambda k: k.fitted(X))
        gamma = getattr(kernel, "gamma", None)
        if isinstance(gamma, str):
            return kernel._with({"gamma": gamma_of(gamma, X)})
        return kernel

    def state(self) -> dict:
        """The formula as plain JSON values, for `from_state`."""
        return self._state(0)

    # making new kernels --------------------------------------------------------------

    def after(self, feature_map: Any, name: str | None = None) -> Kernel:
        """k(f(x), f(x')), where `feature_map` turns a batch of samples into another."""
        return _made().arguments.After(self, feature_map, name)

    def of(self, part: Any) -> Kernel:
        """k(x[part], x'[part]): columns of a table, or an item of a tuple or dict."""
        return _made().arguments.Of(self, part)

    def __add__(self, other: Any) -> Kernel:
        return _made().compose.added(self, other)

    def __radd__(self, other: Any) -> Kernel:
        return _made().compose.added(other, self)

    def __mul__(self, other: Any) -> Kernel:
        return _made().compose.multiplied(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            raise ValueError(
                "A quotient of kernels is no kernel; kernels.normalized(k) divides by "
                "the square roots of k(x, x) and k(x', x')."
            )
        divisor = positive(other, "The divisor of a kernel")
        return _made().compose.multiplied(self, 1.0 / divisor)

    def __pow__(self, degree: Any) -> Kernel:
        return _made().compose.Power(self, degree)

    def __sub__(self, *_: Any) -> Kernel:
        raise ValueError(_MINUS)

    __rsub__ = __neg__ = __sub__

    # what kernels answer -------------------------------------------------------------

    def _block(self, X: Any, Y: Any) -> Any:
        raise NotImplementedError

    def _diagonal(self, X: Any) -> Any:
        raise NotImplementedError

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        raise NotImplementedError

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"{self.kind}({x}, {y})", ATOM)

    # the tree ------------------------------------------------------------------------

    def _children(self) -> list[Kernel]:
        found = []
        for field in fields(self):
            value = getattr(self, field.name)
            found += [k for k in _listed(value) if isinstance(k, Kernel)]
        return found

    def _mapped(self, change: Any) -> Kernel:
        """The kernel with its children changed."""
        new = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Kernel):
                new[field.name] = change(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Kernel):
                new[field.name] = tuple(change(k) for k in value)
        return replace(self, **new) if new else self

    def _own(self) -> dict[str, Any]:
        """Arguments that are no kernels, by the names that users set them with."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if not any(isinstance(part, Kernel) for part in _listed(value))
        }

    def _with(self, values: dict[str, Any]) -> Kernel:
        """The kernel with other values of `_own`."""
        return replace(self, **values)

    def _state(self, depth: int) -> dict:
        if depth > MAX_DEPTH:
            raise ValueError(f"The kernel is nested more than {MAX_DEPTH} levels deep.")
        state: dict[str, Any] = {"kind": self.kind}
        for name, value in self._values().items():
            if isinstance(value, Kernel):
                value = value._state(depth + 1)
            elif isinstance(value, tuple):
                value = [
                    v._state(depth + 1) if isinstance(v, Kernel) else v for v in value
                ]
            state[name] = value
        return state

    def _values(self) -> dict[str, Any]:
        """The arguments that make this kernel, for `state`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        return self._formula("x", "x'").text

    __repr__ = __str__


def _made() -> Any:
    """The modules of kernels that are made of kernels, which need this one."""
    import maxmargin.kernels.arguments
    import maxmargin.kernels.compose

    return maxmargin.kernels


def _listed(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def check_finite(K: Any, kernel: Kernel) -> None:
    """Refuse a Gram block with NaN or infinity; say which pair is the first."""
    if inputs.is_tensor(K):
        if bool(K.detach().sum().isfinite()):
            return
        K = K.detach().double().cpu().numpy()
    with np.errstate(all="ignore"):
        if np.isfinite(np.vdot(K, K)):
            return
        bad = ~np.isfinite(K)
    if bad.any():
        i, j = divmod(int(np.argmax(bad)), K.shape[1])
        raise ValueError(
            f"{kernel} is {K[i, j]} for sample {i} of X and sample {j} of Y: it overflows. "
            "Scale the features, or take a smaller gamma or degree."
        )


def must_be_kernel(value: Any, where: str) -> Kernel:
    if isinstance(value, Kernel):
        return value
    if isinstance(value, type) or callable(value):
        hint = ": kernels.function(f) makes a kernel of a function"
    else:
        hint = ""
    raise ValueError(f"{where} must be a kernel, not {type(value).__name__}{hint}.")


def set_field(kernel: Kernel, name: str, value: Any) -> None:
    """Put a checked value into a frozen kernel, while it is made."""
    object.__setattr__(kernel, name, value)


# numbers that kernels have ------------------------------------------------------------


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
