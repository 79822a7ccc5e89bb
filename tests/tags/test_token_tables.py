"""Tables of numbers in place of named features."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import assert_same, check_layout, dense, fit, refuse

from maxmargin.core.tables import arrays
from maxmargin.core.tables.arrays import csr_arrays
from maxmargin.tags.features import TokenEncoder


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int64, np.float16, np.float32, float, ">f8"]
)
def test_dense_and_sparse_tables(dtype):
    tables = [
        np.array([[0, 1, 0], [1, 0, 1]], dtype),
        np.zeros((0, 3), dtype),
        np.array([[0, 0, 0], [1, 1, 1]], dtype),
    ]
    encoder = TokenEncoder()
    matrix = encoder.fit_encode(tables)
    check_layout(matrix, 3)
    assert encoder.kind == "dense"
    assert encoder.n_features_in == matrix.n_features == 3
    assert encoder.vocabulary is encoder.feature_names() is None
    assert matrix.values.dtype == np.float32
    assert matrix.indices.tolist() == [1, 0, 2, 0, 1, 2]
    assert matrix.indptr.tolist() == [0, 1, 3, 3, 6]
    assert matrix.start.tolist() == [0, 2, 2, 4]

    assert_same(fit([t.tolist() for t in tables]), matrix)
    assert_same(fit([list(t) for t in tables]), matrix)
    assert_same(fit([t.astype(object) for t in tables]), matrix)
    assert_same(fit([np.asfortranarray(t) for t in tables]), matrix)
    if dtype not in (np.float16, ">f8"):  # which scipy does not know
        for form in (sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array):
            encoder = TokenEncoder()
            assert_same(encoder.fit_encode([form(t) for t in tables]), matrix)
            assert encoder.kind == "sparse"
            assert_same(encoder.encode(tables), matrix)


def test_containers_of_sequences():
    tables = np.arange(12.0).reshape(2, 3, 2)
    matrix = fit([tables[0], tables[1]])
    held = np.empty(2, object)
    held[:] = list(tables)
    for X in (tables, tuple(tables), iter(tables), held, tables.tolist()):
        assert_same(fit(X), matrix)

    X = [[["a"], ["b", "c"]], [["b"]]]
    matrix = fit(X)
    held = np.empty(2, object)
    held[:] = X
    inner = [np.empty(2, object), X[1]]
    inner[0][:] = X[0]
    for form in (tuple(X), (s for s in X), held, inner, [iter(s) for s in X]):
        assert_same(fit(form), matrix)
    grid = np.array([[{"a": 1}, {"b": 2}], [{"a": 3}, {"a": 4}]])
    assert grid.shape == (2, 2)
    assert_same(fit(grid), fit(grid.tolist()))


def test_sparse_duplicates_are_summed_and_zeros_dropped():
    data = np.array([1.0, 2.0, 0.0, 3.0, -3.0])
    indices = np.array([2, 2, 0, 1, 1])
    matrix = sp.csr_array((data, indices, [0, 3, 5]), shape=(2, 3))
    before = copy.deepcopy(matrix)
    encoded = fit([matrix])
    assert encoded.indices.tolist() == [2]
    assert encoded.values.tolist() == [3]
    assert encoded.indptr.tolist() == [0, 1, 1]
    # The caller's matrix is as it was, and shares no memory with the result.
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(matrix, name), getattr(before, name))
    canonical = sp.csr_array(np.eye(2))
    assert not np.shares_memory(fit([canonical]).values, canonical.data)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from([2, 16, 2**20]))
def test_tables_round_trip(data, width, block):
    number = st.sampled_from([0.0, 0.0, -0.0, 1.0, 0.1, -3.5, 1e90])
    row = st.lists(number, min_size=width, max_size=width)
    X = data.draw(st.lists(st.lists(row, max_size=4), min_size=1, max_size=5))
    X = [np.reshape(np.array(s, float), (-1, width)) for s in X]
    full = np.concatenate(X)
    if not len(full):
        refuse(X, "all sequences are empty")
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_BLOCK", block)  # so that blocks cut and join
        matrix = fit(X)
    check_layout(matrix, len(X))
    assert np.all(matrix.values != 0)
    np.testing.assert_array_equal(dense(matrix), full)
    assert np.diff(matrix.start).tolist() == list(map(len, X))
    assert_same(matrix, fit([sp.csr_array(s) for s in X]))
    assert_same(matrix[:3], csr_arrays(full))
    assert_same(matrix[:3], csr_arrays(sp.coo_array(full)))


def test_csr_arrays():
    X = np.array([[0, 2], [0, 0], [3, 4]])
    indptr, indices, values = csr_arrays(X)
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    assert values.dtype == np.float32
    assert indptr.tolist() == [0, 1, 1, 3]
    assert indices.tolist() == [1, 0, 1]
    assert values.tolist() == [2, 3, 4]
    doubled = sp.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert csr_arrays(doubled, np.float64)[2].tolist() == [2]
    assert csr_arrays(doubled, np.float64)[2].dtype == np.float64
    assert csr_arrays(np.zeros((3, 0)))[0].tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="row 1: the value of column 0 is nan"):
        csr_arrays(np.array([[1.0], [np.nan]]))
    wide = sp.coo_array(([1.0], ([0], [2**31])), shape=(1, 2**31 + 1))
    with pytest.raises(ValueError, match="more than 2147483647 features"):
        csr_arrays(wide)
