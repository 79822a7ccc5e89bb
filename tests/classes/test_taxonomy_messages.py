"""TaxonomySVM: every bad input gets its sentence."""

import numpy as np
import pytest
from taxonomy_cases import data, model  # noqa: F401

from maxmargin import TaxonomySVM

# ruff: noqa: F811  (what is imported so is a fixture)

ONE = np.zeros((3, 2))
ABC = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("settings", "y", "words"),
    [
        ({"mode": "deep"}, ABC, "mode='deep' is not known"),
        ({"loss": "height"}, ABC, "loss='height' is not known"),
        ({"loss": [[0, 1], [1, 0]]}, ABC, r"shape \(2, 2\)"),
        ({"taxonomy": {"a": None, "b": "a"}}, ABC, r"y\[2\] is 'c', which is not in"),
        ({"taxonomy": {1: None, 2: 1}}, ABC, r"y\[0\] is 'a', which is not in"),
        ({}, ["a", "a..b", "c"], "label 'a..b'.* has an empty name"),
        ({}, [None, None, None], "no known label"),
        ({}, ["a", "a", "a"], "one class only"),
        ({"node_weights": 3}, ABC, "node_weights=3 is not possible"),
        ({"node_weights": {"z": 1}}, ABC, "node_weights names 'z'"),
        ({"node_weights": {"a": 0}}, ABC, "weight of the node 'a' is 0"),
        ({"node_weights": lambda depth: "x"}, ABC, "weight of the node 'a' is 'x'"),
        ({"multilabel": True}, ABC, r"y\[0\] is 'a'; with multilabel=True"),
        ({"multilabel": True}, np.array(ABC), "one label per sample"),
        ({"multilabel": True}, [["a"], [None], []], r"y\[1\] holds None"),
        ({"multilabel": True}, [["a"], None, []], r"y\[1\] is None"),
        ({"multilabel": True}, [[], [], []], "no label at all"),
        ({"multilabel": True}, [["a"], []], "X has 3 samples, but y has 2"),
        ({"multilabel": True}, np.array([[0, 1], [2, 0], [0, 0]]), r"y\[1, 0\] is"),
        ({"multilabel": True}, np.array([["a", "b"]] * 3), r"y\[0, 0\] is"),
        ({"multilabel": True, "nodes": ["a"]}, np.eye(3, 2), "2 columns, but nodes"),
        (
            {"multilabel": True, "taxonomy": {"a": None, "b": None}},
            np.eye(3, 2),
            "column 0 of y stands for 0",
        ),
        (
            {"multilabel": True, "taxonomy": {"a": None}},
            [["a"], ["b"], []],
            "label of y",
        ),
        ({"multilabel": True, "mode": "flat"}, [["a"], ["b"], []], 'mode="flat" is'),
        ({"multilabel": True, "loss": "zero-one"}, [["a"], [], []], "loss='zero-one'"),
        ({"multilabel": True, "loss": {"q": 1}}, [["a"], [], []], "weight to 'q'"),
        ({"multilabel": True, "loss": {"a": -1}}, [["a"], [], []], "negative"),
        ({"multilabel": True, "node_weights": {}}, [["a"], [], []], "node_weights"),
        ({"multilabel": True}, 7, "y is 7"),
    ],
)
def test_bad_input(settings, y, words):
    with pytest.raises(ValueError, match=words):
        TaxonomySVM(**settings).fit(ONE, y)


@pytest.mark.parametrize("multilabel", [False, True])
def test_bad_numbers(multilabel):
    y = [["a"], ["b"], []] if multilabel else ABC
    model = TaxonomySVM(multilabel=multilabel)
    for bad in (np.nan, np.inf):
        X = ONE.copy()
        X[1, 1] = bad
        with pytest.raises(ValueError, match="1"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="one weight per sample"):
        model.fit(ONE, y, sample_weight=[1.0])
    with pytest.raises(ValueError, match="C=-1"):
        model.set_params(C=-1).fit(ONE, y)
    assert not hasattr(model, "coef_")
