"""Hard margins of classes: certified where weights separate, said where none do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from maxmargin import MulticlassSVM, SequenceTagger
from maxmargin.solvers.by_label.block_threads import BlockThreads


def separated(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return np.eye(3)[y] * 4 + rng.normal(0, 0.7, (n, 3)), y


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_any_scale_agrees_with_planes(scale):
    X, y = separated()
    X = X * scale
    model = MulticlassSVM(C=np.inf, tol=1e-4, fit_intercept=False).fit(X, y)
    assert model.converged_
    assert model.certificate_.exact
    scores = X @ np.asarray(model.coef_).reshape(3, -1).T
    truth = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    assert (truth - scores.max(axis=1)).min() >= 1 - 1e-6
    if scale == 1.0:
        other = MulticlassSVM(
            C=np.inf, tol=1e-3, solver="n-slack", fit_intercept=False
        ).fit(X, y)
        assert model.certificate_.primal == pytest.approx(
            other.certificate_.primal, rel=2e-3
        )


def test_digits_are_separable():
    X, y = load_digits(return_X_y=True)
    model = MulticlassSVM(C=np.inf).fit(X[::2] / 16, y[::2])
    assert model.converged_
    assert model.certificate_.relative_gap <= 0.01
    assert model.score(X[::2] / 16, y[::2]) == 1.0
    duals = [row["dual"] for row in model.history_]
    assert duals == sorted(duals)


def test_iris_is_not():
    with pytest.raises(ValueError, match=r"cannot be separated.*longer than.*finite C"):
        MulticlassSVM(C=np.inf).fit(*load_iris(return_X_y=True))


def test_equal_inputs_of_different_classes():
    with pytest.raises(ValueError, match=r"cannot be separated"):
        MulticlassSVM(C=np.inf).fit(np.ones((4, 2)), [0, 1, 2, 0])
    with pytest.raises(ValueError, match=r"cannot be separated"):
        MulticlassSVM(C=np.inf, fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 2, 0])


def test_checkpoints(tmp_path):
    data = separated()
    whole = MulticlassSVM(C=np.inf, tol=1e-6).fit(*data)
    place = str(tmp_path / "kept")
    with pytest.warns(Warning, match="max_iter"):
        MulticlassSVM(C=np.inf, tol=1e-6, checkpoint=place, max_iter=3).fit(*data)
    model = MulticlassSVM(C=np.inf, tol=1e-6, checkpoint=place).fit(*data)
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_warm_starts():
    X, y = separated()
    models = MulticlassSVM(warm_start=True).path(X, y, [0.1, 10.0, np.inf])
    assert [model.converged_ for model in models] == [True] * 3
    assert np.inf == models[-1].C


def test_what_threads_lost_is_in_no_certificate(monkeypatch):
    """A bound of weights that lost a part of what was added to them would be too high."""
    X, y = separated()
    wanted = MulticlassSVM(C=np.inf, tol=1e-6).fit(X, y).certificate_.primal
    real, lost = BlockThreads.visit, []

    def losing(self, order, mass, alpha, w, *rest):
        real(self, order, mass, alpha, w, *rest)
        lost.append(len(order))
        w *= 1 - 1e-5

    monkeypatch.setattr(BlockThreads, "visit", losing)
    model = MulticlassSVM(C=np.inf, n_jobs=2).fit(X, y)
    assert any(lost)
    assert model.converged_
    assert model.certificate_.dual <= wanted


def test_hard_margins_are_in_double_precision():
    X = list(np.eye(4, dtype=np.float32).reshape(2, 2, 4))
    y = [["a", "b"], ["b", "a"]]
    assert SequenceTagger(C=np.inf).fit(X, y).coef_.dtype == np.float64
    assert SequenceTagger(C=1.0, tol=0.01).fit(X, y).coef_.dtype == np.float32
