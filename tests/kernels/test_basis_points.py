"""Bases of chosen points: how near they come, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import lapack

from maxmargin import kernels
from maxmargin.kernels import basis_points
from maxmargin.kernels.basis import ROWS, Basis
from maxmargin.kernels.basis_points import METHODS, choose

RBF = kernels.rbf(0.3)
seeds = st.integers(0, 2**32 - 1)


def points(seed, n=60, d=3, kind=np.float64):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(kind)


def left_over(basis, X):
    return basis.left_over(X, basis.transform(X))


def numbers(X, basis):
    """Which rows of X the points of a basis are."""
    return [int(np.flatnonzero((p == X).all(axis=1))[0]) for p in basis.points]


@pytest.mark.parametrize("method", ["nystroem", "incomplete-cholesky"])
@given(seed=seeds)
def test_what_is_left_over_shrinks_as_the_basis_grows(method, seed):
    X = points(seed)
    before = np.asarray(RBF.diagonal(X))
    for k in (1, 2, 5, 13, 40, 60):
        after = left_over(choose(method, RBF, X, k, seed), X)
        assert (after <= before + 1e-9).all()
        before = after
    assert before.max() < 1e-5  # at most what DEPENDENT leaves out


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_with_all_points_nothing_is_left_over(method, kind):
    X = points(0, 40, 8, kind)
    basis = choose(method, RBF, X, 40, 1)
    assert len(basis) == 40
    assert left_over(basis, X).max() < (1e-5 if kind == np.float32 else 1e-9)


@given(seeds, st.integers(1, 40), st.booleans())
def test_incomplete_cholesky_takes_the_pivots_of_lapack(seed, k, weighted):
    rng = np.random.default_rng(seed)
    X = points(seed, 40)
    weights = rng.uniform(0.1, 3.0, 40) if weighted else np.ones(40)
    kernel = kernels.polynomial(3, 1.0, 1.0)  # its diagonal has no ties
    gram = kernel(X) * np.sqrt(np.outer(weights, weights))
    factor, pivot, rank, _ = lapack.dpstrf(gram, lower=1, tol=1e-6 * gram.max())
    found = basis_points.pivots(kernel, X, k, weights)
    assert found.tolist() == (pivot[: min(k, rank)] - 1).tolist()
    basis = Basis(kernel, X[found])
    if len(basis) == len(found):
        lower = np.tril(factor)[: len(found), : len(found)]
        lower /= np.sqrt(weights[found])[:, None]
        ours = np.linalg.inv(basis.inverse)
        np.testing.assert_allclose(ours, lower, rtol=1e-4, atol=1e-4 * abs(lower).max())


def test_pools_of_candidates_do_not_change_the_pivots(monkeypatch):
    X = points(3, 900, 2)
    kernel = RBF + kernels.linear() * 1e-3
    pooled = basis_points.pivots(kernel, X, 60, np.ones(900))
    monkeypatch.setattr(basis_points, "POOL", (1, 1))
    assert basis_points.pivots(kernel, X, 60, np.ones(900)).tolist() == pooled.tolist()


def test_copies_are_left_out():
    X = np.repeat(points(0, 5), 8, axis=0)
    for method in METHODS:
        basis = choose(method, RBF, X, 30, 0)
        assert len(basis) <= 5
        assert left_over(basis, X).max() < 1e-6 or method != "all"
    assert len(choose("incomplete-cholesky", RBF, X, 30, 0)) == 5


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_zero_are_never_chosen_and_equal_ones_change_nothing(method):
    X = points(4, 80)
    weights = np.where(np.arange(80) % 2, 1.0, 0.0)
    basis = choose(method, RBF, X, 10, 5, weights)
    if method != "nystroem-kmeans":  # whose points are new
        assert all(i % 2 for i in numbers(X, basis))
    else:
        same = choose(
            method, RBF, np.where(weights[:, None] > 0, X, 9.0), 10, 5, weights
        )
        np.testing.assert_array_equal(basis.points, same.points)
    for scale in (1.0, 4.0):
        equal = choose(method, RBF, X, 10, 5, np.full(80, scale)).points
        np.testing.assert_allclose(equal, choose(method, RBF, X, 10, 5).points)


def test_random_points_come_by_their_weights():
    rng = np.random.default_rng(0)
    weights = np.array([1.0, 2.0, 5.0, 0.0])
    first = np.array([basis_points.random_points(weights, 2, rng) for _ in range(4000)])
    assert (first[:, 0] != first[:, 1]).all()
    np.testing.assert_allclose(
        np.bincount(first[:, 0]) / 4000, weights[:3] / 8, atol=0.03
    )


@given(seeds)
def test_leverage_scores_from_all_points_are_the_exact_ones(seed):
    X = points(seed, 30)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 30)
    scores = basis_points.leverage(RBF, X, np.arange(30), np.ones(30))
    gram = RBF(X)
    # the ridge follows from the sum: find it, and compare every score
    assert scores.sum() <= 15
    low, high = -20.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        exact = np.diag(gram @ np.linalg.inv(gram + np.exp(middle) * np.eye(30)))
        low, high = (middle, high) if exact.sum() > scores.sum() else (low, middle)
    np.testing.assert_allclose(scores, exact, rtol=1e-5, atol=1e-7)
    assert (basis_points.leverage(RBF, X, np.arange(30), weights) <= 1).all()


def test_leverage_finds_what_is_rare():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(990, 2)) * 0.1, rng.normal(size=(10, 2)) + 20])
    scores = basis_points.leverage(RBF, X, np.arange(0, 1000, 50), np.ones(1000))
    assert scores[990:].min() > 5 * scores[:990].max()


def test_kmeans_comes_nearer_than_random_points():
    X = points(0, 3000, 2)
    near = left_over(choose("nystroem-kmeans", RBF, X, 20, 0), X).mean()
    assert near < 0.8 * left_over(choose("nystroem", RBF, X, 20, 0), X).mean()


@pytest.mark.parametrize("method", METHODS)
def test_seeds_sparse_tables_and_many_rows(method):
    X = points(0, 100) * (points(1, 100) > 0)
    dense = choose(method, RBF, X, 9, 7)
    np.testing.assert_array_equal(dense.points, choose(method, RBF, X, 9, 7).points)
    table = sp.csr_matrix(X)
    sparse = choose(method, RBF, table, 9, 7)
    np.testing.assert_allclose(sparse.points.toarray(), dense.points, atol=1e-6)
    np.testing.assert_allclose(sparse.transform(table), dense.transform(X), atol=1e-4)
    if method != "all":
        X = points(0, ROWS + 50, 2)
        basis = choose(method, RBF, X, 12, 7)
        assert len(basis) == 12
        assert left_over(basis, X).mean() < 0.8


@pytest.mark.parametrize("method", [m for m in METHODS if m != "nystroem-kmeans"])
def test_strings(method):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("acgt"), 12)) for _ in range(30)]
    basis = choose(method, kernels.spectrum(2), X, 8, 0)
    assert len(basis) == 8 or method == "all"
    assert set(basis.points) <= set(X)


X = points(0, 20)
CASES = {
    "n_components is 21, but there are 20 points": lambda m: choose(m, RBF, X, 21, 0),
    "there are 1 points with a positive weight": lambda m: choose(
        m, RBF, X, 2, 0, np.eye(20)[3]
    ),
    "n_components must be a whole number from 1": lambda m: choose(m, RBF, X, 0, 0),
    "n_components must be a finite number, not None": lambda m: choose(
        m, RBF, X, None, 0
    ),
    'take "all"': lambda m: choose(m, kernels.precomputed() * 2.0, RBF(X), 3, 0),
    "X has no samples": lambda m: choose(m, RBF, X[:0], 3, 0),
    "X has the type int": lambda m: choose(m, RBF, 3, 3, 0),
    "NaN or infinite values, the first in row": lambda m: choose(
        m, RBF, np.full((20, 2), np.nan), 3, 0
    ),
    "kernel must be a kernel, not str": lambda m: choose(m, "rbf", X, 3, 0),
    r"weights must have a number for each of the 20 samples": lambda m: choose(
        m, RBF, X, 3, 0, np.ones(19)
    ),
    "that of sample 2 is nan": lambda m: choose(
        m, RBF, X, 3, 0, [1, 1, np.nan] + [1] * 17
    ),
    "that of sample 0 is -1": lambda m: choose(m, RBF, X, 3, 0, [-1] + [1] * 19),
    "weights must be numbers": lambda m: choose(m, RBF, X, 3, 0, ["a"] * 20),
    "All weights are zero": lambda m: choose(m, RBF, X, 3, 0, np.zeros(20)),
    "zero length under the kernel": lambda m: choose(
        m, kernels.linear(), np.zeros((20, 2)), 3, 0
    ),
}


@pytest.mark.parametrize("method", METHODS[:-1])
@pytest.mark.parametrize("message", CASES)
def test_messages(message, method):
    with pytest.raises(ValueError, match=message):
        CASES[message](method)


def test_messages_of_methods():
    with pytest.raises(
        ValueError, match="no basis method 'best': there are \"nystroem\""
    ):
        choose("best", RBF, X, 3, 0)
    for table in (["ab", "ba", "bb"], (X, X), {"a": X}, np.array([["a"]] * 9, object)):
        with pytest.raises(ValueError, match="takes means of rows of numbers"):
            choose("nystroem-kmeans", RBF, table, 2, 0)
