"""Taxonomies, and classes and sets of nodes in them: against enumeration and each other."""

import doctest
import importlib
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import MulticlassSVM, Taxonomy, TaxonomySVM, load, save
from maxmargin.classes.taxonomy import as_taxonomy
from maxmargin.classes.taxonomy import node_sets as sets_structure
from maxmargin.classes.taxonomy import structure as classes_structure
from maxmargin.classes.taxonomy.closure import best_closures, make_network
from maxmargin.classes.taxonomy.losses import tree_distances, tree_heights
from maxmargin.classes.taxonomy.metrics import class_scores, node_set_scores
from maxmargin.core import contract
from maxmargin.core.arrays import csr_arrays
from maxmargin.core.formulation import make_form
from maxmargin.core.oracle import most_violated
from maxmargin.core.rescale import violation
from maxmargin.testing import (
    FORMULATIONS,
    check_solver,
    check_structure,
    enumerate_multiclass,
)

PATHS = ["rec.autos", "rec.sport.hockey", "rec.sport.baseball", "sci.med"]
DIAMOND = {"r": None, "p": "r", "q": "r", "s": ["p", "q"], "u": "q"}
LABELS = np.array(["a.x", "a.y", "b.z", "b.w", "c"])


def random_parents(rng, n, most):
    """Up to ``most`` parents for each of n nodes, all of smaller number."""
    return [
        sorted(rng.choice(v, min(v, rng.integers(most + 1)), replace=False).tolist())
        for v in range(n)
    ]


def lineage(parents, v):
    return sorted({v}.union(*(lineage(parents, p) for p in parents[v])))


def random_classes(seed, n=5, n_nodes=6, n_classes=4, most=2):
    """A small batch of classes in a random DAG, and its number of weights."""
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, n_nodes, most)
    chosen = np.sort(rng.choice(n_nodes, n_classes, replace=False))
    cost = rng.random((n_classes, n_classes)) * 3
    np.fill_diagonal(cost, 0)
    X = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.7)
    batch = classes_structure.make_batch(
        *csr_arrays(X, np.float64),
        3,
        rng.integers(n_classes, size=n),
        cost,
        [lineage(parents, v) for v in chosen],
        0.5 + rng.random(n_nodes),
        np.float64,
    )
    return batch, 3 * batch.node_width


def random_sets(seed, n=4, n_nodes=6, most=2, equal=False):
    """A small batch of closed sets of nodes, and its number of weights."""
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, n_nodes, most)
    Y = np.zeros((n, n_nodes), int)
    for row in Y:
        for v in rng.choice(n_nodes, rng.integers(3), replace=False):
            row[lineage(parents, v)] = 1
    X = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.7)
    rows = csr_arrays(X, np.float64)
    cost = np.full(n_nodes, 0.7) if equal else rng.random(n_nodes) * 2
    batch = sets_structure.make_batch(*rows, 3, Y, cost, parents, np.float64)
    return batch, 3 * batch.width


def closed_sets(parents):
    for y in itertools.product((0, 1), repeat=len(parents)):
        if all(y[p] for v, above in enumerate(parents) if y[v] for p in above):
            yield np.array(y, np.int32)


def enumerate_sets(batch, i):
    at, parent = batch.network.parent_ptr, batch.network.parent
    return closed_sets([parent[at[v] : at[v + 1]] for v in range(batch.n_nodes)])


# structures --------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_classes_equal_enumeration(seed, most):
    batch, n_weights = random_classes(seed, most=most)
    check_structure(batch, n_weights, enumerate_multiclass, seed=seed, trials=1)


@given(st.integers(0, 10**6), st.integers(0, 3), st.booleans())
def test_sets_equal_enumeration(seed, most, equal):
    batch, n_weights = random_sets(seed, most=most, equal=equal)
    assert batch.network.tree or most > 1
    check_structure(batch, n_weights, enumerate_sets, seed=seed, trials=1)


@given(st.integers(0, 10**6), st.sampled_from(FORMULATIONS))
def test_rescaled_search_for_sets_in_trees_is_exact(seed, formulation):
    batch, n_weights = random_sets(seed, n=2, most=1, equal=True)
    form = make_form(*formulation, 1e-6)
    w = np.random.default_rng(seed).normal(size=n_weights)
    theta = np.zeros((1, batch.width))
    for i in range(2):
        contract.score(batch, i, w, theta)
        outputs = list(enumerate_sets(batch, i))
        values = [
            violation(
                form, contract.loss(batch, i, y), contract.margin(batch, i, theta, y)
            )
            for y in outputs
        ]
        y = np.zeros(batch.n_nodes, np.int32)
        bound, *_ = most_violated(batch, form, i, theta, y)
        assert bound == pytest.approx(max(values), abs=1e-9)
        assert any((y == z).all() for z in outputs)


