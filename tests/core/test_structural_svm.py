"""StructuralSVM with a user's four methods: the same optima."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from structural_cases import COST, Classes, Cuts, blobs

from maxmargin import MulticlassSVM, StructuralSVM

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]


def tight(problem=None, **params):
    problem = Classes() if problem is None else problem
    return StructuralSVM(problem, **{"tol": 1e-6, "max_iter": 2000, **params})


def compiled(X, y, **params):
    """The same objective through the compiled estimator."""
    params = {"C": 1.0, "tol": 1e-6, "max_iter": 20_000, "loss": COST, **params}
    return MulticlassSVM(fit_intercept=False, **params).fit(np.array(X), y)


# the optimum ------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_same_optimum_as_the_compiled_estimator(C):
    X, y = blobs()
    model = tight(C=C).fit(X, y)
    other = compiled(X, y, C=C)
    assert model.certificate_.primal == pytest.approx(
        other.certificate_.primal, rel=2e-6
    )
    np.testing.assert_allclose(model.coef_.reshape(3, -1), other.coef_, atol=0.02)
    assert model.certificate_.exact


@pytest.mark.parametrize("form", FORMS[1:])
def test_same_optimum_in_rescaled_formulations(form):
    # with one loss only: with several, the search leaves a certified gap
    X, y = blobs()
    cost = 1.0 - np.eye(3)
    params = dict(rescaling=form[0], penalty=form[1], tol=0.01)
    other = compiled(X, y, loss=cost, **params)
    model = StructuralSVM(Classes(cost), max_iter=100, **params).fit(X, y)
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(
        other.certificate_.primal, rel=0.02
    )


@pytest.mark.parametrize("form", FORMS[1:])
def test_certificates_of_rescaled_formulations_hold(form):
    X, y = blobs()
    params = dict(rescaling=form[0], penalty=form[1])
    optimum = compiled(X, y, **params).certificate_.primal
    model = StructuralSVM(Classes(), max_iter=30, tol=1e-9, **params)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.certificate_.dual <= optimum * (1 + 1e-6)
    assert model.certificate_.dual >= 0.9 * optimum
    assert model.certificate_.primal >= optimum * (1 - 1e-6)


def test_hard_margin():
    X, y = blobs(distance=8.0)
    model = StructuralSVM(Classes(), C=np.inf, tol=1e-3).fit(X, y)
    wanted = compiled(X, y, C=np.inf).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-3)


def test_hard_margin_with_slack_rescaling():
    X, y = blobs(distance=8.0)
    params = dict(C=np.inf, rescaling="slack", tol=0.01)
    cost = 1.0 - np.eye(3)
    model = StructuralSVM(Classes(cost), max_iter=30, **params).fit(X, y)
    wanted = compiled(X, y, loss=cost, **params).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("solver", ["one-slack", "n-slack"])
def test_other_solvers_find_the_same_optimum(solver):
    X, y = blobs()
    model = tight(solver=solver, tol=1e-4).fit(X, y)
    wanted = compiled(X, y).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: v.astype(np.float32),
        list,
        lambda v: sp.csr_array(v[None]),
        lambda v: sp.csr_matrix(v),
        lambda v: sp.coo_array(v),
        lambda v: sp.csc_array(v[:, None]),
        lambda v: sp.coo_array(
            (np.tile(v / 2, 2), (np.zeros(2 * len(v), int), np.tile(range(len(v)), 2))),
            shape=(1, len(v)),
        ),
    ],
    ids=["float32", "list", "row", "matrix", "1-D", "column", "duplicates"],
)
def test_features_may_be_dense_or_sparse(make):
    X, y = blobs()
    X = [(x * 64).round() / 64 for x in X]
    wanted = tight().fit(X, y)
    model = tight(Classes(make=make)).fit(X, y)
    assert model.certificate_.primal == pytest.approx(
        wanted.certificate_.primal, rel=2e-6
    )
    np.testing.assert_allclose(model.coef_, wanted.coef_, atol=0.02)


def test_inputs_and_outputs_may_be_any_objects():
    X = ["aabb", "abbb", "aaab", "ab", "bb"]
    y = [{"at": at} for at in (2, 1, 3, 1, 0)]
    model = StructuralSVM(Cuts(), C=10.0).fit(X, y)
    assert model.predict(["aaaabb", "a", ""]) == [{"at": 4}, {"at": 1}, {"at": 0}]
    assert model.score(X, y) == 0.0
    assert model.certificate_.relative_gap <= 0.01


# life cycle -------------------------------------------------------------------------


def test_score_is_minus_the_average_loss():
    X, y = blobs(distance=0.5)
    model = StructuralSVM(Classes()).fit(X, y)
    losses = [COST[a][b] for a, b in zip(y, model.predict(X), strict=True)]
    assert sum(losses) > 0
    assert model.score(X, y) == pytest.approx(-np.mean(losses))
    weights = np.arange(len(y))
    assert model.score(X, y, sample_weight=weights) == pytest.approx(
        -np.average(losses, weights=weights)
    )


def test_the_problem_is_copied():
    X, y = blobs()
    problem = Classes()
    before = copy.deepcopy(vars(problem))
    model = StructuralSVM(problem).fit(X, y)
    assert problem.calls == 0
    assert model.structure_.calls > 0
    assert model.problem is problem
    assert vars(problem).keys() == before.keys()
    np.testing.assert_array_equal(problem.cost, before["cost"])


def test_history_counts_calls_of_the_oracle():
    X, y = blobs()
    model = StructuralSVM(Classes()).fit(X, y)
    assert model.history_[-1]["oracle_calls"] == model.structure_.calls
    for row in model.history_:
        total = row["oracle_seconds"] + row["update_seconds"]
        assert row["seconds"] == pytest.approx(total)
        assert row["oracle_seconds"] > 0


def test_path_has_the_optima_of_single_fits_in_order():
    X, y = blobs()
    Cs = [1.0, 0.01, 0.1]
    models = tight(tol=1e-5).path(X, y, Cs)
    assert [model.C for model in models] == Cs
    for C, model in zip(Cs, models, strict=True):
        wanted = compiled(X, y, C=C).certificate_.primal
        assert model.certificate_.primal == pytest.approx(wanted, rel=2e-5)
        assert len(model.predict(X)) == len(y)


def test_warm_start():
    X, y = blobs()
    model = tight(warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first / 2
    for other in ((X[::-1], y), (X, y[::-1]), (X[:7], y[:7])):
        model.fit(*other)
        wanted = compiled(*other).certificate_.primal
        assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
    model.set_params(C=0.1).fit(X, y)
    wanted = compiled(X, y, C=0.1).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)


def test_sample_weights_are_repetitions():
    X, y = blobs(n=9)
    counts = [1, 0, 2, 1, 3, 0, 1, 1, 2]
    chosen = np.repeat(np.arange(9), counts)
    weighted = tight().fit(X, y, sample_weight=counts)
    repeated = tight().fit([X[i] for i in chosen], [y[i] for i in chosen])
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=2e-6
    )


def test_equal_seeds_give_equal_weights():
    X, y = blobs()
    a, b, c = (
        StructuralSVM(Classes(), random_state=seed).fit(X, y) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert (a.coef_ != c.coef_).any()


def test_clone_and_pickle():
    X, y = blobs()
    model = StructuralSVM(Classes(), C=0.5).fit(X, y)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X)
    assert again.certificate_ == model.certificate_
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_interrupt_keeps_the_best_so_far():
    X, y = blobs()

    class Interrupted(Classes):
        def loss_augmented_argmax(self, x, y, w):
            found = super().loss_augmented_argmax(x, y, w)
            if self.calls == 40:  # in the midst of a pass
                raise KeyboardInterrupt
            return found

    model = StructuralSVM(Interrupted(), tol=1e-9)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.converged_ is False
    assert len(model.predict(X)) == len(X)
    optimum = compiled(X, y).certificate_.primal
    assert model.certificate_.dual <= optimum <= model.certificate_.primal


def test_a_callback_may_compare_numbers_of_its_row():
    X, y = blobs()
    stop = StructuralSVM(
        Classes(), tol=1e-9, max_iter=60, callbacks=[lambda row: row["dual"] > 1.0]
    )
    with pytest.warns(ConvergenceWarning, match="callback"):
        stop.fit(X, y)
