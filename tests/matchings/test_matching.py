"""Matchings: the search, the structure and the k best, against enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from maxmargin.matchings.assignment import best_links
from maxmargin.matchings.k_best import k_best
from maxmargin.matchings.links import (
    POSSIBLE,
    SURE,
    make_batch,
    to_labelling,
    to_links,
)
from maxmargin.testing import check_solver, check_structure


def matchings(n, m, source_most, target_most):
    """Every set of links that keeps to the bounds, as tables of booleans."""
    for bits in itertools.product((False, True), repeat=n * m):
        table = np.array(bits).reshape(n, m)
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        if (rows <= source_most).all() and (columns <= target_most).all():
            yield table


def enumerate_matchings(batch, i):
    m = int(batch.n_target[i])
    n = int(batch.cells[i + 1] - batch.cells[i]) // m
    for table in matchings(n, m, batch.source_most, batch.target_most):
        yield to_labelling(np.argwhere(table).tolist(), n, batch.source_most)


def random_batch(seed, sizes, most=(1, 1), costs=(1.0, 3.0), d=3):
    rng = np.random.default_rng(seed)
    tables, kinds, links = [], [], []
    for n, m in sizes:
        tables.append(rng.normal(size=(n, m, d)))
        taken = solve(rng.normal(size=(n, m)), *most)
        kind = rng.choice([0, POSSIBLE], size=(n, m)).astype(np.int8)
        kind[taken] = SURE
        # a possible link may be in the truth, too
        free = solve(np.where(kind == POSSIBLE, 1.0, -1.0), *most)
        both = solve(np.where(taken, 9.0, np.where(free, 1.0, -1.0)), *most)
        kinds.append(kind)
        links.append([tuple(link) for link in np.argwhere(both).tolist()])
    return make_batch(tables, kinds, links, *most, costs)


def solve(weight, source_most, target_most, search=best_links):
    n, m = weight.shape
    taken = np.ones((n, m), bool)
    search(
        np.asarray(weight, float),
        np.full(n, source_most, np.int64),
        np.full(m, target_most, np.int64),
        taken,
    )
    assert (taken.sum(axis=1) <= source_most).all()
    assert (taken.sum(axis=0) <= target_most).all()
    return taken


sizes = st.tuples(st.integers(1, 3), st.integers(1, 4))
mosts = st.sampled_from([(1, 1), (2, 1), (1, 2), (2, 2), (1, 99), (99, 99)])


@given(sizes, mosts, st.integers(0, 10**6), st.booleans())
def test_search_finds_the_best_of_all(size, most, seed, ties):
    rng = np.random.default_rng(seed)
    weight = rng.integers(-2, 4, size=size) if ties else rng.normal(size=size)
    best = max(weight[table].sum() for table in matchings(*size, *most))
    for search in (best_links, best_links.py_func):
        found = solve(weight, *most, search)
        assert weight[found].sum() == pytest.approx(best, abs=1e-9)
        assert (weight[found] > 0).all()


@given(sizes, mosts, st.integers(0, 10**6))
def test_the_search_stops_where_nothing_is_gained(size, most, seed):
    """Of equally good matchings it is one with the fewest links."""
    weight = np.random.default_rng(seed).integers(-1, 4, size=size)
    tables = list(matchings(*size, *most))
    best = max(weight[table].sum() for table in tables)
    fewest = min(table.sum() for table in tables if weight[table].sum() == best)
    assert solve(weight, *most, best_links.py_func).sum() == fewest


def test_a_tie_changes_nothing():
    taken = solve(np.array([[2, 1], [1, 0]]), 1, 1, best_links.py_func)
    assert taken.tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_large_one_to_one_as_scipy(scale):
    rng = np.random.default_rng(1)
    for n, m in [(30, 25), (7, 60), (60, 60)]:
        for shift in (0.0, 1.0, -1.5):
            weight = (rng.normal(size=(n, m)) + shift) * scale
            positive = np.maximum(weight, 0.0)
            rows, columns = linear_sum_assignment(-positive)
            want = positive[rows, columns].sum()
            assert weight[solve(weight, 1, 1)].sum() == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("most", [(2, 1), (3, 3), (1, 4)])
def test_large_fertility_as_linear_programs(most):
    rng = np.random.default_rng(2)
    for n, m in [(12, 9), (6, 15)]:
        weight = rng.normal(size=(n, m))
        bounds = np.vstack(
            [np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))]
        )
        most_of = [most[0]] * n + [most[1]] * m
        program = linprog(-weight.ravel(), bounds, most_of, bounds=(0, 1))
        assert weight[solve(weight, *most)].sum() == pytest.approx(-program.fun)


def test_infinite_and_empty_weights():
    assert not solve(np.full((3, 2), -np.inf), 1, 1).any()
    assert solve(np.array([[-np.inf, 1.0]]), 1, 1).tolist() == [[False, True]]
    assert solve(np.zeros((0, 3)), 1, 1).shape == (0, 3)


@given(st.lists(sizes, min_size=1, max_size=2), mosts, st.integers(0, 10**6))
def test_structure_against_enumeration(shapes, most, seed):
    costs = [(1.0, 3.0), (1.0, 1.0), (0.5, 0.0), (0.0, 2.0)][seed % 4]
    batch = random_batch(seed, shapes, most, costs)
    check_structure(batch, 3, enumerate_matchings, trials=1, compiled=False)
    check_structure(batch, 3, enumerate_matchings, trials=1)


def test_four_by_four():
    batch = random_batch(5, [(4, 4)])
    check_structure(batch, 3, enumerate_matchings, trials=2)


def test_labellings_and_links():
    links = [(0, 2), (1, 0), (1, 1), (3, 0)]
    labelling = to_labelling(links, 4, 2)
    assert labelling.tolist() == [3, 0, 1, 2, 0, 0, 1, 0]
    assert to_links(labelling, 2) == links


def test_solvers_agree():
    batch = random_batch(3, [(3, 4), (4, 3), (2, 2), (5, 5)], (2, 1), d=4)
    best = check_solver(batch, 4, solver="block-coordinate", C=0.3, tol=1e-6)
    for solver in ("one-slack", "n-slack"):
        check_solver(batch, 4, solver=solver, C=0.3, tol=1e-6, reference=best)


def test_slack_rescaling_is_certified():
    batch = random_batch(4, [(3, 3), (2, 4)], costs=(1.0, 1.0), d=4)
    check_solver(batch, 4, solver="block-coordinate", C=0.1, rescaling="slack", tol=0.5)


@given(sizes, mosts, st.integers(0, 10**6), st.integers(1, 12))
def test_k_best_are_the_k_best(size, most, seed, k):
    weight = np.random.default_rng(seed).normal(size=size)
    every = sorted((weight[t].sum() for t in matchings(*size, *most)), reverse=True)
    found = k_best(weight, *most, k)
    assert len(found) == min(k, len(every))
    np.testing.assert_allclose([value for _, value in found], every[:k], atol=1e-9)
    assert len({tuple(links) for links, _ in found}) == len(found)
    for links, value in found:
        assert sum(weight[link] for link in links) == pytest.approx(value)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_must_be_a_number(k):
    with pytest.raises(ValueError, match="whole number >= 1"):
        k_best(np.ones((1, 1)), 1, 1, k)
