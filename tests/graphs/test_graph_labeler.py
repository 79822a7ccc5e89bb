"""GraphLabeler from fit to file."""

import numpy as np
import pytest
from labeler_cases import typed_data

import maxmargin
from maxmargin import GraphLabeler, SequenceTagger, grid_graph
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
    with pytest.raises(ValueError, match="method='subspace-pursuit' is not known"):
        GraphLabeler(kernel="rbf", method="subspace-pursuit").fit(X, y)


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
