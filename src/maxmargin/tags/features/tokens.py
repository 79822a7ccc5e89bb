"""Sequences of tokens, in the formats people already have, as flat CSR arrays.

A sequence is a numeric table (one row per token), a sparse matrix, or a list of
tokens that are lists of strings or dicts, as in python-crfsuite. Whatever comes in,
one `TokenMatrix` goes out: four flat arrays that a compiled kernel can walk.

Encoding strings easily costs more than training on them, so the common inputs take
paths on which no Python bytecode runs per feature. These paths check as little as
they can; when one of them meets something it does not know, the careful path
(`_careful`, and `_pairs`, which states the rules) takes over, and either encodes it
or says which sequence and token cannot be encoded, and why.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from itertools import chain, compress, count, repeat
from operator import getitem
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

__all__ = ["TokenEncoder", "TokenMatrix", "csr_arrays"]

LARGEST = 1e100  # features above it overflow in a norm
_MAX_FEATURES = np.iinfo(np.int32).max
_TOO_MANY = f"X has more than {_MAX_FEATURES} features, the most int32 can index."
_BLOCK = 2**20  # table entries converted at a time: bounds the temporary memory

_NUMBER = (bool, int, float, np.bool_, np.integer, np.floating)
_BAG = (list, tuple, set, frozenset)
_NOT_A_LIST = (str, bytes, Mapping, Set)
_NAMES = {
    "dense": "a numeric table",
    "sparse": "a sparse matrix",
    "tokens": "a list of tokens",
}
_WRAP = "If X is a single sequence, wrap it in a list: [X]."

_flatten = chain.from_iterable


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


class TokenEncoder:
    """Learn the features of a list of sequences and encode such lists as arrays.

    Each sequence of X is one of

    - a table of shape (tokens, features): a numeric array or nested lists of numbers;
    - a sparse matrix or array of that shape;
    - a list of tokens, each a list (tuple, set) of strings or a dict. A string is a
      feature of value 1. In a dict, `name: number` is the feature `name` with that
      value (`True` is 1; `False` and 0 are left out), `name: "text"` is the feature
      `"name:text"` of value 1, and `name: [...]` or `name: {...}` puts `"name:"`
      before each of the inner features.

    All sequences of one X are of one kind; empty ones are welcome among any.

    Attributes
    ----------
    kind : {"dense", "sparse", "tokens"} or None
        What the sequences were when fitting; None before.
    n_features_in : int or None
        The width of the tables, for the two numeric kinds.
    vocabulary : dict of str to int, or None
        The index of each feature in the order first seen, for tokens.
    dtype : numpy dtype or None
        The dtype demanded when fitting, which `encode` keeps to.
    """

    def __init__(self):
        self.kind = None
        self.n_features_in = None
        self.vocabulary = None
        self.dtype = None

    def fit_encode(self, X, dtype=None):
        """Learn the vocabulary, or the width, of X and encode it.

        With `dtype=None` the values are float32 if that changes none of them and
        float64 otherwise. If X is refused, the encoder stays as it was.
        """
        dtype = _float_dtype(dtype)
        X, kind = _sequences(X)
        if kind is None:
            raise ValueError(
                "all sequences are empty; fitting needs at least one with a token to label."
            )
        if kind == "tokens":
            width = None
            matrix, vocabulary = _encode_tokens(X, None, dtype)
            if not vocabulary:
                raise ValueError(
                    "no token of X has a feature; give each token at least one, for "
                    "example the string 'bias'."
                )
        else:
            vocabulary = None
            matrix = _encode_tables(X, kind, None, dtype)
            width = matrix.n_features
        self.kind, self.dtype = kind, dtype
        self.n_features_in, self.vocabulary = width, vocabulary
        return matrix

    def encode(self, X):
        """Encode X with the features learned; strings not seen then are left out."""
        if self.kind is None:
            raise NotFittedError("this TokenEncoder is not fitted; call fit_encode.")
        X, kind = _sequences(X)
        kind = kind or self.kind
        # A dense and a sparse table of one width mean the same, so they may alternate.
        if (kind == "tokens") != (self.kind == "tokens"):
            first = next(i for i, sequence in enumerate(X) if _kind(sequence))
            raise ValueError(
                f"sequence {first} is {_NAMES[kind]}, but in fitting each sequence was "
                f"{_NAMES[self.kind]}; give both in the same form."
            )
        if kind == "tokens":
            return _encode_tokens(X, self.vocabulary, self.dtype)[0]
        return _encode_tables(X, kind, self.n_features_in, self.dtype)

    def feature_names(self):
        """Return the learned strings by index, or None for numeric sequences."""
        return None if self.vocabulary is None else list(self.vocabulary)


def csr_arrays(X, dtype=None):
    """Return `(indptr, indices, values)` of one validated dense or sparse matrix.

    They are int64, int32 and, by the rule of `TokenEncoder.fit_encode`, float32 or
    float64. Duplicates are summed and zeros left out; X is neither changed nor shared.
    """
    dtype = _float_dtype(dtype)
    _check_width(X.shape[1])
    convert = _from_sparse
    if not sp.issparse(X):
        X, convert = np.asarray(X), _from_dense
    indptr, indices, values = convert([X], X.shape[1], dtype)
    _check_finite(values, indices, indptr, dtype=dtype)
    return indptr, indices, values


# What X is ---------------------------------------------------------------------------


def sequence_list(X):
    """Return X as a list with at least one sequence, of which nothing is known yet."""
    wrong = None
    ndim = getattr(X, "ndim", None)
    if sp.issparse(X) or (ndim == 2 and not _holds_objects(X)):
        wrong = f"one table of shape {X.shape}. {_WRAP}"
    elif ndim == 1 and np.asarray(X).dtype.kind in "biufc":
        wrong = f"a flat array of {len(X)} numbers. {_WRAP}"
    elif ndim == 0 or isinstance(X, _NOT_A_LIST) or not isinstance(X, Iterable):
        wrong = f"{_describe(X)}."
    if wrong:
        raise ValueError(f"X must be a list of sequences, but it is {wrong}")
    X = list(X)
    if not X:
        raise ValueError("X has no sequences; it must have at least one.")
    return X


def _sequences(X):
    """Return X as a list of lists, tuples, arrays or sparse matrices, and its kind."""
    X = [_sequence(sequence, i) for i, sequence in enumerate(sequence_list(X))]
    kinds = list(map(_kind, X))
    found = list(dict.fromkeys(filter(None, kinds)))
    if len(found) > 1:
        a, b = map(kinds.index, found[:2])
        raise ValueError(
            f"sequence {a} is {_NAMES[found[0]]} but sequence {b} is "
            f"{_NAMES[found[1]]}; all sequences of one X must be of one kind."
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
        f"sequence {i} is {_describe(sequence)}, but a sequence must be a list of "
        f"tokens, each a list of strings or a dict, or a table of numbers. {_WRAP}"
    )


def _kind(sequence):
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


def _describe(thing):
    """Say what an unexpected object is, shortly."""
    if thing is None:
        return "None"
    shown = " ".join(repr(thing).split())
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    return f"of type {type(thing).__name__} ({shown})"


# Tokens ------------------------------------------------------------------------------


class _Refused(ValueError):
    """A token that cannot be encoded; the caller adds where it stands."""


def _pairs(token, prefix=""):
    """Yield the (feature, value) pairs of one token: the rules, spelled out."""
    under = f" under {prefix[:-1]!r}" if prefix else ""
    if isinstance(token, dict):
        for name, value in token.items():
            if not isinstance(name, str):
                raise _Refused(
                    f"a key{under} is {_describe(name)}, but keys must be strings"
                )
            name = "".join((prefix, name))  # a plain str, whatever its subclass was
            if isinstance(value, str):
                yield ":".join((name, value)), 1.0
            elif isinstance(value, _NUMBER):
                try:
                    value = float(value)
                except OverflowError:
                    raise _Refused(
                        f"the value of {name!r} is an integer too large for a float"
                    ) from None
                if value:
                    yield name, value
            elif isinstance(value, (dict, *_BAG)):
                yield from _pairs(value, name + ":")
            else:
                raise _Refused(
                    f"the value of {name!r} is {_describe(value)}, but it must be a "
                    "number, a bool, a string, or a list or dict of these"
                )
    elif isinstance(token, _BAG):
        for feature in _in_order(token):
            if not isinstance(feature, str):
                raise _Refused(
                    f"a feature{under} is {_describe(feature)}, but the features in "
                    "a list must be strings; to give numbers use a dict "
                    "{name: number}, or a table with a row per token"
                )
            yield "".join((prefix, feature)), 1.0
    elif isinstance(token, str):
        raise _Refused(
            f"the token is the plain string {token!r}, but a token must be a list of "
            f"strings, such as ['word={token}'], or a dict, such as "
            f"{{'word': {token!r}}}. {_WRAP[:-1]}"
        )
    else:
        raise _Refused(
            f"the token is {_describe(token)}, but a token must be a list of strings "
            "or a dict"
        )


def _in_order(bag):
    """Sort a set, whose own order changes from one run of Python to the next."""
    return sorted(bag, key=str) if isinstance(bag, set | frozenset) else bag


def _encode_tokens(X, vocabulary, dtype):
    """Return the TokenMatrix of lists of tokens and the vocabulary.

    A vocabulary of None is learned. It is a new dict for each path tried, so that
    a path that gives up leaves no features behind.
    """
    start = _offsets(np.fromiter(map(len, X), np.int64, len(X)))
    n_tokens = int(start[-1])
    types = set(map(type, _flatten(X)))
    paths = (_careful,)
    if all(issubclass(kind, _BAG) for kind in types):
        paths = (_strings, _careful)
        if any(issubclass(kind, set | frozenset) for kind in types):
            X = [list(map(_in_order, sequence)) for sequence in X]
    elif all(issubclass(kind, dict) for kind in types):
        paths = (_dicts, _careful)
    for path in paths:
        words = vocabulary
        if words is None:
            # The n-th new key gets the number n, without leaving C.
            words = defaultdict(count().__next__)
        try:
            encoded = path(X, n_tokens, words, dtype)
        except OverflowError:
            raise ValueError(_TOO_MANY) from None
        if encoded is not None:
            break
    indptr, indices, values = encoded
    words = dict(words) if vocabulary is None else vocabulary
    if values is None:
        values = np.ones(len(indices), dtype or np.float32)
    else:
        _check_finite(values, indices, indptr, start, words, dtype)
    return TokenMatrix(indptr, indices, values, start, len(words)), words


# Each path returns (indptr, indices, values), the values None if all are 1, or it
# returns None to hand over to the careful path.


def _strings(X, n_tokens, words, dtype):
    """Encode tokens that are lists of strings."""
    learn = isinstance(words, defaultdict)
    indptr = _offsets(np.fromiter(map(len, _flatten(X)), np.int64, n_tokens))
    features = _flatten(_flatten(X))
    if learn:
        ids = map(words.__getitem__, features)
    else:
        ids = map(words.get, features, repeat(-1))
    try:
        indices = np.fromiter(ids, np.int32, int(indptr[-1]))
    except TypeError:  # a feature that cannot be hashed
        return None
    # What is not a string is a new key, or unseen: only those need a look.
    unseen = indices < 0
    fresh = words if learn else compress(_flatten(_flatten(X)), unseen.tobytes())
    if not set(map(type, fresh)) <= {str}:
        return None
    return *_drop(indptr, indices, unseen), None


def _dicts(X, n_tokens, words, dtype):
    """Encode tokens that are dicts of strings and numbers, without nesting."""
    types = set(map(type, _flatten(map(dict.values, _flatten(X)))))
    if not all(kind is str or issubclass(kind, _NUMBER) for kind in types):
        return None
    columns = _Columns(_lookup(words))
    indptr = _offsets(np.fromiter(map(len, _flatten(X)), np.int64, n_tokens))
    names = map(columns.__getitem__, _flatten(_flatten(X)))
    values = _flatten(map(dict.values, _flatten(X)))
    try:
        indices = np.fromiter(map(getitem, names, values), np.int32, int(indptr[-1]))
    except _Refused:
        return None
    values = None
    if columns.numbers:
        numbers = _narrow(np.array(columns.numbers), dtype)
        coded = indices < -1
        values = np.ones(len(indices), numbers.dtype)
        values[coded] = numbers
        indices[coded] = -2 - indices[coded]
    unseen = indices < 0
    if values is not None:
        values = values[~unseen]
    return *_drop(indptr, indices, unseen), values


class _Columns(dict):
    """The `_Column` of each name, made when the name is first met."""

    def __init__(self, lookup):
        self.lookup = lookup
        self.numbers = array("d")

    def __missing__(self, name):
        if type(name) is not str:
            raise _Refused
        column = self[name] = _Column()
        column.name, column.lookup, column.numbers = name, self.lookup, self.numbers
        return column


class _Column(dict):
    """Feature index of each value met under one name, so no string is joined twice.

    The values True, 1 and 1.0 are one key of a dict, and mean the same; so are and
    do False, 0 and 0.0, which get the index -1. Any other number is looked up each
    time: it goes on the list `numbers`, and index j is returned as -2 - j.
    """

    __slots__ = ("lookup", "name", "numbers")

    def __missing__(self, value):
        if isinstance(value, str):
            index = self[value] = self.lookup(":".join((self.name, value)))
            return index
        try:
            number = float(value)
        except OverflowError:
            raise _Refused from None
        if number in (0.0, 1.0):
            index = self[value] = self.lookup(self.name) if number else -1
            return index
        index = self.lookup(self.name)
        if index < 0:
            return -1
        self.numbers.append(number)
        return -2 - index


def _careful(X, n_tokens, words, dtype):
    """Encode any tokens, or raise a ValueError that says which one is wrong."""
    lookup = _lookup(words)
    counts, indices, values = array("q"), array("i"), array("d")
    for i, sequence in enumerate(X):
        for t, token in enumerate(sequence):
            before = len(indices)
            try:
                for feature, value in _pairs(token):
                    index = lookup(feature)
                    if index >= 0:
                        indices.append(index)
                        values.append(value)
            except _Refused as error:
                raise ValueError(f"sequence {i}, token {t}: {error}.") from None
            counts.append(len(indices) - before)
    indptr = _offsets(np.array(counts, np.int64))
    return indptr, np.array(indices, np.int32), _narrow(np.array(values), dtype)


def _lookup(words):
    """Return the function from a feature to its index, which is -1 if unknown."""
    if isinstance(words, defaultdict):
        return words.__getitem__
    return lambda feature: words.get(feature, -1)


def _drop(indptr, indices, unseen):
    """Leave out the unseen entries."""
    gone = np.flatnonzero(unseen)
    if len(gone) == 0:
        return indptr, indices
    return indptr - np.searchsorted(gone, indptr), indices[~unseen]


# Tables ------------------------------------------------------------------------------


def _encode_tables(X, kind, fitted, dtype):
    """Return the TokenMatrix of dense or sparse tables; `fitted` is the width known."""
    lengths = [s.shape[0] if hasattr(s, "shape") else len(s) for s in X]
    check = _dense_table if kind == "dense" else _sparse_table
    filled = [i for i, length in enumerate(lengths) if length]
    width = fitted
    if width is None:
        width = check(X[filled[0]], filled[0]).shape[1]
        if width == 0:
            raise ValueError(f"sequence {filled[0]} has no columns; it needs one.")
        _check_width(width)

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

    convert = _from_dense if kind == "dense" else _from_sparse
    indptr, indices, values = convert(tables(), width, dtype)
    start = _offsets(np.array(lengths, np.int64))
    _check_finite(values, indices, indptr, start, dtype=dtype)
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
            f"reshape(-1, 1). {_WRAP}"
        )
    if table.dtype.kind in "biuf":
        return table
    # Look at what the caller gave: numpy has turned [1, "a"] into two strings.
    for t, row in enumerate(sequence):
        for value in row:
            if not isinstance(value, _NUMBER):
                raise ValueError(
                    f"sequence {i}, token {t}: the value is {_describe(value)}, but a "
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


def _from_dense(tables, width, dtype):
    """Return the CSR arrays of 2-D arrays put on top of each other."""
    counts = [np.zeros(0, np.int64)]
    indices = [np.zeros(0, np.int32)]
    values = [np.zeros(0, dtype or np.float32)]
    columns = np.arange(width, dtype=np.int32)
    for block in _blocks(tables, width):
        table = _concatenate(block, dtype)
        nonzero = table != 0
        counts.append(np.count_nonzero(nonzero, axis=1))
        indices.append(np.broadcast_to(columns, table.shape)[nonzero])
        # One block that needs float64 turns all into float64, which changes nothing.
        values.append(_narrow(table[nonzero], dtype))
    indptr = _offsets(np.concatenate(counts))
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


def _from_sparse(matrices, width, dtype):
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
            _concatenate(values, dtype),
            np.concatenate(indices, dtype=np.int32),
            _offsets(np.concatenate(counts)),
        ),
        shape=(sum(map(len, counts)), width),
    )
    # These work in place, on arrays that are ours.
    stack.sum_duplicates()
    stack.eliminate_zeros()
    indptr = stack.indptr.astype(np.int64, copy=False)
    indices = stack.indices.astype(np.int32, copy=False)
    return indptr, indices, _narrow(stack.data, dtype)


# Numbers -----------------------------------------------------------------------------


def _offsets(lengths):
    """Return where each run begins, and where the last one ends, as int64."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _float_dtype(dtype):
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


def _concatenate(arrays, dtype):
    """Join numeric arrays into one of the demanded float dtype, or of a safe one."""
    if dtype is None:
        exact = all(np.can_cast(a.dtype, np.float32) for a in arrays)
        dtype = np.float32 if exact else np.float64
    with np.errstate(all="ignore"):  # what does not fit is inf, and met later
        return np.concatenate(arrays, dtype=dtype, casting="unsafe")


def _narrow(values, dtype):
    """Return float values in the demanded dtype, or in float32 if none changes."""
    with np.errstate(all="ignore"):
        narrow = values.astype(dtype or np.float32, copy=False)
    return narrow if dtype or np.array_equal(narrow, values) else values


def _check_finite(values, indices, indptr, start=None, words=None, dtype=None):
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


def _check_width(width):
    """Refuse what int32 cannot index."""
    if width > _MAX_FEATURES:
        raise ValueError(_TOO_MANY)
