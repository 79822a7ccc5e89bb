"""Kernels made of kernels: sums, products, powers, exponentials, cosines."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels.base import Kernel, must_be_kernel, positive, set_field, whole
from maxmargin.kernels.formulas import (
    ATOM,
    PRODUCT,
    Formula,
    number,
    raised,
    times,
    total,
)
from maxmargin.kernels.inputs import detached, is_tensor, pair
from maxmargin.kernels.tables import (
    add,
    diagonal_table,
    divide_by_outer,
    exponential,
    multiply,
    power,
)
from maxmargin.kernels.vectors import Constant

MAX_TERMS = 1000


MAX_PATTERNS = 20_000  # of all mismatch kernels in a formula: each counts all words


def patterns_of(kernel: Kernel) -> int:
    """Patterns of kept letters of the mismatch kernels in a formula."""
    own = getattr(kernel, "patterns", 0)
    return own + sum(map(patterns_of, kernel._children()))


@dataclass(frozen=True, repr=False)
class _Many(Kernel):
    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        terms = self.terms
        if not isinstance(terms, tuple) or not 1 < len(terms) <= MAX_TERMS:
            raise ValueError(f"A {self.kind} must have 2 to {MAX_TERMS} kernels.")
        for k in terms:
            must_be_kernel(k, f"Each term of a {self.kind}")
        patterns = sum(map(patterns_of, terms))
        if patterns > MAX_PATTERNS:
            raise ValueError(
                f"The kernels of strings in a {self.kind} have {patterns} patterns of kept "
                f"letters together, more than {MAX_PATTERNS}: take fewer of them, or "
                "smaller words."
            )

    def _diagonal(self, X: Any) -> Any:
        return functools.reduce(self._join, (k._diagonal(X) for k in self.terms))

    def _block(self, X: Any, Y: Any) -> Any:
        return functools.reduce(self._join, (k._block(X, Y) for k in self.terms))

    def _join(self, K: Any, L: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Sum(_Many):
    """k1 + k2 + ... (6.17)"""

    kind: ClassVar[str] = "sum"
    _join = staticmethod(add)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        return functools.reduce(add, (k._gradient(X, B, C) for k in self.terms))

    def _formula(self, x: str, y: str) -> Formula:
        return total([k._formula(x, y) for k in self.terms])


@dataclass(frozen=True, repr=False)
class Product(_Many):
    """k1 k2 ... (6.18)"""

    kind: ClassVar[str] = "product"
    _join = staticmethod(multiply)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        result = None
        for i, one in enumerate(self.terms):
            others = (k._block(X, B) for j, k in enumerate(self.terms) if j != i)
            W = multiply(functools.reduce(multiply, others), C)
            part = one._gradient(X, B, W)
            result = part if result is None else add(result, part)
        return result

    def _formula(self, x: str, y: str) -> Formula:
        return times([k._formula(x, y) for k in self.terms])


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """c k with c > 0 (6.13)"""

    kind: ClassVar[str] = "scaled"
    scale: float
    kernel: Kernel

    def __post_init__(self) -> None:
        why = " With another factor it would not be positive semidefinite."
        set_field(self, "scale", positive(self.scale, "The factor of a kernel", why))
        must_be_kernel(self.kernel, "What is scaled")

    def _block(self, X: Any, Y: Any) -> Any:
        return multiply(self.kernel._block(X, Y), self.scale)

    def _diagonal(self, X: Any) -> Any:
        return multiply(self.kernel._diagonal(X), self.scale)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        return multiply(self.kernel._gradient(X, B, C), self.scale)

    def _formula(self, x: str, y: str) -> Formula:
        inner = self.kernel._formula(x, y).within(PRODUCT)
        return Formula(f"{number(self.scale)} {inner}", PRODUCT)


@dataclass(frozen=True, repr=False)
class Power(Kernel):
    """k^degree, a product of k with itself (6.15)"""

    kind: ClassVar[str] = "power"
    kernel: Kernel
    degree: int

    def __post_init__(self) -> None:
        set_field(self, "degree", whole(self.degree, "The power of a kernel"))
        must_be_kernel(self.kernel, "What is raised to a power")

    def _block(self, X: Any, Y: Any) -> Any:
        return power(self.kernel._block(X, Y), self.degree)

    def _diagonal(self, X: Any) -> Any:
        return power(self.kernel._diagonal(X), self.degree)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        if self.degree == 1:
            return self.kernel._gradient(X, B, C)
        W = power(self.kernel._block(X, B), self.degree - 1)
        return self.kernel._gradient(X, B, multiply(multiply(W, C), self.degree))

    def _formula(self, x: str, y: str) -> Formula:
        return raised(self.kernel._formula(x, y), self.degree)


@dataclass(frozen=True, repr=False)
class Exponential(Kernel):
    """exp(k) (6.16)"""

    kind: ClassVar[str] = "exp"
    kernel: Kernel

    def __post_init__(self) -> None:
        must_be_kernel(self.kernel, "What exp is taken of")

    def _exp(self, K: Any) -> Any:
        largest = float(detached(K).max()) if min(K.shape) else 0.0
        single = "float32" in str(K.dtype)
        limit = math.log(np.finfo(np.float32 if single else np.float64).max)
        if largest > limit:
            raise ValueError(
                f"{self} overflows: its exponent reaches {largest:.4g}, and exp can be "
                f"computed up to {limit:.0f}. Scale the kernel inside, or take "
                "kernels.exp(kernels.normalized(k)), whose exponent is at most 1."
            )
        return exponential(K)

    def _block(self, X: Any, Y: Any) -> Any:
        return self._exp(self.kernel._block(X, Y))

    def _diagonal(self, X: Any) -> Any:
        return self._exp(self.kernel._diagonal(X))

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        return self.kernel._gradient(X, B, multiply(self._block(X, B), C))

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"exp({self.kernel._formula(x, y).text})", ATOM)


@dataclass(frozen=True, repr=False)
class Normalized(Kernel):
    """k(x, x') / sqrt(k(x, x) k(x', x')): the cosine; 0 where k(x, x) is 0 (6.14)"""

    kind: ClassVar[str] = "normalized"
    kernel: Kernel

    def __post_init__(self) -> None:
        must_be_kernel(self.kernel, "What is normalized")

    def _lengths(self, X: Any) -> Any:
        """sqrt(k(x, x)), or 1 where that is 0: then k(x, x') is 0 for all x'."""
        d = self.kernel._diagonal(X)
        values = detached(d)
        if min(d.shape) and not float(values.min()) >= 0:
            i = int(values.argmin())
            raise ValueError(
                f"k(x, x) is {float(values[i]):.4g} for sample {i} of X, so "
                f"{self.kernel} is not positive semidefinite and cannot be normalized."
            )
        lengths = d.sqrt() if is_tensor(d) else np.sqrt(d)
        return lengths + (lengths == 0)

    def _block(self, X: Any, Y: Any) -> Any:
        if Y is not None and is_tensor(X) != is_tensor(Y):
            X, Y = pair(X, Y)
        a = self._lengths(X)
        b = a if Y is None or Y is X else self._lengths(Y)
        return divide_by_outer(self.kernel._block(X, Y), a, b)

    def _diagonal(self, X: Any) -> Any:
        d = self.kernel._diagonal(X)
        lengths = self._lengths(X)
        return d / (lengths * lengths)

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        # n = k / (s_x s_b), so dn/db = (dk/db) / (s_x s_b) - n/2 (dk(b, b)/db) / s_b²,
        # and by symmetry dk(b, b)/db is twice dk(x, b)/db at x = b.
        k, a, b = self.kernel, self._lengths(X), self._lengths(B)
        direct = k._gradient(X, B, divide_by_outer(C * 1, a, b))
        pull = (self._block(X, B) * C).sum(0) / (b * b)
        return direct - k._gradient(B, B, diagonal_table(pull))

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"normalized({self.kernel._formula(x, y).text})", ATOM)


