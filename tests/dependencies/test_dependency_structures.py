"""Projective trees and all trees against lists of them."""

import networkx
import numpy as np
import pytest
from dependency_cases import (
    all_trees,
    is_projective,
    is_tree,
    n_weights,
    outputs,
    random_batch,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import contract
from maxmargin.core.completion import complete_all
from maxmargin.core.cutting import cut
from maxmargin.core.decode import decode
from maxmargin.core.expectations import expectations
from maxmargin.core.partial import partly_known
from maxmargin.dependencies.batches import ProjectiveBatch, TreeBatch
from maxmargin.dependencies.k_best import k_best, projective_trees, trees
from maxmargin.dependencies.matrix_tree import tree_sums
from maxmargin.dependencies.siblings import SiblingBatch
from maxmargin.testing import Asker, check_solver, check_structure

SUMMED = ProjectiveBatch, TreeBatch
KINDS = *SUMMED, SiblingBatch


def weights(batch, seed, scale=1.0):
    return scale * np.random.default_rng(seed).normal(size=n_weights(batch))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_labels", [1, 2])
def test_the_contract_holds(kind, n_labels):
    batch = random_batch(0, (3, 1, 2, 0), n_labels, kind)
    check_structure(batch, n_weights(batch), outputs, compiled=False, trials=1)
    check_structure(batch, n_weights(batch), outputs)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 5))
def test_trees_without_labels(kind, seed, n):
    batch = random_batch(seed, (n,), 1, kind)
    check_structure(batch, n_weights(batch), outputs, seed=seed, trials=1)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3))
def test_trees_with_labels(kind, seed, n):
    batch = random_batch(seed, (n,), 3, kind)
    check_structure(batch, n_weights(batch), outputs, seed=seed, trials=1)


def test_numbers_of_trees():
    assert [len(all_trees(n)) for n in (1, 2, 3, 4)] == [1, 2, 9, 64]  # n ** (n - 1)
    assert [len(all_trees(n, True)) for n in (1, 2, 3, 4)] == [1, 2, 7, 30]


# search ---------------------------------------------------------------------------------


def total(arcs, heads) -> float:
    return sum(arcs[h, m] for m, h in enumerate(heads, 1))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6))
def test_projective_search_finds_the_best(seed, n):
    arcs = np.random.default_rng(seed).normal(size=(n + 1, n + 1))
    heads = np.zeros(n + 1, np.int64)
    projective_trees(arcs, heads)
    found = tuple(heads[1:])
    assert is_tree(found)
    assert is_projective(found)
    best = max(total(arcs, h) for h in all_trees(n, True))
    assert total(arcs, found) == pytest.approx(best)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 12),
    whole=st.booleans(),
    scale=st.sampled_from([1.0, 1e-3, 1e4]),
)
def test_arborescences_are_those_of_networkx(seed, n, whole, scale):
    rng = np.random.default_rng(seed)
    arcs = scale * rng.normal(size=(n + 1, n + 1))
    if whole:  # with ties
        arcs = rng.integers(-2, 3, size=arcs.shape).astype(float)
    heads = np.zeros(n + 1, np.int64)
    trees(arcs, heads)
    found = heads[1:].tolist()
    assert is_tree(found)
    best = max(
        arcs[0, root] + spanning(arcs[1:, 1:], root - 1) for root in range(1, n + 1)
    )
    assert total(arcs, found) == pytest.approx(best, rel=1e-9, abs=1e-9 * scale)


