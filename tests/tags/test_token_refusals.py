"""Every sentence that the token encoder refuses an input with."""

import copy
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from token_cases import WORDS, assert_same, refuse

from maxmargin.tags.features import TokenEncoder, tokens

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
