"""Every input format of the token encoder, and every sentence it refuses one with."""

import copy
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from maxmargin.core import arrays
from maxmargin.core.arrays import csr_arrays
from maxmargin.tags.features import TokenEncoder, TokenMatrix, tokens

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


# Tokens ------------------------------------------------------------------------------


def test_lists_of_strings():
    encoder = TokenEncoder()
    matrix = encoder.fit_encode(WORDS)
    check_layout(matrix, 3)
    assert encoder.kind == "tokens"
    assert encoder.vocabulary == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert type(encoder.vocabulary) is dict
    assert encoder.feature_names() == ["a", "b", "c", "d"]
    assert encoder.n_features_in is None
    assert matrix.indptr.tolist() == [0, 2, 3, 6, 6, 8]
    assert matrix.indices.tolist() == [0, 1, 1, 2, 0, 2, 1, 3]
    assert matrix.values.tolist() == [1] * 8
    assert matrix.start.tolist() == [0, 2, 2, 5]
    assert matrix.n_features == 4
    assert_same(encoder.encode(WORDS), matrix)


def test_repeated_strings_add_up():
    matrix = fit([[["a", "a", "b"]]])
    assert matrix.indices.tolist() == [0, 0, 1]
    assert dense(matrix).tolist() == [[2, 1]]


def test_strings_and_true_values_are_the_same():
    lists = [[["a", "b"], ["c"]], [["b", "c"]]]
    for true in (True, 1, 1.0, np.True_, np.float32(1), np.int8(1)):
        dicts = [[dict.fromkeys(token, true) for token in s] for s in lists]
        assert_same(fit(lists), fit(dicts))
    assert_same(fit(lists), fit([tuple(map(tuple, s)) for s in lists]))
    assert_same(fit(lists), fit([list(map(set, s)) for s in lists]))
    assert_same(fit(lists), fit([list(map(frozenset, s)) for s in lists]))


def test_dict_values():
    token = {
        "bias": 1.0,
        "yes": True,
        "no": False,
        "zero": 0,
        "minus": -0.0,
        "int": 3,
        "half": np.float32(0.5),
        "flag": np.True_,
        "word": "the",
        "tags": ["x", "y"],
        "pair": ("x", "x"),
        "set": {"q", "p"},
        "deep": {"in": {"most": "z", "n": 2}, "list": ["u"]},
        "empty": {},
    }
    encoder = TokenEncoder()
    matrix = encoder.fit_encode([[token]])
    check_layout(matrix)
    expected = {
        "bias": 1,
        "yes": 1,
        "int": 3,
        "half": 0.5,
        "flag": 1,
        "word:the": 1,
        "tags:x": 1,
        "tags:y": 1,
        "pair:x": 2,
        "set:p": 1,
        "set:q": 1,
        "deep:in:most:z": 1,
        "deep:in:n": 2,
        "deep:list:u": 1,
    }
    assert encoder.feature_names() == list(expected)
    assert dense(matrix).tolist() == [list(expected.values())]


def test_same_name_with_numbers_and_strings():
    X = [[{"a": 1}, {"a": "1"}, {"a": 2.5}, {"a": True}, {"a": 0}, {"a": 2.5, "b": 7}]]
    encoder = TokenEncoder()
    matrix = encoder.fit_encode(X)
    assert encoder.feature_names() == ["a", "a:1", "b"]
    np.testing.assert_array_equal(
        dense(matrix),
        [[1, 0, 0], [0, 1, 0], [2.5, 0, 0], [1, 0, 0], [0, 0, 0], [2.5, 0, 7]],
    )
    assert_same(encoder.encode(X), matrix)


def test_names_that_spell_the_same_feature_share_it():
    encoder = TokenEncoder()
    matrix = encoder.fit_encode([[{"a": "b:c", "a:b": "c"}]])
    assert encoder.feature_names() == ["a:b:c"]
    assert dense(matrix).tolist() == [[2]]


def test_lists_and_dicts_may_be_mixed():
    encoder = TokenEncoder()
    matrix = encoder.fit_encode([[["a:x"], {"a": "x", "n": 2}], [{}, []]])
    assert encoder.feature_names() == ["a:x", "n"]
    assert dense(matrix).tolist() == [[1, 0], [1, 2], [0, 0], [0, 0]]


