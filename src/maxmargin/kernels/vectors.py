"""Kernels of vectors that see inner products: linear and polynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from maxmargin.kernels.base import (
    Kernel,
    known,
    positive,
    real,
    set_field,
    whole,
    width,
)
from maxmargin.kernels.formulas import (
    ATOM,
    PRODUCT,
    SUM,
    Formula,
    factor,
    number,
    raised,
)
from maxmargin.kernels.inputs import count, float_type, pair, vectors
from maxmargin.kernels.tables import (
    full,
    multiply,
    power,
    product,
    squared_norms,
    weighted_rows,
)


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    """x·x'"""

    kind: ClassVar[str] = "linear"

    def _block(self, X: Any, Y: Any) -> Any:
        return product(*pair(X, Y))

    def _diagonal(self, X: Any) -> Any:
        return squared_norms(vectors(X))

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        return weighted_rows(C, X)

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"{x}·{y}", PRODUCT)


@dataclass(frozen=True, repr=False)
class Polynomial(Kernel):
    """(gamma x·x' + coef0)^degree; a negative coef0 would not be semidefinite."""

    kind: ClassVar[str] = "polynomial"
    degree: int
    gamma: float | str
    coef0: float

    def __post_init__(self) -> None:
        set_field(self, "degree", whole(self.degree, "degree"))
        set_field(self, "gamma", width(self.gamma))
        coef0 = real(self.coef0, "coef0")
        if coef0 < 0:
            raise ValueError(
                f"coef0 must not be negative, but is {coef0:g}: the polynomial kernel "
                "would not be positive semidefinite."
            )
        set_field(self, "coef0", coef0)

    def _inner(self, K: Any) -> Any:
        K = multiply(K, known(self.gamma, self))
        if self.coef0:
            K += self.coef0
        return K

    def _block(self, X: Any, Y: Any) -> Any:
        return power(self._inner(product(*pair(X, Y))), self.degree)

    def _diagonal(self, X: Any) -> Any:
        return power(self._inner(squared_norms(vectors(X))), self.degree)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        slope = self.degree * known(self.gamma, self)
        if self.degree == 1:
            return slope * weighted_rows(C, X)
        W = power(self._inner(product(X, B)), self.degree - 1)
        return weighted_rows(multiply(multiply(W, slope), C), X)

    def _formula(self, x: str, y: str) -> Formula:
        inner = Formula(f"{factor(self.gamma)}{x}·{y}", PRODUCT)
        if self.coef0:
            inner = Formula(f"{number(self.coef0)} + {inner.text}", SUM)
        return raised(inner, self.degree)


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """The number c >= 0 for all pairs, of whatever they are: ``k + 1`` has one."""

    kind: ClassVar[str] = "constant"
    value: float

    def __post_init__(self) -> None:
        why = " A negative constant is no kernel."
        set_field(self, "value", positive(self.value, "A constant kernel", why))

    def _block(self, X: Any, Y: Any) -> Any:
        Y = X if Y is None else Y
        return full(X, (count(X), count(Y)), self.value, float_type(X, Y))

    def _diagonal(self, X: Any) -> Any:
        return full(X, (count(X),), self.value, float_type(X))

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        return 0 * B

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(number(self.value), ATOM)


def linear() -> Kernel:
    """x·x', the inner product itself.

    >>> linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """
    return Linear()


def polynomial(degree: int = 2, gamma: float | str = 1.0, coef0: float = 1.0) -> Kernel:
    """(gamma x·x' + coef0)^degree: the products of up to `degree` features.

    >>> polynomial(3, gamma=0.5)
    (1 + 0.5 x·x')³
    """
    return Polynomial(degree, gamma, coef0)