def added(one: Any, other: Any) -> Kernel:
    """one + other, of kernels and numbers; a sum of sums is one sum."""
    terms: list[Kernel] = []
    for k in (one, other):
        if not isinstance(k, Kernel):
            if isinstance(k, (int, float)) and not isinstance(k, bool) and k == 0:
                continue  # sum(kernels) begins with it
            if callable(k):
                must_be_kernel(k, "What is added to a kernel")
            k = Constant(k)
        terms += k.terms if isinstance(k, Sum) else [k]
    return Sum(tuple(terms)) if len(terms) > 1 else terms[0]


def multiplied(kernel: Kernel, other: Any) -> Kernel:
    """kernel * other, of kernels and positive numbers."""
    if isinstance(other, Kernel):
        terms: list[Kernel] = []
        for k in (kernel, other):
            terms += k.terms if isinstance(k, Product) else [k]
        return Product(tuple(terms))
    if callable(other):
        must_be_kernel(other, "What multiplies a kernel")
    if isinstance(kernel, Scaled):
        return Scaled(Scaled(other, kernel.kernel).scale * kernel.scale, kernel.kernel)
    return Scaled(other, kernel)


def exp(kernel: Kernel) -> Kernel:
    """exp(k), a power series of k with positive coefficients.

    >>> from maxmargin.kernels import linear
    >>> exp(linear())
    exp(x·x')
    """
    return Exponential(kernel)


def normalized(kernel: Kernel) -> Kernel:
    """k(x, x') / sqrt(k(x, x) k(x', x')): all samples have length 1 in k's space.

    >>> from maxmargin.kernels import linear
    >>> normalized(linear())([[3.0, 4.0]], [[0.0, 9.0]]).round(2)
    array([[0.8]])
    """
    return Normalized(kernel)
