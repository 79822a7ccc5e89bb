"""KernelSVM against other machines, and its certificate."""

import numpy as np
import pytest
from kernel_cases import BASES, box_optimum, primal_of, random_data
from kernel_svm_cases import SOME, TINY, three, two  # noqa: F401
from sklearn.svm import SVC, LinearSVC

from maxmargin import KernelSVM, MulticlassSVM, kernels

# ruff: noqa: F811  (what is imported so is a fixture)


# the exact machine ------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["zero-one", {0: 3.0}])
@pytest.mark.parametrize("C", [0.02, 5.0])
def test_the_linear_kernel_is_the_linear_machine(three, C, loss):
    settings = {"C": C, "tol": TINY, "loss": loss}
    ours = KernelSVM(kernel="linear", method="exact", **settings).fit(*three)
    linear = MulticlassSVM(fit_intercept=False, **settings).fit(*three)
    assert ours.certificate_.primal == pytest.approx(
        linear.certificate_.primal, rel=1e-6
    )
    X = three[0]
    wanted = linear.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), wanted, atol=1e-3)


def test_C_of_two_classes_is_that_of_one_function(two):
    ours = KernelSVM(kernel="linear", method="exact", C=3.0, tol=TINY).fit(*two)
    linear = MulticlassSVM(fit_intercept=False, C=1.5, tol=TINY).fit(*two)
    assert ours.certificate_.primal == pytest.approx(
        linear.certificate_.primal, rel=1e-6
    )


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_two_classes_equal_liblinear_on_a_factor_of_the_kernel(two, C):
    X, y = two
    ours = KernelSVM(method="exact", C=C, tol=TINY).fit(X, y)
    factor = np.linalg.cholesky(ours.kernel_(X) + 1e-12 * np.eye(len(X)))
    theirs = LinearSVC(
        loss="hinge", C=C, fit_intercept=False, dual=True, tol=1e-9, max_iter=10**6
    ).fit(factor, y)
    scores = theirs.decision_function(factor)
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=1e-4)
    w = theirs.coef_.ravel()
    primal = w @ w / 2 + C * np.maximum(0, 1 - (2 * y - 1) * scores).sum()
    assert 2 * ours.certificate_.primal == pytest.approx(primal, rel=1e-6)


def test_two_classes_equal_a_quadratic_program():
    X, y = random_data(3, n=8, n_classes=2)
    signs = 2.0 * y - 1
    for C in (0.3, 10.0):
        model = KernelSVM(method="exact", C=C, tol=TINY, gamma=0.7).fit(X, y)
        Q = signs[:, None] * signs * model.kernel_(X)
        assert 2 * model.certificate_.primal == pytest.approx(
            box_optimum(Q, C), rel=1e-6
        )


def test_a_constant_in_the_kernel_comes_near_an_intercept(two):
    X, y = two
    theirs = SVC(C=1.0, gamma=0.2, tol=1e-6).fit(X, y)
    ours = KernelSVM(kernels.rbf(0.2) + 1e4, "exact", C=1.0, tol=1e-6).fit(X, y)
    found, wanted = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(found, wanted, atol=0.02)


@pytest.mark.parametrize("method", ["nystroem", "incomplete-cholesky"])
def test_a_basis_of_all_points_is_exact(three, method):
    X, y = three
    exact = KernelSVM(method="exact", C=3, tol=TINY).fit(X, y)
    full = KernelSVM(method=method, n_components=len(X), C=3, tol=TINY).fit(X, y)
    assert full.certificate_.primal == pytest.approx(
        exact.certificate_.primal, rel=1e-5
    )
    assert full.certificate_.relative_gap < 1e-4
    found = full.decision_function(X)
    np.testing.assert_allclose(found, exact.decision_function(X), atol=0.01)


# the certificate --------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", [*BASES, "sampling"])
def test_the_optimum_lies_between_dual_and_primal(method, n_classes):
    for seed in range(2):
        X, y = random_data(seed, n_classes=n_classes)
        best = KernelSVM(method="exact", C=2, tol=TINY).fit(X, y).certificate_
        model = KernelSVM(method=method, C=2, n_components=8, random_state=seed)
        proof = model.fit(X, y).certificate_
        assert proof.dual <= best.primal * (1 + 1e-9)
        assert best.dual <= proof.primal * (1 + 1e-9)
        assert proof.gap >= 0
        assert proof.gap == pytest.approx(proof.primal - proof.dual)
        assert proof.relative_gap_within >= 0
        assert proof.exact
        assert proof.dual <= proof.within <= proof.primal


