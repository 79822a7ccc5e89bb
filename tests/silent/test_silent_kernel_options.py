"""Parameters that nothing would read are refused, and those of kernels can be set."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maxmargin import GraphLabeler, KernelSVM, SequenceTagger, kernels


@pytest.fixture(scope="module")
def circle():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, ((X**2).sum(axis=1) > 1.2).astype(int)


def rows(X, Z):
    return X @ Z.T


@pytest.mark.parametrize("kernel", [kernels.rbf(0.5), kernels.linear() + 1, rows])
@pytest.mark.parametrize("given", [{"gamma": 3.0}, {"degree": 2}, {"coef0": 1.0}])
def test_gamma_beside_a_kernel_is_refused(circle, kernel, given):
    (name,) = given
    with pytest.raises(
        ValueError, match=f"^{name}=.* would not be used: the kernel is"
    ):
        KernelSVM(kernel=kernel, **given).fit(*circle)
    with pytest.raises(ValueError, match="would not be used"):
        KernelSVM(kernel=kernel, **given).path(*circle, Cs=[1.0])


def test_defaults_are_no_reason_to_refuse(circle):
    model = KernelSVM(kernel=kernels.rbf(0.5), gamma="scale", degree=3, coef0=0)
    assert model.fit(*circle).score(*circle) > 0.8


def test_a_grid_over_gamma_of_a_kernel_sees_different_kernels(circle):
    model = KernelSVM(kernel=kernels.rbf(1.0) + 1, C=10)
    search = GridSearchCV(model, {"kernel__gamma": [1e-4, 1.0, 1e4]}, cv=3)
    search.fit(*circle)
    scores = search.cv_results_["mean_test_score"]
    assert scores.min() < 0.75 < scores.max()
    assert search.best_params_ == {"kernel__gamma": 1.0}
    assert "exp(-|x - x'|²) + 1" in str(search.best_estimator_.kernel_)


def test_names_of_parameters_in_a_formula():
    one = KernelSVM(kernel=kernels.rbf(0.5) + 2)
    assert one.get_params()["kernel__gamma"] == 0.5
    assert one.get_params()["kernel__value"] == 2.0
    assert not any("__" in name for name in one.get_params(deep=False))
    two = KernelSVM(kernel=3 * kernels.rbf(0.5) * kernels.laplace(2.0))
    before = two.kernel
    two.set_params(kernel__gamma_2=7.0, kernel__scale=4.0, C=5.0)
    assert two.kernel == 4 * kernels.rbf(0.5) * kernels.laplace(7.0)
    assert before == 3 * kernels.rbf(0.5) * kernels.laplace(2.0)  # a value
    assert two.C == 5.0
    assert clone(two).kernel == two.kernel
    given = KernelSVM(kernel=kernels.pairwise("rbf", gamma=0.1))
    assert given.set_params(kernel__gamma=0.2).kernel == kernels.pairwise(
        "rbf", gamma=0.2
    )
    both = KernelSVM().set_params(kernel=kernels.rbf(1.0), kernel__gamma=2.0)
    assert both.kernel == kernels.rbf(2.0)


def test_what_cannot_be_set_is_said_and_changes_nothing():
    model = KernelSVM(kernel=kernels.rbf(0.5), C=1.0)
    with pytest.raises(ValueError, match=r"kernel__width is no parameter .*gamma"):
        model.set_params(kernel__width=1.0, C=7.0)
    with pytest.raises(ValueError, match="gamma must be positive"):
        model.set_params(kernel__gamma=-1.0, C=7.0)
    assert model.kernel == kernels.rbf(0.5)
    assert model.C == 1.0
    with pytest.raises(ValueError, match="kernel is 'rbf': set gamma itself"):
        KernelSVM().set_params(kernel__gamma=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'gama'"):
        KernelSVM().set_params(gama=1.0)


SEQUENCES = [np.eye(2)[[0, 1, 0]], np.eye(2)[[1, 1]]], [["a", "b", "a"], ["b", "b"]]
GRAPHS = [(x, np.array([[0, 1]])) for x in SEQUENCES[0]], SEQUENCES[1]


@pytest.mark.parametrize(
    ("estimator", "data"), [(SequenceTagger, SEQUENCES), (GraphLabeler, GRAPHS)]
)
def test_taggers_and_labelers_have_the_same_rules(estimator, data):
    with pytest.raises(ValueError, match=r"gamma=3.0 would not be used: the kernel is"):
        estimator(kernel=kernels.rbf(0.5), gamma=3.0).fit(*data)
    unread = {"gamma": 3.0}, {"n_components": 7}, {"method": "nystroem"}
    for given in (*unread, {"n_components": 0}, {"method": "none"}):
        with pytest.raises(ValueError, match="would not be used: there is no kernel"):
            estimator(**given).fit(*data)
    model = estimator(kernel=kernels.rbf(0.5)).set_params(kernel__gamma=2.0)
    assert clone(model).get_params()["kernel__gamma"] == 2.0
    assert model.fit(*data).predict(data[0]) is not None