def test_unseen_features_are_dropped():
    encoder = TokenEncoder()
    encoder.fit_encode([[{"w": "a", "n": 1.5, "yes": True}]])
    matrix = encoder.encode(
        [
            [{"w": "b", "n": 2.5, "m": 3.5, "w:a": 4}],
            [{"w": "a", "no": True, "n": False}, {"v": "a"}],
        ]
    )
    check_layout(matrix, 2)
    assert matrix.n_features == 3
    assert dense(matrix).tolist() == [[4, 2.5, 0], [1, 0, 0], [0, 0, 0]]
    matrix = encoder.encode([[["?", "n", "?", "?", "w:a"], ["?"], ["yes"], []]])
    check_layout(matrix, 1)
    assert dense(matrix).tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert encoder.feature_names() == ["w:a", "n", "yes"]  # nothing was learned


def test_string_subclasses_become_strings():
    encoder = TokenEncoder()
    X = [[[np.str_("a"), "b", np.str_("b")]]]
    matrix = encoder.fit_encode(X)
    assert encoder.vocabulary == {"a": 0, "b": 1}
    assert set(map(type, encoder.vocabulary)) == {str}
    assert_same(matrix, encoder.encode([[["a", "b", "b"]]]))
    assert_same(matrix, encoder.encode(X))
    assert encoder.encode([[[np.str_("new")]]]).indptr.tolist() == [0, 0]
    encoder.fit_encode([[{np.str_("a"): np.str_("x")}]])
    assert encoder.feature_names() == ["a:x"]
    assert set(map(type, encoder.vocabulary)) == {str}


FEATURE = st.text("abc:", max_size=3)
NUMBER = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-4, 4),
    st.sampled_from([np.float32(0.5), np.int64(2), np.True_, np.False_, np.float64(1)]),
)
DICT = st.dictionaries(FEATURE, NUMBER | FEATURE, max_size=4)
NESTED = st.dictionaries(
    FEATURE, NUMBER | FEATURE | DICT | st.lists(FEATURE) | st.sets(FEATURE), max_size=4
)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.lists(st.lists(token, max_size=4), max_size=4)
        for token in (st.lists(FEATURE, max_size=4), DICT, NESTED, st.sets(FEATURE))
    ),
    st.lists(st.lists(DICT | st.lists(FEATURE), max_size=3), max_size=3),
)
def test_fast_paths_agree_with_the_rules(X, others):
    X = [[["known"]], *X]
    encoder = TokenEncoder()
    matrix = encoder.fit_encode(X)
    check_layout(matrix, len(X))

    rules = {}
    index = []
    values = []
    sizes = []
    for token in itertools.chain.from_iterable(X):
        pairs = list(tokens._pairs(token))
        index += [rules.setdefault(name, len(rules)) for name, _ in pairs]
        values += [value for _, value in pairs]
        sizes.append(len(pairs))
    assert encoder.feature_names() == list(rules)
    assert matrix.indices.tolist() == index
    assert matrix.values.tolist() == values
    assert np.diff(matrix.indptr).tolist() == sizes
    assert_same(encoder.encode(X), matrix)

    others = [[["known"]], *others]
    again = encoder.encode(others)
    check_layout(again, len(others))
    assert encoder.feature_names() == list(rules)
    table = np.zeros((sum(map(len, others)), len(rules)))
    for row, token in zip(table, itertools.chain.from_iterable(others), strict=True):
        for name, value in tokens._pairs(token):
            if name in rules:
                row[rules[name]] += value
    np.testing.assert_allclose(dense(again), table, rtol=1e-12)


# Tables ------------------------------------------------------------------------------


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


# Empty sequences ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "empty", [[], (), np.zeros(0), np.zeros((0, 7)), sp.csr_array((0, 7))]
)
def test_empty_sequences_among_any_kind(empty):
    for filled in ([["a"]], np.eye(2), sp.csr_array(np.eye(2)), [[1, 2]], [{"a": 1}]):
        encoder = TokenEncoder()
        matrix = encoder.fit_encode([empty, filled, empty])
        check_layout(matrix, 3)
        assert_same(matrix[:3], fit([filled])[:3])
        n = len(matrix.indptr) - 1
        assert matrix.start.tolist() == [0, 0, n, n]
        nothing = encoder.encode([empty, empty])
        check_layout(nothing, 2)
        assert nothing.n_features == matrix.n_features
        assert nothing.start.tolist() == [0, 0, 0]


