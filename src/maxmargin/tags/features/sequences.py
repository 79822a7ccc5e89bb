"""Sequences as people have them: lists of tokens, numeric tables, sparse matrices."""

from collections.abc import Iterable, Mapping, Set

import numpy as np
import scipy.sparse as sp

from maxmargin.core.tables.arrays import (
    TokenMatrix,
    check_finite,
    check_width,
    from_dense,
    from_sparse,
    offsets,
)

_NUMBER = (bool, int, float, np.bool_, np.integer, np.floating)
_NOT_A_LIST = (str, bytes, Mapping, Set)
NAMES = {
    "dense": "a numeric table",
    "sparse": "a sparse matrix",
    "tokens": "a list of tokens",
}
WRAP = "If X is a single sequence, wrap it in a list: [X]."


# what X is ---------------------------------------------------------------------------


def sequence_list(X):
    """Return X as a list with at least one sequence, of which nothing is known yet."""
    wrong = None
    ndim = getattr(X, "ndim", None)
    if sp.issparse(X) or (ndim == 2 and not _holds_objects(X)):
        wrong = f"one table of shape {X.shape}. {WRAP}"
    elif ndim == 1 and np.asarray(X).dtype.kind in "biufc":
        wrong = f"a flat array of {len(X)} numbers. {WRAP}"
    elif ndim == 0 or isinstance(X, _NOT_A_LIST) or not isinstance(X, Iterable):
        wrong = f"{describe(X)}."
    if wrong:
        raise ValueError(f"X must be a list of sequences, but it is {wrong}")
    X = list(X)
    if not X:
        raise ValueError("X has no sequences; it must have at least one.")
    return X


def sequences_of(X):
    """Return X as a list of lists, tuples, arrays or sparse matrices, and its kind."""
    X = [_sequence(sequence, i) for i, sequence in enumerate(sequence_list(X))]
    kinds = list(map(kind_of_sequence, X))
    found = list(dict.fromkeys(filter(None, kinds)))
    if len(found) > 1:
        a, b = map(kinds.index, found[:2])
        raise ValueError(
            f"sequence {a} is {NAMES[found[0]]} but sequence {b} is "
            f"{NAMES[found[1]]}; all sequences of one X must be of one kind."
        )
    # An empty sequence of another kind must not get in the way of len().
    X = [sequence if kind else () for sequence, kind in zip(X, kinds, strict=True)]
    return X, found[0] if found else None


def _holds_objects(X):
    """Tell a 2-D object array of tokens, sequences by positions, from a table."""
    return (
        isinstance(X, np.ndarray)
        and X.dtype.kind == "O"
        and X.size
        and not isinstance(X.flat[0], _NUMBER)
    )


def _sequence(sequence, i):
    """Return sequence i as a list, tuple, numeric array or sparse matrix."""
    if isinstance(sequence, list | tuple) or sp.issparse(sequence):
        return sequence
    if hasattr(sequence, "__array__") and not isinstance(sequence, str):
        table = np.asarray(sequence)
        if table.ndim == 1 and table.dtype.kind in "OUS":
            return table.tolist()  # a container of tokens
        if table.ndim:
            return table
    elif isinstance(sequence, Iterable) and not isinstance(sequence, _NOT_A_LIST):
        return list(sequence)
    raise ValueError(
        f"sequence {i} is {describe(sequence)}, but a sequence must be a list of "
        f"tokens, each a list of strings or a dict, or a table of numbers. {WRAP}"
    )


def kind_of_sequence(sequence):
    """Name the kind of a sequence; None for an empty one, which may be any."""
    if isinstance(sequence, np.ndarray):
        return "dense" if len(sequence) else None
    if sp.issparse(sequence):
        return "sparse" if sequence.shape[0] else None
    for token in sequence:
        if isinstance(token, list | tuple):
            if not token:
                continue  # no features, or no columns: the next token may tell
            token = token[0]
        numeric = isinstance(token, (*_NUMBER, np.ndarray, complex))
        return "dense" if numeric else "tokens"
    return "tokens" if sequence else None


def describe(thing):
    """Say what an unexpected object is, shortly."""
    if thing is None:
        return "None"
    shown = " ".join(repr(thing).split())
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return f"of type {type(thing).__name__} ({shown})"


# tables ------------------------------------------------------------------------------


def encode_tables(X, kind, fitted, dtype):
    """Return the TokenMatrix of dense or sparse tables; `fitted` is the width known."""
    lengths = [s.shape[0] if hasattr(s, "shape") else len(s) for s in X]
    check = _dense_table if kind == "dense" else _sparse_table
    filled = [i for i, length in enumerate(lengths) if length]
    width = fitted
    if width is None:
        width = check(X[filled[0]], filled[0]).shape[1]
        if width == 0:
            raise ValueError(f"sequence {filled[0]} has no columns; it needs one.")
        check_width(width)

    def tables():
        for i in filled:
            table = check(X[i], i)
            if table.shape[1] != width:
                known = f"sequence {filled[0]} has {width}; all need the same columns."
                if fitted is not None:
                    known = f"the model was fitted with {width}; give it the same ones."
                plural = "" if table.shape[1] == 1 else "s"
                raise ValueError(
                    f"sequence {i} has {table.shape[1]} column{plural}, {known}"
                )
            yield table

    convert = from_dense if kind == "dense" else from_sparse
    indptr, indices, values = convert(tables(), width, dtype)
    start = offsets(np.array(lengths, np.int64))
    check_finite(values, indices, indptr, start, dtype=dtype)
    return TokenMatrix(indptr, indices, values, start, width)


def _dense_table(sequence, i):
    """Return sequence i as a 2-D array of real numbers."""
    try:
        table = np.asarray(sequence)
    except ValueError:  # what numpy says of nested lists of different lengths
        sizes = [len(row) if hasattr(row, "__len__") else 1 for row in sequence]
        t = next((t for t, size in enumerate(sizes) if size != sizes[0]), None)
        if t is None:
            raise ValueError(
                f"sequence {i} is not a table: it has lists in place of numbers."
            ) from None
        raise ValueError(
            f"sequence {i} is not a table: token 0 has {sizes[0]} numbers, but token "
            f"{t} has {sizes[t]}; every token needs as many."
        ) from None
    if table.ndim != 2:
        raise ValueError(
            f"sequence {i} is {table.ndim}-D with shape {table.shape}, but it must be "
            "2-D, a row of numbers for each token. If each token has one number, use "
            f"reshape(-1, 1). {WRAP}"
        )
    if table.dtype.kind in "biuf":
        return table
    # Look at what the caller gave: numpy has turned [1, "a"] into two strings.
    for t, row in enumerate(sequence):
        for value in row:
            if not isinstance(value, _NUMBER):
                raise ValueError(
                    f"sequence {i}, token {t}: the value is {describe(value)}, but a "
                    "table must hold real numbers. If the tokens are lists of "
                    "strings, give them as lists, for example with .tolist()."
                )
    try:
        return table.astype(np.float64)
    except OverflowError:
        raise ValueError(
            f"sequence {i} has an integer too large for a float."
        ) from None


def _sparse_table(matrix, i):
    """Return sequence i, a sparse matrix, after a look at its shape and dtype."""
    if matrix.ndim != 2:
        raise ValueError(
            f"sequence {i} is {matrix.ndim}-D with shape {matrix.shape}, but it must "
            "be 2-D, a row for each token."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"sequence {i} has the dtype {matrix.dtype}, but it must hold real numbers."
        )
    return matrix