def spanning(arcs, root) -> float:
    """The weight of the best arborescence of networkx from this root."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(arcs)))
    for h in range(len(arcs)):
        for m in range(len(arcs)):
            if h != m and m != root:
                graph.add_edge(h, m, weight=float(arcs[h, m]))
    tree = networkx.maximum_spanning_arborescence(graph, preserve_attrs=True)
    return sum(data["weight"] for _, _, data in tree.edges(data=True))


def test_arborescences_of_random_crossing_trees():
    """A tree that has the largest scores is found, however long its arcs are."""
    rng = np.random.default_rng(0)
    crossing = 0
    for n in (2, 7, 30, 80):
        order = rng.permutation(n) + 1
        gold = np.zeros(n + 1, np.int64)
        for k in range(1, n):
            gold[order[k]] = order[rng.integers(k)]
        arcs = rng.normal(size=(n + 1, n + 1))
        arcs[gold[1:], np.arange(1, n + 1)] += 8.0
        heads = np.zeros(n + 1, np.int64)
        trees(arcs, heads)
        assert (heads == gold).all()
        crossing += not is_projective(gold[1:])
    assert crossing >= 2


def test_arcs_that_are_impossible():
    arcs = np.full((4, 4), -np.inf)
    for h, m in ((0, 2), (2, 3), (2, 1), (1, 3), (0, 1)):
        arcs[h, m] = -5.0
    for search in (trees, projective_trees):
        heads = np.zeros(4, np.int64)
        search(arcs, heads)
        assert np.isfinite(total(arcs, heads[1:]))


# the best k -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 4),
    n_labels=st.sampled_from([1, 2]),
)
def test_the_best_k(kind, seed, n, n_labels):
    n = min(n, 3) if n_labels > 1 else n
    batch = random_batch(seed, (n,), n_labels, kind)
    w = weights(batch, seed)
    ask = Asker(batch, 0, w, True)
    every = list(outputs(batch, 0))
    values = sorted((ask.value(y) for y in every), reverse=True) if n else [0.0]
    ranked = k_best(batch, 0, w, 7)
    assert len(ranked) == min(7, len(every))
    assert len({tuple(y) for y, _ in ranked}) == len(ranked)
    assert [v for _, v in ranked] == pytest.approx(values[: len(ranked)])
    if n:
        assert [ask.value(y) for y, _ in ranked] == pytest.approx(
            [v for _, v in ranked]
        )
        assert ranked[0][0].tolist() == decode(batch, w).tolist()


# sums -----------------------------------------------------------------------------------


def determinant(arcs):
    """log Z and probabilities as Koo et al. (2007) compute them."""
    n = len(arcs) - 1
    a = np.exp(arcs[1:, 1:])
    np.fill_diagonal(a, 0.0)
    laplacian = np.diag(a.sum(axis=0)) - a
    laplacian[0] = root = np.exp(arcs[0, 1:])
    inverse = np.linalg.inv(laplacian)
    chances = np.zeros((n + 1, n + 1))
    chances[0, 1:] = root * inverse[:, 0]
    for h in range(n):
        for m in range(n):
            up = inverse[m, m] if m else 0.0
            down = inverse[m, h] if h else 0.0
            chances[h + 1, m + 1] = a[h, m] * (up - down)
    return np.linalg.slogdet(laplacian)[1], chances


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20))
def test_sums_are_those_of_the_matrix_tree_theorem(seed, n):
    arcs = np.random.default_rng(seed).normal(size=(n + 1, n + 1))
    want, chances = determinant(arcs)
    found = np.empty_like(arcs)
    assert tree_sums(arcs, found) == pytest.approx(want)
    np.testing.assert_allclose(found, chances, atol=1e-10)


@pytest.mark.parametrize("gap", [50.0, 300.0])
def test_sums_where_all_words_prefer_a_cycle(gap):
    """The determinant is then a difference of numbers that are the same in all digits."""
    arcs = np.random.default_rng(0).normal(size=(5, 5))
    arcs[1, 2] += gap
    arcs[2, 1] += gap
    arcs[3, 4] += gap
    arcs[4, 3] += gap
    every = np.array([total(arcs, h) for h in all_trees(4)])
    p = np.exp(every - every.max())
    chances = np.zeros_like(arcs)
    for heads, x in zip(all_trees(4), p / p.sum(), strict=True):
        chances[heads, np.arange(1, 5)] += x
    found = np.empty_like(arcs)
    want = every.max() + np.log(p.sum())
    assert tree_sums(arcs, found) == pytest.approx(want, rel=1e-13)
    np.testing.assert_allclose(found, chances, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize(("kind", "n"), [(ProjectiveBatch, 2), (TreeBatch, 1)])
def test_label_sums_of_any_size(kind, n):
    """The largest labels of two tables are not the same, and far from all others."""
    batch = random_batch(1, (n,), 3, kind)
    w = weights(batch, 1, 600.0)
    values = np.array([Asker(batch, 0, w, True).value(y) for y in outputs(batch, 0)])
    (_,), (found,) = expectations(batch, w)
    assert found == pytest.approx(
        values.max() + np.log(np.exp(values - values.max()).sum())
    )


# what is known --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 4),
    n_labels=st.sampled_from([1, 2]),
)
def test_completions_and_their_sums(kind, seed, n, n_labels):
    n = min(n, 3) if n_labels > 1 else n
    batch = random_batch(seed, (n,), n_labels, kind)
    known = np.random.default_rng(seed).random(n) < 0.5
    partial, w = partly_known(batch, known), weights(batch, seed)
    ask = Asker(batch, 0, w, True)
    agree = [y for y in outputs(batch, 0) if (y == batch.y)[known].all()]
    values = np.array([ask.value(y) for y in agree])
    found = complete_all(partial, w)
    assert (found == batch.y)[known].all()
    assert ask.value(found) == pytest.approx(values.max())
    if kind is SiblingBatch:
        return
    theta = np.array(ask.theta)
    theta, mu = theta.reshape(1, -1), np.zeros((1, theta.size))
    work = np.zeros(contract.sums_room(partial))
    got = contract.known_sums(partial, 0, theta, mu, work)
    assert got == pytest.approx(
        values.max() + np.log(np.exp(values - values.max()).sum())
    )
    p = np.exp(values - got)
    arcs = np.zeros((n + 1, n))
    for y, x in zip(agree, p, strict=True):
        arcs[y // n_labels, np.arange(n)] += x
    np.testing.assert_allclose(mu[0, : arcs.size], arcs.ravel(), atol=1e-9)


def test_what_is_no_tree_is_not_possible():
    batch = random_batch(0, (4,), 1, ProjectiveBatch)
    crossing = [3, 4, 0, 3]
    for y in ([2, 1, 0, 3], [0, 0, 1, 1], [5, 0, 2, 2], [-1, 0, 2, 2], [1, 0, 2, 2]):
        y = np.array(y, np.int32)
        assert not contract.possible(batch, 0, y)
        assert not contract.possible(TreeBatch(*batch), 0, y)
    assert not contract.possible(batch, 0, np.array(crossing, np.int32))
    assert contract.possible(TreeBatch(*batch), 0, np.array(crossing, np.int32))


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_parsed_alone(kind):
    batch = random_batch(0, (3, 0, 4, 2), 2, kind)
    w = weights(batch, 0)
    parts = [decode(cut(batch, a, b), w) for a, b in ((0, 2), (2, 3), (3, 4))]
    np.testing.assert_array_equal(np.concatenate(parts), decode(batch, w))
    partial = cut(partly_known(batch, np.ones(9, bool)), 2, 4)
    np.testing.assert_array_equal(complete_all(partial, w), batch.y[3:])


# training -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_solvers_agree(kind):
    batch = random_batch(5, (3, 4, 2), 2, kind)
    optimum = check_solver(batch, n_weights(batch), solver="block-coordinate")
    for solver in ("one-slack", "n-slack"):
        check_solver(batch, n_weights(batch), solver=solver, reference=optimum)
