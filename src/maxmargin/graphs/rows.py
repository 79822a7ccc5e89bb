"""Features of nodes and edges as rows of one sparse table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.arrays import LARGEST, from_dense, from_sparse
from maxmargin.core.cutting import runs

WIDEST = 64  # rows of more columns are not compared with each other


class Rows(NamedTuple):
    """CSR; equal indices of different types of nodes mean different features."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32
    values: np.ndarray  # float64


def stacked(places: list[list[tuple]], widths, constant: int, what: str) -> Rows:
    """The rows of tables (table, number of the graph, type), type by type."""
    parts = []
    for some, width in zip(places, widths, strict=True):
        tables = [table for table, _, _ in some]
        sparse = [issparse(table) for table in tables]
        if any(sparse) and not all(sparse):
            tables = [t.toarray() if issparse(t) else t for t in tables]
        convert = from_sparse if all(sparse) and sparse else from_dense
        rows = Rows(*convert(tables, width - constant, np.dtype(np.float64)))
        _check(rows, some, what)
        parts.append(with_ones(rows, width - 1) if constant else rows)
    return joined(parts)


def joined(parts: list[Rows]) -> Rows:
    """One after the other."""
    shift = np.cumsum([0, *(len(p.indices) for p in parts)])
    none = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    return Rows(
        np.concatenate(
            [
                none.indptr,
                *(p.indptr[1:] + s for p, s in zip(parts, shift, strict=False)),
            ]
        ),
        np.concatenate([none.indices, *(p.indices for p in parts)]),
        np.concatenate([none.values, *(p.values for p in parts)]),
    )


def with_ones(rows: Rows, column: int) -> Rows:
    """With a last column of ones."""
    indptr, indices, values = rows
    return Rows(
        np.arange(len(indptr)) + indptr,
        np.insert(indices, indptr[1:], column).astype(np.int32),
        np.insert(values, indptr[1:], 1.0),
    )


def _check(rows: Rows, places, what: str) -> None:
    bad = np.flatnonzero(~(np.abs(rows.values) < LARGEST))
    if not len(bad):
        return
    value, column = rows.values[bad[0]], rows.indices[bad[0]]
    row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
    firsts = np.cumsum([0, *(table.shape[0] for table, _, _ in places)])
    place = int(np.searchsorted(firsts, row, side="right")) - 1
    row -= int(firsts[place])
    _, i, kind = places[place]
    of = f" of type {kind!r}" if kind and kind != ("", "", "") else ""
    remedy = (
        "scale the features to a moderate range"
        if np.isfinite(value)
        else "replace or leave out missing (NaN) and infinite values"
    )
    raise ValueError(
        f"X[{i}], {what} {row}{of}: the value of feature {column} is {value:g}: {remedy}."
    )


def distinct_rows(rows: Rows, width: int) -> tuple[Rows, np.ndarray]:
    """(different rows, the number of every row among them)."""
    n = len(rows.indptr) - 1
    if width > WIDEST or n == 0:
        return rows, np.arange(n)
    table = np.zeros((n, width))
    table[np.repeat(np.arange(n), np.diff(rows.indptr)), rows.indices] = rows.values
    _, first, number = _unique(table)
    return _chosen(rows, first), number


def used_rows(rows: Rows, numbers: np.ndarray) -> tuple[Rows, np.ndarray]:
    """(the rows of these numbers, the numbers among them)."""
    kept, numbers = np.unique(numbers, return_inverse=True)
    return _chosen(rows, kept), numbers


def _chosen(rows: Rows, which: np.ndarray) -> Rows:
    sizes = np.diff(rows.indptr)[which]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = runs(rows.indptr[which], sizes)
    return Rows(indptr, rows.indices[entries], rows.values[entries])


def _unique(table: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """np.unique over rows; by bytes, which is quicker than by columns."""
    if table.shape[1] == 0:
        return table[:1], np.zeros(1, np.int64), np.zeros(len(table), np.int64)
    flat = np.ascontiguousarray(table + 0.0)  # no negative zeros
    flat = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1])))
    found, first, number = np.unique(
        flat.ravel(), return_index=True, return_inverse=True
    )
    return found, first, number.ravel()
