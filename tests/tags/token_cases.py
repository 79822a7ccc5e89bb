"""Encoded tokens: how they look, and how they are compared."""

import numpy as np
import pytest

from maxmargin.tags.features import TokenEncoder, TokenMatrix

WORDS = [
    [["a", "b"], ["b"]],
    [],
    [["c", "a", "c"], [], ["b", "d"]],
]


def fit(X, **options):
    return TokenEncoder().fit_encode(X, **options)


def refuse(X, *parts, encoder=None):
    """Check that X is refused, when fitting or encoding, in these words."""
    with pytest.raises(ValueError, match=r"\w") as caught:
        encoder.encode(X) if encoder else fit(X)
    message = str(caught.value)
    for part in parts:
        assert part in message
    assert message.endswith((".", ")"))
    assert "\n" not in message
    # The traceback shows the sentence alone, not how it was found.
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def check_layout(matrix, n_sequences=None):
    """Check what a compiled kernel relies on."""
    assert isinstance(matrix, TokenMatrix)
    indptr, indices, values, start, n_features = matrix
    assert [a.dtype for a in (indptr, indices, start)] == [np.int64, np.int32, np.int64]
    assert values.dtype in (np.float32, np.float64)
    for a in matrix[:4]:
        assert type(a) is np.ndarray
        assert a.ndim == 1
        assert a.flags.c_contiguous
        assert a.flags.writeable
        assert a.flags.aligned
    assert indptr[0] == start[0] == 0
    assert len(indices) == len(values) == indptr[-1]
    assert start[-1] == len(indptr) - 1
    assert np.all(np.diff(indptr) >= 0)
    assert np.all(np.diff(start) >= 0)
    assert type(n_features) is int
    assert np.all((indices >= 0) & (indices < n_features))
    if n_sequences is not None:
        assert len(start) == n_sequences + 1


def dense(matrix):
    """Return the table of a TokenMatrix, duplicates added up."""
    table = np.zeros((len(matrix.indptr) - 1, matrix.n_features))
    rows = np.repeat(np.arange(len(table)), np.diff(matrix.indptr))
    np.add.at(table, (rows, matrix.indices), matrix.values)
    return table


def assert_same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)
        if isinstance(x, np.ndarray):
            assert x.dtype == y.dtype
