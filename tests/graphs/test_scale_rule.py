"""C=None of GraphLabeler: graphs/scale_rule.py."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import GraphLabeler, MulticlassSVM, grid_graph, load, save

PAIR = [(0, 1)]


def table(seed=0, n=12):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + y[:, None], y


def used(X, y, **settings):
    return GraphLabeler(max_iter=2, **settings).fit(X, y).C_


@pytest.mark.filterwarnings("ignore")
def test_graphs_of_one_node_are_samples_of_a_classifier():
    X, y = table()
    graphs = [(x[None], np.zeros((0, 2), int)) for x in X]
    C = MulticlassSVM().fit(X, y).C_
    assert used(graphs, y[:, None]) == C
    assert used(graphs, y[:, None], objective="log") == pytest.approx(5 * C, rel=0.01)
    assert used(graphs, y[:, None], C=3.0) == 3.0


@pytest.mark.filterwarnings("ignore")
def test_units_of_features_and_losses_do_not_matter():
    X, y = table()
    nodes, y = X.reshape(6, 2, 3), y.reshape(6, 2)
    edges = np.ones((1, 1))

    def C(unit, edge_unit=1.0, **settings):
        return used([(unit * x, PAIR, edge_unit * edges) for x in nodes], y, **settings)

    assert C(2.0, 2.0) == pytest.approx(C(1.0) / 4, rel=0.01)
    costly = C(1.0, loss=lambda a, b: 3.0 * (a != b))
    assert costly == pytest.approx(3 * C(1.0), rel=0.01)
    # beside edges, nodes count for a hundred times as much at most, whatever their unit
    assert C(1000.0) == C(100.0) == 0.1
    assert C(0.001) == C(0.01) == 10.0


@pytest.mark.filterwarnings("ignore")
def test_weights_are_copies_and_large_graphs_do_not_count_more():
    X = [grid_graph(np.arange(12.0).reshape(3, 4) % k) for k in (2, 3, 5)]
    y = [(np.ravel(x[0]) > 0).astype(int) for x in X]
    weighted = GraphLabeler(max_iter=2).fit(X, y, sample_weight=[2, 1, 0]).C_
    assert weighted == used([X[0], *X[:2]], [y[0], *y[:2]])
    side = np.arange(400.0).reshape(20, 20) % 2
    labels = [np.ravel(side).astype(int)]
    large = used([grid_graph(side)], labels, inference="max-product")
    half = used([grid_graph(side[:10])], [labels[0][:200]], inference="max-product")
    parts = [400 + 2 * 380, 200 + 10 * 19 + 9 * 20]
    assert half / large == pytest.approx(parts[0] / parts[1], rel=0.01)


@pytest.mark.filterwarnings("ignore")
def test_a_model_keeps_it_and_features_that_do_not_vary_have_one(tmp_path):
    X = [([[1.0], [0.5]], PAIR), ([[-1.0], [0.25]], PAIR)]
    model = GraphLabeler(inference="expansion").fit(X, [[0, 0], [1, 1]])
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").C_ == model.C_ != 1.0
    assert np.isfinite(model.primal_bound_)
    lonely = [([[1.0]], []), ([[1.0]], [])]
    assert GraphLabeler().fit(lonely, [["a"], ["b"]]).C_ == 1.0