def test_tokens_without_features():
    assert fit([[[], []], [["a"], {}]]).indptr.tolist() == [0, 0, 0, 1, 1]
    refuse([[[], []]], "no token of X has a feature")
    refuse([[{"a": 0}]], "no token of X has a feature")


# Dtypes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(0.5, "f4"), (0.1, "f8"), (2**24, "f4"), (2**24 + 1, "f8"), (1e90, "f8")],
)
def test_float32_if_nothing_changes(value, dtype):
    forms = (
        [np.array([[value, 1.0]])],
        [[[value, 1]]],
        [sp.csr_array([[value, 1.0]])],
        [[{"a": value, "b": 1}]],
        [[{"a": value, "b": {"c": 1}}]],
    )
    for X in forms:
        assert fit(X).values.dtype == dtype
        assert fit(X).values.tolist() == [value, 1]
        assert fit(X, dtype=np.float64).values.dtype == np.float64
        if value < 1e30:
            assert fit(X, dtype=np.float32).values.dtype == np.float32
        else:
            with pytest.raises(ValueError, match=r"sequence 0, token 0.*too large for"):
                fit(X, dtype=np.float32)
    assert fit([np.float32([[0.1]])]).values.dtype == np.float32


def test_demanded_dtype_is_kept():
    assert fit(WORDS).values.dtype == np.float32
    for dtype in (np.float32, np.float64, "float32", np.dtype("f8")):
        for X in (WORDS, [np.array([[0.1]])], [[{"a": 0.1}]]):
            encoder = TokenEncoder()
            assert encoder.fit_encode(X, dtype=dtype).values.dtype == dtype
            assert encoder.encode(X).values.dtype == dtype
    encoder.fit_encode(WORDS)
    assert encoder.encode(WORDS).values.dtype == np.float32
    for dtype in (int, "nonsense", np.float16, ">f4"):
        with pytest.raises(ValueError, match="dtype must be None, float32 or float64"):
            fit(WORDS, dtype=dtype)


# Refusals ----------------------------------------------------------------------------

WRAP = "wrap it in a list: [X]"