def test_interpreted_structures_are_the_compiled_ones():
    batch, n_weights = random_classes(1)
    check_structure(batch, n_weights, enumerate_multiclass, compiled=False, trials=1)
    batch, n_weights = random_sets(1)
    check_structure(batch, n_weights, enumerate_sets, compiled=False, trials=1)


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3), st.booleans())
def test_best_closure_equals_enumeration(seed, n, most, whole):
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, n, most)
    weights = rng.normal(size=(5, n))
    if whole:  # many ties
        weights = np.round(weights)
    found = np.zeros((5, n), np.int32)
    best_closures(make_network(parents), weights, found)
    every = np.array(list(closed_sets(parents)))
    values = weights @ every.T
    for row, weight, value in zip(found, weights, values, strict=True):
        assert (every == row).all(axis=1).any(), "the set is not closed"
        assert weight @ row == pytest.approx(value.max(), abs=1e-12)
        if whole:  # ties go to the smaller set
            equal = every[value == value.max()]
            assert row.sum() == equal.sum(axis=1).min()


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_all_solvers_reach_the_same_optimum(rescaling, penalty):
    batch, n_weights = random_classes(3, n=12)
    form = {"rescaling": rescaling, "penalty": penalty, "tol": 1e-6}
    optimum = check_solver(batch, n_weights, solver="n-slack", **form)
    for solver in ("block-coordinate", "one-slack"):
        check_solver(batch, n_weights, solver=solver, reference=optimum, **form)


def test_all_solvers_reach_the_same_optimum_for_sets():
    batch, n_weights = random_sets(3, n=10)
    optimum = check_solver(batch, n_weights, solver="n-slack", tol=1e-5)
    for solver in ("block-coordinate", "one-slack"):
        check_solver(batch, n_weights, solver=solver, reference=optimum, tol=1e-5)


# the taxonomy ------------------------------------------------------------------------


def test_ways_to_give_a_taxonomy():
    wanted = Taxonomy.from_paths(PATHS)
    parents = {node: node.rpartition(".")[0] or None for node in wanted.nodes}
    edges = [(p, node) for node, p in parents.items() if p]
    for given_ in (PATHS, parents, edges, np.array(PATHS), wanted):
        assert as_taxonomy(given_) == wanted
    assert wanted.roots == ["rec", "sci"]
    assert set(wanted.leaves) == set(PATHS)
    assert wanted.ancestors("rec.sport.hockey") == ["rec", "rec.sport", PATHS[1]]
    numbered = as_taxonomy([-1, 0, 0, 1])
    assert numbered == as_taxonomy({0: None, 1: 0, 2: 0, 3: 1})
    assert numbered.depth.tolist() == [numbered.position_of(0), 1, 2, 1]
    assert as_taxonomy(["2/1/3", "2/0"], "/").leaves == ["2/1/3", "2/0"]


def test_diamond():
    t = Taxonomy(DIAMOND)
    assert not t.is_tree
    assert t.ancestors("s") == ["r", "p", "q", "s"]
    assert t.closure(["s"]) == {"r", "p", "q", "s"}
    assert t.lowest(["r", "p", "q", "s", "u"]) == sorted(["s", "u"], key=t.position_of)
    assert "nobody" not in t
    assert [] not in t
    assert repr(t) == "<Taxonomy: DAG, 5 nodes, 2 leaves>"
    assert pickle.loads(pickle.dumps(t)) == t


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({}, "empty"),
        ([], "empty"),
        ({"a": "b", "b": "a"}, "cycle: 'a' under 'b' under 'a'"),
        ({"a": "a"}, "'a' is its own parent"),
        ({"a": "b"}, "'b' is a parent of 'a' but not a node"),
        ({"a": None, "b": ["a", "a"]}, "twice"),
        ({"a": None, 1: "a"}, "all strings or all numbers"),
        ({" ": None}, "empty name"),
        ({"a": None, None: "a"}, "names must be strings or whole numbers"),
        ({True: None}, "names must be strings"),
        ({1.5: None}, "names must be strings"),
        ([("a", "b"), ("a", "b")], "twice"),
        ([("a", "b"), ("b", "a")], "cycle"),
        ([("a",)], "edge 0 .* pair"),
        ([("a", "b"), "ab"], "edge 1 .* pair"),
        ([("a", "")], "child in edge 0 .* empty name"),
        (["a.b", "a..c"], "path 1 .*empty name"),
        (["a.b", "a.b"], "path 1 .* was there before"),
        (["a.b", 3], "path 1 .* not a string"),
        ([0, 5], "parent of node 1|parent of node 0|own parent"),
        ([-1, 7], "parent of node 1 is 7"),
        ([None, "x"], "parent of node 1 is 'x'"),
        ("a.b", "is not possible"),
        (3, "is not possible"),
    ],
)
def test_bad_taxonomies(given_, words):
    with pytest.raises(ValueError, match=words):
        as_taxonomy(given_)


