"""Tables of numbers, dense or sparse, as flat CSR arrays that kernels can walk.

Files number features as they like, but weights are dense: columns without any value must
not take gigabytes (``check_columns``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

LARGEST = 1e100  # features above it overflow in a norm
MAX_FEATURES = np.iinfo(np.int32).max
TOO_MANY = f"X has more than {MAX_FEATURES} features, the most int32 can index."
_BLOCK = 2**20  # table entries converted at a time: bounds the temporary memory


class TokenMatrix(NamedTuple):
    """Sequences as one CSR matrix with a row per token.

    Token t has the features `indices[indptr[t]:indptr[t + 1]]` with the `values` at
    the same places; a feature that is listed twice adds up. Sequence i consists of
    the tokens `start[i]` to `start[i + 1]`.
    """

    indptr: np.ndarray  # int64, n_tokens + 1
    indices: np.ndarray  # int32
    values: np.ndarray  # float32 or float64
    start: np.ndarray  # int64, n_sequences + 1
    n_features: int


def csr_arrays(X, dtype=None):
    """Return `(indptr, indices, values)` of one validated dense or sparse matrix.

    They are int64, int32 and float32 if that changes no value, or else float64.
    Duplicates are summed and zeros left out; X is neither changed nor shared.
    """
    dtype = float_dtype(dtype)
    check_width(X.shape[1])
    convert = from_sparse
    if not sp.issparse(X):
        X, convert = np.asarray(X), from_dense
    indptr, indices, values = convert([X], X.shape[1], dtype)
    check_finite(values, indices, indptr, dtype=dtype)
    return indptr, indices, values


def from_dense(tables, width, dtype):
    """Return the CSR arrays of 2-D arrays put on top of each other."""
    counts = [np.zeros(0, np.int64)]
    indices = [np.zeros(0, np.int32)]
    values = [np.zeros(0, dtype or np.float32)]
    columns = np.arange(width, dtype=np.int32)
    for block in _blocks(tables, width):
        table = concatenate(block, dtype)
        nonzero = table != 0
        counts.append(np.count_nonzero(nonzero, axis=1))
        indices.append(np.broadcast_to(columns, table.shape)[nonzero])
        # One block that needs float64 turns all into float64, which changes nothing.
        values.append(narrow(table[nonzero], dtype))
    indptr = offsets(np.concatenate(counts))
    return indptr, np.concatenate(indices), np.concatenate(values)


def _blocks(tables, width):
    """Yield lists of tables with about `_BLOCK` entries, cutting the large ones."""
    size = max(1, _BLOCK // max(1, width))
    block, rows = [], 0
    for table in tables:
        for top in range(0, len(table), size):
            piece = table[top : top + size]
            block.append(piece)
            rows += len(piece)
            if rows >= size:
                yield block
                block, rows = [], 0
    if block:
        yield block


def from_sparse(matrices, width, dtype):
    """Return the CSR arrays of sparse matrices put on top of each other."""
    parts = [matrix.tocsr() for matrix in matrices]
    counts = [np.zeros(0, np.int64), *(np.diff(part.indptr) for part in parts)]
    indices = [np.zeros(0, np.int32), *(part.indices[: part.nnz] for part in parts)]
    values = [
        np.zeros(0, dtype or np.float32),
        *(part.data[: part.nnz] for part in parts),
    ]
    stack = sp.csr_array(
        (
            concatenate(values, dtype),
            np.concatenate(indices, dtype=np.int32),
            offsets(np.concatenate(counts)),
        ),
        shape=(sum(map(len, counts)), width),
    )
    # These work in place, on arrays that are ours.
    stack.sum_duplicates()
    stack.eliminate_zeros()
    indptr = stack.indptr.astype(np.int64, copy=False)
    indices = stack.indices.astype(np.int32, copy=False)
    return indptr, indices, narrow(stack.data, dtype)


# numbers -----------------------------------------------------------------------------


def offsets(lengths):
    """Return where each run begins, and where the last one ends, as int64."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def runs(first: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers first[k] .. first[k] + lengths[k] - 1 of every k, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - before, lengths)


