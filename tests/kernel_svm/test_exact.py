"""The exact machine with rows of the kernel's table that come and go."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import box_optimum, random_data
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from maxmargin import KernelSVM, kernels
from maxmargin.kernel_svm import exact, scores
from maxmargin.kernel_svm import rows as rows_
from maxmargin.kernel_svm.gaussian_rows import GaussianRows
from maxmargin.kernel_svm.pairs import ascend_pairs
from maxmargin.kernel_svm.rows import Rows


@pytest.fixture
def small(monkeypatch):
    """Working sets and caches far smaller than the data."""
    monkeypatch.setattr(exact, "WORKING", (6, 12))
    monkeypatch.setattr(rows_, "LEAST_ROWS", 5)
    monkeypatch.setattr(scores, "TOGETHER", 5)
    monkeypatch.setattr(scores, "TILE", 7)


def memory_for(rows, n, classes):
    """Bytes that hold about so many rows of doubles."""
    return 8.0 * n * (8 * classes + 4) + n * (8 * rows + 24) / 0.9


def test_rows_are_computed_once_while_there_is_room():
    K = np.arange(36.0).reshape(6, 6)
    asked = []

    def compute(rows, part, worker):
        asked.extend(rows.tolist())
        return K[rows, part]

    rows = Rows(compute, 6, 3, np.float64, 2)
    for wanted, computed in (
        ([0, 1], [0, 1]),
        ([1, 2], [2]),
        ([1, 3], [3]),  # 0 has not been used for longest
        ([1, 2, 3], []),
        ([0, 4, 5], [0, 4, 5]),
        ([3], [3]),
    ):
        del asked[:]
        slots = rows.slots(np.array(wanted))
        assert sorted(asked) == computed
        np.testing.assert_array_equal(rows.values[slots], K[wanted])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_little_memory_gives_the_same_machine(n_classes, small, monkeypatch):
    X, y = random_data(5, 60, n_classes)
    settings = {"method": "exact", "C": 5.0, "gamma": 0.3, "tol": 1e-6}
    some = KernelSVM(**settings, memory=memory_for(12, 60, n_classes)).fit(X, y)
    monkeypatch.undo()
    all_ = KernelSVM(**settings).fit(X, y)
    assert some.history_[-1]["rows"] > 60 >= all_.history_[-1]["rows"]
    for proof in (some.certificate_, all_.certificate_):
        assert proof.exact
        assert proof.relative_gap <= 1e-6
        assert proof.residual == 0
    assert some.certificate_.primal == pytest.approx(all_.certificate_.primal, rel=2e-6)
    found, wanted = some.decision_function(X), all_.decision_function(X)
    np.testing.assert_allclose(found, wanted, atol=0.01)


def test_a_basis_of_all_points_has_the_same_optimum():
    """The machine on coordinates, which knows nothing of rows."""
    X, y = random_data(6)
    loss = {0: 3.0, 1: 0.5}
    settings = {"C": 2.0, "gamma": 0.4, "loss": loss, "tol": 1e-7}
    ours = KernelSVM(method="exact", **settings).fit(X, y)
    full = KernelSVM(method="nystroem", n_components=40, **settings).fit(X, y)
    wanted = full.certificate_.primal
    assert ours.certificate_.primal == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_two_classes_are_half_of_the_usual_objective(C, small):
    """SVC's objective 1/2 |f|^2 + C sum max(0, 1 - y f), its intercept held at 0."""
    X, y = random_data(7, 50, 2)
    model = KernelSVM(method="exact", C=C, gamma=0.5, tol=1e-7).fit(X, y)
    signs, K = 2.0 * y - 1, kernels.rbf(0.5)(X)
    optimum = box_optimum(signs[:, None] * signs * K, C)  # the dual of SVC without b
    assert 2 * model.certificate_.primal == pytest.approx(optimum, rel=1e-5)
    scores = model.decision_function(X)
    beta = model.dual_coef_[:, 1] - model.dual_coef_[:, 0]
    square = beta @ kernels.rbf(0.5)(model.basis_) @ beta
    primal = square / 2 + C * np.maximum(0, 1 - signs * scores).sum()
    assert 2 * model.certificate_.primal == pytest.approx(primal, rel=1e-6)


def test_libsvm_without_an_intercept():
    """Mirrored data, f(-x) = -f(x): then LIBSVM's intercept is 0 by symmetry."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 0.3
    X, y = np.vstack([X, -X]), np.repeat([1, 0], 40)
    theirs = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    assert abs(theirs.intercept_[0]) < 1e-6
    ours = KernelSVM(method="exact", C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    found, wanted = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(found, wanted, atol=1e-3)
    assert len(ours.basis_) <= len(X)


def test_too_little_memory_for_a_hundred_rows():
    X, y = random_data(0, 200)
    says = r"exact machine of 200 samples takes at least .* GB, for 100 rows .* memory=1000"
    with pytest.raises(ValueError, match=says):
        KernelSVM(method="exact", memory=1000).fit(X, y)


def test_rounds_and_ctrl_c_end_it(small, monkeypatch):
    X, y = random_data(0, 60)
    model = KernelSVM(method="exact", C=5.0, tol=1e-6, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=3 rounds"):
        model.fit(X, y)
    assert model.n_iter_ == 3
    calls, usual = [], exact.Exact.round

    def round_(self):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return usual(self)

    monkeypatch.setattr(exact.Exact, "round", round_)
    model.set_params(max_iter=None)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        (kept,) = model.path(X, y, Cs=[5.0, 10.0])
    assert kept.n_iter_ == 5  # the last one was not finished
    assert kept.certificate_.primal > kept.certificate_.dual > 0


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_a_gaussian_are_those_of_the_kernel(columns, dtype):
    """Copies of a point and points far from 0 included."""
    X = np.random.default_rng(columns).normal(size=(50, columns)) + 30
    X[7], X[8] = X[3], X[3] + 1e-6
    X, rows = X.astype(dtype), np.array([3, 0, 49])
    wanted = np.exp(-0.2 * np.square(X[rows, None, :].astype(float) - X).sum(axis=2))
    found = GaussianRows(X, 0.2)(rows)
    assert found.dtype == dtype
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)
    assert found[0, 3] == found[0, 7] == 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_leave_little_and_stay_feasible(n_classes):
    """Scores and dual variables change together; points without a length are moved too."""
    rng = np.random.default_rng(n_classes)
    Z = rng.normal(size=(30, 4))
    Z[5] = 0.0
    table, classes = Z @ Z.T, np.eye(n_classes)
    y = rng.integers(0, n_classes, 30)
    alpha = np.zeros((n_classes, 30))
    alpha[y, np.arange(30)] = 2.0
    first = alpha.copy()
    cost = 1.0 * (np.arange(n_classes)[:, None] != y)
    v = cost.copy()
    ascend_pairs(table, classes, v, alpha, 1e-6, 100_000)
    np.testing.assert_allclose(alpha.sum(axis=0), 2.0)
    assert alpha.min() >= 0
    np.testing.assert_allclose(v, cost + (first - alpha) @ table, atol=1e-9)
    gaps = 2.0 * v.max(axis=0) - (alpha * v).sum(axis=0)
    assert gaps.sum() <= 2e-6
