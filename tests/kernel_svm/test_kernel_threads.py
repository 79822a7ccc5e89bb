"""KernelSVM with several threads: the same machine, and nobody waits for nobody."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from kernel_cases import primal_of, random_data, random_strings
from scipy.sparse import csr_matrix

from maxmargin import KernelSVM, kernels
from maxmargin.engine import threads
from maxmargin.engine.threads import ALONE, Team
from maxmargin.kernel_svm import descent, descent_pair, lockstep, ranges, scores
from maxmargin.kernel_svm import rows as rows_
from maxmargin.kernel_svm.devices import Cpu


@pytest.fixture
def eager(monkeypatch):
    """Threads work whatever it is worth, on ranges far smaller than the data."""
    monkeypatch.setattr(threads, "WORTH", 1e-9)
    monkeypatch.setattr(threads, "PAYS", float("inf"))
    monkeypatch.setattr(ranges, "TILE", 16)
    monkeypatch.setattr(ranges, "TO_START", 1)
    monkeypatch.setattr(rows_, "LINES", 8)
    monkeypatch.setattr(rows_, "TOGETHER", 8)
    monkeypatch.setattr(descent, "FOR_TWO", 1)
    monkeypatch.setattr(descent, "COMPARED", 0)
    monkeypatch.setattr(descent, "PAYS", float("inf"))


@pytest.fixture
def seen(monkeypatch):
    """The threads that worked for teams."""
    usual, names = Team.run, set()

    def run(self, function, parts, count):
        def watched(worker, part):
            names.add(threading.current_thread().name)
            return function(worker, part)

        return usual(self, watched, parts, count)

    monkeypatch.setattr(Team, "run", run)
    return names


def wide_data(n=200, columns=40):
    X, y = random_data(3, n)
    more = np.random.default_rng(0).normal(size=(n, columns - X.shape[1]))
    return np.hstack([X, 0.2 * more]), y


CASES = {
    "few columns": (random_data(2, 200)[0], "rbf"),
    "many columns": (wide_data()[0], "rbf"),
    "sparse": (csr_matrix(wide_data()[0].round()), "rbf"),
    "a sum": (random_data(2, 200)[0], kernels.rbf(0.3) + kernels.polynomial(2)),
    "laplace": (random_data(2, 200)[0], "laplace"),
    "single precision": (random_data(2, 200)[0].astype(np.float32), "rbf"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_exact_machine_does_not_depend_on_threads(case, eager, seen):
    (X, kernel), y = CASES[case], random_data(2, 200)[1]
    one, two, four = (
        KernelSVM(kernel, method="exact", tol=1e-3, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 4)
    )
    assert len(seen) > 1
    for several in (two, four):
        assert several.n_iter_ == one.n_iter_
        found, wanted = several.decision_function(X), one.decision_function(X)
        if case == "few columns":  # no product of matrices but those of the proof
            assert (several.dual_coef_ == one.dual_coef_).all()
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        assert several.certificate_.relative_gap <= 1e-3


def test_little_memory_and_threads(eager, monkeypatch):
    """Rows that come and go, in both orders of the work."""
    X, y = wide_data()
    monkeypatch.setattr(rows_, "LEAST_ROWS", 20)
    monkeypatch.setattr(scores, "TOGETHER", 20)
    memory = 8.0 * 200 * (8 * 3 + 4) + 200 * (8 * 40 + 24) / 0.9
    for table in (X, csr_matrix(X)):
        settings = {"method": "exact", "memory": memory, "tol": 1e-4}
        one, two = (KernelSVM(n_jobs=k, **settings).fit(table, y) for k in (1, 2))
        assert two.history_[-1]["rows"] > 200
        found, wanted = two.certificate_.primal, one.certificate_.primal
        assert found == pytest.approx(wanted, rel=2e-4)


def test_functions_of_users_see_one_thread(eager):
    names = set()

    def square(A, B):
        names.add(threading.current_thread())
        return (1 + A @ B.T) ** 2

    X, y = random_data(0, 100)
    KernelSVM(square, method="exact", n_jobs=2).fit(X, y)
    assert names == {threading.main_thread()}


def test_strings_with_threads(eager):
    X, y = random_strings(120)
    one, two = (
        KernelSVM(kernels.spectrum(2), method="exact", n_jobs=k).fit(X, y)
        for k in (1, 2)
    )
    assert (one.decision_function(X) == two.decision_function(X)).all()


# the descent of a pursuit -------------------------------------------------------


def problem(n_classes=3, others=False, fixed=0, points=11):
    """(examples, terms, shape) of a descent."""
    X, y = random_data(1, 300, n_classes)
    X = X.astype(np.float32)
    cost, mass = 1 - np.eye(n_classes), np.linspace(0.5, 2, len(y))
    examples = descent.Examples.on(Cpu(), X, y, cost, mass, fixed)
    rng, shape = np.random.default_rng(0), descent.Gaussians(0.3)
    beta = 0.1 * rng.normal(size=(points, n_classes)).astype(np.float32)
    if not others:
        return examples, descent.Terms(X[:points], beta), shape
    still = X[50:60], 0.1 * rng.normal(size=(10, n_classes)).astype(np.float32)
    scores = descent.all_scores(shape, examples, *still)
    return examples, descent.Terms(X[:points], beta, still, scores), shape


@pytest.mark.parametrize(
    "given",
    [{}, {"n_classes": 2, "points": 2}, {"others": True}, {"fixed": 1, "points": 30}],
)
def test_two_threads_take_the_same_steps(given, eager, seen, monkeypatch):
    """Of two rounds; the second ends amid the steps of one gradient of the norm."""
    monkeypatch.setattr(descent, "ROUND", 40)
    examples, terms, shape = problem(**given)
    ends = []
    for team in (ALONE, Team(2)):
        with team.at_work():
            rng = np.random.default_rng(0)
            ends.append(descent.descend(shape, examples, terms, 70, rng, team=team))
    assert len(seen) > 1
    one, two = ends
    assert np.abs(one.points - terms.points).max() > 0.1
    np.testing.assert_allclose(two.points, one.points, atol=2e-3)
    np.testing.assert_allclose(two.beta, one.beta, atol=2e-3)


def test_a_pursuit_is_the_same_in_every_run(eager):
    X, y = random_data(4, 300)
    settings = {"method": "subspace-pursuit", "n_components": 20}
    one, two, four = (KernelSVM(n_jobs=k, **settings).fit(X, y) for k in (1, 2, 4))
    assert (two.dual_coef_ == four.dual_coef_).all()
    assert two.certificate_.primal == pytest.approx(one.certificate_.primal, rel=0.1)
    for model in (two, four):
        wanted = primal_of(model, X, y, C=5.0)
        assert model.certificate_.primal == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    "settings", [{}, {"method": "subspace-pursuit", "n_components": 20}]
)
def test_little_work_wakes_nobody(settings, seen):
    X, y = random_data(4, 60)
    one, two = (KernelSVM(n_jobs=k, **settings).fit(X, y) for k in (1, 2))
    assert (one.dual_coef_ == two.dual_coef_).all()
    assert seen <= {"MainThread"}


def test_exponentials_of_the_pair_are_those_of_numpy():
    row = -np.linspace(0, 90, 1001).astype(np.float32)
    none, powers = np.zeros(1001, np.float32), np.zeros(1001, np.int32)
    wanted = np.exp(np.maximum(row.astype(float), -80))
    descent_pair.values(row, none, np.float32(0), powers)
    np.testing.assert_allclose(row, wanted, rtol=1e-6)


def test_who_waits_in_vain_gives_up(monkeypatch):
    """Ctrl-C comes before the main thread is there: the other one must not wait for it."""
    examples, terms, shape = problem()
    usual, given_up = descent_pair.steps_of_pair, []

    def interrupted(worker, *arguments):
        if worker == 0:
            raise KeyboardInterrupt
        given_up.append(not usual(worker, *arguments))
        return False

    monkeypatch.setattr(descent_pair, "steps_of_pair", interrupted)
    rng, team = np.random.default_rng(0), Team(2)
    with team.at_work(), pytest.raises(KeyboardInterrupt):
        descent.descend(shape, examples, terms, 300, rng, team=team)
    assert all(given_up)


def test_who_fails_does_not_keep_the_other_waiting(eager, monkeypatch):
    examples, terms, shape = problem()
    usual = descent_pair.steps_of_pair

    def failing(worker, *arguments):
        if worker == 1:
            raise MemoryError("no room")
        return usual(worker, *arguments)

    monkeypatch.setattr(descent_pair, "steps_of_pair", failing)
    rng, team = np.random.default_rng(0), Team(2)
    with team.at_work(), pytest.raises(MemoryError, match="no room"):
        descent.descend(shape, examples, terms, 40, rng, team=team)


def test_who_comes_too_late_begins_anew(eager, monkeypatch):
    examples, terms, shape = problem()
    usual, tries = descent_pair.places, []

    def places():
        tries.append(usual())
        if len(tries) == 1:  # the other has given up
            tries[0][lockstep.MET] = lockstep.GAVE_UP
        return tries[-1]

    ends = []
    for fresh in (usual, places):
        monkeypatch.setattr(descent_pair, "places", fresh)
        team, rng = Team(2), np.random.default_rng(0)
        with team.at_work():
            ends.append(descent.descend(shape, examples, terms, 40, rng, team=team))
    assert len(tries) > 2
    assert (ends[0].points == ends[1].points).all()


@pytest.mark.parametrize("slow", [False, True])
def test_two_threads_take_the_steps_where_they_are_faster(monkeypatch, slow):
    """As where another program keeps one of two cores busy."""
    calls, usual = [], descent_pair.Pair.round

    def round(self, weights, draw, *rest):
        calls.append(len(draw[0]))
        usual(self, weights, draw, *rest)
        if slow:
            time.sleep(0.2)

    monkeypatch.setattr(descent_pair.Pair, "round", round)
    if not slow:
        monkeypatch.setattr(descent, "PAYS", float("inf"))
    examples, terms, shape = problem()
    with (team := Team(2)).at_work():
        rng = np.random.default_rng(0)
        descent.descend(shape, examples, terms, 300, rng, team=team)
    rest = 300 - 2 * descent.COMPARED
    assert calls == ([descent.COMPARED] if slow else [descent.COMPARED, rest])
