"""Graphs of labels against enumeration, and MultilabelSVM with them."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from maxmargin import MultilabelSVM, load, save
from maxmargin.cli.main import main
from maxmargin.core.tables.arrays import csr_arrays
from maxmargin.multilabel import label_graph
from maxmargin.testing import check_structure

PAIRS = [(0, 1), (2, 1), (0, 2)]


def random_sets(seed=0, n=30, labels=3, features=4):
    """Samples whose labels follow each other, so that pairs have something to say."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    y = (X @ rng.normal(size=(features, labels)) + rng.normal(size=(n, labels))) > 0
    for k in range(1, labels):
        y[:, k] = np.where(rng.random(n) < 0.6, y[:, k - 1], y[:, k])
    return X, y.astype(int)


def scores_of_sets(model, X):
    """{set: score of every sample}."""
    labels = model.classes_.tolist()
    found = {}
    for y in product((0, 1), repeat=len(labels)):
        total = (X @ model.coef_.T + model.intercept_) @ np.array(y)
        for (a, b), table in zip(model.edges_.tolist(), model.edge_coef_, strict=True):
            total = total + table[y[labels.index(a)], y[labels.index(b)]]
        found[y] = total
    return found


@pytest.mark.parametrize("edges", [[], PAIRS[:2], PAIRS])
def test_the_structure_equals_enumeration(edges):
    X, y = random_sets(n=4)
    rows, cost = csr_arrays(X, np.float64), [1.0, 0.5, 2.0]
    graphs = label_graph.make_label_graphs(rows, 4, 3, np.array(edges), cost)
    name, batch = label_graph.training_batch(graphs, y, "hinge", 0.01)
    assert name == ("elimination" if len(edges) < 3 else "all sets")

    def every(batch, i):
        for states in product((0, 1), repeat=3):
            yield np.array(states, np.int32)

    check_structure(batch, 24 + 4 * len(edges), every, compiled=False)


def test_a_graph_without_edges_is_the_plain_machine():
    X, y = random_sets()
    plain = MultilabelSVM(C=0.7, tol=1e-6).fit(X, y)
    graph = MultilabelSVM(C=0.7, tol=1e-6, graph=[]).fit(X, y)
    assert graph.certificate_.primal == pytest.approx(
        plain.certificate_.primal, rel=1e-5
    )
    np.testing.assert_allclose(graph.coef_, plain.coef_, atol=0.01)
    np.testing.assert_array_equal(graph.predict(X), plain.predict(X))
    assert plain.edges_ is None
    assert graph.edges_.shape == (0, 2)


@pytest.mark.parametrize("graph", ["tree", "full"])
def test_predictions_equal_enumeration(graph, tmp_path):
    X, y = random_sets(seed=1)
    plain = MultilabelSVM(C=1.0).fit(X, y)
    model = MultilabelSVM(C=1.0, graph=graph).fit(X, y)
    assert model.certificate_.relative_gap <= model.tol
    assert not model.relaxed_
    # more can be said with pairs: no optimum is above that of the labels alone
    assert model.certificate_.dual <= plain.certificate_.primal
    scores = scores_of_sets(model, X)
    sets = list(scores)
    table = np.stack([scores[y] for y in sets], 1)
    best = np.array(sets)[table.argmax(1)]
    np.testing.assert_array_equal(model.predict(X), best)
    lead = np.stack(
        [
            table[:, [s[k] == 1 for s in sets]].max(1)
            - table[:, [s[k] == 0 for s in sets]].max(1)
            for k in range(3)
        ],
        1,
    )
    np.testing.assert_allclose(model.decision_function(X), lead, atol=1e-9)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), best)
    np.testing.assert_array_equal(again.edges_, model.edges_)
    assert again.evaluate(X, y) == model.evaluate(X, y)


def test_the_tree_is_the_best_one():
    _, y = random_sets(seed=2, n=50, labels=4)
    weights = np.ones(len(y))
    known = label_graph.mutual_information(y, weights)
    for j, k in combinations(range(4), 2):
        assert known[j, k] == pytest.approx(mutual_info_score(y[:, j], y[:, k]))
    tree = label_graph.likely_tree(y, weights)

    def spans(edges):
        reached = {0}
        for _ in edges:
            reached |= {v for e in edges if reached & set(e) for v in e}
        return len(reached) == 4

    best = max(
        sum(known[e] for e in edges)
        for edges in combinations(combinations(range(4), 2), 3)
        if spans(edges)
    )
    assert sum(known[a, b] for a, b in tree) == pytest.approx(best)
    twice = label_graph.mutual_information(np.repeat(y, 2, 0), np.ones(2 * len(y)))
    np.testing.assert_allclose(
        label_graph.mutual_information(y, 2 * weights), twice, atol=1e-12
    )


def test_probabilities_equal_enumeration():
    X, y = random_sets(seed=3)
    model = MultilabelSVM(C=1.0, graph="full", objective="log").fit(X, y)
    scores = scores_of_sets(model, X)
    table = np.exp(np.stack(list(scores.values()), 1))
    table /= table.sum(1, keepdims=True)
    np.testing.assert_allclose(
        model.predict_proba(X), table @ np.array(list(scores)), atol=1e-9
    )


def test_wide_graphs_are_relaxed(monkeypatch):
    X, y = random_sets(seed=4, labels=4)
    exact = MultilabelSVM(C=1.0, graph="full", tol=1e-3).fit(X, y)
    monkeypatch.setattr(label_graph, "WIDEST", 2)
    model = MultilabelSVM(C=1.0, graph="full", tol=1e-3).fit(X, y)
    assert model.relaxed_
    # the relaxed hinge is never below the exact one
    assert model.certificate_.primal >= exact.certificate_.dual - 1e-9
    assert model.predict(X).shape == y.shape
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) > 0)


def test_labels_have_names_and_bad_graphs_sentences():
    X, _ = random_sets(n=4)
    y = [{"sea"}, {"sea", "beach"}, {"city"}, set()]
    model = MultilabelSVM(graph=[("sea", "beach")]).fit(X, y)
    assert model.edges_.tolist() == [["sea", "beach"]]
    assert all(isinstance(found, tuple) for found in model.predict(X))
    for graph, what in (
        ("star", "graph='star' is not known"),
        (3, "graph=3 is not possible"),
        ([("sea",)], "is not possible; choose None, 'tree', 'full'"),
        ([("sea", "moon")], "'moon' is no label of y"),
        ([("sea", "sea")], "joins a label with itself"),
        ([("sea", "city"), ("city", "sea")], "is there twice"),
    ):
        with pytest.raises(ValueError, match=what.replace("(", r"\(")):
            MultilabelSVM(graph=graph).fit(X, y)
    with pytest.raises(ValueError, match="loss='f1' is not possible with a graph"):
        MultilabelSVM(graph="tree", loss="f1").fit(X, y)


def test_the_command_has_graphs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text("sea,beach\twaves and sand\ncity\tstreets\n")
    train = ["train", "multilabel", "train.txt", "-o", "m", "--quiet"]
    assert main([*train, "--graph", "tree"]) == 0
    assert len(load("m").edges_) == 2
    assert main(["inspect", "m"]) == 0
    assert "tree" in capsys.readouterr().out
    assert main([*train, "--graph", "none"]) == 0
    assert load("m").edges_ is None
