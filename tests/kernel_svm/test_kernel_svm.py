"""KernelSVM against other machines, its certificate, and what users do with it."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
from kernel_cases import BASES, box_optimum, primal_of, random_data, random_strings
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from maxmargin import KernelSVM, MulticlassSVM, kernels, load, save
from maxmargin.testing import check_model_file

SOME = {"method": "nystroem", "n_components": 10}
TINY = 1e-8


@pytest.fixture(scope="module")
def three():
    return random_data()


@pytest.fixture(scope="module")
def two():
    return random_data(1, n_classes=2)


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
    from maxmargin.kernel_svm import device_solver

    starts = []

    def watched(Z, y, cost, mass, limits, alpha=None, *more):
        if alpha is not None:
            starts.append((alpha.sum(axis=1), mass))
        return solve(Z, y, cost, mass, limits, alpha, *more)

    solve = device_solver.solve
    monkeypatch.setattr(device_solver, "solve", watched)
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


# training ---------------------------------------------------------------------------------


def test_callbacks_see_rows_and_stop_training(three):
    rows = []
    model = KernelSVM(**SOME, callbacks=[rows.append], tol=1e-4).fit(*three)
    assert rows == model.history_
    assert len(rows) == model.n_iter_ > 1
    model = KernelSVM(**SOME, callbacks=[lambda row: True], tol=TINY)
    with pytest.warns(ConvergenceWarning, match="stopped by a callback"):
        model.fit(*three)
    assert not model.converged_
    assert model.n_iter_ == 1


@pytest.mark.parametrize("method", ["nystroem", "subspace-pursuit", "exact"])
def test_time_and_passes_end_training(three, method):
    settings = {"method": method, "n_components": 8, "tol": 1e-10}
    for limit in ({"max_time": 1e-9}, {"max_iter": 1}):
        model = KernelSVM(**settings, **limit)
        with pytest.warns(ConvergenceWarning, match="within the span") as caught:
            model.fit(*three)
        assert [found.filename for found in caught] == [__file__]
        assert not model.converged_
        assert np.isfinite(model.dual_coef_).all()
        assert model.certificate_.gap > 0


@pytest.mark.parametrize("method", [*BASES, "sampling"])
def test_equal_seeds_give_equal_models(three, method):
    X, y = three
    settings = {"method": method, "n_components": 6, "C": 1.0}
    models = [KernelSVM(**settings, random_state=s).fit(X, y) for s in (3, 3, 4)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    np.testing.assert_array_equal(models[0].basis_, models[1].basis_)
    default = [KernelSVM(**settings).fit(X, y).dual_coef_ for _ in range(2)]
    np.testing.assert_array_equal(*default)
    if method != "incomplete-cholesky":
        assert (
            models[0].basis_.shape != models[2].basis_.shape
            or (models[0].basis_ != models[2].basis_).any()
        )


def test_a_fit_that_fails_changes_nothing(three):
    X, y = three
    model = KernelSVM(**SOME).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="row 0"):
        model.fit(X * np.nan, y)
    with pytest.raises(ValueError, match="n_components"):
        model.set_params(n_components=1000).fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("method", ["exact", "nystroem-kmeans"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_what_happens_to_X_later_changes_nothing(three, method, form):
    X, y = form(three[0]), three[1]
    model = KernelSVM(method=method, n_components=len(y)).fit(X, y)
    before = model.decision_function(three[0])
    X *= 0
    np.testing.assert_allclose(model.decision_function(three[0]), before, atol=1e-9)


def test_another_fit_forgets_the_first(three):
    X, y = three
    strings, kinds = random_strings()
    model = KernelSVM(**SOME).fit(X, y)
    model.set_params(kernel=kernels.spectrum(2)).fit(strings, kinds)
    assert not hasattr(model, "n_features_in_")
    assert model.score(strings, kinds) > 0.9
    model.set_params(kernel="rbf").fit(X[:, :2], y)
    assert model.n_features_in_ == 2


def test_classes_of_weight_zero_are_not_predicted(three):
    X, y = three
    for method in ("exact", "subspace-pursuit", "training-points"):
        model = KernelSVM(method=method, n_components=8, class_weight={1: 0.0})
        assert 1 in model.fit(X, y).classes_


# inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*BASES, "exact"])
def test_sparse_tables_are_tables(three, method):
    X, y = three
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    settings = {"method": method, "n_components": 8, "C": 1.0}
    dense = KernelSVM(**settings).fit(X, y)
    thin = KernelSVM(**settings).fit(sparse.csr_matrix(X), y)
    wanted = dense.decision_function(X)
    for table in (X, sparse.csr_matrix(X), sparse.dok_matrix(X), X.tolist()):
        np.testing.assert_allclose(thin.decision_function(table), wanted, atol=1e-6)
        np.testing.assert_allclose(dense.decision_function(table), wanted, atol=1e-9)


def test_single_precision(three):
    X, y = three
    for method in ("exact", "nystroem", "training-points"):
        settings = {"method": method, "n_components": 8, "gamma": 0.2}
        double = KernelSVM(**settings, tol=1e-3).fit(X, y)
        single = KernelSVM(**settings, tol=1e-3).fit(X.astype(np.float32), y)
        assert single.basis_.dtype == np.float32
        primals = single.certificate_.primal, double.certificate_.primal
        assert primals[0] == pytest.approx(primals[1], rel=3e-3)
        exacter = KernelSVM(**settings, tol=1e-6).fit(X.astype(np.float32), y)
        assert exacter.converged_
        same = single.predict(X) == single.predict(X.astype(np.float32))
        assert same.all()


def test_rows_as_lists_and_tuples(three):
    X, y = three
    wanted = KernelSVM(**SOME).fit(X, y).decision_function(X)
    for rows in (X.tolist(), [tuple(row) for row in X.tolist()], tuple(X.tolist())):
        model = KernelSVM(**SOME).fit(rows, y.tolist())
        assert model.n_features_in_ == 4
        np.testing.assert_array_equal(model.decision_function(rows), wanted)


def test_nothing_to_predict(three):
    model = KernelSVM(**SOME).fit(*three)
    assert model.predict([]).shape == (0,)
    assert model.decision_function([]).shape == (0, 3)
    K = three[0] @ three[0].T
    model = KernelSVM(kernel="precomputed", **SOME).fit(K, three[1])
    assert model.predict([]).shape == (0,)
    strings, y = random_strings()
    model = KernelSVM(kernels.spectrum(2), **SOME).fit(strings, y)
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize(
    "method", ["subspace-pursuit", "training-points", "nystroem", "exact"]
)
def test_kernels_of_strings(method):
    X, y = random_strings()
    best = KernelSVM(kernels.spectrum(2), method="exact", tol=1e-6).fit(X, y)
    for strings in (X, np.array(X), np.array(X, object)):
        model = KernelSVM(kernels.spectrum(2), method=method, n_components=10)
        model.fit(strings, y)
        assert model.score(X, y) > 0.9
        proof = model.certificate_
        assert proof.dual <= best.certificate_.primal * (1 + 1e-9)
        assert best.certificate_.dual <= proof.primal * (1 + 1e-9)


def test_tokens_are_letters_too():
    strings, kinds = random_strings()
    kernel = kernels.spectrum(2)
    tokens = [list(string) for string in strings]
    wanted = KernelSVM(kernel, **SOME).fit(strings, kinds).decision_function(strings)
    model = KernelSVM(kernel, **SOME).fit(tokens, kinds)
    np.testing.assert_allclose(model.decision_function(tokens), wanted)
    empty = [[], *tokens[1:]]
    assert len(KernelSVM(kernel, **SOME).fit(empty, kinds).predict(empty)) == len(kinds)


def test_functions_and_samples_of_their_own(two):
    def common(a, b):
        return len(set(a["letters"]) & set(b["letters"]))

    X = [{"letters": text} for text in ("ab", "abc", "xy", "xyz", "bc", "yz")]
    y = [0, 0, 1, 1, 0, 1]
    for method in ("exact", "training-points", "nystroem"):
        model = KernelSVM(common, method=method, n_components=4, C=10).fit(X, y)
        assert model.predict(X).tolist() == y
    X, y = two
    K = KernelSVM(lambda a, b: float(a @ b), **SOME).fit(X, y)
    wanted = KernelSVM("linear", **SOME).fit(X, y)
    np.testing.assert_allclose(
        K.decision_function(X), wanted.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("method", ["exact", "nystroem"])
def test_a_precomputed_matrix_is_its_kernel(three, method):
    X, y = three
    K = np.asarray(kernels.rbf(0.3)(X))
    settings = {"method": method, "n_components": 10, "C": 1.0}
    model = KernelSVM(kernel="precomputed", **settings).fit(K, y)
    thin = KernelSVM(kernel=kernels.precomputed(), **settings)
    thin.fit(sparse.csr_matrix(K), y)
    wanted = model.decision_function(K)
    np.testing.assert_allclose(thin.decision_function(K), wanted, atol=1e-9)
    if method == "exact":
        other = KernelSVM(gamma=0.3, method="exact", C=1.0).fit(X, y)
        np.testing.assert_allclose(other.decision_function(X), wanted, atol=1e-9)
        assert other.certificate_.primal == pytest.approx(model.certificate_.primal)
        assert other.certificate_.dual == pytest.approx(model.certificate_.dual)
    best = KernelSVM(gamma=0.3, method="exact", C=1.0, tol=TINY).fit(X, y)
    assert model.certificate_.dual <= best.certificate_.primal * (1 + 1e-9)


def test_tables_of_pandas(three):
    pandas = pytest.importorskip("pandas")
    X, y = three
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = KernelSVM(**SOME).fit(frame, pandas.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    wanted = KernelSVM(**SOME).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(frame), wanted)
    strings, kinds = random_strings()
    model = KernelSVM(kernels.spectrum(2), **SOME).fit(pandas.Series(strings), kinds)
    assert model.score(strings, kinds) > 0.9


# scikit-learn -----------------------------------------------------------------------------


def test_searches_and_pipelines(three):
    X, y = three
    pipeline = make_pipeline(StandardScaler(), KernelSVM(**SOME))
    grid = {"kernelsvm__C": [1e-4, 10.0], "kernelsvm__kernel": ["rbf", "linear"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.4
    kernel = [kernels.rbf(0.1), kernels.rbf(0.1) + 1]
    GridSearchCV(KernelSVM(**SOME), {"kernel": kernel}, cv=3).fit(X, y)


@pytest.mark.parametrize("kernel", ["precomputed", kernels.precomputed()])
def test_searches_split_columns_of_a_matrix(three, kernel):
    X, y = three
    model = KernelSVM(kernel=kernel, method="exact")
    search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=3).fit(X @ X.T, y)
    assert search.predict(X @ X.T).shape == y.shape


def test_pickles(three):
    X, y = three
    model = KernelSVM(**SOME).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    assert again.certificate_ == model.certificate_


# files ------------------------------------------------------------------------------------


def saved_cases():
    X, y = random_data()
    strings, kinds = random_strings()
    spectrum = kernels.normalized(kernels.spectrum(2)) + 0.5
    K = X @ X.T
    tree = {"0": "even", "2": "even", "1": "odd", "even": None, "odd": None}
    return {
        "vectors": (KernelSVM(**SOME), X, y),
        "pursuit": (KernelSVM(n_components=5, C=2), X, y),
        "single": (KernelSVM(**SOME), X.astype(np.float32), y),
        "sparse": (KernelSVM(**SOME), sparse.csr_matrix(X), y),
        "strings": (KernelSVM(spectrum, **SOME), strings, kinds),
        "numpy-strings": (KernelSVM(spectrum, **SOME), np.array(strings), kinds),
        "precomputed": (KernelSVM("precomputed", **SOME), K, y),
        "taxonomy": (KernelSVM(**SOME, taxonomy=tree), X, y.astype(str)),
        "open-width": (KernelSVM(kernels.rbf() + 1, **SOME), X, y),
        "sampling": (KernelSVM(method="sampling", n_components=8), X, y),
    }


@pytest.mark.parametrize("name", saved_cases())
def test_models_come_back_from_files(name, tmp_path):
    model, X, y = saved_cases()[name]
    model.set_params(memory=1e9).fit(X, y)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    found, wanted = again.decision_function(X), model.decision_function(X)
    np.testing.assert_allclose(found, wanted, atol=0 if name != "sparse" else 1e-9)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert repr(again.certificate_) == repr(model.certificate_)  # nan is not nan
    assert again.history_ == model.history_
    assert again.kernel_ == model.kernel_
    assert again.kernel == model.kernel
    params = again.get_params(deep=False)
    assert params.pop("memory") == 4e9  # what a machine has is not the model's
    assert params.items() <= model.get_params(deep=False).items()
    again.fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("name", ["vectors", "strings", "precomputed"])
def test_hostile_files(name):
    model, X, y = saved_cases()[name]
    outcomes = check_model_file(model.fit(X, y), X, n=150)
    assert outcomes["refused"] > 20


@pytest.mark.parametrize("name", ["vectors", "strings", "precomputed"])
def test_points_and_coefficients_in_a_file_fit_together(name):
    model, X, y = saved_cases()[name]
    arrays, state = model.fit(X, y)._get_state()
    params = model.get_params(deep=False)
    again = KernelSVM._from_state(dict(params), arrays, state)
    assert len(again.basis_) == len(model.dual_coef_)
    for part in (arrays, state):
        for key in {"points", "columns"} & set(part):
            kept, part[key] = part[key], part[key][:-1]
            with pytest.raises(ValueError, match="not fit"):
                KernelSVM._from_state(dict(params), arrays, state)
            part[key] = kept


def test_functions_are_not_saved(three, tmp_path):
    X, y = three
    model = KernelSVM(lambda a, b: float(a @ b), **SOME).fit(X, y)
    with pytest.raises(ValueError, match=r"cannot be saved: its kernel .* function"):
        save(model, tmp_path / "model.safetensors")
    batch = {"a": ["x", "y", "x"]}
    model = KernelSVM(kernels.spectrum(1).of("a"), method="exact").fit(batch, [0, 1, 0])
    with pytest.raises(ValueError, match="neither numbers nor strings"):
        save(model, tmp_path / "model.safetensors")
    parts = [{"a": "x"}, {"a": "y"}, {"a": "x"}]
    model = KernelSVM(lambda a, b: float(a == b), method="exact").fit(parts, [0, 1, 0])
    with pytest.raises(ValueError, match="cannot be saved"):
        save(model, tmp_path / "model.safetensors")


def test_the_number_of_kernel_values(three):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelSVM(**SOME).fit(*three)
    assert model.n_support_points == len(model.basis_) == 10


# what "auto" takes ------------------------------------------------------------------------


def test_auto_takes_all_points_of_small_data_and_a_basis_where_a_size_is_given(three):
    from maxmargin.kernel_svm.choice import choose_method
    from maxmargin.kernel_svm.input import KernelProblem

    X, y = three
    assert KernelSVM().fit(X, y).method_ == "exact"
    assert KernelSVM(n_components=8).fit(X, y).method_ == "subspace-pursuit"
    assert KernelSVM(method="nystroem").fit(X, y).method_ == "nystroem"
    wide = sparse.random(40, 2000, 0.01, "csr", random_state=0)
    assert KernelSVM(n_components=8).fit(wide, y).method_ == "training-points"
    large = KernelProblem(np.zeros((20_001, 2)), np.zeros(20_001), None, None, None)
    for kernel, method in (("rbf", "subspace-pursuit"), ("precomputed", "nystroem")):
        large.kernel = kernels.as_kernel(kernel, gamma=1.0)
        assert choose_method(large, None) == method
