"""Sampled cuts: the optimum where samples hold everything, theorems 6.1 and 6.2 else."""

import numpy as np
import pytest
import theorems
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import sample_cuts
from scipy.optimize import minimize

from maxmargin import kernels
from maxmargin.kernel_svm.sampling import IDLE_ROUNDS, sample

seeds = st.integers(0, 2**32 - 1)
RBF = kernels.rbf(0.5)


def problem(seed, n=40, classes=3, C=1.0):
    """X, y, costs and masses, all random; classes overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 2)) + 1.5 * rng.normal(size=(classes, 2))[y]
    cost = rng.uniform(0.5, 2.0, (classes, classes))
    np.fill_diagonal(cost, 0)
    return X, y, cost, rng.uniform(0, 2 * C / n, n)


def optimum(X, y, cost, mass):
    """The primal over W and slacks in exact coordinates, by SLSQP."""
    n, m = len(y), len(cost)
    Z = np.linalg.cholesky(RBF(X) + 1e-10 * np.eye(n))
    i, k = np.divmod(np.arange(n * m), m)
    i, k = i[k != y[i]], k[k != y[i]]
    rows = np.zeros((len(i), n * m + n))  # slack_i - f_k + f_y >= cost
    for row, sample_, wrong in zip(rows, i, k, strict=True):
        row[: n * m].reshape(n, m)[:, wrong] -= Z[sample_]
        row[: n * m].reshape(n, m)[:, y[sample_]] += Z[sample_]
        row[n * m + sample_] = 1
    square = np.repeat([1.0, 0.0], [n * m, n])
    linear = np.concatenate([np.zeros(n * m), mass])
    start = np.concatenate([np.zeros(n * m), np.full(n, cost.max())])
    found = minimize(
        lambda v: 0.5 * square @ v**2 + linear @ v,
        start,
        jac=lambda v: square * v + linear,
        method="SLSQP",
        bounds=[(None, None)] * (n * m) + [(0, None)] * n,
        constraints={
            "type": "ineq",
            "fun": lambda v: rows @ v - cost[y[i], k],
            "jac": lambda v: rows,
        },
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert found.success
    return found.fun


def primal(X, y, cost, mass, cuts):
    """The objective of what was found, from its definition."""
    K = RBF(X[cuts.points], X)
    scores = K.T @ cuts.coefficients
    hinges = (cost[y] + scores).max(axis=1) - scores[np.arange(len(y)), y]
    inside = K[:, cuts.points] @ cuts.coefficients
    return 0.5 * np.vdot(cuts.coefficients, inside) + mass @ hinges


@settings(max_examples=8)
@given(seeds, st.integers(2, 3), st.sampled_from([0.5, 5.0, 50.0]))
def test_with_samples_of_all_it_is_the_exact_machine(seed, classes, C):
    data = problem(seed, 10, classes, C)
    cuts = sample_cuts(RBF, *data, 10, 1e-4, seed, 2000)
    assert cuts.converged
    best = optimum(*data)
    assert cuts.dual <= best + 1e-6 * max(best, 1)
    assert cuts.primal == pytest.approx(best, rel=1e-3)
    assert cuts.primal == pytest.approx(primal(*data, cuts), rel=1e-9)


@settings(max_examples=20)
@given(seeds, st.integers(1, 30), st.booleans())
def test_the_primal_is_exact_and_rows_sum_to_zero(seed, r, single):
    X, *rest = problem(seed)
    X = X.astype(np.float32 if single else np.float64)
    cuts = sample_cuts(RBF, X, *rest, r, 0.02, seed, 15)
    assert cuts.primal == pytest.approx(primal(X, *rest, cuts), rel=1e-4)
    assert len(cuts.points) == len(set(cuts.points)) <= 14 * r
    np.testing.assert_allclose(cuts.coefficients.sum(axis=1), 0, atol=1e-12)
    # the best so far: it never grows
    primals = [row["primal"] for row in cuts.history]
    assert primals == sorted(primals, reverse=True)
    assert primals[-1] == cuts.primal
    again = sample_cuts(RBF, X, *rest, r, 0.02, seed, 15)
    np.testing.assert_array_equal(again.coefficients, cuts.coefficients)


@given(seeds, st.integers(1, 12))
def test_samples_are_unbiased(seed, r):
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.1, 1.0, 12)
    means, rounds = np.zeros(12), 400
    for _ in range(rounds):
        rows, sampled = sample(np.arange(12), masses, r, rng)
        assert len(rows) == len(set(rows)) <= r
        assert sampled.sum() == pytest.approx(masses.sum())
        means[rows] += sampled / rounds
    # one number says at most r occurrences; its variance is below total * mass / r
    spread = np.sqrt(masses * masses.sum() / r / rounds)
    assert (np.abs(means - masses) < 6 * spread).all()


def test_equal_masses_are_sampled_without_replacement():
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows, sampled = sample(np.arange(5, 25), np.full(20, 0.3), 7, rng)
        assert len(set(rows)) == 7
        np.testing.assert_allclose(sampled, 0.3 * 20 / 7)


@settings(max_examples=5)
@given(seeds)
def test_theorems_6_1_and_6_2(seed):
    X, y, _, _ = problem(seed, 60, 2)
    cost, C = 1.0 - np.eye(2), 2.0
    mass = np.full(60, C / 60)
    R = np.sqrt(2.0)  # of phi_y - phi_k, for a kernel with k(x, x) = 1
    exact = sample_cuts(RBF, X, y, cost, mass, 60, 1e-4, 0, 2000)
    for r in (3, 10, 30):
        runs = [sample_cuts(RBF, X, y, cost, mass, r, 0.05, s, 1000) for s in range(6)]
        assert all(run.converged for run in runs)
        rounds = [len(run.history) for run in runs]
        epsilon = min(0.05 * run.history[-1]["current"] / C for run in runs)
        assert np.mean(rounds) <= theorems.theorem_6_1(C, R, r, epsilon)
        for run, T in zip(runs, rounds, strict=True):
            epsilon = 0.05 * run.history[-1]["current"] / C
            worst = theorems.theorem_6_2(C, R, r, T, epsilon, 1e-6)
            assert run.primal <= exact.primal + worst
            assert run.primal >= exact.dual * (1 - 1e-9)


def test_larger_samples_come_nearer():
    data = problem(1, 400, 3, 10.0)
    data = (*data[:3], np.full(400, 10 / 400))
    found = [
        np.mean([sample_cuts(RBF, *data, r, 0.01, s, 300).primal for s in range(4)])
        for r in (5, 40, 400)
    ]
    assert found[0] > found[1] > found[2] * 0.999


def test_idle_cuts_are_dropped_and_progress_may_stop():
    data = problem(0, 300, 3, 100.0)
    cuts = sample_cuts(RBF, *data, 300, 1e-9, 0, 80)
    assert not cuts.converged
    assert max(row["cuts"] for row in cuts.history) < 79
    assert cuts.history[IDLE_ROUNDS]["cuts"] == IDLE_ROUNDS  # not before
    seen = []
    cuts = sample_cuts(
        RBF, *data, 4, 1e-9, 0, 120, lambda row: seen.append(row) or len(seen) == 5
    )
    assert cuts.history == seen
    assert len(seen) == 5


def test_strings_and_no_mass():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("acgt"), 10)) for _ in range(30)]
    y = np.array([x.count("a") > 2 for x in X]).astype(int)
    cost = 1 - np.eye(2)
    kernel = kernels.normalized(kernels.spectrum(2))
    cuts = sample_cuts(kernel, X, y, cost, np.full(30, 1.0), 10, 0.05, 0, 200)
    scores = kernel(X, [X[i] for i in cuts.points]) @ cuts.coefficients
    assert (scores.argmax(axis=1) == y).mean() >= 0.85
    nothing = sample_cuts(kernel, X, y, cost, np.zeros(30), 10, 0.05, 0, 200)
    assert (nothing.primal, len(nothing.points), nothing.converged) == (0, 0, True)
