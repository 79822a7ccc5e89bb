"""Examples whose features are tiny beside others, or far from all points of a basis."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM, MulticlassSVM


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("tiny", [1e-6, 1e-7, 1e-10, 1e-25])
def test_tiny_examples_do_not_break_the_bound(tiny, kind):
    """Their dual variables missed C_i: few digits were left of C_i |x|^2."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 5)), rng.integers(0, 4, 120)
    X[::2] *= tiny
    model = MulticlassSVM(C=1.0, fit_intercept=False, tol=1e-4).fit(X.astype(kind), y)
    proof = model.certificate_
    assert model.converged_
    assert proof.dual <= proof.primal
    # at zero weights every example costs 1, and it is hardly worth to move
    assert proof.primal == pytest.approx(120.0, rel=1e-3)


@pytest.mark.parametrize("method", ["subspace-pursuit", "training-points"])
@pytest.mark.parametrize("gamma", [0.01, 0.1])
def test_tables_that_were_not_scaled_can_be_trained_on(method, gamma):
    X, y = load_wine(return_X_y=True)
    for kind in (np.float64, np.float32):
        model = KernelSVM(method=method, gamma=gamma, n_components=20, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            proof = model.fit(X.astype(kind), y).certificate_
        assert proof.dual <= proof.within <= proof.primal <= model.C_ * len(y)