def test_bad_separators():
    with pytest.raises(ValueError, match="separator=''"):
        as_taxonomy(["a"], "")
    with pytest.raises(ValueError, match="separator=None"):
        TaxonomySVM(separator=None).fit([[0.0], [1.0]], ["a", "b"])


def test_chains_are_removed():
    t = Taxonomy.from_paths(["alt.atheism", "comp.sys.mac.hardware", "comp.graphics"])
    short = t.without_chains()
    assert short.as_dict() == {
        "alt.atheism": [],
        "comp": [],
        "comp.sys.mac.hardware": ["comp"],
        "comp.graphics": ["comp"],
    }
    assert "comp.sys" in t.without_chains(keep=["comp.sys"])


def test_tree_losses():
    t = Taxonomy.from_paths(PATHS)
    heights = tree_heights(t, PATHS)
    assert heights.tolist() == [[0, 2, 2, 3], [2, 0, 1, 3], [2, 1, 0, 3], [3, 3, 3, 0]]
    edges = tree_distances(t, PATHS)
    assert edges.tolist() == [[0, 3, 3, 4], [3, 0, 2, 5], [3, 2, 0, 5], [4, 5, 5, 0]]
    # inner nodes as classes
    assert tree_heights(t, ["rec", "rec.autos"])[0, 1] == 2
    assert tree_distances(t, ["rec", "rec.autos"])[0, 1] == 1
    # the smallest over common ancestors
    d = Taxonomy({**DIAMOND, "v": "s"})
    assert tree_distances(d, ["s", "u", "v"]).tolist() == [
        [0, 2, 1],
        [2, 0, 3],
        [1, 3, 0],
    ]
    assert tree_heights(d, ["s", "u", "p"]).tolist() == [
        [0, 2, 2],
        [2, 0, 3],
        [2, 3, 0],
    ]


# the estimator -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(len(LABELS), size=80)
    X = rng.normal(size=(80, 6)) + 1.5 * rng.normal(size=(len(LABELS), 6))[y]
    return X, LABELS[y]


@pytest.fixture(scope="module")
def model(data):
    return TaxonomySVM(tol=1e-4).fit(*data)


def objective(model, X, y, cost):
    """The primal, from node weights by the definition."""
    scores = model.decision_function(X)
    numbers = np.searchsorted(model.classes_, y)
    margins = scores[np.arange(len(y)), numbers][:, None] - scores
    hinge = (cost[numbers] - margins).max(axis=1)
    squared = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return 0.5 * squared + model.C_ * hinge.sum()


@pytest.mark.parametrize("loss", ["tree", "tree-distance", "zero-one"])
def test_the_certificate_is_that_of_the_definition(data, loss):
    X, y = data
    model = TaxonomySVM(loss=loss).fit(X, y)
    t = Taxonomy.from_paths(LABELS.tolist())
    cost = {"tree": tree_heights, "tree-distance": tree_distances}.get(
        loss, lambda t, names: 1.0 - np.eye(len(names))
    )(t, sorted(LABELS))
    found = objective(model, X, y, cost)
    assert found == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert model.certificate_.relative_gap <= 0.01
    assert model.nodes_.tolist() == ["a", "a.x", "a.y", "b", "b.w", "b.z", "c"]


