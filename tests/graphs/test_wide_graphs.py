"""GraphLabeler where graphs are too wide for elimination."""

from copy import copy

import numpy as np
import pytest
from labeler_cases import typed_data

import maxmargin
from maxmargin import GraphLabeler, grid_graph
from maxmargin.graphs import methods

# other methods of inference --------------------------------------------------------------


def blobs(seed, n=6, side=8, labels=2):
    """Noisy pictures of rectangles on a ground."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        truth = np.zeros((side, side), int)
        for label in range(1, labels):
            a, b = rng.integers(0, side // 2, size=2)
            truth[a : a + side // 2, b : b + side // 2] = label
        image = np.eye(labels)[truth] + rng.normal(size=(side, side, labels)) * 0.8
        X.append(grid_graph(image, edge_features="direction"))
        y.append(truth)
    return X, y


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("inference", ["auto", "relaxed", "expansion", "swap"])
def test_wide_graphs(labels, inference, tmp_path, monkeypatch):
    monkeypatch.setattr(methods, "NARROW", 64)
    X, y = blobs(0, labels=labels)
    edges = "associative" if inference == "auto" else "symmetric"
    model = GraphLabeler(C=0.1, inference=inference, edges=edges, tol=0.02).fit(X, y)
    chosen = {"auto": "graph-cut" if labels == 2 else "relaxed"}
    assert model.inference_ == chosen.get(inference, inference)
    assert model.relaxed_ == (model.inference_ == "relaxed")
    assert model.certificate_.exact == (inference not in methods.INEXACT)
    if model.certificate_.exact:
        assert model.primal_bound_ == model.certificate_.primal
    else:
        assert model.primal_bound_ >= model.certificate_.dual
    assert model.certificate_.relative_gap <= 0.02
    assert model.score(X, y) > (0.9 if labels == 2 else 0.85)
    if edges == "associative":
        assert (model.edge_coef_ >= 0).all()
    maxmargin.save(model, tmp_path / "model")
    again = maxmargin.load(tmp_path / "model")
    for a, b in zip(model.predict(X), again.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_cuts_train_as_elimination_does():
    X, y = blobs(1, side=4)
    found = [
        GraphLabeler(C=0.2, edges="associative", inference=name, tol=1e-4).fit(X, y)
        for name in ("graph-cut", "elimination", "relaxed")
    ]
    for model in found:  # a submodular field's relaxation is no relaxation
        for other in found:
            assert model.certificate_.dual <= other.certificate_.primal + 1e-9
    for a, b in zip(found[0].predict(X), found[1].predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_impossible_methods_get_a_sentence():
    X, y = blobs(2, side=6, labels=3)
    with pytest.raises(ValueError, match="two labels, but there are 3"):
        GraphLabeler(inference="graph-cut", edges="associative").fit(X, y)
    with pytest.raises(ValueError, match="needs edges='associative'"):
        GraphLabeler(inference="graph-cut").fit(X, y)
    with pytest.raises(ValueError, match="objective='log' sums over all"):
        GraphLabeler(inference="graph-cut", edges="associative", objective="log").fit(
            X, y
        )
    X, y = blobs(2, side=30, n=1)
    with pytest.raises(ValueError, match=r"X\[0\] is too wide"):
        GraphLabeler(inference="elimination").fit(X, y)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("inference", ["graph-cut", "relaxed", "expansion"])
def test_unknown_labels_on_wide_graphs(labels, inference):
    if inference == "graph-cut" and labels == 3:
        pytest.skip("cuts are for two labels")
    X, y = blobs(3, labels=labels, side=5)
    rng = np.random.default_rng(0)
    holes = [
        [int(k) if rng.random() < 0.6 else None for k in truth.ravel()] for truth in y
    ]
    model = GraphLabeler(C=0.3, inference=inference, edges="associative", tol=0.05)
    model.fit(X, holes)
    assert model.score(X, y) > 0.7
    for given, found in zip(holes, model.complete(X, holes), strict=True):
        assert all(a in (None, b) for a, b in zip(given, found, strict=True))


def test_log_objective_on_wide_graphs(monkeypatch):
    X, y = blobs(4, side=4, n=4)
    exact = GraphLabeler(C=0.3, objective="log", tol=1e-3).fit(X, y)
    monkeypatch.setattr(methods, "NARROW", 4)
    model = GraphLabeler(C=0.3, objective="log", tol=1e-3).fit(X, y)
    assert (exact.inference_, model.inference_) == ("elimination", "reweighted")
    assert model.relaxed_
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.primal >= exact.certificate_.dual
    for table in model.predict_marginals(X):
        np.testing.assert_allclose(table.sum(1), 1.0, atol=1e-6)
    assert model.score(X, y) > 0.8


def test_neighbours_that_repel_are_not_cut():
    rng = np.random.default_rng(0)
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    X = [(rng.normal(size=(4, 1)), square) for _ in range(8)]
    y = [[0, 1, 0, 1], [1, 0, 1, 0]] * 4
    model = GraphLabeler(C=10, edges="associative", objective="log").fit(X, y)
    assert model.edge_coef_ < 0  # the log objective does not keep it from that
    for found, ranked in zip(model.predict(X), model.predict_k_best(X, 1), strict=True):
        np.testing.assert_array_equal(found, ranked[0][0])
    with pytest.raises(ValueError, match="a weight of edges is negative"):
        model.set_params(inference="graph-cut").predict(X)


# odd inputs ------------------------------------------------------------------------------


def test_scores_of_parts_add_up():
    X, y = blobs(5, side=3, n=4)
    model = GraphLabeler(C=0.3).fit(X, y)
    nodes, edges = model.decision_function(X), model.edge_scores(X)
    for x, unary, pairs, ranked in zip(
        X, nodes, edges, model.predict_k_best(X, 2), strict=True
    ):
        assert pairs.shape == (len(x[1]), 2, 2)
        for labels, value in ranked:
            total = unary[np.arange(9), labels].sum()
            total += sum(
                table[labels[u], labels[v]]
                for (u, v), table in zip(x[1].tolist(), pairs, strict=True)
            )
            np.testing.assert_allclose(total, value)
    X, y = typed_data()
    model = GraphLabeler().fit(X, y)
    tables = model.edge_scores(X[:2])[1]
    assert tables["word", "", "document"].shape == (len(y[1]["word"]), 2, 2)


def test_what_the_relaxation_leaves_open():
    X, y = blobs(6, side=3, n=4)
    model = GraphLabeler(C=0.3, edges="associative").fit(X, y)
    for shares, labels in zip(model.predict_relaxed(X), model.predict(X), strict=True):
        np.testing.assert_allclose(shares.sum(1), 1.0)
        np.testing.assert_array_equal(shares.argmax(1), labels)  # it is submodular
        assert set(np.unique(shares)) <= {0.0, 1.0}


def test_predictions_say_how_good_they_are_known_to_be():
    rng = np.random.default_rng(0)
    y = [rng.integers(3, size=(4, 5)) for _ in range(3)]
    X = [grid_graph(labels + rng.normal(0, 0.5, labels.shape)) for labels in y]
    exact = GraphLabeler(C=0.1, tol=0.1).fit(X, y)
    best = exact.predict_with_bounds(X)
    for name, gap in (("relaxed", 0.2), ("expansion", np.inf)):
        quick = copy(exact).set_params(inference=name)
        for (labels, known), (_, top) in zip(
            quick.predict_with_bounds(X), best, strict=True
        ):
            assert top.score == top.bound
            assert top.gap == 0.0
            assert known.score <= top.score + 1e-9 <= known.bound + 1e-6
            assert known.gap <= gap
            assert len(labels) == 20
