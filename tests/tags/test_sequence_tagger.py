"""SequenceTagger: training against the enumeration of all label sequences."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from tagger_cases import (
    hinge,
    loss_between,
    model,  # noqa: F401
    primal,
    sequences,
    squared_norm,
    tight,
)

from maxmargin import MulticlassSVM, SequenceTagger

# ruff: noqa: F811  (what is imported so is a fixture)

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
def test_certificate_is_the_objective_of_the_weights(form, loss):
    X, y = sequences()
    weights = np.linspace(0.5, 2.0, len(y))
    model = SequenceTagger(
        C=0.4, loss=loss, rescaling=form[0], penalty=form[1], tol=1e-3
    ).fit([x * 0.1 for x in X], y, sample_weight=weights)
    wanted = primal(model, [x * 0.1 for x in X], y, weights)
    assert model.certificate_.primal == pytest.approx(wanted, rel=1e-9)
    assert 0 <= model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.exact


def test_certificate_with_label_weights():
    X, y = sequences()
    model = tight(loss={"A": 3.0, "C": 0.5}, C=0.3).fit(X, y)
    assert model.certificate_.primal == pytest.approx(primal(model, X, y), rel=1e-9)


@pytest.mark.parametrize("form", FORMS[1:])
def test_label_weights_in_rescaled_formulations(form):
    X, y = sequences()
    loss = {"A": 3.0, "C": 0.5}
    model = SequenceTagger(loss=loss, rescaling=form[0], penalty=form[1], max_iter=20)
    with pytest.warns(ConvergenceWarning):
        model.set_params(tol=1e-9).fit(X, y)
    wanted = primal(model, X, y)
    assert model.certificate_.primal >= wanted * (1 - 1e-9)
    assert model.certificate_.dual <= wanted


def reference_optimum(X, y, labels, C, loss, form):
    """The quadratic program over all outputs of all sequences, by a general solver."""
    k, d = len(labels), X[0].shape[1]

    def psi(x, numbers):
        table = np.zeros((d + k + 2, k))
        for t, number in enumerate(numbers):
            table[:d, number] += x[t]
            if t:
                table[d + numbers[t - 1], number] += 1
        table[d + k, numbers[0]] += 1
        table[d + k + 1, numbers[-1]] += 1
        return table.ravel()

    rows, offsets = [], []
    for i, (x, truth) in enumerate(zip(X, y, strict=True)):
        truth = [labels.index(label) for label in truth]
        for other in product(range(k), repeat=len(truth)):
            wrong = sum(a != b for a, b in zip(truth, other, strict=True))
            value = min(wrong, 1) if loss == "zero-one" else wrong
            c = np.sqrt(value) if form[1] == "quadratic" else float(value)
            r = c if form[0] == "slack" else 1.0
            difference = r * (psi(x, truth) - psi(x, other))
            rows.append(np.concatenate([difference, np.eye(len(X))[i]]))
            offsets.append(c)
    A, c = np.array(rows), np.array(offsets)
    m = (d + k + 2) * k
    quadratic = form[1] == "quadratic"

    def value(v):
        w, h = v[:m], v[m:]
        return 0.5 * w @ w + C * (0.5 * h @ h if quadratic else h.sum())

    def gradient(v):
        w, h = v[:m], v[m:]
        return np.concatenate([w, C * (h if quadratic else np.ones(len(X)))])

    result = minimize(
        value,
        np.concatenate([np.zeros(m), np.full(len(X), c.max())]),
        jac=gradient,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: A @ v - c, "jac": lambda v: A},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert result.success
    return result.fun


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
def test_optimum_of_each_formulation(form, loss):
    X, y = sequences(n=4, d=2, labels="AB", longest=3)
    model = tight(C=0.6, loss=loss, rescaling=form[0], penalty=form[1]).fit(X, y)
    wanted = reference_optimum(X, y, ["A", "B"], 0.6, loss, form)
    assert model.certificate_.primal == pytest.approx(wanted, rel=3e-6)


@pytest.mark.parametrize("form", FORMS)
def test_sequences_of_one_token_are_a_multiclass_problem(form):
    X, y = sequences(n=20, longest=1)
    # the first and the last token coincide: two constant features
    table = np.array([np.append(x[0], [1.0, 1.0]) for x in X])
    params = dict(C=1, tol=1e-6, max_iter=20_000, rescaling=form[0], penalty=form[1])
    other = MulticlassSVM(fit_intercept=False, **params)
    other.fit(table, [labels[0] for labels in y])
    model = SequenceTagger(**params).fit(X, y)
    wanted = other.certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
    np.testing.assert_allclose(model.coef_, other.coef_[:, :3], atol=0.02)
    np.testing.assert_allclose(model.first_, other.coef_[:, 3], atol=0.02)
    np.testing.assert_allclose(model.last_, other.coef_[:, 4], atol=0.02)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
@pytest.mark.parametrize("C", [0.01, 2.0])
def test_slacks_bound_the_training_loss(form, loss, C):
    X, y = sequences(noise=2.0)
    model = SequenceTagger(C=C, loss=loss, rescaling=form[0], penalty=form[1])
    model.fit(X, y)
    losses = sum(
        loss_between(model, a, b) for a, b in zip(y, model.predict(X), strict=True)
    )
    slacks = (model.certificate_.primal - 0.5 * squared_norm(model)) / C
    if form[1] == "quadratic":
        slacks *= 2  # the penalty is half the square
    assert losses > 0
    assert losses <= slacks * (1 + 1e-6)


def test_sample_weights_are_repetitions():
    X, y = sequences(n=8)
    counts = [2, 1, 0, 3, 1, 0, 1, 2]
    weighted = tight(C=0.2).fit(X, y, sample_weight=counts)
    chosen = np.repeat(np.arange(8), counts)
    repeated = tight(C=0.2).fit([X[i] for i in chosen], [y[i] for i in chosen])
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=2e-6
    )


def test_path_has_the_optima_of_single_fits_in_order():
    X, y = sequences()
    Cs = [0.5, 0.02, 0.1]
    models = tight().path(X, y, Cs)
    assert [m.C for m in models] == Cs
    for C, fitted in zip(Cs, models, strict=True):
        wanted = tight(C=C).fit(X, y).certificate_.primal
        assert fitted.certificate_.primal == pytest.approx(wanted, rel=2e-6)


def test_warm_start():
    X, y = sequences()
    model = tight(warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first / 2
    reverse = [labels[::-1] for labels in y]
    wanted = tight().fit(X, reverse).certificate_.primal
    assert model.fit(X, reverse).certificate_.primal == pytest.approx(wanted, rel=2e-6)
    wanted = tight().fit(X[3:], y[3:]).certificate_.primal
    assert model.fit(X[3:], y[3:]).certificate_.primal == pytest.approx(
        wanted, rel=2e-6
    )


def test_equal_seeds_and_threads_give_equal_weights():
    X, y = sequences(n=40)
    models = [
        SequenceTagger(tol=1e-3, random_state=1, n_jobs=jobs).fit(X, y)
        for jobs in (1, 1, 2)
    ]
    for other in models[1:]:
        np.testing.assert_array_equal(other.coef_, models[0].coef_)
        np.testing.assert_array_equal(other.transitions_, models[0].transitions_)
        assert other.predict(X) == models[0].predict(X)
        assert other.predict_k_best(X, 2) == models[0].predict_k_best(X, 2)
    moved = SequenceTagger(tol=1e-3, random_state=2).fit(X, y)
    assert (moved.coef_ != models[0].coef_).any()


def test_prediction_draws_no_random_numbers():
    X, y = sequences()
    generator = np.random.RandomState(0)
    model = SequenceTagger(random_state=generator).fit(X, y)
    before = generator.get_state()[2]
    model.predict(X)
    assert generator.get_state()[2] == before


def test_hard_margin():
    X, y = sequences(noise=0.1)
    hard = tight(C=np.inf).fit(X, y)
    soft = tight(C=1e5).fit(X, y)
    assert hard.certificate_.primal == pytest.approx(soft.certificate_.primal, rel=1e-4)
    assert max(hinge(hard, x, truth) for x, truth in zip(X, y, strict=True)) < 1e-6
    assert hard.predict(X) == y


def test_history_and_limits():
    X, y = sequences()
    model = SequenceTagger(tol=1e-12, max_iter=7)
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        model.fit(X, y)
    assert model.n_iter_ == len(model.history_) == 7
    assert (np.diff([row["dual"] for row in model.history_]) >= 0).all()
    assert model.converged_ is False
    assert model.certificate_.primal == pytest.approx(primal(model, X, y))


def test_interrupt_keeps_the_best_so_far():
    X, y = sequences()

    def interrupt(row):
        if row["iteration"] == 3:
            raise KeyboardInterrupt

    model = SequenceTagger(tol=1e-12, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.converged_ is False
    assert model.certificate_.primal == pytest.approx(primal(model, X, y))
    assert model.score(X, y) > 0.5
