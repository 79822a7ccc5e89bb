"""Every input format of the token encoder."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import WORDS, assert_same, check_layout, dense, fit, refuse

from maxmargin.tags.features import TokenEncoder, tokens

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