@pytest.mark.parametrize("method", BASES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_primal_is_that_of_what_predicts(three, method, dtype):
    X, y = three[0].astype(dtype), three[1]
    model = KernelSVM(method=method, n_components=8, C=2).fit(X, y)
    wanted = primal_of(model, X, y, C=2)
    assert model.certificate_.primal == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("kernel", ["laplace", "rbf"])
def test_a_bound_of_single_precision_is_true(three, kernel):
    """Nearly all of a large C lies on the truth: C - alpha would have no digits left."""
    X, y = three[0].astype(np.float32), three[1]
    exact = {"kernel": kernel, "method": "exact", "C": 1e6}
    best = KernelSVM(**exact, tol=TINY).fit(X.astype(np.float64), y).certificate_
    proof = KernelSVM(**exact).fit(X, y).certificate_
    assert proof.dual <= best.primal * (1 + 1e-4)


def test_the_residual_is_what_the_dual_loses(three):
    # t = 1 is the best step here, so that the bound is the dual point's own
    X, y = three
    proof = KernelSVM(**SOME, tol=TINY, C=0.01).fit(X, y).certificate_
    assert proof.residual > 0
    assert proof.dual >= proof.within - proof.residual**2 / 2 - 1e-9


def test_the_bound_tightens_as_the_basis_grows(three):
    X, y = three
    sizes = [5, 20, len(X)]
    models = KernelSVM(method="nystroem", C=2).path(X, y, n_components=sizes)
    primals = [model.certificate_.primal for model in models]
    gaps = [model.certificate_.relative_gap for model in models]
    assert primals[0] > primals[1] > primals[2]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] <= 0.011


def test_a_certificate_with_too_many_terms_claims_nothing(three):
    model = KernelSVM(**SOME, max_terms=3).fit(*three)
    assert not model.certificate_.exact
    assert np.isnan(model.certificate_.residual)


# classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "training-points"])
def test_a_taxonomy_is_a_sum_of_functions(method):
    """Its machine is the flat one with the kernel times the nodes that classes share."""
    X, y = random_data(2)
    tree = {"0": "even", "2": "even", "1": "odd", "even": None, "odd": None}
    names = y.astype(str)
    model = KernelSVM(method=method, taxonomy=tree, n_components=10, C=2)
    model.fit(X, names)
    assert model.classes_.tolist() == ["0", "1", "2"]
    assert set(model.predict(X)) <= set(model.classes_)
    assert model.certificate_.exact == (method == "exact")
    plain = KernelSVM(method=method, n_components=10, C=2).fit(X, names)
    assert model.certificate_.primal <= plain.certificate_.primal * 1.02
    far = KernelSVM(method=method, taxonomy=tree, loss="tree", n_components=10, C=2)
    assert far.fit(X, names).certificate_.primal > model.certificate_.primal


def test_a_taxonomy_of_roots_is_no_taxonomy(three):
    X, y = three
    tree = {"0": None, "1": None, "2": None}
    names = y.astype(str)
    flat = KernelSVM(method="exact", tol=1e-6).fit(X, names)
    model = KernelSVM(method="exact", tol=1e-6, taxonomy=tree).fit(X, names)
    assert model.certificate_.primal == pytest.approx(
        flat.certificate_.primal, rel=1e-5
    )
    found = model.decision_function(X)
    np.testing.assert_allclose(found, flat.decision_function(X), atol=0.01)


def test_a_taxonomy_equals_the_linear_one():
    from maxmargin import TaxonomySVM

    X, y = random_data(4)
    names = y.astype(str)
    tree = {"0": "even", "2": "even", "1": "odd", "even": None, "odd": None}
    settings = {"taxonomy": tree, "tol": 1e-7, "C": 0.5, "loss": "tree"}
    ours = KernelSVM(kernel="linear", method="exact", **settings).fit(X, names)
    linear = TaxonomySVM(**settings, fit_intercept=False).fit(X, names)
    assert ours.certificate_.primal == pytest.approx(
        linear.certificate_.primal, rel=1e-6
    )


def test_class_weights_are_sample_weights(three):
    X, y = three
    by_class = {0: 2.0, 2: 0.5}
    weights = np.array([2.0, 1.0, 0.5])[y]
    one = KernelSVM(**SOME, class_weight=by_class).fit(X, y)
    other = KernelSVM(**SOME).fit(X, y, weights)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    both = KernelSVM(**SOME, class_weight=by_class).fit(X, y, weights)
    square = KernelSVM(**SOME).fit(X, y, weights**2)
    np.testing.assert_array_equal(both.dual_coef_, square.dual_coef_)
    balanced = KernelSVM(**SOME, class_weight="balanced").fit(X, y)
    counts = len(y) / (3 * np.bincount(y))
    again = KernelSVM(**SOME).fit(X, y, counts[y])
    np.testing.assert_array_equal(balanced.dual_coef_, again.dual_coef_)