@pytest.mark.parametrize(
    ("X", "parts"),
    [
        (None, ["X must be a list of sequences", "None"]),
        (5, ["X must be a list of sequences", "int (5)"]),
        ("the cat", ["X must be a list of sequences", "str ('the cat')"]),
        (b"cat", ["X must be a list of sequences", "bytes"]),
        ({"a": 1}, ["X must be a list of sequences", "dict"]),
        ({("a",)}, ["X must be a list of sequences", "set"]),
        (np.float64(3), ["X must be a list of sequences"]),
        (np.array(None), ["X must be a list of sequences"]),
        (np.eye(3), ["one table of shape (3, 3)", WRAP]),
        (np.eye(3).astype(object), ["one table of shape (3, 3)", WRAP]),
        (sp.eye_array(3), ["one table of shape (3, 3)", WRAP]),
        (np.arange(3), ["a flat array of 3 numbers", WRAP]),
        ([], ["no sequences"]),
        (iter(()), ["no sequences"]),
        ([[], np.zeros((0, 2))], ["all sequences are empty"]),
        # one sequence in place of a list of them
        (["the", "cat"], ["sequence 0", "str ('the')", WRAP]),
        (np.array(["the", "cat"]), ["sequence 0", "'the'", WRAP]),
        ([{"w": "the"}, {"w": "cat"}], ["sequence 0", "dict", WRAP]),
        ([["the", "cat"]], ["sequence 0, token 0", "plain string 'the'", WRAP]),
        ([np.array(["the", "cat"])], ["sequence 0, token 0", "plain string 'the'"]),
        ([[["a"], "cat"]], ["sequence 0, token 1", "plain string 'cat'"]),
        ([[{"a": 1}], [{"a": 1}, "cat"]], ["sequence 1, token 1", "plain string"]),
        ([[1.0, 2.0]], ["sequence 0 is 1-D with shape (2,)", WRAP]),
        ([np.arange(3)], ["sequence 0 is 1-D with shape (3,)", "reshape(-1, 1)"]),
        ([np.eye(2), np.zeros((2, 2, 2))], ["sequence 1 is 3-D"]),
        ([sp.coo_array(np.ones(3))], ["sequence 0 is 1-D"]),
        # sequences that are none
        ([[["a"]], None], ["sequence 1 is None"]),
        ([[["a"]], 3], ["sequence 1", "int (3)"]),
        ([[["a"]], {"a", "b"}], ["sequence 1", "set"]),
        ([np.float64(3)], ["sequence 0", "float64"]),
        # mixed kinds
        ([[["a"]], np.eye(2)], ["sequence 0 is a list of", "sequence 1 is a numeric"]),
        ([[], np.eye(2), sp.eye_array(2)], ["sequence 1 is", "sequence 2 is a sparse"]),
        # tokens
        ([[["a"]], [["b"], ["c", 3]]], ["sequence 1, token 1", "int (3)"]),
        ([[["a", None]]], ["sequence 0, token 0", "None"]),
        ([[["a"], {"b", 3}]], ["sequence 0, token 1", "int (3)"]),
        ([[["a", b"b"]]], ["sequence 0, token 0", "bytes (b'b')"]),
        ([[["a"]], [["a", ["b"]]]], ["sequence 1, token 0", "list (['b'])"]),
        ([[[["a"]]]], ["sequence 0, token 0", "list (['a'])"]),
        ([[["a"], None]], ["sequence 0, token 1: the token is None"]),
        ([[["a"], 5]], ["sequence 0, token 1: the token is of type int (5)"]),
        ([[[None]]], ["sequence 0, token 0", "None"]),
        ([[["a"], iter("ab")]], ["sequence 0, token 1", "iterator"]),
        # dicts
        ([[{"a": 1}], [{"a": 1}, {"b": None}]], ["sequence 1, token 1", "'b' is None"]),
        ([[{"a": b"x"}]], ["sequence 0, token 0", "'a'", "bytes"]),
        ([[{"a": object()}]], ["sequence 0, token 0", "'a'", "object"]),
        ([[{"a": 1}, {"a": 1j}]], ["sequence 0, token 1", "'a'", "complex"]),
        ([[{"a": {"b": None}}]], ["sequence 0, token 0", "'a:b' is None"]),
        ([[{"a": ["b", 1]}]], ["sequence 0, token 0", "under 'a'", "int (1)"]),
        ([[{3: "x"}]], ["sequence 0, token 0", "a key is of type int (3)"]),
        ([[{"a": {3: "x"}}]], ["sequence 0, token 0", "a key under 'a' is of"]),
        ([[{"a": 10**400}]], ["sequence 0, token 0", "'a'", "too large"]),
        ([[{"a": np.nan}]], ["sequence 0, token 0", "feature 'a' is nan", "finite"]),
        ([[{"a": 1}], [{"b": "c"}, {"b": -np.inf}]], ["sequence 1, token 1", "'b'"]),
        ([[{"a": [], "b": np.inf}]], ["sequence 0, token 0", "feature 'b' is inf"]),
        # tables
        (
            [np.eye(2), [[1, 2], [3, np.nan]]],
            ["sequence 1, token 1", "column 1 is nan"],
        ),
        (
            [np.eye(2), [[np.inf, 2]]],
            ["sequence 1, token 0", "column 0 is inf", "Impute"],
        ),
        ([sp.csr_array([[0, np.nan]])], ["sequence 0, token 0", "column 1 is nan"]),
        ([[[1, 2], [3, 4], [5]]], ["sequence 0", "token 0 has 2", "token 2 has 1"]),
        ([[[1, 2], 3]], ["sequence 0", "token 1 has 1"]),
        ([[[1, [2, 3]], [4, 5]]], ["sequence 0", "lists in place of numbers"]),
        ([[], np.eye(2), np.eye(3)], ["sequence 2 has 3 columns, sequence 1 has 2"]),
        (
            [sp.eye_array(2), sp.eye_array(1)],
            ["sequence 1 has 1 column, sequence 0 has 2"],
        ),
        ([np.zeros((2, 0))], ["sequence 0 has no columns"]),
        ([np.eye(2) * 1j], ["sequence 0, token 0", "complex"]),
        ([sp.eye_array(2) * 1j], ["sequence 0", "complex"]),
        ([[[1, "a"]]], ["sequence 0, token 0", "str ('a')", "real numbers"]),
        ([[[1, 2], [3, None]]], ["sequence 0, token 1", "None"]),
        ([np.array([["a", "b"]])], ["sequence 0, token 0", "'a'", ".tolist()"]),
        ([np.array([["1", "2"]], object)], ["sequence 0, token 0", "str ('1')"]),
        ([np.array([["2020"]], "M8[Y]")], ["sequence 0, token 0", "datetime64"]),
        ([[[10**400, 1]]], ["sequence 0", "too large"]),
        ([sp.coo_array((1, 2**31))], ["more than 2147483647 features"]),
    ],
)
def test_refusals_say_what_and_where(X, parts):
    refuse(X, *parts)


