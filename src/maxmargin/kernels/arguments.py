"""Kernels of something else than x itself: of a part of it, of features of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels.base import Kernel, must_be_kernel, set_field
from maxmargin.kernels.formulas import Formula
from maxmargin.kernels.inputs import count, vectors
from maxmargin.kernels.tables import full, is_sparse


@dataclass(frozen=True, repr=False)
class After(Kernel):
    """k(f(x), f(x')) (6.19)"""

    kind: ClassVar[str] = "after"
    kernel: Kernel
    feature_map: Callable[[Any], Any]
    name: str | None = None

    def __post_init__(self) -> None:
        must_be_kernel(self.kernel, "What comes after a feature map")
        set_field(
            self, "name", function_name(self.feature_map, self.name, "feature_map")
        )

    differentiable: ClassVar[bool] = False

    def _features(self, X: Any) -> Any:
        features = self.feature_map(X)
        if count(features) != count(X):
            raise ValueError(
                f"The feature map {self.name} made {count(features)} samples of "
                f"{count(X)}: it must turn a batch of samples into features of each."
            )
        return features

    def _block(self, X: Any, Y: Any) -> Any:
        other = None if Y is None or Y is X else self._features(Y)
        return self.kernel._block(self._features(X), other)

    def _diagonal(self, X: Any) -> Any:
        return self.kernel._diagonal(self._features(X))

    def fitted(self, X: Any) -> Kernel:
        return self._mapped(lambda k: k.fitted(self._features(X)))

    def _values(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "name": named(self.name)}

    def _formula(self, x: str, y: str) -> Formula:
        return self.kernel._formula(f"{self.name}({x})", f"{self.name}({y})")


@dataclass(frozen=True, repr=False)
class Of(Kernel):
    """k(x[part], x'[part]) (6.21, 6.22)

    `part` is kept as (start, stop, step) of a slice, as a list of columns, or as a key.
    """

    kind: ClassVar[str] = "of"
    kernel: Kernel
    part: Any

    def __post_init__(self) -> None:
        must_be_kernel(self.kernel, "What looks at a part")
        set_field(self, "part", _stored(self.part))

    @property
    def _index(self) -> Any:
        how, value = self.part
        if how == "slice":
            return slice(*value)
        return list(value) if how == "columns" else value

    @property
    def differentiable(self) -> bool:
        return self.kernel.differentiable and not isinstance(self._index, str)

    def _part(self, X: Any) -> Any:
        index = self._index
        try:
            return _part(X, index)
        except (IndexError, KeyError, TypeError) as error:
            raise ValueError(
                f"x{_shown(index)} is asked for, but X has no such part: "
                f"{type(error).__name__}: {str(error)[:100]}"
            ) from None

    def _block(self, X: Any, Y: Any) -> Any:
        other = None if Y is None or Y is X else self._part(Y)
        return self.kernel._block(self._part(X), other)

    def _diagonal(self, X: Any) -> Any:
        return self.kernel._diagonal(self._part(X))

    def _gradient(self, X: Any, B: Any, C: Any) -> Any:
        inner = self.kernel._gradient(self._part(X), self._part(B), C)
        gradient = full(B, tuple(B.shape), 0.0, B.dtype)
        index = self._index
        columns = np.arange(B.shape[1])[[index] if isinstance(index, int) else index]
        for j, column in enumerate(columns):  # columns may repeat
            gradient[:, int(column)] += inner[:, j]
        return gradient

    def fitted(self, X: Any) -> Kernel:
        return self._mapped(lambda k: k.fitted(self._part(X)))

    def _values(self) -> dict[str, Any]:
        how, value = self.part
        value = list(value) if isinstance(value, tuple) else value
        return {"kernel": self.kernel, "part": [how, value]}

    def _formula(self, x: str, y: str) -> Formula:
        part = _shown(self._index)
        return self.kernel._formula(x + part, y + part)


def _part(X: Any, index: Any) -> Any:
    if isinstance(X, Mapping):
        return X[index]
    if isinstance(X, tuple):
        if isinstance(index, int):
            return X[index]
        raise TypeError("of a tuple of parts, give the number of one")
    if hasattr(X, "iloc"):  # a table of pandas
        by_name = isinstance(index, str) or (
            isinstance(index, list) and any(isinstance(i, str) for i in index)
        )
        part = X[index] if by_name else X.iloc[:, index]
        return part if getattr(part, "ndim", 2) == 2 else part.tolist()
    if isinstance(X, list) and not _table_like(X):
        return [x[index] for x in X]
    if isinstance(index, str):
        raise TypeError(f"a table of numbers has no part {index!r}")
    table = X if hasattr(X, "ndim") and X.ndim == 2 else vectors(X)
    table = table.tocsr() if is_sparse(table) else table
    return table[:, [index] if isinstance(index, int) else index]


def _table_like(X: list) -> bool:
    """Whether a list is a table of numbers, rather than samples with parts."""
    first = X[0] if X else None
    if isinstance(first, np.ndarray):
        return first.ndim == 1 and first.dtype.kind in "fiub"
    if not isinstance(first, list):
        return False
    return all(isinstance(v, (int, float, np.number)) for v in first)


def _stored(part: Any) -> tuple:
    """A part as ("slice", (start, stop, step)), ("columns", (...)) or ("key", key)."""
    if isinstance(part, tuple) and len(part) == 2 and str(part[0]) in _READERS:
        how, value = part  # as it is stored
        return how, _READERS[how](value)
    if isinstance(part, slice):
        return "slice", _slice((part.start, part.stop, part.step))
    if isinstance(part, (list, tuple, range, np.ndarray)):
        return "columns", _columns(
            part.tolist() if hasattr(part, "ndim") else list(part)
        )
    return "key", _key(part)


def _slice(value: Any) -> tuple:
    if not isinstance(value, (list, tuple)) or len(value) != 3 or value[2] == 0:
        raise ValueError("The slice of a part must have a start, a stop and a step.")
    return tuple(None if v is None else _key(v, int) for v in value)


def _columns(value: Any) -> tuple:
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= 10**6:
        raise ValueError("A part must have at least one column.")
    if all(isinstance(v, bool) for v in value):
        return _columns([i for i, v in enumerate(value) if v])
    return tuple(_key(v) for v in value)


def _key(value: Any, kinds: Any = (int, str)) -> int | str:
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ValueError(
            f"A part must be a slice, a list of columns, a number or a name, "
            f"not {type(value).__name__}."
        )
    if isinstance(value, int) and abs(value) >= 2**31:
        raise ValueError(f"No table has a column {value}.")
    return value


_READERS = {"slice": _slice, "columns": _columns, "key": _key}


def _shown(index: Any) -> str:
    if isinstance(index, slice):
        ends = ["" if v is None else str(v) for v in (index.start, index.stop)]
        return f"[{':'.join(ends)}{'' if index.step is None else f':{index.step}'}]"
    return f"[{index!r}]"


def function_name(f: Any, name: Any, what: str) -> str:
    """How formulas and states call a function."""
    if not callable(f):
        raise ValueError(f"{what} must be a function, not {type(f).__name__}.")
    if name is None:
        name = getattr(f, "__name__", type(f).__name__)
    if not isinstance(name, str) or not 0 < len(name) <= 200:
        raise ValueError(
            f"The name of a {what} must be a string of 1 to 200 characters."
        )
    return name


def named(name: str) -> str:
    """The name for a state, which a lambda has not."""
    if name == "<lambda>":
        raise ValueError(
            "A kernel is stored by the names of its functions, and a lambda has none: "
            'give it one, such as k.after(f, name="squares"), or use def.'
        )
    return name