def test_flat_is_multiclass(data):
    X, y = data
    cost = tree_heights(Taxonomy.from_paths(LABELS.tolist()), sorted(LABELS))
    flat = TaxonomySVM(mode="flat", tol=1e-4).fit(X, y)
    other = MulticlassSVM(loss=cost, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(flat.coef_, other.coef_)
    assert flat.nodes_.tolist() == flat.classes_.tolist()


def test_a_star_is_flat_up_to_the_scale_of_features(data):
    """With k equal nodes per class, features count sqrt(k) times."""
    X, y = data
    star = {"top": None, **dict.fromkeys(LABELS.tolist(), "top")}
    chain = {**star, **{z + "'": z for z in LABELS.tolist()}}
    flat = MulticlassSVM(C=1.0, tol=1e-3, fit_intercept=False)
    want = flat.fit(X, y).certificate_.primal
    got = TaxonomySVM(star, C=1.0, tol=1e-3, fit_intercept=False).fit(X, y)
    assert got.certificate_.primal == pytest.approx(want, rel=2e-3)
    longer = TaxonomySVM(chain, loss="zero-one", C=1.0, tol=1e-3, fit_intercept=False)
    below = np.array([z + "'" for z in y])
    want = flat.fit(np.sqrt(2) * X, y).certificate_.primal
    assert longer.fit(X, below).certificate_.primal == pytest.approx(want, rel=2e-3)
    # weights of nodes say the same
    weighted = TaxonomySVM(
        star,
        node_weights=lambda depth: np.sqrt(2) ** depth,
        C=1.0,
        tol=1e-3,
        fit_intercept=False,
    )
    assert weighted.fit(X, y).certificate_.primal == pytest.approx(want, rel=2e-3)
    agree = weighted.predict(X) == flat.predict(np.sqrt(2) * X)
    assert agree.mean() > 0.95


def test_ancestors_of_all_classes_have_no_weights(data):
    X, y = data
    below = np.char.add("top.", y)
    model = TaxonomySVM(tol=1e-4).fit(X, below)
    assert "top" not in model.nodes_.tolist()
    inner = np.where(np.char.startswith(y, "a"), "top", below)
    model = TaxonomySVM(tol=1e-4, loss="zero-one").fit(X, inner)
    assert "top" in model.classes_.tolist()
    assert "top" not in model.nodes_.tolist()
    assert model.score(X, inner) > 0.7


def test_predictions(data, model):
    X, y = data
    scores = model.decision_function(X)
    assert scores.shape == (80, 5)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(X)).all()
    path = model.predict_path(X[:1])[0]
    assert path == model.taxonomy_.ancestors(model.predict(X[:1])[0])
    sparse = model.decision_function(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse, scores)
    assert model.score(X, y) > 0.7


def test_report(data, model):
    X, y = data
    report = model.evaluate(X, y)
    predicted = model.predict(X)
    assert report.accuracy == pytest.approx(model.score(X, y))
    first = np.array([z[0] for z in y]) == np.array([z[0] for z in predicted])
    assert report.levels[0].score == pytest.approx(first.mean())
    deep = y != "c"
    assert report.levels[1].n == deep.sum()
    assert report.levels[1].score == pytest.approx((y == predicted)[deep].mean())
    height = np.where(y == predicted, 0, np.where(first, 1, 2))
    assert report.tree_height == pytest.approx(height.mean())
    assert "tree loss" in str(report)
    # labels are paths: a new one is compared by its path
    assert model.evaluate(X[:2], ["a.x", "zebra"]).accuracy <= 0.5
    strict = clone(model).set_params(taxonomy=LABELS.tolist(), tol=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"y\[1\] is 'zebra', which is not in the tax"):
        strict.evaluate(X[:2], ["a.x", "zebra"])
    with pytest.raises(ValueError, match="2 true labels but 1 predictions"):
        class_scores(model.taxonomy_, ["a", "a"], ["a"])
    with pytest.raises(ValueError, match="no samples"):
        node_set_scores(model.taxonomy_, [], [])


def test_other_formulations_and_solvers(data):
    X, y = data
    for settings in (
        {"rescaling": "slack"},
        {"penalty": "quadratic"},
        {"solver": "one-slack"},
    ):
        model = TaxonomySVM(**settings).fit(X, y)
        assert model.certificate_.relative_gap <= 0.01
        assert model.score(X, y) > 0.6


def test_path_and_warm_start(data):
    X, y = data
    models = TaxonomySVM(tol=1e-3).path(X, y, [0.1, 1.0])
    alone = TaxonomySVM(tol=1e-3, C=1.0).fit(X, y)
    assert models[1].certificate_.primal == pytest.approx(
        alone.certificate_.primal, rel=2e-3
    )
    warm = TaxonomySVM(warm_start=True, tol=1e-3).fit(X, y)
    passes = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= passes