def test_a_weight_of_two_is_two_samples(three):
    X, y = three
    weights = 1.0 + (np.arange(len(y)) % 2)
    one = KernelSVM(method="exact", tol=1e-7).fit(X, y, weights)
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    other = KernelSVM(method="exact", tol=1e-7, gamma=one.kernel_.gamma)
    other.fit(X[copies], y[copies])
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-5)


def test_labels_of_any_kind(two):
    X, y = two
    for labels in (["b", "a"], [True, False], [7, -2], np.array([1.0, 0.0])):
        names = np.array(labels)[y]
        model = KernelSVM(**SOME, C=10).fit(X, names)
        np.testing.assert_array_equal(model.classes_, np.unique(names))
        assert model.predict(X).dtype == names.dtype
        assert model.score(X, names) > 0.7
        positive = model.decision_function(X) > 0
        np.testing.assert_array_equal(model.predict(X) == model.classes_[1], positive)


# paths ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["nystroem", "training-points", "exact"])
def test_a_path_of_C_is_separate_fits_in_the_order_asked(three, method):
    X, y = three
    Cs = [1.0, 0.05, 8.0, 1.0]
    settings = {"method": method, "n_components": 10, "tol": 1e-6}
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    models = KernelSVM(**settings).path(X, y, Cs=Cs, sample_weight=weights)
    assert [model.C for model in models] == Cs
    for model in models:
        alone = KernelSVM(**settings, C=model.C)
        if method == "training-points":  # the basis is the one of C = 1
            alone.C = 1.0
            if model.C != 1.0:
                continue
        primal = alone.fit(X, y, weights).certificate_.primal
        assert model.certificate_.primal == pytest.approx(primal, rel=3e-6)
    np.testing.assert_array_equal(models[0].basis_, models[1].basis_)


@pytest.mark.parametrize("method", ["nystroem", "incomplete-cholesky", "exact"])
def test_a_path_of_sizes_is_separate_fits(three, method):
    X, y = three
    sizes = [20, 5, 20, 9]
    models = KernelSVM(method=method, tol=1e-6).path(X, y, n_components=sizes)
    assert [model.n_components for model in models] == sizes
    for model in models:
        alone = KernelSVM(method=method, tol=1e-6, n_components=model.n_components)
        primal = alone.fit(X, y).certificate_.primal
        assert model.certificate_.primal == pytest.approx(primal, rel=3e-6)


@pytest.mark.parametrize("method", ["subspace-pursuit", "training-points"])
def test_a_path_of_sizes_grows_one_basis(three, method):
    X, y = three
    sizes = [12, 5, 20, 12]
    models = KernelSVM(method=method).path(X, y, n_components=sizes)
    assert [len(model.basis_) for model in models] == sizes
    primals = [model.certificate_.primal for model in models]
    assert primals[1] > primals[0] > primals[2]
    assert primals[3] == pytest.approx(primals[0], rel=0.02)
    np.testing.assert_array_equal(models[0].basis_, models[3].basis_)


@pytest.mark.parametrize("method", ["nystroem", "training-points"])
def test_a_path_of_C_starts_from_feasible_dual_points(three, method, monkeypatch):
    from maxmargin.kernel_svm import linear

    starts = []

    def watched(Z, y, cost, mass, limits, alpha=None, *more):
        if alpha is not None:
            starts.append((alpha.sum(axis=1), mass))
        return solve(Z, y, cost, mass, limits, alpha, *more)

    solve = linear.solve
    monkeypatch.setattr(linear, "solve", watched)
    weights = np.where(np.arange(len(three[1])) % 5, 1.0, 0.0)
    model = KernelSVM(method=method, n_components=8)
    model.path(*three, Cs=[4.0, 0.5, 1.0], sample_weight=weights)
    model.path(*three, Cs=[4.0, 8.0], sample_weight=weights)  # all beyond C
    assert len(starts) >= 3
    for sums, mass in starts:
        np.testing.assert_allclose(sums, mass, rtol=1e-6)


def test_no_values_no_models(three):
    assert KernelSVM().path(*three, Cs=[]) == []
    assert KernelSVM().path(*three, n_components=[]) == []
