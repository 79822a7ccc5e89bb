"""A Problem in all four formulations: lists and searches of users against a listed QP."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Problem, StructuralSVM
from maxmargin.report.facts import certificate_sentence
from maxmargin.solvers.result import Certificate

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]
SOLVERS = ["block-coordinate", "n-slack", "one-slack"]


def random_table(seed, n=4, outputs=5, d=3):
    """Features and losses by sample and output; output 0 is true."""
    rng = np.random.default_rng(seed)
    psi = rng.normal(size=(n, outputs, d))
    losses = rng.uniform(0.1, 3.0, size=(n, outputs))
    losses[:, 0] = 0.0
    return psi, losses


class SparseVector(Problem):
    """Outputs are pairs (sample, number); the truth is (sample, 0)."""

    def __init__(self, psi, losses):
        self.psi, self.losses = psi, losses

    def joint_feature(self, x, y):
        return self.psi[y]

    def loss(self, y, y_hat):
        return self.losses[y_hat]

    def outputs(self, x):
        return ((x, k) for k in range(self.psi.shape[1]))


def violations(self, x, y, w, rescaling, penalty):
    c = np.sqrt(self.losses[x]) if penalty == "quadratic" else self.losses[x]
    leads = (self.psi[x, 0] - self.psi[x]) @ w
    return c - (c if rescaling == "slack" else 1.0) * leads


class Searched(SparseVector):
    outputs = None

    def argmax(self, x, w):
        return x, int((self.psi[x] @ w).argmax())

    def most_violated(self, x, y, w, rescaling, penalty):
        return x, int(violations(self, x, y, w, rescaling, penalty).argmax())


class Augmented(Searched):
    most_violated = None

    def loss_augmented_argmax(self, x, y, w):
        return x, int(violations(self, x, y, w, "margin", "linear").argmax())


def samples(psi):
    return list(range(len(psi))), [(i, 0) for i in range(len(psi))]


def fit(problem, form, **params):
    params = {"tol": 1e-7, "max_iter": 5000, **params}
    model = StructuralSVM(problem, rescaling=form[0], penalty=form[1], **params)
    return model.fit(*samples(problem.psi))


def primal(problem, form, C, w):
    h = [violations(problem, x, None, w, *form).max() for x in range(len(problem.psi))]
    phi = 0.5 * np.square(h) if form[1] == "quadratic" else np.array(h)
    return 0.5 * w @ w + C * phi.sum()


def optimum(problem, form, C):
    """Quadratic slacks: a least distance problem, by Lawson and Hanson's reduction."""
    n, k, d = problem.psi.shape
    c = np.sqrt(problem.losses).ravel()
    rows = (problem.psi[:, :1] - problem.psi).reshape(-1, d)
    rows = rows * (c[:, None] if form[0] == "slack" else 1.0)
    G = np.hstack([rows, np.repeat(np.eye(n), k, axis=0) / np.sqrt(C)])
    E = np.vstack([G.T, c])
    target = np.eye(len(E))[-1]
    u, _ = nnls(E, target, maxiter=10_000)
    rest = E @ u - target
    return primal(problem, form, C, -rest[:d] / rest[-1])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), slack=st.booleans(), C=st.sampled_from([0.1, 3.0]))
def test_quadratic_slacks_reach_the_optimum_of_a_listed_program(seed, slack, C):
    form = ("slack" if slack else "margin", "quadratic")
    tables = random_table(seed)
    wanted = optimum(SparseVector(*tables), form, C)
    for kind in (SparseVector, Searched):
        model = fit(kind(*tables), form, C=C)
        assert model.converged_
        assert model.certificate_.primal == pytest.approx(wanted, rel=3e-7)
        assert primal(kind(*tables), form, C, model.coef_) == pytest.approx(
            model.certificate_.primal, rel=1e-9
        )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_lists_and_searches_agree_to_any_tolerance(form, solver):
    tables = random_table(5)
    tol = 1e-5 if solver == "one-slack" else 1e-9  # one-slack is slow, not wrong
    values = [
        fit(kind(*tables), form, solver=solver, tol=tol).certificate_
        for kind in (SparseVector, Searched)
    ]
    best = fit(SparseVector(*tables), form).certificate_
    for proof in values:
        assert proof.relative_gap <= tol
        assert proof.primal == pytest.approx(best.primal, rel=3e-7 + 2 * tol)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", FORMS[1:])
