"""Threads that add rows to one w: the same sums, the same optimum, nothing lost."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from conftest import random_chain
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import contract
from maxmargin.core.formulation import make_form
from maxmargin.core.kernel import kernel, run
from maxmargin.core.row_changes import (
    LINE,
    LOCKS,
    RowChange,
    add_changed_rows,
    grown_by_rows,
    row_locks,
    squared_rows,
)
from maxmargin.engine.threads import Team
from maxmargin.solvers.best import LostPrecision
from maxmargin.solvers.driver import drive
from maxmargin.solvers.log import exponentiated, row_steps
from maxmargin.solvers.log.exponentiated import Exponentiated
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.log.row_steps import RowSteps
from maxmargin.solvers.result import Limits

FORM = make_form("margin", "linear", 0.01)
LENGTHS = (3, 1, 0, 4, 2, 6)


def task(n_jobs=1, l1=0.0, C=1.0, lengths=LENGTHS, seed=0, dtype=np.float64):
    batch, n_weights = random_chain(seed, lengths, n_features=5)
    mass = C * np.ones(len(lengths))
    mass[1] = 0.0
    arguments = (batch, n_weights, FORM, mass, dtype)
    objective = LogObjective(*arguments, l1=l1)
    objective.team = Team(n_jobs)
    return objective


def solved(objective, max_iter=2000):
    limits = Limits(tol=1e-6, max_iter=max_iter)
    return drive(objective, Exponentiated(objective), limits)


def shrunk(v, l1):
    return np.sign(v) * np.maximum(np.abs(v) - l1, 0)


@pytest.fixture(autouse=True, scope="module")
def small_data_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_steps, "LEAST", 0)
        yield


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), l1=st.sampled_from([0.0, 0.4]))
def test_rows_add_what_spread_adds(dtype, seed, l1):
    objective = task(2, seed=seed, dtype=dtype)
    batch, rows = objective.batch, RowSteps(objective)
    assert rows.shared
    rng, n = np.random.default_rng(seed), objective.n_weights
    change, close = rows.change(dtype), {"rtol": 1e-4, "atol": 1e-5}
    for i in range(objective.n):
        length = batch.start[i + 1] - batch.start[i]
        mu = np.zeros(contract.shape(batch))
        used = mu[: batch.n_labels + 2 + length, : batch.n_labels]
        used[:] = rng.normal(size=used.shape)
        v = rng.normal(size=n).astype(dtype)
        w = shrunk(v, l1).astype(dtype) if l1 else v
        goal = v.copy()
        contract.spread(batch, i, -1.5, mu, goal)
        count = contract.spread_rows(batch, i, mu, change)
        numbers = change.number[:count].tolist()
        assert len(set(numbers)) == count  # each row of w once
        moved = np.zeros(n)
        contract.spread(batch, i, 1.0, mu, moved)
        assert squared_rows(change, count) == pytest.approx(moved @ moved, rel=1e-4)
        if l1:
            more = shrunk(goal.astype(float), l1)
            grown = more @ more - w.astype(float) @ w
            found = grown_by_rows(change, count, -1.5, v, l1, w)
            assert found == pytest.approx(grown, rel=1e-3, abs=1e-4)
        add_changed_rows(change, count, -1.5, v, l1, w, rows.locks)
        np.testing.assert_allclose(v, goal, **close)
        np.testing.assert_allclose(w, shrunk(goal, l1) if l1 else goal, **close)
    assert not rows.locks.any()  # all were left


@kernel
def add_often(batch, change, times, w, locks):
    for _ in range(times):
        add_changed_rows(change, len(change.number), 1.0, w, 0.0, w, locks)


def test_no_addition_is_lost():
    """Rows that share a lock, too: whole numbers add up exactly."""
    rows, width, times, threads = 4, 4, 20_000, 8
    w, locks = np.zeros((2 * LOCKS, width)), row_locks()
    number = np.array([0, 5, LOCKS - 1, LOCKS + 5], np.int32)
    change = RowChange(np.zeros(0, np.int32), number, np.ones((rows, width)))
    batch = task().batch
    run(add_often, batch, change, 1, w.ravel(), locks)
    assert not locks.any()  # all were left
    workers = [
        threading.Thread(
            target=run, args=(add_often, batch, change, times, w.ravel(), locks)
        )
        for _ in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    goal = np.zeros_like(w)
    goal[number] = 1 + threads * times
    np.testing.assert_array_equal(w, goal)
    assert len(locks) == LOCKS * LINE


@pytest.mark.parametrize("l1", [0.0, 0.3])
@pytest.mark.parametrize("n_jobs", [2, 16])
def test_many_threads_certify_the_optimum_of_one(always_threads, n_jobs, l1):
    alone, together = (solved(task(jobs, l1)) for jobs in (1, n_jobs))
    assert together.converged
    for one, other in ((alone, together), (together, alone)):
        slack = 1e-9 * one.certificate.primal
        assert one.certificate.dual <= other.certificate.primal + slack
    np.testing.assert_allclose(alone.w, together.w, atol=0.02)


def test_several_threads_take_part(always_threads, monkeypatch):
    seen, real = set(), exponentiated.run

    def watched(function, *arguments):
        if function is exponentiated.exponentiated_pass:
            seen.add(threading.get_ident())
        return real(function, *arguments)

    monkeypatch.setattr(exponentiated, "run", watched)
    solved(task(3, lengths=LENGTHS * 200, C=0.01))
    assert len(seen) > 1
    seen.clear()
    solved(task(1, lengths=LENGTHS * 200, C=0.01))
    assert len(seen) == 1


@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_lost_additions_do_not_reach_a_certificate(always_threads, monkeypatch, l1):
    """Weights that lost a part of what was added to them are no proof, but an error."""
    real = Exponentiated._visit

    def losing(self, order):
        real(self, order)
        if len(order):
            for weights in {id(a): a for a in (self.v, self.w)}.values():
                weights[::2] *= 0.97

    monkeypatch.setattr(Exponentiated, "_visit", losing)
    # the dual that such weights seem to have is above the primal that is computed anew
    with pytest.raises(LostPrecision, match="nothing is proved"):
        solved(task(4, l1), max_iter=30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_claimed_does_not_depend_on_threads(dtype):
    """The exact point of given distributions, summed by one thread and by several."""
    points = []
    for jobs in (1, 2, 5):
        solver = Exponentiated(task(jobs, C=0.3, lengths=LENGTHS * 50, dtype=dtype))
        solver.gibbs.scores[:] = np.sin(np.arange(len(solver.gibbs.scores)))
        points.append(solver.exact_point())
    for (v, entropy), (w, other) in pairwise(points):
        np.testing.assert_allclose(v, w, rtol=1e-12, atol=1e-12)
        assert entropy == pytest.approx(other, rel=1e-12)


def test_little_data_is_for_one_thread(monkeypatch):
    monkeypatch.setattr(row_steps, "LEAST", 50)
    assert not RowSteps(task(2, lengths=LENGTHS * 3)).shared
    assert RowSteps(task(2, lengths=LENGTHS * 4)).shared


def test_one_thread_shares_nothing():
    rows = RowSteps(task(1))
    assert not rows.shared
    assert len(rows.locks) == len(rows.slots) == rows.change(np.float32).table.size == 0


@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_the_dual_is_that_of_the_weights_not_the_sum_of_gains(monkeypatch, l1):
    """Whatever threads have done to w: gains are estimates."""
    real = Exponentiated._visit

    def losing(self, order):
        real(self, order)
        for weights in {id(a): a for a in (self.v, self.w)}.values():
            weights[::2] *= 0.97

    heard = []
    monkeypatch.setattr(Exponentiated, "_visit", losing)
    monkeypatch.setattr(Team, "heed", lambda self, *told: bool(heard.append(told)))
    solver = Exponentiated(task(2, l1))
    for _ in range(3):
        before = solver.dual
        solver.step()
        assert heard[-1][0] == before
        assert heard[-1][2] == solver.dual
        entropy = solver.objective.mass @ solver.gibbs.entropy
        dual = entropy - 0.5 * solver.w @ solver.w
        assert solver.dual == pytest.approx(dual, rel=1e-12)
    assert len(heard) == 3
