"""MulticlassSVM, fit after fit: histories, limits, interruptions, paths, warm starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from multiclass_cases import (
    COST,
    FORMS,
    all_weights,
    blobs,
    objective,
    tight,
    with_ones,
)
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM

HISTORY_KEYS = {
    "iteration",
    "seconds",
    "primal",
    "dual",
    "gap",
    "primal_estimate",
    "oracle_calls",
    "oracle_seconds",
    "update_seconds",
}


# history, limits and interruptions --------------------------------------------------


def test_history():
    X, y = blobs()
    model = MulticlassSVM(tol=1e-6).fit(X, y)
    history = model.history_
    assert model.converged_ is True
    assert model.n_iter_ == len(history) > 1
    assert all(set(row) == HISTORY_KEYS for row in history)
    assert [row["iteration"] for row in history] == list(range(1, len(history) + 1))
    for name in ("seconds", "dual", "oracle_calls"):
        assert (np.diff([row[name] for row in history]) >= 0).all(), name
    assert (np.diff([row["primal"] for row in history]) <= 0).all()
    for row in history:
        assert row["gap"] == pytest.approx(max(row["primal"] - row["dual"], 0.0))
        assert row["seconds"] == pytest.approx(
            row["oracle_seconds"] + row["update_seconds"]
        )
        assert row["oracle_seconds"] >= 0
        assert row["update_seconds"] >= 0
    assert history[-1]["primal"] == model.certificate_.primal
    assert history[-1]["dual"] == model.certificate_.dual
    assert history[-2]["gap"] > 1e-6 * history[-2]["primal"]


def test_max_iter():
    X, y = blobs(distance=0.1)
    model = MulticlassSVM(C=10.0, tol=1e-12, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model.fit(X, y)
    assert model.n_iter_ == 3
    assert model.converged_ is False
    recomputed = objective(all_weights(model), with_ones(X), y, 10.0)
    assert model.certificate_.primal == pytest.approx(recomputed)


def test_max_time():
    X, y = blobs(n=300, distance=0.1)
    model = MulticlassSVM(C=1e4, tol=1e-14, max_iter=10**9, max_time=0.1)
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.1"):
        model.fit(X, y)
    seconds = [row["seconds"] for row in model.history_]
    assert model.converged_ is False
    assert seconds[-1] >= 0.1
    assert len(seconds) == 1 or seconds[-2] < 0.2


def test_callbacks_see_every_pass_and_stop_the_fit():
    X, y = blobs()
    seen = []

    def stop(row):
        return row["iteration"] >= 4

    model = MulticlassSVM(tol=1e-12, callbacks=[seen.append, stop])
    with pytest.warns(ConvergenceWarning, match="callback"):
        model.fit(X, y)
    assert seen == model.history_
    assert model.n_iter_ == 4
    assert model.converged_ is False


def test_a_callback_may_answer_with_a_numpy_bool():
    X, y = blobs()
    model = MulticlassSVM(
        tol=1e-12, max_iter=20, callbacks=[lambda row: np.bool_(row["iteration"] >= 4)]
    )
    with pytest.warns(ConvergenceWarning, match="callback"):
        model.fit(X, y)


def test_a_callback_that_ends_the_program_leaves_the_model_as_it_was():
    X, y = blobs()
    model = MulticlassSVM().fit(X, y)
    before = model.coef_.copy(), model.certificate_

    def fail(row):
        raise SystemExit(3)

    model.set_params(callbacks=[fail], C=100.0)
    with pytest.raises(SystemExit):
        model.fit(-X, y)
    np.testing.assert_array_equal(model.coef_, before[0])
    assert model.certificate_ is before[1]


@pytest.mark.parametrize("at", [1, 5])
def test_interrupt_keeps_the_best_so_far(at):
    X, y = blobs()

    def interrupt(row):
        if row["iteration"] == at:
            raise KeyboardInterrupt

    model = MulticlassSVM(C=1.0, tol=1e-12, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.converged_ is False
    recomputed = objective(all_weights(model), with_ones(X), y)
    assert model.certificate_.primal == pytest.approx(recomputed)
    assert model.certificate_.primal == min(row["primal"] for row in model.history_)
    assert model.score(X, y) > 0.5


def test_an_interrupt_between_passes_adds_no_pass():
    X, y = blobs()

    def interrupt(row):
        if row["iteration"] == 3:
            raise KeyboardInterrupt

    model = MulticlassSVM(tol=1e-12, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.n_iter_ == 3


def test_progress_goes_to_standard_error(capsys):
    X, y = blobs()
    model = MulticlassSVM(verbose=1).fit(X, y)
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert len(lines) == model.n_iter_
    assert all("primal" in line and "gap" in line for line in lines)
    MulticlassSVM().fit(X, y)
    assert capsys.readouterr() == ("", "")


# several fits -----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_path_has_the_optima_of_single_fits_in_order(form):
    X, y = blobs()
    Cs = [1.0, 0.01, 0.1]
    base = tight(tol=1e-6, loss=COST, rescaling=form[0], penalty=form[1])
    models = base.path(X, y, Cs)
    assert [model.C for model in models] == Cs
    for C, model in zip(Cs, models, strict=True):
        single = tight(tol=1e-6, C=C, loss=COST, rescaling=form[0], penalty=form[1])
        wanted = single.fit(X, y).certificate_.primal
        assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
        assert model.converged_
    assert not hasattr(base, "coef_")
    assert base.C == 1.0


def test_path_with_weights_up_to_the_hard_margin():
    X, y = blobs(distance=8.0)
    weights = np.linspace(0.5, 1.5, len(y))
    models = tight(tol=1e-6).path(X, y, [np.inf, 0.001], sample_weight=weights)
    hard = tight(tol=1e-6, C=np.inf).fit(X, y).certificate_.primal
    soft = tight(tol=1e-6, C=0.001).fit(X, y, sample_weight=weights)
    assert models[0].certificate_.primal == pytest.approx(hard, rel=2e-6)
    assert models[1].certificate_.primal == pytest.approx(
        soft.certificate_.primal, rel=2e-6
    )


def test_path_of_a_baseline():
    X, y = blobs()
    models = MulticlassSVM(solver="perceptron").path(X, y, [0.1, 1.0])
    assert [model.C for model in models] == [0.1, 1.0]


def test_warm_start_saves_passes():
    X, y = blobs()
    model = tight(warm_start=True).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < first / 2
    model.set_params(C=1.1).fit(X, y)
    assert model.n_iter_ < tight(C=1.1).fit(X, y).n_iter_


CHANGES = {
    "other features": lambda X, y: (X[::-1].copy(), y, None),
    "more features": lambda X, y: (np.column_stack([X, X**2]), y, None),
    "other labels": lambda X, y: (X, np.roll(y, 1), None),
    "more labels": lambda X, y: (X, np.arange(len(y)) % 5, None),
    "fewer samples": lambda X, y: (X[:17], y[:17], None),
    "sample weights": lambda X, y: (X, y, np.arange(len(y)) % 2 * 1.0),
    "sparse": lambda X, y: (sp.csr_array(X), y, None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_warm_start_is_right_after_a_change_of_data(change):
    X, y = blobs()
    model = tight(C=0.1, tol=1e-6, warm_start=True)
    model.fit(X, y, np.linspace(0, 1, len(y)))
    X, y, weights = CHANGES[change](X, y)
    model.fit(X, y, weights)
    wanted = tight(C=0.1, tol=1e-6).fit(X, y, weights).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
    assert model.certificate_.dual <= wanted * (1 + 1e-9)


@pytest.mark.parametrize(
    "change",
    [
        dict(C=0.01),
        dict(C=5.0),
        dict(loss=COST),
        dict(penalty="quadratic"),
        dict(rescaling="slack", loss=COST),
        dict(fit_intercept=False),
        dict(solver="n-slack"),
    ],
    ids=str,
)
def test_warm_start_is_right_after_a_change_of_parameters(change):
    X, y = blobs()
    model = tight(tol=1e-6, warm_start=True).fit(X, y)
    model.set_params(**change).fit(X, y)
    wanted = tight(**{"tol": 1e-6, **change}).fit(X, y).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
    assert model.certificate_.dual <= wanted * (1 + 1e-9)


@pytest.mark.parametrize(
    ("distance", "before", "after"),
    [
        (1.0, dict(penalty="quadratic", C=1.0), dict(penalty="linear", C=0.01)),
        (8.0, dict(C=np.inf), dict(C=0.001)),
    ],
)
def test_warm_start_from_a_problem_without_a_bound(distance, before, after):
    X, y = blobs(distance=distance)
    model = tight(tol=1e-6, warm_start=True, **before).fit(X, y)
    model.set_params(**after).fit(X, y)
    wanted = tight(tol=1e-6, **after).fit(X, y).certificate_.primal
    assert model.certificate_.dual <= wanted * (1 + 1e-6)
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)


def test_refit_forgets_the_first_fit():
    X, y = blobs()
    model = MulticlassSVM().fit(np.column_stack([X, X]), np.arange(len(y)) % 5)
    model.fit(X, y)
    fresh = MulticlassSVM().fit(X, y)
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    np.testing.assert_array_equal(model.classes_, fresh.classes_)
    assert model.n_features_in_ == 5
    assert model.certificate_ == fresh.certificate_


def test_equal_seeds_give_equal_weights():
    X, y = blobs()
    coefficients = [
        MulticlassSVM(random_state=seed).fit(X, y).coef_ for seed in (None, None, 7, 7)
    ]
    np.testing.assert_array_equal(coefficients[0], coefficients[1])
    np.testing.assert_array_equal(coefficients[2], coefficients[3])
    assert (coefficients[0] != coefficients[2]).any()


def test_threads_do_not_change_the_optimum():
    X, y = blobs(n=200)
    a, b = (MulticlassSVM(n_jobs=jobs, tol=1e-4).fit(X, y) for jobs in (1, 2))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=0.02)
    for one, other in ((a, b), (b, a)):
        assert one.certificate_.relative_gap <= 1e-4
        assert one.certificate_.dual <= other.certificate_.primal * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["perceptron", "subgradient"])
def test_baselines_say_that_they_prove_nothing(solver):
    X, y = blobs(distance=10.0)
    model = MulticlassSVM(solver=solver).fit(X, y)  # and warn of nothing
    assert model.certificate_.dual == 0
    assert model.certificate_.relative_gap == 1
    assert model.converged_ is False
    assert model.score(X, y) == 1.0
