"""GraphLabeler from fit to file."""

from copy import copy

import numpy as np
import pytest

import maxmargin
from maxmargin import GraphLabeler, SequenceTagger, grid_graph
from maxmargin.graphs import choice
from maxmargin.testing import check_model_file


def noisy_chains(seed, n=12, length=6):
    """Chains whose labels seldom change, seen through noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        states = (np.cumsum(rng.random(length) < 0.3) % 2).astype(int)
        nodes = np.stack([2 * states - 1 + rng.normal(size=length), np.ones(length)], 1)
        X.append((nodes, [(t, t + 1) for t in range(length - 1)]))
        y.append(states)
    return X, y


def test_a_chain_is_a_tagger_without_ends():
    X, y = noisy_chains(0)
    model = GraphLabeler(C=0.5, fit_intercept=False, tol=1e-5).fit(X, y)
    # a chain between two nodes that say first and last would be the same; without such
    # weights, sequences of one repeated token differ only by them
    tagger = SequenceTagger(C=0.5, tol=1e-5).fit([x for x, _ in X], y)
    assert model.certificate_.primal >= tagger.certificate_.dual - 1e-9
    assert model.inference_ == "elimination"
    assert not model.relaxed_
    assert model.score(X, y) > 0.8
    assert model.coef_.shape == (2, 2)
    assert model.edge_coef_.shape == (2, 2, 1)


def test_log_objective_and_marginals():
    X, y = noisy_chains(1)
    model = GraphLabeler(C=1.0, objective="log", tol=1e-4).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4
    tables = model.predict_marginals(X)
    for table, (nodes, _) in zip(tables, X, strict=True):
        assert table.shape == (len(nodes), 2)
        np.testing.assert_allclose(table.sum(1), 1.0)
    ranked = model.predict_k_best(X, 4)
    for best, row in zip(model.predict(X), ranked, strict=True):
        np.testing.assert_array_equal(row[0][0], best)
        scores = [value for _, value in row]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(labels) for labels, _ in row}) == 4


def test_grids_of_an_image():
    rng = np.random.default_rng(2)
    images, y = [], []
    for _ in range(6):
        truth = np.zeros((4, 4), int)
        truth[:, rng.integers(1, 4) :] = 1
        images.append(truth + rng.normal(size=truth.shape) * 0.7)
        y.append(truth)
    X = [grid_graph(image) for image in images]
    model = GraphLabeler(C=1.0, edges="associative").fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.edge_coef_.shape == (1,)
    assert model.edge_coef_ >= 0
    assert model.predict(X[:1])[0].reshape(4, 4).shape == (4, 4)
    report = model.evaluate(X, y)
    assert report.accuracy == model.score(X, y)
    assert "mean IoU" in str(report)


def test_symmetric_edges_have_symmetric_weights():
    X, y = noisy_chains(3)
    model = GraphLabeler(edges="symmetric").fit(X, y)
    table = model.edge_coef_[:, :, 0]
    np.testing.assert_array_equal(table, table.T)


def typed_data(seed=0, n=10):
    """Words and a document, whose label is that of most of its words."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        size = int(rng.integers(1, 5))
        topic = rng.integers(2)
        nodes = {
            "word": rng.normal(size=(size, 2)) + 3 * topic,
            "document": np.zeros((1, 0)),
        }
        links = [(k, 0) for k in range(size)]
        X.append({"nodes": nodes, "edges": {("word", "document"): links}})
        y.append({"word": [topic] * size, "document": [int(topic) + 5]})
    return X, y


def test_types():
    X, y = typed_data()
    model = GraphLabeler(C=10.0).fit(X, y)
    assert set(model.coef_) == {"word", "document"}
    assert model.classes_["document"].tolist() == [5, 6]
    assert model.edge_coef_["word", "", "document"].shape == (2, 2, 1)
    found = model.predict(X)
    assert set(found[0]) == {"word", "document"}
    assert model.score(X, y) > 0.9
    tables = model.predict_marginals(X[:1])[0]
    assert tables["word"].shape == (len(y[0]["word"]), 2)
    with pytest.raises(ValueError, match="'tree' nodes, which training had not"):
        model.predict([{"nodes": {"tree": [[1.0]]}}])


def test_unknown_labels_are_filled_in():
    X, y = noisy_chains(4, n=20)
    rng = np.random.default_rng(0)
    holes = [[int(k) if rng.random() < 0.7 else None for k in row] for row in y]
    holes[3] = None
    for objective in ("hinge", "log"):
        model = GraphLabeler(C=1.0, objective=objective).fit(X, holes)
        assert model.score(X, y) > 0.8
    filled = model.complete(X, holes)
    for given, found in zip(holes, filled, strict=True):
        if given is not None:
            known = [k for k, label in enumerate(given) if label is not None]
            assert [found[k] for k in known] == [given[k] for k in known]


def test_files(tmp_path):
    X, y = noisy_chains(5)
    model = GraphLabeler().fit(X, y)
    check_model_file(model, X)
    X, y = typed_data()
    model = GraphLabeler().fit(X, y)
    path = tmp_path / "typed"
    maxmargin.save(model, path)
    again = maxmargin.load(path)
    for a, b in zip(model.predict(X), again.predict(X), strict=True):
        assert {k: v.tolist() for k, v in a.items()} == {
            k: v.tolist() for k, v in b.items()
        }


