"""Second-order steps: what they project onto, and certificates whatever the scales."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM
from maxmargin.solvers.by_label import exact_blocks
from maxmargin.solvers.by_label.proximal_newton import project_all, project_out


def test_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(0)
    n, k, nu = 200, 5, 0.7
    scores, cost = rng.normal(size=(n, k)) * 3, rng.random((k, k))
    np.fill_diagonal(cost, 0)
    y, mass = rng.integers(0, k, n).astype(np.int32), rng.random(n) * 2
    mass[:3] = 0
    centre = rng.random((n, k))
    a, active = np.empty((n, k)), np.empty(n, np.int64)
    value = project_all(scores, centre, cost, y, mass, nu, a, active)
    assert (a >= 0).all()
    np.testing.assert_allclose(a.sum(axis=1), mass, atol=1e-12)
    np.testing.assert_array_equal(active, (a > 0).sum(axis=1))
    v = cost[y] + scores - scores[np.arange(n), y][:, None]
    assert value == pytest.approx(np.sum(a * v) - nu / 2 * np.sum((a - centre) ** 2))
    # the nearest point: no corner of the simplex lies on the far side of it
    away = centre + v / nu - a
    for corner in np.eye(k):
        to = mass[:, None] * corner - a
        assert (np.sum(away * to, axis=1) <= 1e-9).all()


def test_second_derivative_is_that_of_the_projection():
    rng = np.random.default_rng(1)
    n, k, nu, h = 50, 4, 0.5, 1e-6
    scores, centre = rng.normal(size=(n, k)), rng.random((n, k))
    cost, y, mass = 1 - np.eye(k), rng.integers(0, k, n).astype(np.int32), np.ones(n)
    a, moved = np.empty((n, k)), np.empty((n, k))
    active = np.empty(n, np.int64)
    change = rng.normal(size=(n, k))
    project_all(scores, centre, cost, y, mass, nu, a, active)
    project_all(scores + h * change, centre, cost, y, mass, nu, moved, active)
    slope = change.copy()
    project_out(a > 0, nu, slope)
    np.testing.assert_allclose((moved - a) / h, slope, atol=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_features_of_any_scale_get_a_certificate(C):
    X, y = load_wine(return_X_y=True)  # spreads from 0.1 to 300
    model = MulticlassSVM(C=C, tol=1e-3).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 40


def test_both_ways_have_the_same_optimum(monkeypatch):
    X, y = load_digits(n_class=9, return_X_y=True)
    X, y = X[:200] / 16, y[:200]
    weight = np.arange(200) % 3
    slow = MulticlassSVM(C=5, tol=1e-5).fit(X, y, weight)
    monkeypatch.setattr(exact_blocks, "HARD_PULL", 0.0)
    model = MulticlassSVM(C=5, tol=1e-5).fit(X, y, weight)
    assert model.n_iter_ < slow.n_iter_
    assert model.certificate_.primal == pytest.approx(
        slow.certificate_.primal, rel=2e-5
    )
    np.testing.assert_allclose(model.coef_, slow.coef_, atol=0.02)


def test_as_liblinear_where_that_converges():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    model = MulticlassSVM(C=100, tol=1e-6, fit_intercept=False).fit(X, y)
    peer = LinearSVC(
        C=100,
        multi_class="crammer_singer",
        fit_intercept=False,
        tol=1e-8,
        max_iter=100_000,
        random_state=0,
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)


def test_a_fit_that_grows_slow_goes_on_by_second_order_steps(monkeypatch):
    monkeypatch.setattr(exact_blocks, "HARD_PULL", np.inf)
    X, y = load_wine(return_X_y=True)
    model = MulticlassSVM(C=0.01, tol=1e-4).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 200
