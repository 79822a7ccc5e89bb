"""Certificates of kernel machines hold for the machine that is returned."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM


def objective(model, X, y):
    """The objective of the public attributes, in double precision."""
    X, points, beta = X.astype(float), model.basis_.astype(float), model.dual_coef_
    scores = model.kernel_(X, points) @ beta
    square = (beta * (model.kernel_(points) @ beta)).sum()
    rows, numbers = np.arange(len(y)), np.searchsorted(model.classes_, y)
    augmented = scores + 1.0
    augmented[rows, numbers] -= 1.0
    hinges = augmented.max(axis=1) - scores[rows, numbers]
    C = model.C / 2 if len(model.classes_) == 2 else model.C
    return 0.5 * square + C * hinges.sum()


@pytest.fixture(scope="module")
def moons():
    return make_moons(n_samples=200, noise=0.3, random_state=0)


@pytest.mark.parametrize("C", [1e-3, 1e4, 1e7])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_exact_machines_know_their_objective(moons, C, kind):
    X, y = moons[0].astype(kind), moons[1]
    model = KernelSVM(method="exact", gamma=3.0, C=C, max_iter=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    proof, found = model.certificate_, objective(model, X, y)
    assert proof.primal == pytest.approx(found, rel=1e-6)
    assert proof.dual <= found * (1 + 1e-12)  # equal, but for rounding
    assert model.history_[-1]["primal"] == pytest.approx(proof.primal)


def test_rows_of_single_precision_prove_nothing(moons, monkeypatch):
    """Where they were not enough, training goes on in double precision."""
    from maxmargin.kernel_svm import training

    monkeypatch.setattr(training, "FULL_TABLE", 0)
    monkeypatch.setattr(training, "SLACK", np.inf)
    X, y = moons[0].astype(np.float32), moons[1]
    for C, tol in ((100.0, 1e-4), (1e5, 0.01)):
        model = KernelSVM(method="exact", gamma=3.0, C=C, tol=tol, random_state=0)
        proof = model.fit(X, y).certificate_
        assert proof.primal == pytest.approx(objective(model, X, y), rel=1e-6)
        assert model.converged_
        assert proof.relative_gap <= tol


@pytest.mark.parametrize("C", [1e5, 1e7])
def test_rows_of_single_precision_that_say_what_cannot_be(moons, monkeypatch, C):
    """Their dual comes out above the objective: then it is forgotten."""
    from maxmargin.kernel_svm import training

    monkeypatch.setattr(training, "FULL_TABLE", 0)
    monkeypatch.setattr(training, "SLACK", np.inf)
    X, y = moons[0].astype(np.float32), moons[1]
    model = KernelSVM(method="exact", gamma=0.01, C=C, tol=1e-3, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        proof = model.fit(X, y).certificate_
    assert proof.primal == pytest.approx(objective(model, X, y), rel=1e-6)
    assert 0 < proof.dual <= proof.primal
    assert model.converged_ is (C == 1e5)


def test_sampled_cuts_claim_no_more_than_they_can_prove():
    """The optimum of the sampled cuts is no bound; it was above the primal, too."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 2))
        y = (X[:, 0] * X[:, 1] > 0).astype(int) ^ (rng.random(150) < 0.2)
        C = (0.01, 1.0, 10.0)[seed % 3]
        options = {"C": C, "random_state": seed, "max_iter": 30}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KernelSVM(method="sampling", n_components=10, **options)
            proof = model.fit(X.astype(np.float32), y).certificate_
            best = KernelSVM(method="exact", C=C).fit(X, y).certificate_
        assert 0 < proof.dual <= proof.within <= best.primal <= proof.primal * 1.01
        found = objective(model, X.astype(np.float32), y)
        assert proof.primal == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("method", ["subspace-pursuit", "nystroem", "training-points"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4, 1e7])
def test_machines_of_single_precision_know_their_objective(moons, method, C):
    X, y = moons[0].astype(np.float32), moons[1]
    model = KernelSVM(gamma=3.0, C=C)
    model.set_params(method=method, n_components=20, max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        proof = model.fit(X, y).certificate_
    assert proof.primal == pytest.approx(objective(model, X, y), rel=1e-7)
    assert proof.dual <= proof.within <= proof.primal
