"""Nothing that is not a probability is called one: marginals of graphs with cycles."""

from __future__ import annotations

import json
from copy import copy
from itertools import product

import numpy as np
import pytest

from maxmargin import GraphLabeler, MultilabelSVM, grid_graph
from maxmargin.cli.main import main
from maxmargin.files import write_graph_file
from maxmargin.graphs.field import field_score, make_field

rng = np.random.default_rng(0)
WIDE = 40  # pixels of a side: too many for elimination


def images(side=3, labels=2, n=4):
    truth = [rng.integers(labels, size=(side, side)) for _ in range(n)]
    seen = [y + rng.normal(0, 0.4, y.shape) for y in truth]
    return [grid_graph(image) for image in seen], [y.ravel() for y in truth]


def true_marginals(model, graph):
    """By adding up all labellings."""
    nodes, edges = model.decision_function([graph])[0], model.edge_scores([graph])[0]
    n, k = nodes.shape
    field = make_field([k] * n, graph[1])
    theta = np.concatenate([nodes.ravel(), edges.ravel()])
    found = np.zeros((n, k))
    for y in product(range(k), repeat=n):
        chance = np.exp(field_score(field, theta, np.array(y, np.int32)))
        found[np.arange(n), y] += chance
    return found / found.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def relaxed():
    X, y = images()
    return GraphLabeler(C=10, inference="relaxed", tol=0.1).fit(X, y)


@pytest.mark.parametrize(
    "factor", [1, 8]
)  # of scores: pseudo-marginals are far off at 8
def test_marginals_of_any_inference_are_probabilities(relaxed, factor):
    X, _ = images(n=2)
    model = copy(relaxed)
    vars(model).update(model.structure_.split(factor * model._w))
    for graph, table, same in zip(
        X, model.predict_marginals(X), model.predict_proba(X), strict=True
    ):
        np.testing.assert_allclose(table, true_marginals(model, graph), atol=1e-9)
        np.testing.assert_array_equal(table, same)


def test_wide_graphs_have_no_probabilities(relaxed):
    X, _ = images(WIDE, n=1)
    for method in (relaxed.predict_marginals, relaxed.predict_proba):
        with pytest.raises(ValueError, match=r"X\[0\] is too wide for probabilities"):
            method(X)
    shares = relaxed.predict_pseudo_marginals(X)[0]
    np.testing.assert_allclose(shares.sum(1), 1.0)


def test_the_command_calls_them_what_they_are(relaxed, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_graph_file("train.jsonl", *images())
    write_graph_file("small.jsonl", images(n=1)[0])
    write_graph_file("wide.jsonl", images(WIDE, n=1)[0])
    train = ["train", "graph", "train.jsonl", "-o", "m", "--tol", "0.1", "--quiet"]
    assert main([*train, "--inference", "relaxed"]) == 0
    for name, key in (("small", "marginals"), ("wide", "pseudo_marginals")):
        capsys.readouterr()
        assert main(["predict", "m", f"{name}.jsonl", "--marginals", "-o", "out"]) == 0
        with open("out", encoding="utf-8") as file:
            assert set(json.loads(file.readline())) == {"labels", key}
        assert ("are no probabilities" in capsys.readouterr().err) == (name == "wide")


def test_sets_of_many_labels_have_none_either():
    X = rng.normal(size=(8, 2))
    y = (X @ rng.normal(size=(2, 24)) > 0).astype(int)
    model = MultilabelSVM(C=0.1, graph="full", objective="log", tol=0.5).fit(X, y)
    with pytest.raises(ValueError, match="too many labels for probabilities"):
        model.predict_proba(X)
