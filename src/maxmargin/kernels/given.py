"""Kernels that others compute: a function, a matrix, scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels.arguments import function_name, named
from maxmargin.kernels.base import Kernel, positive, real, set_field, whole
from maxmargin.kernels.formulas import ATOM, Formula, number
from maxmargin.kernels.inputs import count, is_tensor, pair, take, vectors
from maxmargin.kernels.tables import toarray


@dataclass(frozen=True, repr=False)
class Function(Kernel):
    """f(x, x') of two samples, or f(X, Y) of two batches"""

    kind: ClassVar[str] = "function"
    f: Callable[[Any, Any], Any]
    blocks: bool | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        set_field(self, "name", function_name(self.f, self.name, "function"))
        if self.blocks is not None and not isinstance(self.blocks, bool):
            raise ValueError("blocks must be True, False or None.")

    differentiable: ClassVar[bool] = False

    def _by_blocks(self, X: Any) -> bool:
        """Whether f takes batches: those of 2 and m samples then make a table (2, m).

        Two m are tried, since x @ y says something of tables, too, when m is their width.
        """
        if self.blocks is not None or count(X) == 0:
            return bool(self.blocks)
        try:
            return all(
                np.shape(self.f(take(X, [0] * 2), take(X, [0] * m))) == (2, m)
                for m in (3, 4)
            )
        except Exception:  # whatever a function of samples says of batches
            return False

    def _block(self, X: Any, Y: Any) -> Any:
        same = Y is None or Y is X
        Y = X if same else Y
        shape = count(X), count(Y)
        if self._by_blocks(X):
            K = self.f(X, Y)
            K = K * 1 if is_tensor(K) else np.array(toarray(K))
            if tuple(K.shape) != shape:
                raise ValueError(
                    f"The kernel function {self.name} gave a table of the shape "
                    f"{tuple(K.shape)} for {shape[0]} and {shape[1]} samples."
                )
            return K if is_tensor(K) or K.dtype == np.float32 else self._numbers(K)
        K = np.empty(shape)
        for i in range(shape[0]):
            x = _sample(X, i)
            for j in range(i if same else 0, shape[1]):
                K[i, j] = self._value(x, _sample(Y, j), i, j)
                if same:
                    K[j, i] = K[i, j]
        return K

    def _diagonal(self, X: Any) -> Any:
        if not self._by_blocks(X):
            samples = [_sample(X, i) for i in range(count(X))]
            return np.array([self._value(x, x, i, i) for i, x in enumerate(samples)])
        rows = [take(X, [i]) for i in range(count(X))]
        return self._numbers(np.array([toarray(self.f(x, x))[0, 0] for x in rows]))

    def _numbers(self, K: Any) -> Any:
        try:
            return np.asarray(K, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"The kernel function {self.name} must give numbers, not {K.dtype}."
            ) from None

    def _value(self, x: Any, y: Any, i: int, j: int) -> float:
        value = self.f(x, y)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"The kernel function {self.name} must give a number for two samples, but "
                f"gave {type(value).__name__} for sample {i} of X and {j} of Y."
            ) from None

    def _values(self) -> dict[str, Any]:
        return {"blocks": self.blocks, "name": named(self.name)}  # type: ignore[arg-type]

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"{self.name}({x}, {y})", ATOM)


def _sample(X: Any, i: int) -> Any:
    if hasattr(X, "shape") or isinstance(X, (tuple, dict)):
        part = take(X, [i])
        if isinstance(part, tuple):
            return tuple(_sample(p, 0) for p in part)
        if isinstance(part, dict):
            return {key: _sample(p, 0) for key, p in part.items()}
        part = toarray(part)
        return part.iloc[0] if hasattr(part, "iloc") else part[0]
    return X[i]


