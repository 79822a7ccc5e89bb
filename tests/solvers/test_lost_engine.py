"""A fit whose cluster goes away keeps its best weights, if there are any."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM
from maxmargin.engine.lost import EngineLost
from maxmargin.solvers import driver, registry


def lose_after(passes, monkeypatch):
    made, real = [], registry.make

    def make(*arguments):
        solver = real(*arguments)
        ordinary = solver.step

        def step():
            made.append(1)
            if len(made) > passes:
                raise EngineLost("The cluster has gone away.")
            ordinary()

        solver.step = step
        return solver

    monkeypatch.setattr(registry, "make", make)


def test_the_best_weights_are_kept(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 3
    model = MulticlassSVM(tol=1e-9)
    lose_after(3, monkeypatch)
    with pytest.warns(ConvergenceWarning, match="lost its cluster at a relative gap"):
        model.fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.certificate_.primal)
    assert len(model.predict(X)) == 60


def test_before_the_first_certificate_there_is_one_of_what_there_is(monkeypatch):
    monkeypatch.setattr(driver, "SMALL", -1)  # no certificate after every pass
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 3
    for passes in (0, 3):
        model = MulticlassSVM(tol=1e-9)
        with monkeypatch.context() as patch:
            lose_after(passes, patch)
            with pytest.warns(ConvergenceWarning, match="lost its cluster"):
                model.fit(X, y)
        assert not model.converged_
        assert np.isfinite(model.certificate_.primal)
        assert np.any(model.coef_) == (passes > 0)


def test_before_the_first_certificate_the_checkpoint_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "SMALL", -1)  # no certificate after every pass
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 3
    with monkeypatch.context() as patch:
        lose_after(3, patch)
        with pytest.warns(ConvergenceWarning, match="lost its cluster"):
            MulticlassSVM(tol=1e-9, checkpoint=tmp_path).fit(X, y)
    resumed = MulticlassSVM(tol=0.01, checkpoint=tmp_path, resume=True).fit(X, y)
    assert np.array_equal(resumed.coef_, MulticlassSVM(tol=0.01).fit(X, y).coef_)