def test_saving(data, model, tmp_path):
    X, y = data
    given_ = TaxonomySVM(LABELS.tolist(), mode="flat", tol=0.1).fit(X, y)
    inner = TaxonomySVM(DIAMOND, multilabel=True, tol=0.1)
    inner.fit(X, [["s"], ["u"], ["p", "u"], []] * 20)
    for each in (model, given_, inner):
        save(each, tmp_path / "m")
        again = load(tmp_path / "m")
        assert type(again) is TaxonomySVM
        assert list(again.predict(X)) == list(each.predict(X))
        assert again.taxonomy_ == each.taxonomy_
        assert (again.taxonomy is None) == (each.taxonomy is None)
        copy = pickle.loads(pickle.dumps(each))
        assert list(copy.predict(X)) == list(each.predict(X))


def test_a_failed_fit_changes_nothing(data):
    X, y = data
    model = TaxonomySVM(tol=0.1).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="not known"):
        model.set_params(loss="height").fit(X, y)
    assert (model.coef_ == before).all()
    assert model.taxonomy_ == Taxonomy.from_paths(LABELS.tolist())


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


@pytest.mark.parametrize(
    "name",
    [
        "maxmargin.classes.taxonomy.estimator",
        "maxmargin.classes.bag_of_words",
        "maxmargin.classes.taxonomy.taxonomy",
        "maxmargin.classes.taxonomy.metrics",
    ],
)
def test_docstrings_run(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


# many labels -------------------------------------------------------------------------


def test_independent_labels_are_binary_machines(data):
    X, _ = data
    rng = np.random.default_rng(1)
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(80, 4)) > 0).astype(int)
    Y[:, 3] = 0
    model = TaxonomySVM(multilabel=True, fit_intercept=False, tol=1e-5).fit(X, Y)
    total = 0.0
    for j in range(3):
        one = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
        w = one.fit(X, Y[:, j]).coef_[0]
        hinges = np.maximum(0, 1 - (2 * Y[:, j] - 1) * (X @ w))
        total += 0.5 * w @ w + hinges.sum()
        np.testing.assert_allclose(model.coef_[j], w, atol=0.02)
    # the column that is always 0 has no weights and is predicted so
    assert model.certificate_.primal == pytest.approx(total, rel=1e-4)
    found = model.predict(X)
    assert found.shape == Y.shape
    assert not found[:, 3].any()
    assert model.score(X, Y) == pytest.approx((found == Y).all(axis=1).mean())
    assert model.score(X, sp.csr_matrix(Y)) == model.score(X, Y)
    named = TaxonomySVM(multilabel=True, nodes=["p", "q", "r", "s"], tol=0.1).fit(X, Y)
    assert named.nodes_.tolist() == ["p", "q", "r"]
    assert named.predict(X).shape == Y.shape


def test_sets_in_a_diamond(data):
    X, _ = data
    X = np.abs(X)
    Y = [
        ["s"] if x[0] > 1.5 else ["u"] if x[1] > 1 else ["p"] * int(x[2] > 1) for x in X
    ]
    model = TaxonomySVM(DIAMOND, multilabel=True, C=10.0, loss={"s": 2.0}).fit(X, Y)
    found = model.predict(X)
    t = model.taxonomy_
    assert all(t.closure(nodes) == nodes for nodes in found)
    assert set() in found
    assert [set(path) for path in model.predict_path(X)] == found
    assert model.decision_function(X).shape == (80, 5)
    report = model.evaluate(X, Y)
    wrong = [len(t.closure(y) ^ z) for y, z in zip(Y, found, strict=True)]
    assert report.hamming == pytest.approx(np.mean(wrong))
    assert report.accuracy == pytest.approx(np.mean(np.equal(wrong, 0)))
    assert report.accuracy == model.score(X, Y)
    assert report.accuracy > 0.6
    assert "exactly right" in str(report)
    weights = np.arange(80) < 40
    assert model.score(X, Y, weights) == pytest.approx(np.mean(np.equal(wrong[:40], 0)))


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_rescaled_sets_in_a_tree_converge(data, rescaling):
    X, y = data
    Y = [[label, "c"] if x[0] > 0 else [label] for label, x in zip(y, X, strict=True)]
    model = TaxonomySVM(multilabel=True, rescaling=rescaling, penalty="quadratic")
    model.fit(X, Y)
    assert model.certificate_.relative_gap <= 0.01
    assert model.evaluate(X, Y).micro_f1 > 0.8


def test_no_samples(model, data):
    assert len(model.predict([])) == len(model.predict_path([])) == 0
    X, y = data
    sets = TaxonomySVM(multilabel=True, tol=0.1).fit(X, [[label] for label in y])
    assert sets.predict([]) == sets.predict_path([]) == []


# scikit-learn ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([TaxonomySVM(tol=1e-14, max_iter=300)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
