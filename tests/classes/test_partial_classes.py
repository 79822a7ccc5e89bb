"""Classes that are not known: None in y."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_cases import check_completion, check_descent, check_likelihood
from sklearn.datasets import load_iris

from maxmargin import MulticlassSVM, TaxonomySVM


def iris(seed=0, share=0.2):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    rng = np.random.default_rng(seed)
    return X, y, [int(z) if rng.random() < share else None for z in y]


def classes(batch, i):
    return np.arange(batch.n_labels, dtype=np.int32)[:, None]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_completion_and_likelihood_are_those_of_enumeration(seed):
    X, _, y = iris(seed)
    found = MulticlassSVM()._encode(X[::9], [*y[::9][:-3], 0, 1, 2], None)
    w = np.random.default_rng(seed).normal(size=found.n_weights)
    check_completion(found.batch, w, classes)
    check_likelihood(found.batch, w, classes)


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_the_objective_never_rises(weight):
    X, y, gaps = iris()
    model = MulticlassSVM(C=1.0, tol=1e-4, unlabelled_weight=weight).fit(X, gaps)
    check_descent(model)
    assert model.score(X, y) > 0.9


def test_all_known_is_the_ordinary_fit():
    X, y, _ = iris()
    model = MulticlassSVM().fit(X, y)
    again = MulticlassSVM().fit(X, np.array(y.tolist(), object).astype(int))
    assert np.array_equal(model.coef_, again.coef_)
    assert not hasattr(again, "rounds_")


def test_weight_zero_leaves_unlabelled_samples_out():
    X, y, gaps = iris()
    known = np.array([z is not None for z in gaps])
    model = MulticlassSVM(tol=1e-6, unlabelled_weight=0.0).fit(X, gaps)
    alone = MulticlassSVM(tol=1e-6).fit(X[known], y[known])
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=5e-3)


@pytest.mark.parametrize("objective", ["hinge", "log", "perceptron"])
def test_arrays_of_objects_and_other_objectives(objective):
    X, y, gaps = iris()
    names = np.array([None if z is None else "abc"[z] for z in gaps], object)
    model = MulticlassSVM(objective=objective).fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.mean(model.predict(X) == np.array(list("abc"))[y]) > 0.6


@pytest.mark.parametrize("mode", ["hierarchical", "flat"])
def test_taxonomies(mode):
    X, y, gaps = iris()
    names = [None if z is None else ["a", "b.c", "b.d"][z] for z in gaps]
    model = TaxonomySVM(mode=mode, C=10).fit(X, names)
    check_descent(model)
    truth = np.array(["a", "b.c", "b.d"])[y]
    assert np.mean(model.predict(X) == truth) > 0.8


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, None, None], "no known label"),
        (["a", None, None], "one class only"),
        ([None, "a", 1], r"y\[2\] is 1, but y\[1\] is 'a'"),
    ],
)
def test_bad_input(y, message):
    with pytest.raises(ValueError, match=message):
        MulticlassSVM().fit(np.eye(3), y)


def test_known_labels_must_have_a_weight():
    with pytest.raises(ValueError, match="no known label"):
        MulticlassSVM().fit(np.eye(3), [0, None, 1], sample_weight=[0, 1, 0])
