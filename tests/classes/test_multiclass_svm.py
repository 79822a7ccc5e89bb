"""MulticlassSVM: the right optimum from any input, certified, fit after fit."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]
COST = np.array([[0.0, 1.0, 2.0], [1.5, 0.0, 0.5], [3.0, 1.0, 0.0]])
HISTORY_KEYS = {
    "iteration",
    "seconds",
    "primal",
    "dual",
    "gap",
    "oracle_calls",
    "oracle_seconds",
    "update_seconds",
}


def blobs(n=30, d=5, k=3, distance=1.5, seed=0):
    """n points around k corners; overlapping unless the distance is large."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + distance * np.eye(k, d)[y], y


def tight(**params):
    return MulticlassSVM(**{"C": 1.0, "tol": 1e-7, "max_iter": 20_000, **params})


def hinges(W, X, y, cost, rescaling="margin", penalty="linear"):
    """H_i of the formula in the documentation, class by class."""
    c = np.sqrt(cost[y]) if penalty == "quadratic" else cost[y]
    r = c if rescaling == "slack" else np.ones_like(c)
    scores = X @ W.T
    truth = np.take_along_axis(scores, y[:, None], axis=1)
    return (c - r * (truth - scores)).max(axis=1)


def objective(W, X, y, C=1.0, cost=None, weights=None, form=("margin", "linear")):
    """1/2 |W|^2 + C sum_i s_i phi(H_i) in plain numpy."""
    cost = 1.0 - np.eye(len(W)) if cost is None else cost
    weights = np.ones(len(y)) if weights is None else weights
    h = hinges(W, X, y, cost, *form)
    phi = 0.5 * h**2 if form[1] == "quadratic" else h
    return 0.5 * np.sum(W**2) + C * weights @ phi


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def all_weights(model):
    return np.column_stack([model.coef_, model.intercept_])


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


def test_threads_do_not_change_the_weights():
    X, y = blobs(n=200)
    a, b = (MulticlassSVM(n_jobs=jobs, tol=1e-4).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.certificate_ == b.certificate_


@pytest.mark.parametrize("solver", ["perceptron", "subgradient"])
def test_baselines_say_that_they_prove_nothing(solver):
    X, y = blobs(distance=10.0)
    model = MulticlassSVM(solver=solver).fit(X, y)  # and warn of nothing
    assert model.certificate_.dual == 0
    assert model.certificate_.relative_gap == 1
    assert model.converged_ is False
    assert model.score(X, y) == 1.0


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
