"""What kernels are asked about: tables, tensors, lists, and parts of them.

Tables are numpy arrays, scipy's sparse matrices or torch's tensors. torch is never imported
here: whoever has a tensor has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from maxmargin.kernels.tables import is_sparse, toarray

_FLOATS = (np.float32, np.float64)
_STRINGS = (
    "{} holds strings, but this is a kernel of vectors. Take a kernel of strings "
    "(kernels.spectrum, mismatch, weighted_degree), or say with k.after(feature_map) how "
    "they become vectors."
)


def is_tensor(X: Any) -> bool:
    tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    return isinstance(X, tensor)


def detached(X: Any) -> Any:
    """X without its history, where it is a tensor that has one."""
    return X.detach() if is_tensor(X) else X


def count(X: Any) -> int:
    """The number of samples in X; a tuple or dict is a batch by parts with equal counts."""
    parts = X.values() if isinstance(X, Mapping) else X if isinstance(X, tuple) else ()
    counts = [count(part) for part in parts]
    if len(set(counts)) > 1:
        raise ValueError(
            f"The parts of X have {', '.join(map(str, counts))} samples: a tuple or a dict "
            "is a batch by parts, whose counts must agree (a list is one of samples)."
        )
    if counts:
        return counts[0]
    if hasattr(X, "shape"):
        if len(X.shape) == 0:
            raise ValueError("X is a single number: give a table or a list of samples.")
        return int(X.shape[0])
    try:
        return len(X)
    except TypeError:
        raise ValueError(
            f"X has the type {type(X).__name__}: give a table or a list of samples."
        ) from None


def take(X: Any, index: Any) -> Any:
    """The samples of X with the indices `index`; a batch by parts stays one."""
    if isinstance(X, Mapping):
        return {key: take(part, index) for key, part in X.items()}
    if isinstance(X, tuple):
        return tuple(take(part, index) for part in X)
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if is_sparse(X):
        return X.tocsr()[index]
    if is_tensor(X):
        return X[np.arange(X.shape[0])[index].tolist()]
    if hasattr(X, "shape"):
        return X[index]
    return [X[i] for i in np.arange(len(X))[index]]


def vectors(X: Any, name: str = "X") -> Any:
    """X as a checked 2-d table of floats: single precision stays, the rest is double."""
    if is_tensor(X):
        table = X if X.is_floating_point() else X.double()
    elif is_sparse(X):
        table = X.tocsr()
        if table.dtype not in _FLOATS:
            table = table.astype(np.float64)
    else:
        table = _dense(X, name)
    if table.ndim != 2:
        hint = f": {name}.reshape(-1, 1) is one column" if table.ndim == 1 else ""
        raise ValueError(
            f"{name} must be 2-d, a row of numbers per sample, but has the shape "
            f"{tuple(table.shape)}{hint}."
        )
    _check_values(table, name)
    return table


def _dense(X: Any, name: str) -> np.ndarray:
    try:
        table = np.asarray(X)
        if table.dtype == object:
            if any(isinstance(value, str) for value in table.flat):
                raise ValueError(_STRINGS.format(name))
            table = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        if _STRINGS[3:20] in str(error):
            raise
        raise ValueError(
            f"{name} is not a table of numbers: every sample must be a row of the same "
            f"length, for a kernel of vectors ({str(error)[:100]})."
        ) from None
    if table.dtype.kind in "US":
        raise ValueError(_STRINGS.format(name))
    if table.dtype.kind not in "fiub":
        raise ValueError(f"{name} has the type {table.dtype}: give real numbers.")
    return table if table.dtype in _FLOATS else table.astype(np.float64)


def _check_values(table: Any, name: str) -> None:
    """Refuse NaN, infinity and what overflows when squared; quick where all is well."""
    if is_tensor(table):
        if bool(table.detach().sum().isfinite()):
            return
        table = table.detach().double().cpu().numpy()
    values = table.data if is_sparse(table) else table
    with np.errstate(all="ignore"):
        if np.isfinite(np.vdot(values, values)):
            return
        bad = ~np.isfinite(values)
        if bad.any():
            what = "holds NaN or infinite values"
        else:
            wide = values.astype(np.float64)
            bad = ~(np.abs(wide) < np.sqrt(np.finfo(values.dtype).max / 1e6))
            if not bad.any():
                return
            what = "holds values that are too large to be squared"
    k = int(np.argmax(bad))
    if is_sparse(table):
        row = int(np.searchsorted(table.indptr, k, side="right")) - 1
        column = int(table.indices[k])
    else:
        row, column = divmod(k, table.shape[1])
    raise ValueError(
        f"{name} {what}, the first in row {row}, column {column}: {values.flat[k]:g}. "
        "Replace or leave out missing values, and scale large ones."
    )


def pair(X: Any, Y: Any) -> tuple[Any, Any]:
    """Two tables of one dtype and width; the same object twice where Y is None or X."""
    table = vectors(X, "X")
    if Y is None or Y is X:
        return table, table
    if is_tensor(Y) and not is_tensor(X):
        table = Y.new_tensor(toarray(table))
    if is_tensor(X) and not is_tensor(Y):
        Y = X.new_tensor(toarray(vectors(Y, "Y")))
    other = vectors(Y, "Y")
    check_width(table, other)
    if table.dtype != other.dtype:
        if is_tensor(table):
            return table.double(), other.double()
        return table.astype(np.float64), other.astype(np.float64)
    return table, other


def check_width(X: Any, Y: Any, name: str = "Y") -> None:
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} columns, but {name} has {Y.shape[1]}: "
            "a kernel compares vectors of one length."
        )


def float_type(*tables: Any) -> type:
    """float32 where all tables, or all tables among the parts, are; else float64."""
    parts = list(tables)
    while any(isinstance(X, (tuple, Mapping)) for X in parts):
        X = next(X for X in parts if isinstance(X, (tuple, Mapping)))
        parts.remove(X)
        parts += X.values() if isinstance(X, Mapping) else X
    single = all(getattr(X, "dtype", None) == np.float32 for X in parts)
    return np.float32 if single else np.float64


def double(X: Any, index: Any = None) -> Any:
    """The samples, or those with the indices; tables of single precision, also among the
    parts, in double."""
    if index is not None:
        X = take(X, index)
    if isinstance(X, Mapping):
        return {key: double(part) for key, part in X.items()}
    if isinstance(X, tuple):
        return tuple(double(part) for part in X)
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
