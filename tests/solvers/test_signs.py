"""Weights that must not be negative: the optimum, the dual, all solvers that can."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from maxmargin.classes.sparse import make_batch
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.solvers import registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.result import Limits

SOLVERS = ("block-coordinate", "one-slack", "n-slack")
TOL = 1e-5


def problem(seed: int, n: int = 12, features: int = 3, labels: int = 3):
    """(objective factory, features, classes, J): a few points, some weights held."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, features)), rng.integers(0, labels, n)
    indptr = np.arange(n + 1) * features
    indices = np.tile(np.arange(features, dtype=np.int32), n)
    cost = 1.0 - np.eye(labels)
    batch = make_batch(indptr, indices, X.ravel(), features, y, cost, np.float64)
    held = [f * batch.width + k for f in range(2) for k in range(labels)]
    return batch, X, y, np.array(held)


def reference(X, y, C: float, labels: int, held_features: int) -> float:
    """The same quadratic program by SLSQP: weights (features, labels), then slacks."""
    n, features = X.shape
    size = features * labels

    def split(z):
        return z[:size].reshape(features, labels), z[size:]

    rows, offsets = [], []
    for i in range(n):
        for k in range(labels):
            if k == y[i]:
                continue
            row = np.zeros((features, labels))
            row[:, y[i]] += X[i]
            row[:, k] -= X[i]
            slack = np.zeros(n)
            slack[i] = 1.0
            rows.append(np.concatenate([row.ravel(), slack]))
            offsets.append(-1.0)
    A, b = np.array(rows), np.array(offsets)
    lower = [0.0 if j < held_features * labels else None for j in range(size)] + [0] * n
    found = minimize(
        lambda z: 0.5 * z[:size] @ z[:size] + C * z[size:].sum(),
        np.concatenate([np.zeros(size), np.ones(n)]),
        jac=lambda z: np.concatenate([z[:size], np.full(n, C)]),
        constraints={"type": "ineq", "fun": lambda z: A @ z + b, "jac": lambda z: A},
        bounds=[(low, None) for low in lower],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_the_constrained_program(solver, seed):
    batch, X, y, held = problem(seed)
    objective = Objective(
        batch,
        batch.n_features * batch.width,
        make_form("margin", "linear", TOL),
        np.full(len(y), 1.0),
        np.float64,
    )
    objective.nonnegative = held
    machine = registry.make(solver, objective)
    solution = drive(objective, machine, Limits(tol=TOL, max_iter=5000))
    assert solution.converged
    assert (solution.w[held] >= 0).all()
    assert (solution.w < 0).any()  # the others are free
    best = reference(X, y, 1.0, 3, 2)
    certificate = solution.certificate
    assert certificate.primal == pytest.approx(best, rel=20 * TOL)
    assert certificate.dual <= best * (1 + 1e-7)
    duals = np.array([row["dual"] for row in solution.history])
    assert (np.diff(duals) >= -1e-9).all()


def test_the_constraint_binds():
    _, X, y, _ = problem(0)
    free = reference(X, y, 1.0, 3, 0)
    assert reference(X, y, 1.0, 3, 2) > 1.01 * free


@pytest.mark.parametrize("solver", ["proximal-bundle", "perceptron", "subgradient"])
def test_solvers_that_cannot_say_so(solver):
    batch, _, y, held = problem(0)
    objective = Objective(
        batch,
        batch.n_features * batch.width,
        make_form("margin", "linear", TOL),
        np.ones(len(y)),
        np.float64,
    )
    objective.nonnegative = held
    with pytest.raises(ValueError, match="cannot keep weights from being negative"):
        registry.make(solver, objective)
