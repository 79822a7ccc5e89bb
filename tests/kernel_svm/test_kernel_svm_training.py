"""KernelSVM: what ends a fit, what changes it, and what does not."""

import numpy as np
import pytest
import scipy.sparse as sparse
from kernel_cases import BASES, random_strings
from kernel_svm_cases import (
    SOME,
    TINY,
    three,  # noqa: F401
)
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM, kernels

# ruff: noqa: F811  (what is imported so is a fixture)


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


# what "auto" takes ------------------------------------------------------------------------


def test_auto_takes_all_points_of_small_data_and_a_basis_where_a_size_is_given(three):
    from maxmargin.kernel_svm.bases import choose_method
    from maxmargin.kernel_svm.input import KernelProblem

    X, y = three
    assert KernelSVM().fit(X, y).method_ == "exact"
    assert KernelSVM(n_components=8).fit(X, y).method_ == "subspace-pursuit"
    assert KernelSVM(method="nystroem").fit(X, y).method_ == "nystroem"
    wide = sparse.random(40, 2000, 0.01, "csr", random_state=0)
    assert KernelSVM(n_components=8).fit(wide, y).method_ == "training-points"
    data = np.zeros((20_001, 2)), np.zeros(20_001), None, None
    for kernel, method in (("rbf", "subspace-pursuit"), ("precomputed", "nystroem")):
        large = KernelProblem(*data, kernels.as_kernel(kernel, gamma=1.0))
        assert choose_method(large, None) == method