def float_dtype(dtype):
    """Return None or one of the two dtypes that values can have."""
    if dtype is None:
        return None
    try:
        known = np.dtype(dtype)
    except TypeError:
        known = None
    if known not in (np.float32, np.float64):
        raise ValueError(f"dtype must be None, float32 or float64, not {dtype!r}.")
    return known


def concatenate(arrays, dtype):
    """Join numeric arrays into one of the demanded float dtype, or of a safe one."""
    if dtype is None:
        exact = all(np.can_cast(a.dtype, np.float32) for a in arrays)
        dtype = np.float32 if exact else np.float64
    with np.errstate(all="ignore"):  # what does not fit is inf, and met later
        return np.concatenate(arrays, dtype=dtype, casting="unsafe")


def narrow(values, dtype):
    """Return float values in the demanded dtype, or in float32 if none changes."""
    with np.errstate(all="ignore"):
        narrow = values.astype(dtype or np.float32, copy=False)
    return narrow if dtype or np.array_equal(narrow, values) else values


def check_finite(values, indices, indptr, start=None, words=None, dtype=None):
    """Refuse NaN, infinity and what overflows in a norm; say where the first one is."""
    limit = LARGEST if values.dtype == np.float64 else np.inf
    bad = ~(np.abs(values) < limit)
    if not bad.any():
        return
    k = int(np.argmax(bad))
    row = int(np.searchsorted(indptr, k, side="right")) - 1
    if start is None:
        where = f"row {row}"
    else:
        i = int(np.searchsorted(start, row, side="right")) - 1
        where = f"sequence {i}, token {row - start[i]}"
    if words is None:
        what = f"column {indices[k]}"
    else:
        what = f"feature {list(words)[indices[k]]!r}"
    if np.isfinite(values[k]):
        raise ValueError(
            f"{where}: the value of {what} is {values[k]:g}, too large to be squared: "
            "scale the features to a moderate range."
        )
    wide = ""
    if dtype == np.float32 and not np.isnan(values[k]):
        wide = " A finite number too large for float32 needs dtype=np.float64."
    raise ValueError(
        f"{where}: the value of {what} is {values[k]}, but values must be finite. "
        "Replace or leave out missing (NaN) and infinite values, for example "
        f"with sklearn.impute.SimpleImputer.{wide}"
    )


def check_width(width):
    """Refuse what int32 cannot index."""
    if width > MAX_FEATURES:
        raise ValueError(TOO_MANY)


def with_constant(indptr, indices, values, n_features: int) -> tuple:
    """CSR arrays with one more feature, which is 1 everywhere."""
    at = indptr[1:]
    indices = np.insert(indices, at, n_features).astype(np.int32, copy=False)
    values = np.insert(values, at, 1.0).astype(values.dtype, copy=False)
    return indptr + np.arange(len(indptr)), indices, values


def writable(value):
    """An argument that is only read, as a writable view: one signature for both kinds."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return np.asarray(_View(value))
    return value


class _View:
    def __init__(self, array):
        self.array = array  # alive as long as the view
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (address, False),
        }


# columns without values ---------------------------------------------------------------


# Bytes that training may take for weights of columns that are nearly all empty.
DENSE_MEMORY = 4e9
VECTORS = 6 * 8  # bytes per weight: w, its average, its best, gradients, coef_
# Data that use more than this share of their columns are as large as they look.
USED = 0.1


def check_columns(indices: np.ndarray, n_columns: int, n_weights: int) -> None:
    """Refuse weights that take gigabytes only because of columns without any value."""
    if VECTORS * n_weights > DENSE_MEMORY:
        check_used(len(np.unique(indices)), n_columns, n_weights)


def check_used(used: int, n_columns: int, n_weights: int) -> None:
    """The same where so many columns hold values."""
    needed = VECTORS * n_weights
    if needed <= DENSE_MEMORY or used > USED * n_columns:
        return
    raise ValueError(
        f"X has {n_columns:,} columns, but only {used:,} of them hold any value: training "
        f"would take {needed / 1e9:.3g} GB for weights that stay zero. Number the features "
        "anew without gaps, as X[:, np.unique(X.indices)] does for a sparse matrix."
    )


def check_batch(batch, n_weights: int) -> None:
    """The same of a batch, where it has sparse rows of features."""
    if hasattr(batch, "indices") and hasattr(batch, "n_features"):
        check_columns(batch.indices, batch.n_features, n_weights)
