"""C=None: what it means is said, is the same in any unit, and is what was used."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import maxmargin
from maxmargin import (
    KernelSVM,
    MulticlassSVM,
    SequenceTagger,
    TaxonomySVM,
)
from maxmargin.classes.variance_rule import C_by_variance


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 5)) + 2.0 * np.eye(3, 5)[y], y


def test_the_rule_is_one_over_the_total_variance():
    X, _ = table()
    wanted = 1.0 / X.var(axis=0).sum()
    assert C_by_variance(X, np.ones(len(X))) == pytest.approx(wanted, rel=0.005)
    weights = np.arange(len(X), dtype=float)
    mean = np.average(X, axis=0, weights=weights)
    spread = np.average((X - mean) ** 2, axis=0, weights=weights).sum()
    assert C_by_variance(X, weights) == pytest.approx(1.0 / spread, rel=0.005)


@pytest.mark.parametrize(("objective", "times"), [("hinge", 1), ("log", 20)])
def test_objectives_have_their_factor(objective, times):
    X, y = table()
    model = MulticlassSVM(objective=objective).fit(X, y)
    wanted = times / X.var(axis=0).sum()
    assert pytest.approx(wanted, rel=0.005) == model.C_
    assert MulticlassSVM(objective="perceptron").fit(X, y).C_ == 1.0


def test_one_wide_column_does_not_decide_alone():
    X, _ = table()
    X[:, 0] *= 1e4
    median = np.median(X.var(axis=0))
    wanted = 1.0 / np.minimum(X.var(axis=0), 10 * median).sum()
    assert C_by_variance(X, np.ones(len(X))) == pytest.approx(wanted, rel=0.005)


def test_tables_that_say_nothing():
    ones = np.ones(4)
    assert C_by_variance(np.ones((4, 2)), ones) == 1.0
    assert C_by_variance(np.zeros((4, 0)), ones) == 1.0
    assert C_by_variance(csr_array((4, 3)), ones) == 1.0
    assert 0 < C_by_variance(np.eye(4) * 1e150, ones) < 1e-6


@pytest.mark.parametrize("form", [np.asarray, csr_array, np.float32])
def test_forms_of_a_table_have_one_C(form):
    X, _ = table()
    X = np.where(X > 1, (X * 64).round() / 64, 0.0)
    weights = np.ones(len(X))
    assert C_by_variance(form(X), weights) == C_by_variance(X, weights)


def test_predictions_do_not_depend_on_the_unit():
    X, y = table()
    models = [
        MulticlassSVM(tol=1e-5, fit_intercept=False).fit(X * unit, y)
        for unit in (1.0, 1000.0)
    ]
    assert pytest.approx(1e6, rel=0.01) == models[0].C_ / models[1].C_
    for model, unit in zip(models, (1.0, 1000.0), strict=True):
        assert (model.predict(X * unit) == models[0].predict(X)).all()
    np.testing.assert_allclose(models[1].coef_ * 1000, models[0].coef_, atol=0.01)


def test_the_value_used_is_said_and_saved(tmp_path):
    X, y = table()
    labels = np.array(["a.b", "a.c", "d.e"])[y]
    models = [
        MulticlassSVM().fit(X, y),
        TaxonomySVM().fit(X, labels),
        MulticlassSVM(C=3).fit(X, y),
    ]
    assert [model.C for model in models] == [None, None, 3]
    assert models[0].C_ == models[1].C_ == C_by_variance(X, np.ones(len(X)))
    assert models[2].C_ == 3.0
    for k, model in enumerate(models):
        maxmargin.save(model, tmp_path / f"{k}.model")
        again = maxmargin.load(tmp_path / f"{k}.model")
        assert (again.C, again.C_) == (model.C, model.C_)


def test_the_same_C_gives_the_same_model():
    X, y = table()
    found = MulticlassSVM().fit(X, y)
    again = MulticlassSVM(C=found.C_).fit(X, y)
    np.testing.assert_array_equal(found.coef_, again.coef_)


@pytest.mark.parametrize(("objective", "C"), [("hinge", 0.1), ("log", 1.0)])
def test_taggers_choose_C_by_the_objective(objective, C):
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]]
    found = SequenceTagger(objective=objective).fit(X, y)
    again = SequenceTagger(objective=objective, C=C).fit(X, y)
    assert (found.C, found.C_) == (None, C)
    np.testing.assert_array_equal(found.coef_, again.coef_)


@pytest.mark.filterwarnings("ignore:Training ended with weights")
def test_None_is_possible_where_the_default_is_a_number():
    X, y = table()
    assert KernelSVM(C=None).fit(X, y).C_ == KernelSVM().C
