"""MulticlassSVM: the right optimum from any input, certified, fit after fit."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from multiclass_cases import (
    COST,
    FORMS,
    all_weights,
    blobs,
    objective,
    tight,
    with_ones,
)
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM

# the optimum ------------------------------------------------------------------------


def reference_optimum(X, y, cost, C, form):
    """The same quadratic program, with its slacks as variables, by a general solver."""
    n, (k, d) = len(y), (len(cost), X.shape[1])
    c = np.sqrt(cost[y]) if form[1] == "quadratic" else cost[y]
    r = c if form[0] == "slack" else np.ones_like(c)
    psi = np.zeros((n, k, k, d))
    psi[np.arange(n), :, y] += X[:, None]
    for z in range(k):
        psi[:, z, z] -= X
    A = np.concatenate(
        [(r[:, :, None, None] * psi).reshape(n * k, k * d), np.repeat(np.eye(n), k, 0)],
        axis=1,
    )

    def value(v):
        w, h = v[: k * d], v[k * d :]
        return 0.5 * w @ w + C * (0.5 * h @ h if form[1] == "quadratic" else h.sum())

    def gradient(v):
        w, h = v[: k * d], v[k * d :]
        return np.concatenate([w, C * (h if form[1] == "quadratic" else np.ones(n))])

    result = minimize(
        value,
        np.concatenate([np.zeros(k * d), c.max(axis=1)]),
        jac=gradient,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda v: A @ v - c.ravel(),
            "jac": lambda v: A,
        },
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert result.success
    return result.fun


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "solver", ["block-coordinate", "one-slack", "n-slack", "proximal-bundle"]
)
def test_optimum_of_each_formulation(form, solver):
    X, y = blobs(n=9, d=3, distance=0.5)
    model = tight(
        C=0.7,
        loss=COST,
        fit_intercept=False,
        rescaling=form[0],
        penalty=form[1],
        solver=solver,
    ).fit(X, y)
    wanted = reference_optimum(X, y, COST, 0.7, form)
    assert model.certificate_.primal == pytest.approx(wanted, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*multi_class.*:FutureWarning")
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("k", [2, 4])
def test_same_optimum_as_liblinear(C, k):
    X, y = blobs(n=40, d=6, k=k)
    other = LinearSVC(
        C=C,
        multi_class="crammer_singer",
        fit_intercept=False,
        tol=1e-9,
        max_iter=1_000_000,
    ).fit(X, y)
    W = other.coef_ if k > 2 else np.vstack([-other.coef_, other.coef_]) / 2
    model = tight(C=C, fit_intercept=False).fit(X, y)
    wanted = objective(W, X, y, C)
    assert objective(model.coef_, X, y, C) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("tol", [1e-9, 1e-12])
def test_small_tolerances_can_be_reached(tol):
    X, y = blobs(n=40, d=6, k=4)
    model = MulticlassSVM(tol=tol, max_iter=2000).fit(X, y)
    assert model.converged_


@pytest.mark.parametrize("form", FORMS)
def test_certificate_is_the_objective_of_the_weights(form):
    X, y = blobs()
    weights = np.linspace(0.1, 2.0, len(y))
    model = MulticlassSVM(C=0.3, loss=COST, rescaling=form[0], penalty=form[1])
    model.fit(X, y, sample_weight=weights)
    # the intercept is the weight of a constant feature, and regularised like the rest
    recomputed = objective(
        all_weights(model), with_ones(X), y, 0.3, COST, weights, form
    )
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(recomputed, rel=1e-9)
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    assert certificate.relative_gap == pytest.approx(
        certificate.gap / certificate.primal
    )
    assert 0 <= certificate.relative_gap <= model.tol
    assert certificate.exact


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.01, 0.5, 20.0]),
    form=st.sampled_from(FORMS),
    passes=st.integers(1, 5),
)
def test_dual_is_below_the_objective_everywhere(seed, C, form, passes):
    rng = np.random.default_rng(seed)
    X, y = blobs(n=12, d=4, distance=rng.uniform(0, 3), seed=seed)
    model = MulticlassSVM(
        C=C,
        loss=COST,
        fit_intercept=False,
        rescaling=form[0],
        penalty=form[1],
        tol=1e-10,
        max_iter=passes,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    certificate = model.certificate_
    assert certificate.gap >= 0
    for W in (
        np.zeros((3, 4)),
        model.coef_,
        1.1 * model.coef_,
        rng.normal(size=(3, 4)),
    ):
        value = objective(W, X, y, C, COST, form=form)
        assert certificate.dual <= value * (1 + 1e-9)


# input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        sp.csr_array,
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_array,
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: sp.csr_array(X.astype(np.float32)),
        lambda X: X.tolist(),
    ],
)
def test_kinds_of_input_give_the_same_model(convert):
    X, y = blobs()
    X = (X * 64).round() / 64  # survives single precision
    X[X < 0] = 0
    wanted = tight().fit(X, y)
    model = tight().fit(convert(X), y)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)
    np.testing.assert_array_equal(model.predict(convert(X)), wanted.predict(X))


def test_integers_and_duplicate_entries():
    X = np.array([[2, 0], [0, 3], [1, 1], [2, 1]])
    y = [0, 1, 1, 0]
    twice = sp.coo_array(
        ([1, 1, 3, 1, 1, 2, 1], ([0, 0, 1, 2, 2, 3, 3], [0, 0, 1, 0, 1, 0, 1])),
        shape=(4, 2),
    )
    assert (twice.toarray() == X).all()
    a, b = tight().fit(X, y), tight().fit(twice, y)
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_single_precision_has_a_valid_certificate():
    X, y = blobs(n=60)
    X = X.astype(np.float32)
    model = MulticlassSVM(C=1.0, tol=1e-4).fit(X, y)
    optimum = tight().fit(X, y).certificate_.primal
    recomputed = objective(all_weights(model), with_ones(X), y)
    assert model.certificate_.primal == pytest.approx(recomputed, rel=1e-5)
    assert model.certificate_.dual <= optimum * (1 + 1e-6)
    assert recomputed <= optimum * (1 + 1.1e-4)


@pytest.mark.parametrize("C", [1.0, 1000.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_that_are_not_scaled(C):
    # pixels and counts survive single precision, but C |x|^2 is large
    X, y = np.array([[900.0, 0.0], [0.0, 700.0]]), np.array([0, 1])
    model = MulticlassSVM(C=C, fit_intercept=False, max_iter=100).fit(X, y)
    # w_0 - w_1 = (1/900, -1/700) has margins of exactly 1
    optimum = 0.25 * (900.0**-2 + 700.0**-2)
    assert model.certificate_.dual <= optimum * (1 + 1e-3)
    assert model.converged_
    assert objective(model.coef_, X, y, C) == pytest.approx(optimum, rel=0.02)


def test_input_is_not_changed():
    X, y = blobs()
    sparse = sp.csr_array(X)
    copies = X.copy(), y.copy(), sparse.data.copy()
    MulticlassSVM().fit(X, y).predict(X)
    MulticlassSVM().fit(sparse, y).predict(sparse)
    for now, before in zip((X, y, sparse.data), copies, strict=True):
        np.testing.assert_array_equal(now, before)


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c"],
        ["zebra", "yak", "emu"],
        [-5, 7, 0],
        [2**40, 1, 3],
        [1.0, 2.0, 3.0],
        [False, True],
        np.array(["x", "yy", "zzz"], dtype=object),
        ["", "ä", "日本"],
    ],
    ids=str,
)
def test_any_labels(names):
    names = np.asarray(names)
    X, y = blobs(k=len(names), distance=10.0)
    model = MulticlassSVM().fit(X, names[y])
    np.testing.assert_array_equal(model.classes_, np.unique(names))
    found = model.predict(X)
    np.testing.assert_array_equal(found, names[y])
    assert found.dtype == model.classes_.dtype
    assert model.score(X, names[y]) == 1.0


def test_coefficients():
    X, y = blobs(k=4)
    model = MulticlassSVM().fit(X, y)
    assert model.coef_.shape == (4, 5)
    assert model.intercept_.shape == (4,)
    assert model.n_features_in_ == 5
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[scores.argmax(axis=1)]
    )
    np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), scores)


def test_two_classes_have_two_opposite_rows():
    X, y = blobs(k=2)
    model = tight().fit(X, y)
    assert model.coef_.shape == (2, 5)
    np.testing.assert_allclose(model.coef_[0], -model.coef_[1], atol=1e-12)


def test_without_intercept():
    X, y = blobs()
    model = tight(fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(model.intercept_, np.zeros(3))
    by_hand = tight(fit_intercept=False).fit(with_ones(X), y)
    with_it = tight().fit(X, y)
    np.testing.assert_array_equal(by_hand.coef_, all_weights(with_it))
