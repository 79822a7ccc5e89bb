"""Which columns of the features have scales far from the others, for who must wait.

Computed only where a fit has ended early (``fitting/estimator.py``). A column's
scale is the root of the mean square of its entries that are not zero; constants have none,
as nobody can scale an intercept. Columns are named where they are few and dense: among
thousands of indicators, most of them zero, a rare one says nothing about units.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

# Features whose values are larger, or differ by a larger factor, make training slow.
LARGE_FEATURE = 10.0
UNEVEN = 100.0
FAR = 10.0  # a column with so many times the scale of the median one, or its inverse
FEW, DENSE = 1000, 0.5  # columns, and the share of their entries that is not zero
NAMED = 3
CSR = "indptr", "indices", "n_features"  # of a batch, beside its values


class ColumnStatistics(NamedTuple):
    """What is seen of a table of features, by column."""

    where: str
    rows: int
    count: np.ndarray  # entries that are not zero
    total: np.ndarray
    squares: np.ndarray
    largest: np.ndarray  # of absolute values

    def scales(self) -> np.ndarray:
        """By column; nan where it is constant, and everywhere if columns are not named."""
        width = len(self.count)
        if width > FEW or self.count.sum() < DENSE * self.rows * width:
            return np.full(width, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.squares - self.total**2 / self.rows
        varies = (variance > 1e-9 * self.squares) & (self.count > 0)
        scales = np.full(width, np.nan)
        scales[varies] = np.sqrt(self.squares[varies] / self.count[varies])
        return scales


def advice_on_scales(batch, names=None) -> str:
    """A sentence if the sizes of the features may be what makes training slow."""
    tables = list(_tables(batch))
    told = "".join(_of_columns(table, names) for table in tables)
    if told:
        return (
            told + " Scaled alike, by scikit-learn's StandardScaler, they train faster."
        )
    size = np.concatenate([[0.0], *(table.largest for table in tables)])
    size = size[size > 0]
    largest, smallest = size.max(initial=0.0), size.min(initial=np.inf)
    if largest <= LARGE_FEATURE and largest <= UNEVEN * smallest:
        return ""
    return (
        f" The largest values of the features lie between {smallest:.3g} and "
        f"{largest:.3g}: scaled to about 1, by scikit-learn's StandardScaler or (sparse "
        "data) MaxAbsScaler, they train faster."
    )


def _of_columns(table: ColumnStatistics, names) -> str:
    scales = table.scales()
    known = np.sort(scales[np.isfinite(scales)])
    if len(known) < 2:
        return ""
    median = known[(len(known) - 1) // 2]
    with np.errstate(invalid="ignore"):
        away = np.abs(np.log(scales / median))
    far = np.flatnonzero(away > np.log(FAR))
    if len(far) == 0:
        return ""
    shown = far[np.argsort(-away[far], kind="stable")][:NAMED]
    parts = [f"{_name(j, names)} (about {scales[j]:.2g})" for j in shown]
    rest = len(far) - len(shown)
    if rest:
        parts.append(f"{rest} more")
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return (
        f" In {table.where}, the values of column {listed} have another scale than those "
        f"of the median column (about {median:.2g})."
    )


def _name(j, names) -> str:
    return f"{names[j]!s}" if names is not None and j < len(names) else f"{j}"


# where batches have their features -----------------------------------------------------


def _tables(batch) -> Iterator[ColumnStatistics]:
    graphs = getattr(batch, "graphs", None)
    values = getattr(batch, "values", None)
    if graphs is not None and hasattr(graphs, "node_row"):
        yield from _of_graphs("nodes", graphs.nodes, graphs.node_row, graphs.node_type)
        yield from _of_graphs(
            "edges", graphs.edges, graphs.table_row, graphs.table_type
        )
    elif isinstance(values, np.ndarray) and values.ndim == 2:
        yield _dense("X", values)
    elif isinstance(values, np.ndarray) and all(hasattr(batch, f) for f in CSR):
        rows = len(batch.indptr) - 1
        yield _sparse("X", rows, batch.indices, values, batch.n_features)


def _of_graphs(what, rows, row, kind) -> Iterator[ColumnStatistics]:
    """Types have columns of their own."""
    lengths = np.diff(rows.indptr)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    kinds = np.unique(kind)
    for k in kinds:
        used = np.zeros(len(lengths), bool)
        used[row[kind == k]] = True
        here = used[owner]
        indices = rows.indices[here]
        where = f"features of {what}"
        if len(kinds) > 1:
            where += f" (type {k + 1} of {len(kinds)})"
        width = int(indices.max(initial=-1)) + 1
        yield _sparse(where, int(used.sum()), indices, rows.values[here], width)


def _dense(where, values) -> ColumnStatistics:
    count = np.count_nonzero(values, axis=0)
    total = values.sum(axis=0, dtype=np.float64)
    squares = np.einsum("ij,ij->j", values, values, dtype=np.float64)
    largest = np.maximum(values.max(axis=0), -values.min(axis=0)).astype(np.float64)
    return ColumnStatistics(where, len(values), count, total, squares, largest)


def _sparse(where, rows, indices, values, width) -> ColumnStatistics:
    values = values.astype(np.float64)
    largest = np.zeros(width)
    np.maximum.at(largest, indices, np.abs(values))
    return ColumnStatistics(
        where,
        rows,
        np.bincount(indices, minlength=width),
        np.bincount(indices, values, width),
        np.bincount(indices, values**2, width),
        largest,
    )
