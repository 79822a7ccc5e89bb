"""Every solver finds the same optimum, keeps its invariants and proves it."""

import numpy as np
import pytest
from conftest import random_chain, random_multiclass
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.driver import NotSeparable
from maxmargin.solvers.planes import dual_value
from maxmargin.testing import FORMULATIONS, check_solver, solve

EXACT = ("block-coordinate", "one-slack", "n-slack")
PROBLEMS = {
    "multiclass": lambda seed: random_multiclass(seed, n=15),
    "chain": lambda seed: random_chain(seed, (3, 1, 2, 4, 0, 2)),
    "chain-zero-one": lambda seed: random_chain(seed, (3, 1, 2), zero_one=True),
}
WEIGHTED = np.array([[0, 2.5, 1.0], [0.5, 0, 3.0], [1.0, 0.7, 0]])


@pytest.mark.parametrize(("rescaling", "penalty"), FORMULATIONS)
@pytest.mark.parametrize("problem", sorted(PROBLEMS))
def test_solvers_agree(problem, rescaling, penalty):
    for seed in range(3):
        batch, n_weights = PROBLEMS[problem](seed)
        for C in (0.05, 2.0):
            reference = None
            for solver in EXACT:
                reference = check_solver(
                    batch,
                    n_weights,
                    solver=solver,
                    C=C,
                    rescaling=rescaling,
                    penalty=penalty,
                    reference=reference,
                )


@given(st.integers(0, 10**6), st.floats(0.01, 10))
@settings(max_examples=15)
def test_weighted_hamming_with_a_certified_search(seed, C):
    """No exact search here: the bound of the search must still certify 1%."""
    batch, n_weights = random_chain(seed, (2, 1, 2), cost=WEIGHTED)
    solution, _ = solve(
        batch, n_weights, C=C, rescaling="slack", tol=0.01, max_iter=300
    )
    exact, _ = solve(batch, n_weights, C=C, tol=1e-6)
    assert exact.converged
    # a gap that the search cannot close is reported, never hidden
    certificate = solution.certificate
    assert certificate.gap >= 0
    assert solution.converged == (certificate.relative_gap <= 0.01)


def test_sample_weights_count_like_copies():
    batch, n_weights = random_chain(4, (2, 3))
    twice, _ = random_chain(4, (2, 3))
    weighted, _ = solve(batch, n_weights, sample_weight=[2.0, 0.0])
    doubled, _ = solve(twice, n_weights, C=2.0, sample_weight=[1.0, 0.0])
    assert weighted.certificate.primal == pytest.approx(doubled.certificate.primal)


def test_weights_are_the_sum_of_planes_after_many_steps():
    from maxmargin.solvers.block_coordinate import BlockCoordinate

    batch, n_weights = random_chain(7, (4, 3, 5, 2, 4), n_labels=4)
    form = make_form("margin", "linear", 1e-6)
    objective = Objective(batch, n_weights, form, np.full(5, 3.0), np.float64)
    solver = BlockCoordinate(objective)
    duals = []
    for _ in range(200):
        solver.step()
        duals.append(solver.dual)
    assert (np.diff(duals) >= -1e-12).all()
    stepped = solver.w.copy()
    solver.rebuild()
    np.testing.assert_allclose(stepped, solver.w, atol=1e-10)
    np.testing.assert_allclose(solver.planes.alpha.sum(axis=1), 3.0)
    exact = dual_value(solver.planes, form, sum_of_squares(solver.w))
    assert duals[-1] == pytest.approx(exact)


def test_one_example_in_closed_form():
    """n = 1, one competitor: w = min(C, loss / |psi|^2) psi, primal = dual."""
    from maxmargin.classes.sparse import make_batch

    x = np.array([2.0, 1.0])
    batch = make_batch(
        np.array([0, 2]), np.array([0, 1], np.int32), x, 2, [0], 1 - np.eye(2), float
    )
    square = 2 * x @ x
    for C in (0.01, 10.0):
        solution, _ = solve(batch, 2 * batch.width, C=C)
        a = min(C, 1 / square)
        value = a - 0.5 * a * a * square
        assert solution.certificate.primal == pytest.approx(value, rel=1e-6)
        assert solution.certificate.dual == pytest.approx(value, rel=1e-6)
        w = solution.w.reshape(2, -1)
        np.testing.assert_allclose(w[:, 0], a * x, rtol=1e-4)
        np.testing.assert_allclose(w[:, 1], -a * x, rtol=1e-4)


@pytest.mark.parametrize("solver", ["block-coordinate", "n-slack"])
def test_hard_margin(solver):
    """Two points on a line: margin 1 from each other's class, |w|^2 known."""
    from maxmargin.classes.sparse import make_batch

    def batch(values, y):
        n = len(values)
        indices = np.zeros(n, np.int32)
        return make_batch(
            np.arange(n + 1), indices, np.array(values), 1, y, 1 - np.eye(2), float
        )

    separable = batch([1.0, -2.0], [0, 1])
    solution, _ = solve(separable, 2, solver=solver, C=np.inf, tol=1e-6)
    # w_0 - w_1 = 1 with the smallest norm: 1/2 each way
    assert solution.certificate.primal == pytest.approx(0.25, rel=1e-5)
    clash = batch([1.0, 1.0], [0, 1])
    with pytest.raises(NotSeparable, match="cannot be separated"):
        solve(clash, 2, solver=solver, C=np.inf, tol=1e-3, max_iter=500)


def test_one_slack_refuses_hard_margin():
    batch, n_weights = random_chain(0)
    with pytest.raises(ValueError, match="one-slack"):
        solve(batch, n_weights, solver="one-slack", C=np.inf)


@pytest.mark.parametrize("solver", ["perceptron", "subgradient"])
def test_baselines_learn(solver):
    batch, n_weights = random_multiclass(3, n=40, n_features=6)
    exact, _ = solve(batch, n_weights, C=0.1, tol=1e-4)
    found, _ = solve(batch, n_weights, C=0.1, solver=solver, tol=1e-4, max_iter=200)
    assert found.certificate.dual == 0.0
    assert found.certificate.primal >= exact.certificate.dual
    if solver == "subgradient":
        assert found.certificate.primal <= 1.05 * exact.certificate.primal


def test_single_precision_certifies_the_same_problem():
    batch, n_weights = random_chain(9, (5, 4, 6, 3), n_labels=5)
    single = batch._replace(
        values=batch.values.astype(np.float32),
        cost=batch.cost.astype(np.float32),
        barrier=batch.barrier.astype(np.float32),
    )
    double, _ = solve(batch, n_weights, tol=1e-6)
    rough, _ = solve(single, n_weights, tol=1e-3, dtype=np.float32)
    assert rough.certificate.dual <= double.certificate.primal * (1 + 1e-5)
    assert rough.certificate.primal >= double.certificate.dual * (1 - 1e-5)


@pytest.mark.parametrize("problem", ["multiclass", "chain"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_proximal_bundle_has_the_same_optimum(problem, C):
    batch, n_weights = PROBLEMS[problem](3)
    best = check_solver(batch, n_weights, solver="block-coordinate", C=C, tol=1e-6)
    found = check_solver(batch, n_weights, solver="proximal-bundle", C=C, tol=1e-3)
    assert found == pytest.approx(best, rel=2e-3)