def test_a_margin_search_alone_ends_at_once_and_bounds_the_optimum(form, solver):
    ended = 0
    for seed in range(4):
        tables = random_table(seed, outputs=7)
        best = fit(SparseVector(*tables), form).certificate_.primal
        model = StructuralSVM(
            Augmented(*tables),
            rescaling=form[0],
            penalty=form[1],
            solver=solver,
            tol=1e-4,
            max_iter=5000,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(*samples(tables[0]))
        if not model.converged_:
            ended += 1
            assert model.n_iter_ <= 400
            assert "most_violated() or outputs()" in str(caught[0].message)
            assert "smallest_loss" in str(caught[0].message)
        proof = model.certificate_
        true = primal(SparseVector(*tables), form, 1.0, model.coef_)
        assert proof.dual <= best * (1 + 1e-9)
        assert best * (1 - 1e-6) <= true <= proof.primal * (1 + 1e-9)
        assert true <= 1.25 * best
    assert ended > 0


def test_prediction_and_score_need_no_argmax():
    problem = SparseVector(*random_table(3))
    model = fit(problem, FORMS[0], C=10.0)
    X, y = samples(problem.psi)
    scores = problem.psi @ model.coef_
    assert model.predict(X) == [(i, int(scores[i].argmax())) for i in X]
    losses = [problem.losses[z] for z in model.predict(X)]
    assert model.score(X, y) == pytest.approx(-np.mean(losses))


def test_baselines_take_lists_and_searches():
    tables = random_table(4)
    for solver in ("perceptron", "passive-aggressive", "subgradient"):
        fit(SparseVector(*tables), FORMS[0], solver=solver, max_iter=3)
        fit(Searched(*tables), FORMS[0], solver=solver, max_iter=3)


def test_progress_before_the_first_certificate_is_a_guess(capsys):
    model = fit(Augmented(*random_table(1)), FORMS[0], verbose=1)
    assert math.isinf(model.history_[0]["primal"])
    first, *_, last = capsys.readouterr().err.strip().splitlines()
    assert "primal ~" in first
    assert "inf" not in first
    assert "~" not in last


def test_a_pass_looks_at_the_clock():
    problem = Augmented(*random_table(1, n=8))
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = fit(problem, FORMS[0], max_time=1e-9)
    # a quarter of the samples, and all of them for the certificate
    assert model.history_[-1]["oracle_calls"] == 2 + 8


def test_the_sentence_of_a_certificate_is_about_its_relative_gap():
    model = SimpleNamespace(certificate_=Certificate.of(10.0, 9.0, True), n_iter_=3)
    assert "10 after 3 passes; the smallest possible is at most 10% below" in (
        certificate_sentence(model)
    )
    model.certificate_ = Certificate.of(10.0, 0.0, False)
    assert "no certificate" in certificate_sentence(model)


# what lists and searches must be ------------------------------------------------------


def changed(kind, **methods):
    return type("Changed", (kind,), methods)(*random_table(0))


def forever(self, x):
    while True:
        yield x, 0


def broken(self, x):
    yield x, 0
    raise KeyError("lost")


LISTS = {
    "nothing": (lambda self, x: [], "outputs for sample 0 lists nothing"),
    "without the truth": (
        lambda self, x: [(x, k) for k in range(1, 5)],
        "outputs for sample 0 does not list the true output: none of its 4",
    ),
    "without end": (
        forever,
        "outputs for sample 0 lists more than 100,000.*never ends",
    ),
    "None": (lambda self, x: None, "outputs for sample 0 raised TypeError"),
    "an error": (broken, "outputs for sample 0 raised KeyError: 'lost'"),
    "impossible": (
        lambda self, x: [(x, 0), (x, 99)],
        r"joint_feature for sample 0 raised IndexError.*\(0, 99\), which outputs",
    ),
}


@pytest.mark.parametrize("mistake", LISTS)
def test_wrong_lists_are_named(mistake):
    method, message = LISTS[mistake]
    with pytest.raises(ValueError, match=message):
        fit(changed(SparseVector, outputs=method), FORMS[0])


def test_a_list_that_lacks_what_argmax_finds():
    best = lambda self, x, w: (x, int((self.psi[x] @ w).argmax()))  # noqa: E731
    problem = changed(
        SparseVector, outputs=lambda self, x: [(x, 0), (x, 1)], argmax=best
    )
    with pytest.raises(ValueError, match="does not list every output"):
        fit(problem, FORMS[0], tol=1e-3)


def lazy(self, x, y, w, rescaling, penalty):
    """Right at first, and then the truth."""
    return (
        Searched.most_violated(self, x, y, w, rescaling, penalty) if not w.any() else y
    )


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_search_worse_than_what_it_found_earlier(form):
    message = (
        r"most_violated for sample \d .*violation.*(earlier|argmax).*exact = False"
    )
    with pytest.raises(ValueError, match=message):
        fit(changed(Searched, most_violated=lazy), form)
    model = StructuralSVM(
        changed(Searched, most_violated=lazy, exact=False),
        rescaling=form[0],
        penalty=form[1],
        max_iter=30,
        tol=0.5,
    ).fit(*samples(random_table(0)[0]))
    assert model.certificate_.exact is False


ANSWERS = {
    "None": (lambda *a: None, r"sample \d.*None, which most_violated"),
    "impossible": (lambda self, x, *a: (x, 77), r"IndexError.*\(\d, 77\)"),
    "exception": (lambda *a: 1 / 0, r"most_violated for sample \d raised ZeroDivision"),
}


@pytest.mark.parametrize("mistake", ANSWERS)
def test_wrong_answers_are_named(mistake):
    method, message = ANSWERS[mistake]
    with pytest.raises(ValueError, match=message) as caught:
        fit(changed(Searched, most_violated=method), FORMS[3])
    assert (caught.value.__cause__ is None) == (mistake == "None")


FEATURES = {
    "empty": (lambda self, x, y: np.zeros(0), "is empty"),
    "complex": (lambda self, x, y: self.psi[y] + 1j, "not a vector of real numbers"),
    "texts": (lambda self, x, y: ["1", "2"], "not a vector of real numbers"),
    "one number": (lambda self, x, y: np.array(3.0), "is one number"),
    "NaN later": (
        lambda self, x, y: self.psi[y] * (np.nan if y[1] else 1.0),
        r"NaN.*which outputs returned",
    ),
    "lengths": (lambda self, x, y: np.ones(2 + y[1]), "has length 3, but earlier"),
}
LOSSES = {
    "array": np.array([1.0]),
    "complex": 1 + 0j,
    "numpy complex": np.complex128(1),
    "text": "1",
    "list": [1.0],
}


@pytest.mark.parametrize("mistake", FEATURES)
def test_wrong_features_are_named(mistake):
    method, message = FEATURES[mistake]
    with pytest.raises(ValueError, match=f"joint_feature for sample 0.*{message}"):
        fit(changed(SparseVector, joint_feature=method), FORMS[0])


@pytest.mark.parametrize("mistake", LOSSES)
def test_wrong_losses_are_named(mistake):
    value = LOSSES[mistake]
    problem = changed(SparseVector, loss=lambda self, y, z: 0.0 if z == y else value)
    with pytest.raises(ValueError, match=r"loss\(\) for sample 0 is .*finite numbers"):
        fit(problem, FORMS[0])


def test_a_loss_below_the_smallest():
    problem = changed(SparseVector, smallest_loss=5.0)
    with pytest.raises(ValueError, match=r"sample 0 is .*smallest_loss says.*below 5"):
        fit(problem, FORMS[0])
    problem = changed(SparseVector, smallest_loss="one")
    with pytest.raises(ValueError, match="smallest_loss is 'one'"):
        fit(problem, FORMS[0])


def test_exceptions_in_prediction_name_the_sample():
    model = fit(Searched(*random_table(0)), FORMS[0], tol=0.1)
    with pytest.raises(ValueError, match="argmax for sample 1 raised IndexError"):
        model.predict([2, 30])
