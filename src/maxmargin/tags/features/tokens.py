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
from itertools import chain, compress, count, repeat
from operator import getitem

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin.core.tables.arrays import (
    TOO_MANY,
    check_finite,
    float_dtype,
    narrow,
    offsets,
)
from maxmargin.tags.features.sequences import (
    NAMES,
    WRAP,
    TokenMatrix,
    describe,
    encode_tables,
    kind_of_sequence,
    sequences_of,
)

__all__ = ["TokenEncoder", "TokenMatrix"]

_NUMBER = (bool, int, float, np.bool_, np.integer, np.floating)
_BAG = (list, tuple, set, frozenset)

_flatten = chain.from_iterable


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
        dtype = float_dtype(dtype)
        X, kind = sequences_of(X)
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
            matrix = encode_tables(X, kind, None, dtype)
            width = matrix.n_features
        self.kind, self.dtype = kind, dtype
        self.n_features_in, self.vocabulary = width, vocabulary
        return matrix

    def encode(self, X):
        """Encode X with the features learned; strings not seen then are left out."""
        if self.kind is None:
            raise NotFittedError("this TokenEncoder is not fitted; call fit_encode.")
        X, kind = sequences_of(X)
        kind = kind or self.kind
        # A dense and a sparse table of one width mean the same, so they may alternate.
        if (kind == "tokens") != (self.kind == "tokens"):
            first = next(
                i for i, sequence in enumerate(X) if kind_of_sequence(sequence)
            )
            raise ValueError(
                f"sequence {first} is {NAMES[kind]}, but in fitting each sequence was "
                f"{NAMES[self.kind]}; give both in the same form."
            )
        if kind == "tokens":
            return _encode_tokens(X, self.vocabulary, self.dtype)[0]
        return encode_tables(X, kind, self.n_features_in, self.dtype)

    def feature_names(self):
        """Return the learned strings by index, or None for numeric sequences."""
        return None if self.vocabulary is None else list(self.vocabulary)


# tokens ------------------------------------------------------------------------------


class _Refused(ValueError):
    """A token that cannot be encoded; the caller adds where it stands."""


def _pairs(token, prefix=""):
    """Yield the (feature, value) pairs of one token: the rules, spelled out."""
    under = f" under {prefix[:-1]!r}" if prefix else ""
    if isinstance(token, dict):
        for name, value in token.items():
            if not isinstance(name, str):
                raise _Refused(
                    f"a key{under} is {describe(name)}, but keys must be strings"
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
                    f"the value of {name!r} is {describe(value)}, but it must be a "
                    "number, a bool, a string, or a list or dict of these"
                )
    elif isinstance(token, _BAG):
        for feature in _in_order(token):
            if not isinstance(feature, str):
                raise _Refused(
                    f"a feature{under} is {describe(feature)}, but the features in "
                    "a list must be strings; to give numbers use a dict "
                    "{name: number}, or a table with a row per token"
                )
            yield "".join((prefix, feature)), 1.0
    elif isinstance(token, str):
        raise _Refused(
            f"the token is the plain string {token!r}, but a token must be a list of "
            f"strings, such as ['word={token}'], or a dict, such as "
            f"{{'word': {token!r}}}. {WRAP[:-1]}"
        )
    else:
        raise _Refused(
            f"the token is {describe(token)}, but a token must be a list of strings "
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
    start = offsets(np.fromiter(map(len, X), np.int64, len(X)))
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
            raise ValueError(TOO_MANY) from None
        if encoded is not None:
            break
    indptr, indices, values = encoded
    words = dict(words) if vocabulary is None else vocabulary
    if values is None:
        values = np.ones(len(indices), dtype or np.float32)
    else:
        check_finite(values, indices, indptr, start, words, dtype)
    return TokenMatrix(indptr, indices, values, start, len(words)), words


# Each path returns (indptr, indices, values), the values None if all are 1, or it
# returns None to hand over to the careful path.


def _strings(X, n_tokens, words, dtype):
    """Encode tokens that are lists of strings."""
    learn = isinstance(words, defaultdict)
    indptr = offsets(np.fromiter(map(len, _flatten(X)), np.int64, n_tokens))
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
    indptr = offsets(np.fromiter(map(len, _flatten(X)), np.int64, n_tokens))
    names = map(columns.__getitem__, _flatten(_flatten(X)))
    values = _flatten(map(dict.values, _flatten(X)))
    try:
        indices = np.fromiter(map(getitem, names, values), np.int32, int(indptr[-1]))
    except _Refused:
        return None
    values = None
    if columns.numbers:
        numbers = narrow(np.array(columns.numbers), dtype)
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
    indptr = offsets(np.array(counts, np.int64))
    return indptr, np.array(indices, np.int32), narrow(np.array(values), dtype)


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