def test_encode_refusals():
    encoder = TokenEncoder()
    with pytest.raises(NotFittedError, match="call fit_encode"):
        encoder.encode(WORDS)
    encoder.fit_encode([np.eye(4)])
    wrong = "sequence 1 has 5 columns, the model was fitted with 4"
    refuse([np.eye(4), np.eye(5)], wrong, encoder=encoder)
    refuse([sp.eye_array(4), sp.eye_array(5)], wrong, encoder=encoder)
    refuse([[], [["a"]]], "sequence 1 is a list of tokens", "table", encoder=encoder)
    refuse([[1.0]], "sequence 0 is 1-D", encoder=encoder)
    refuse([], "no sequences", encoder=encoder)
    encoder.fit_encode(WORDS)
    refuse([[], np.eye(4)], "sequence 1 is a numeric table", encoder=encoder)
    refuse([[["a"], ["b", 7]]], "sequence 0, token 1", "int (7)", encoder=encoder)
    refuse([[["a"], ["b", []]]], "sequence 0, token 1", "list", encoder=encoder)
    refuse([[["a"], "b"]], "sequence 0, token 1", "plain string", encoder=encoder)
    refuse([[{"a": None}]], "sequence 0, token 0", "'a' is None", encoder=encoder)
    refuse([[{"a": np.nan}]], "sequence 0, token 0", "'a' is nan", encoder=encoder)


def test_failure_leaves_the_encoder_as_it_was():
    wrong = [
        None,
        [[["new", "z"], ["a", 3]]],
        [[["new"], "plain"]],
        [[{"new": 1}, {"b": np.nan}]],
        [[{"new": 1}, {"b": None}]],
        [np.eye(2), np.eye(3)],
        [np.array([[np.nan]])],
        [[]],
    ]
    fresh = TokenEncoder()
    for X in wrong:
        with pytest.raises(ValueError, match=r"\w"):
            fresh.fit_encode(X)
    assert vars(fresh) == vars(TokenEncoder())

    for X in (WORDS, [np.eye(3)]):
        encoder = TokenEncoder()
        matrix = encoder.fit_encode(X)
        before = copy.deepcopy(vars(encoder))
        for other in wrong:
            with pytest.raises(ValueError, match=r"\w"):
                encoder.fit_encode(other, dtype=np.float64)
        assert vars(encoder) == before
        assert_same(encoder.encode(X), matrix)


def test_fitting_again_forgets():
    encoder = TokenEncoder()
    encoder.fit_encode(WORDS, dtype=np.float64)
    encoder.fit_encode([np.eye(3)])
    assert (encoder.kind, encoder.n_features_in) == ("dense", 3)
    assert encoder.vocabulary is encoder.dtype is None
    encoder.fit_encode([[["z"]]])
    assert encoder.feature_names() == ["z"]
    assert encoder.n_features_in is None


@pytest.mark.parametrize("X", [[[["a"]]], [[{"a": "b"}]], [[{"a": {"b": 2}}]]])
def test_too_many_features(X, monkeypatch):
    monkeypatch.setattr(tokens, "count", lambda: itertools.count(2**31))
    refuse(X, "more than 2147483647 features")


def test_the_library_rules_of_python_crfsuite():
    crfsuite = pytest.importorskip("pycrfsuite")
    sequence = [
        {"a": 1.5, "b": "x", "c": ["p", "q"], "d": {"e": 2, "f": "g", "h": ["i"]}},
        {"b": "y", "flag": True, "s": {"one"}},
        ["a", "b:x", "new"],
    ]
    encoder = TokenEncoder()
    table = dense(encoder.fit_encode([sequence]))
    names = encoder.feature_names()
    for row, item in zip(table, crfsuite.ItemSequence(sequence).items(), strict=True):
        ours = {names[j]: row[j] for j in np.flatnonzero(row)}
        assert ours == item
