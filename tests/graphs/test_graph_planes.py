"""What solvers rely on between searches: scores of planes, room for them, shortfalls."""

import numpy as np
import pytest
from graph_cases import encoded, enumerate_states, plain_inputs

from maxmargin.core import contract
from maxmargin.core.partial import partly_known
from maxmargin.core.problems.asker import Asker
from maxmargin.graphs.fractions import corners, known_slots
from maxmargin.graphs.labellings import (
    Expansion,
    Rounding,
    elimination_graphs,
    with_search,
)
from maxmargin.graphs.methods import relaxed_batch


def dense(seed, edge_width=1, edges="directed", sizes=(4, 3)):
    rng = np.random.default_rng(seed)
    X = plain_inputs(rng, sizes=sizes, edge_width=edge_width, density=0.9)
    return rng, *encoded(rng, X, ["x", "y", "z"], edges)


@pytest.mark.parametrize("relaxed", [False, True])
def test_scores_of_planes_tell_them_from_the_truth(relaxed):
    rng, graphs, y, n = dense(0)
    if relaxed:
        batch = relaxed_batch(graphs, y, 0.01)
    else:
        batch, _ = elimination_graphs(graphs, y)
    w = rng.normal(size=n)
    _, width = contract.shape(batch)
    a, b = graphs.node_start[:2]
    for v in range(a, b):  # planes that differ from the truth in one node only
        other = y.copy()
        other[v] = (other[v] + 1) % 3
        if relaxed:
            other = corners(graphs, batch.start, batch.slot_at, other)
        planes = [z[: batch.start[1]] for z in (batch.y, other)]
        whole, some = np.zeros((1, width)), np.full((1, width), np.nan)
        contract.score(batch, 0, w, whole)
        contract.score_planes(batch, 0, w, np.concatenate(planes), 2, some)
        truth, found = (
            np.array([contract.value(batch, 0, theta, z) for z in planes])
            for theta in (whole, some)
        )
        np.testing.assert_allclose(np.diff(found), np.diff(truth), atol=1e-12)


@pytest.mark.parametrize("edges", ["directed", "symmetric", "associative"])
@pytest.mark.parametrize("edge_width", [None, 2])
def test_features_of_every_labelling_have_room(edges, edge_width):
    _, graphs, y, _ = dense(1, edge_width, edges)
    batch, _ = elimination_graphs(graphs, y)
    index, values = np.empty(1000, np.int64), np.empty(1000)
    most = max(
        contract.emit(batch, i, states, 1.0, index, values, 0)
        for i in range(2)
        for states in enumerate_states(batch, i)
    )
    assert most <= contract.capacity(batch)


def test_a_search_that_ends_early_says_what_it_misses():
    rng, graphs, y, n = dense(2, sizes=(5, 4, 5))
    exact, _ = elimination_graphs(graphs, y)
    missed = 0
    for w in rng.normal(size=(8, n)) * 3:
        batch = relaxed_batch(graphs, y, 0.01)
        search = batch.search._replace(tol=np.full(3, 1e9))
        batch = batch._replace(search=search)
        for i in range(3):
            worth = []
            for some in (batch, exact):
                ask = Asker(some, i, w, True)
                found = ask.argmax(1.0)
                worth.append(ask.value(found) + ask.loss(found))
            assert worth[0] + batch.short[i] >= worth[1] - 1e-9
            missed += worth[0] < worth[1] - 1e-6
    assert missed  # else nothing was tested


def test_a_rounded_triangle_says_what_the_relaxation_leaves():
    triangle = (np.zeros((3, 1)), [(0, 1), (1, 2), (2, 0)])
    graphs, y, n = encoded(np.random.default_rng(0), [triangle], [0, 1], constant=0)
    batch = with_search(graphs, y, Rounding())
    w = np.zeros(n)
    w[-4:] = 0, 1, 1, 0  # unequal labels gain, which all three pairs cannot have
    ask = Asker(batch, 0, w, True)
    np.testing.assert_allclose(ask.value(ask.argmax(0.0)), 2.0)
    np.testing.assert_allclose(batch.short, 1.0, atol=1e-5)


def test_an_edge_is_known_if_both_its_nodes_are():
    path = (np.zeros((3, 1)), [(0, 1), (1, 2)])
    graphs, y, _ = encoded(np.random.default_rng(0), [path], [0, 1])
    batch = relaxed_batch(graphs, y, 0.01)
    known = known_slots(batch, np.array([True, True, False]))
    assert known.tolist() == [True] * 4 + [False] * 2 + [True] * 4 + [False] * 4
    partial = partly_known(with_search(graphs, y, Expansion()), y >= 1)
    assert not partial.exact  # what is not known makes no search exact