def test_paths_and_weights():
    X, y = noisy_chains(6)
    models = GraphLabeler().path(X, y, [0.1, 1.0])
    assert [m.C for m in models] == [0.1, 1.0]
    twice = GraphLabeler(tol=1e-5).fit(X + X[:1], y + y[:1])
    weighted = GraphLabeler(tol=1e-5).fit(X, y, sample_weight=[2.0] + [1.0] * 11)
    np.testing.assert_allclose(
        twice.certificate_.primal, weighted.certificate_.primal, rtol=1e-4
    )


# kernels ---------------------------------------------------------------------------------


def rings(seed, n=12, length=6):
    """Chains whose labels are inside or outside of a ring, which no plane separates."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        nodes = rng.normal(size=(length, 2))
        X.append((nodes, [(t, t + 1) for t in range(length - 1)]))
        y.append(["in" if r < 1 else "out" for r in np.linalg.norm(nodes, axis=1)])
    return X, y


@pytest.mark.parametrize(
    "settings", [{}, {"method": "nystroem", "n_components": 30}, {"edges": "symmetric"}]
)
def test_kernels_on_nodes(settings, tmp_path):
    X, y = rings(0)
    linear = GraphLabeler(C=10.0).fit(X, y)
    model = GraphLabeler(C=10.0, kernel="rbf", **settings).fit(X, y)
    assert model.score(X, y) > 0.95 > linear.score(X, y) + 0.1
    new = rings(1)
    assert model.score(*new) > 0.8
    maxmargin.save(model, tmp_path / "model")
    again = maxmargin.load(tmp_path / "model")
    assert again.kernel == "rbf"
    for a, b in zip(model.predict(new[0]), again.predict(new[0]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_linear_kernel_is_no_kernel():
    X, y = noisy_chains(8)
    plain = GraphLabeler(C=1, tol=1e-5).fit(X, y)
    model = GraphLabeler(C=1, kernel="linear", tol=1e-5).fit(X, y)
    np.testing.assert_allclose(
        model.certificate_.primal, plain.certificate_.primal, rtol=1e-4
    )
    X, y = typed_data()  # documents have no features
    model = GraphLabeler(kernel="rbf").fit(X, y)
    assert model.coef_["document"].shape == (2, 0)
    assert model.score(X, y) > 0.9


def test_impossible_kernels_get_a_sentence():
    X, y = rings(0)
    with pytest.raises(ValueError, match="more than the 72 training nodes"):
        GraphLabeler(kernel="rbf", method="nystroem").fit(X, y)
    with pytest.raises(ValueError, match="of new nodes"):
        GraphLabeler(kernel="precomputed").fit(X, y)


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
    monkeypatch.setattr(choice, "NARROW", 64)
    X, y = blobs(0, labels=labels)
    edges = "associative" if inference == "auto" else "symmetric"
    model = GraphLabeler(C=0.1, inference=inference, edges=edges, tol=0.02).fit(X, y)
    chosen = {"auto": "graph-cut" if labels == 2 else "relaxed"}
    assert model.inference_ == chosen.get(inference, inference)
    assert model.relaxed_ == (model.inference_ == "relaxed")
    assert model.certificate_.exact == (inference not in choice.INEXACT)
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
    monkeypatch.setattr(choice, "NARROW", 4)
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


def test_nothing_to_predict_and_empty_graphs():
    X, y = noisy_chains(9)
    empty = (np.zeros((0, 2)), [])
    alone = ([[1.0, 1.0]], [])
    model = GraphLabeler(edges="symmetric").fit([*X, empty, alone], [*y, [], [1]])
    assert model.predict([]) == []
    found = model.predict([empty, alone, X[0]])
    assert [len(labels) for labels in found] == [0, 1, 6]
    assert model.predict_marginals([empty])[0].shape == (0, 2)
    assert len(model.predict_k_best([alone], 5)[0]) == 2
    assert model.predict_k_best([empty], 5)[0][0][1] == 0.0
    assert model.score([empty], [[]]) == 1.0
    with pytest.raises(ValueError, match=r"X\[0\] has 1 features"):
        model.predict([([[1.0]], [])])


@pytest.mark.parametrize("label", [7, "a", True, [1], 1.0])
def test_what_is_no_label_is_not_completed(label):
    X, y = noisy_chains(9)
    model = GraphLabeler().fit(X, y)
    with pytest.raises(ValueError, match=r"y\[0\] holds .* no label of the training"):
        model.complete(X[:1], [[label, None, 1, 1, 0, 0]])


def test_warm_starts():
    X, y = noisy_chains(10)
    model = GraphLabeler(C=1.0, warm_start=True, tol=1e-4).fit(X, y)
    passes = model.n_iter_
    model.set_params(C=1.1).fit(X, y)
    cold = GraphLabeler(C=1.1, tol=1e-4).fit(X, y)
    assert model.n_iter_ <= passes
    assert model.certificate_.dual <= cold.certificate_.primal + 1e-9


def test_costs_and_sizes():
    X, y = noisy_chains(11)
    costly = GraphLabeler(loss={1: 50.0}, C=0.01).fit(X, y)
    plain = GraphLabeler(C=0.01).fit(X, y)
    ones = [sum(p.sum() for p in m.predict(X)) for m in (plain, costly)]
    assert ones[1] > ones[0]  # a missed 1 is dear
    sizes = [(*x, None, np.where(k == 1, 50.0, 1.0)) for x, k in zip(X, y, strict=True)]
    sized = GraphLabeler(C=0.01).fit(sizes, y)
    np.testing.assert_allclose(
        sized.certificate_.primal, costly.certificate_.primal, rtol=0.02
    )
    table = GraphLabeler(loss=[[0, 1], [50, 0]], C=0.01).fit(X, y)
    np.testing.assert_allclose(table.coef_, costly.coef_)


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