@dataclass(frozen=True, repr=False)
class Precomputed(Kernel):
    """K[x, x']: X is the table itself, of rows of samples with the training samples"""

    kind: ClassVar[str] = "precomputed"
    differentiable: ClassVar[bool] = False

    def _block(self, X: Any, Y: Any) -> Any:
        K = vectors(X, "The precomputed matrix")
        same = Y is None or Y is X
        columns = K.shape[0] if same else count(Y)
        if K.shape[1] != columns:
            rule = (
                "must be square" if same else "must have a column per training sample"
            )
            raise ValueError(
                f"The precomputed matrix {rule}: it has {K.shape[0]} rows and "
                f"{K.shape[1]} columns, and {columns} columns are needed."
            )
        return K * 1 if is_tensor(K) else np.array(toarray(K))

    def _diagonal(self, X: Any) -> Any:
        K = self._block(X, None)
        return K.diagonal() * 1

    def _formula(self, x: str, y: str) -> Formula:
        return Formula(f"K[{x}, {y}]", ATOM)


@dataclass(frozen=True, repr=False)
class Pairwise(Kernel):
    """a kernel of sklearn.metrics.pairwise, by its name there"""

    kind: ClassVar[str] = "pairwise"
    metric: str
    parameters: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        from sklearn.metrics.pairwise import KERNEL_PARAMS, kernel_metrics

        if not isinstance(self.metric, str) or self.metric not in kernel_metrics():
            raise ValueError(
                f"scikit-learn has no pairwise kernel {str(self.metric)[:50]!r}: it has "
                f"{', '.join(sorted(kernel_metrics()))}."
            )
        known, pairs = KERNEL_PARAMS[self.metric], dict(self.parameters)
        for name in pairs:
            if name not in known:
                raise ValueError(
                    f"The kernel {self.metric} has no parameter {name!r}; it has "
                    f"{', '.join(sorted(known)) or 'none'}."
                )
        checks: dict[str, Any] = {"gamma": positive, "degree": whole}
        pairs = {name: checks.get(name, real)(v, name) for name, v in pairs.items()}
        set_field(self, "parameters", tuple(sorted(pairs.items())))

    differentiable: ClassVar[bool] = False

    def _block(self, X: Any, Y: Any) -> Any:
        from sklearn.metrics.pairwise import pairwise_kernels

        X, Y = pair(X, Y)
        try:
            K = pairwise_kernels(X, Y, metric=self.metric, **dict(self.parameters))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"scikit-learn's {self.metric} kernel says: {error}"
            ) from None
        return np.array(toarray(K))

    def _diagonal(self, X: Any) -> Any:
        X = vectors(X)
        blocks = [slice(top, top + 64) for top in range(0, X.shape[0], 64)]
        parts = [self._block(X[rows], None).diagonal() for rows in blocks]
        return np.concatenate([np.zeros(0, X.dtype), *parts])

    def _values(self) -> dict[str, Any]:
        return {"metric": self.metric, "parameters": dict(self.parameters)}

    def _own(self) -> dict[str, Any]:
        return {"metric": self.metric, **dict(self.parameters)}

    def _with(self, values: dict[str, Any]) -> Kernel:
        new = self._own() | values
        return Pairwise(new.pop("metric"), tuple(new.items()))

    def _formula(self, x: str, y: str) -> Formula:
        values = "".join(f", {name}={number(v)}" for name, v in self.parameters)
        return Formula(f"{self.metric}({x}, {y}{values})", ATOM)


def function(
    f: Callable, blocks: bool | None = None, name: str | None = None
) -> Kernel:
    """A function as a kernel: f(x, x') gives a number, or f(X, Y) a table (`blocks`).

    Which of the two is tried out where `blocks` is None. Samples may be anything. You have
    to make sure that the function is symmetric and positive semidefinite: `check` helps.
    Models store it by its name.

    >>> def common(a, b):
    ...     return len(set(a) & set(b))
    >>> function(common)(["sea", "salt"], ["tea"])
    array([[2.],
           [2.]])
    """
    return Function(f, blocks, name)


def precomputed() -> Kernel:
    """X is the matrix of kernel values itself: k(K) is K, which must be square.

    For new samples X has their rows of values with the training samples, and Y as many rows
    as X has columns.
    """
    return Precomputed()


def pairwise(metric: str, **parameters: float) -> Kernel:
    """A kernel of scikit-learn's, such as "chi2", "cosine" or "sigmoid".

    "sigmoid" and "additive_chi2" are not positive semidefinite: `check` tells.

    >>> pairwise("chi2", gamma=0.5)
    chi2(x, x', gamma=0.5)
    """
    return Pairwise(metric, tuple(parameters.items()))
