"""Taxonomies, and classes and sets of nodes in them: against enumeration."""

import doctest
import importlib
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from taxonomy_cases import DIAMOND

from maxmargin import Taxonomy, TaxonomySVM
from maxmargin.classes.taxonomy import as_taxonomy, lineages
from maxmargin.classes.taxonomy import node_sets as sets_structure
from maxmargin.classes.taxonomy.closure import Tree, best_closures, make_network
from maxmargin.classes.taxonomy.losses import tree_distances, tree_heights
from maxmargin.core import contract
from maxmargin.core.formulation import make_form
from maxmargin.core.oracle import most_violated
from maxmargin.core.rescale import violation
from maxmargin.core.tables.arrays import csr_arrays
from maxmargin.testing import (
    FORMULATIONS,
    check_solver,
    check_structure,
    enumerate_multiclass,
)

PATHS = ["rec.autos", "rec.sport.hockey", "rec.sport.baseball", "sci.med"]


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
    batch = lineages.make_batch(
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
    assert isinstance(batch.network, Tree) or most > 1
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
