"""MulticlassSVM: losses, weights of samples, hard margins."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multiclass_cases import (
    COST,
    FORMS,
    all_weights,
    blobs,
    hinges,
    objective,
    tight,
    with_ones,
)
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM

# losses -----------------------------------------------------------------------------


def test_a_loss_can_be_written_in_four_ways():
    X, y = blobs()
    table = np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 1.0], [0.5, 0.5, 0.0]])
    weights = {0: 2.0, 2: 0.5}  # class 1 is left out and weighs 1
    ways = [
        weights,
        table,
        table.tolist(),
        lambda true, predicted: weights.get(true, 1.0) * (true != predicted),
    ]
    models = [tight(loss=way).fit(X, y) for way in ways]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
    assert models[0].certificate_.primal == pytest.approx(
        objective(all_weights(models[0]), with_ones(X), y, cost=table)
    )


def test_names_of_the_plain_loss():
    X, y = blobs()
    models = [
        tight(loss=loss).fit(X, y)
        for loss in ("zero-one", "hamming", lambda a, b: float(a != b))
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)


def test_a_loss_table_follows_the_sorted_labels():
    X, y = blobs()
    names = np.array(["c", "a", "b"])[y]
    model = tight(loss=COST).fit(X, names)
    numbers = np.array([2, 0, 1])[y]
    wanted = objective(all_weights(model), with_ones(X), numbers, cost=COST)
    assert model.certificate_.primal == pytest.approx(wanted)
    by_name = tight(loss=lambda a, b: COST["abc".index(a), "abc".index(b)])
    np.testing.assert_array_equal(by_name.fit(X, names).coef_, model.coef_)


# sample weights ---------------------------------------------------------------------


def test_training_on_repeated_samples_ends():
    # in a process of its own, since compiled code cannot be interrupted
    code = """
import numpy as np
from maxmargin import MulticlassSVM
X, y = np.random.default_rng(0).random((15, 30)), np.arange(15) % 3
for seed in range(5):
    model = MulticlassSVM(solver="block-coordinate", random_state=seed)
    model.fit(np.repeat(X, 3, 0), np.repeat(y, 3))
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=40)


@settings(max_examples=25, deadline=None)
@given(
    counts=st.lists(st.integers(0, 3), min_size=9, max_size=9).filter(
        lambda c: all(sum(c[j::3]) > 0 for j in range(3))
    ),
    form=st.sampled_from(FORMS),
)
def test_weights_are_repetitions(counts, form):
    X, y = blobs(n=9, d=3)
    params = dict(C=0.2, tol=1e-6, rescaling=form[0], penalty=form[1])
    weighted = tight(**params).fit(X, y, sample_weight=counts)
    repeated = tight(**params).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=2e-6
    )


def test_weights_scale_C():
    X, y = blobs()
    a = tight(C=0.05).fit(X, y, sample_weight=np.full(len(y), 4.0))
    b = tight(C=0.2).fit(X, y, sample_weight=1.0)
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_zero_weight_removes_a_sample_but_not_its_class():
    X, y = blobs()
    weights = np.where(y == 2, 0.0, 1.0)
    model = tight().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    W = all_weights(model)
    kept = y != 2
    wanted = objective(W, with_ones(X[kept]), y[kept])
    assert model.certificate_.primal == pytest.approx(wanted)


# hard margin ------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", ["block-coordinate", "n-slack"])
def test_hard_margin(form, solver):
    X, y = blobs(distance=8.0)
    params = dict(tol=1e-6, loss=COST, rescaling=form[0], penalty=form[1])
    hard = tight(C=np.inf, solver=solver, **params).fit(X, y)
    soft = tight(C=1e6, **params).fit(X, y)
    assert hard.converged_
    assert hard.certificate_.primal == pytest.approx(soft.certificate_.primal, rel=1e-5)
    W = all_weights(hard)
    assert hard.certificate_.primal == pytest.approx(0.5 * np.sum(W**2))
    assert hinges(W, with_ones(X), y, COST, *form).max() <= 1e-6


def contradiction():
    X, y = blobs(distance=8.0)
    return np.vstack([X, X[:1]]), np.append(y, 1 - y[0])


def is_separable(X, y):
    """Whether a linear program finds weights with margins of at least 1."""
    k, X = int(y.max()) + 1, with_ones(X)
    rows = [
        np.kron(np.eye(k)[other] - np.eye(k)[truth], x)
        for x, truth in zip(X, y, strict=True)
        for other in range(k)
        if other != truth
    ]
    found = linprog(
        np.zeros(len(rows[0])), np.array(rows), -np.ones(len(rows)), bounds=(None, None)
    )
    return found.status == 0


@pytest.mark.parametrize("data", [contradiction, lambda: blobs(distance=0.5)])
def test_hard_margin_of_inseparable_data(data):
    X, y = data()
    assert not is_separable(X, y)
    with pytest.raises(ValueError, match=r"cannot be separated.*finite C"):
        MulticlassSVM(C=np.inf).fit(X, y)


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_data_that_are_hard_to_separate_are_not_called_inseparable(seed):
    X, y = blobs(distance=0.5, d=12, seed=seed)
    assert is_separable(X, y)
    MulticlassSVM(C=np.inf).fit(X, y)


def test_a_limit_does_not_make_data_inseparable():
    X, y = blobs(distance=0.5, d=12)
    assert is_separable(X, y)
    model = MulticlassSVM(C=np.inf, max_iter=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert [warning.category for warning in caught] == [ConvergenceWarning]
    assert model.converged_ is False


@pytest.mark.parametrize("solver", ["one-slack", "perceptron", "subgradient"])
def test_solvers_that_refuse_a_hard_margin(solver):
    X, y = blobs(distance=8.0)
    with pytest.raises(ValueError, match=r"C=inf.*block-coordinate.*n-slack"):
        MulticlassSVM(C=np.inf, solver=solver).fit(X, y)
