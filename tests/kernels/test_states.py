"""States of kernels: plain values, there and back, and hostile ones."""

import json

import numpy as np
import pytest

from maxmargin import kernels
from maxmargin.kernels import linear, rbf


def squares(X):
    return np.asarray(X) ** 2


def overlap(a, b):
    return len(set(a) & set(b))


ALL = [
    linear(),
    kernels.polynomial(3, 0.5, 0.0),
    rbf(0.1),
    rbf("scale"),
    kernels.laplace(2),
    kernels.exp(linear() / 7),
    kernels.normalized(linear() * rbf() + 1),
    (2 * rbf()) ** 3,
    rbf().of(slice(0, 3)) + rbf().of([0, 2]) + rbf().of(1) + rbf().of("name"),
    rbf().of(np.array([True, False])),
    kernels.precomputed(),
    kernels.pairwise("poly", degree=2, gamma=0.5),
    kernels.spectrum(3, shorter=True),
    kernels.mismatch(4, 1, "ACGT"),
    kernels.mismatch(4, 1),
    kernels.weighted_degree(5),
    rbf().after(squares),
    kernels.function(overlap, blocks=False),
]


@pytest.mark.parametrize("k", ALL, ids=str)
def test_there_and_back(k):
    state = json.loads(json.dumps(k.state(), allow_nan=False))
    again = kernels.from_state(state, {"squares": squares, "overlap": overlap})
    assert again == k
    assert again.state() == k.state()


def test_functions_are_given_again():
    with pytest.raises(ValueError, match="needs the function 'squares'"):
        kernels.from_state(rbf().after(squares).state())
    with pytest.raises(ValueError, match="must be a function, not int"):
        kernels.from_state(rbf().after(squares).state(), {"squares": 3})
    with pytest.raises(ValueError, match="a lambda has none"):
        rbf().after(lambda X: X).state()
    assert rbf().after(lambda X: X, name="same").state()["name"] == "same"


def nested(depth):
    state = {"kind": "linear"}
    for _ in range(depth):
        state = {"kind": "exp", "kernel": state}
    return state


def of(part):
    return {"kind": "of", "kernel": {"kind": "linear"}, "part": part}


RBF = {"kind": "rbf", "gamma": 1.0}
HOSTILE = {
    "a list": [],
    "nothing": None,
    "no kind": {},
    "kind is a list": {"kind": ["rbf"]},
    "unknown kind": {"kind": "__import__"},
    "a class": {"kind": "Kernel"},
    "deep": nested(60),
    "very deep": nested(900),
    "nan": {"kind": "rbf", "gamma": float("nan")},
    "negative": {"kind": "rbf", "gamma": -1.0},
    "zero": {"kind": "rbf", "gamma": 0},
    "infinite": {"kind": "rbf", "gamma": float("inf")},
    "huge int": {"kind": "rbf", "gamma": 10**400},
    "huger int": {"kind": "rbf", "gamma": 10**5000},
    "bool": {"kind": "rbf", "gamma": True},
    "text": {"kind": "rbf", "gamma": "os.system"},
    "missing": {"kind": "rbf"},
    "extra": {"kind": "rbf", "gamma": 1.0, "f": 1},
    "odd key": {"kind": "rbf", 3: 1.0},
    "a kernel as gamma": {"kind": "rbf", "gamma": RBF},
    "huge degree": {"kind": "polynomial", "degree": 10**9, "gamma": 1.0, "coef0": 0.0},
    "negative coef0": {"kind": "polynomial", "degree": 2, "gamma": 1.0, "coef0": -1},
    "power": {"kind": "power", "kernel": RBF, "degree": 1e9},
    "half a power": {"kind": "power", "kernel": RBF, "degree": 0.5},
    "no terms": {"kind": "sum", "terms": []},
    "terms of numbers": {"kind": "sum", "terms": [1, 2]},
    "terms is a kernel": {"kind": "sum", "terms": RBF},
    "many terms": {"kind": "sum", "terms": [RBF] * 20_000},
    "negative scale": {"kind": "scaled", "scale": -1, "kernel": RBF},
    "scaled nothing": {"kind": "scaled", "scale": 1, "kernel": None},
    "negative constant": {"kind": "constant", "value": -1},
    "part": of({"slice": 3}),
    "part of parts": of([[1], 2]),
    "ragged part": of([[1], [2, 3], 4]),
    "step 0": of(["slice", [0, 1, 0]]),
    "slice of text": of(["slice", ["a", None, None]]),
    "no columns": of(["columns", []]),
    "columns of dicts": of(["columns", [RBF]]),
    "far column": of(["key", 2**80]),
    "key": of(["key", 0.5]),
    "no part": of(None),
    "metric": {"kind": "pairwise", "metric": "eval", "parameters": {}},
    "metric list": {"kind": "pairwise", "metric": [], "parameters": {}},
    "parameters": {"kind": "pairwise", "metric": "rbf", "parameters": [1]},
    "gamma of pairs": {
        "kind": "pairwise",
        "metric": "rbf",
        "parameters": {"gamma": -1},
    },
    "parameter": {"kind": "pairwise", "metric": "rbf", "parameters": {"degree": 1}},
    "function": {"kind": "function", "name": "eval", "blocks": None},
    "function without name": {"kind": "function", "name": None, "blocks": None},
    "blocks": {"kind": "function", "name": "overlap", "blocks": [1]},
    "long words": {"kind": "spectrum", "k": 10**6, "shorter": False},
    "shorter": {"kind": "spectrum", "k": 2, "shorter": 1},
    "patterns": {"kind": "mismatch", "k": 60, "m": 30, "alphabet": None},
    "m": {"kind": "mismatch", "k": 3, "m": 3, "alphabet": None},
    "alphabet": {"kind": "mismatch", "k": 3, "m": 1, "alphabet": []},
    "alphabet of lists": {"kind": "mismatch", "k": 3, "m": 1, "alphabet": [["a"]]},
    "alphabet 3": {"kind": "mismatch", "k": 3, "m": 1, "alphabet": 3},
    "degree": {"kind": "weighted_degree", "degree": 0},
}


@pytest.mark.parametrize("state", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_states(state):
    with pytest.raises(ValueError, match=r"\.$|not a ") as caught:
        kernels.from_state(state, {"overlap": overlap})
    assert len(str(caught.value)) < 400


def test_what_cannot_be_read_is_not_written():
    k = linear()
    for _ in range(60):
        k = kernels.exp(k)
    with pytest.raises(ValueError, match="levels deep"):
        k.state()
    with pytest.raises(ValueError, match="cannot be stored"):
        kernels.mismatch(2, 1, [("a", 1), ("b", 2)]).state()
