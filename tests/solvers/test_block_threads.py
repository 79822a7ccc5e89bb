"""Threads over blocks in closed form: the optimum of one thread, whatever they share."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, MulticlassSVM, TaxonomySVM
from maxmargin.core import contract
from maxmargin.core.kernel import run
from maxmargin.core.row_changes import NO_LOCKS, row_locks
from maxmargin.engine.threads import Team
from maxmargin.solvers.best import LostPrecision
from maxmargin.solvers.by_label.block_threads import (
    BlockThreads,
    copied_block_pass,
    exact_block_pass,
)
from maxmargin.solvers.by_label.exact_blocks import ExactBlocks, rebuild_blocks


def words(n=400, seed=0, d=300):
    """Few features per row of many: rows of w have locks."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=6 / d, random_state=seed, format="csr")
    scores = X @ rng.normal(size=(d, 4)) + 0.1 * rng.normal(size=(n, 4))
    return X, np.array(["a.x", "a.y", "b.x", "b.y"])[np.argmax(scores, axis=1)]


def pixels(n=400, seed=0):
    """All features in most rows: threads have copies of w."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12)) * (rng.random((n, 12)) < 0.7)
    scores = X @ rng.normal(size=(12, 4)) + rng.normal(size=(n, 4))
    return X, np.array(["a.x", "a.y", "b.x", "b.y"])[np.argmax(scores, axis=1)]


def fitted(make, data, n_jobs, **options):
    options = {"C": 0.5, "tol": 0.005, "random_state": 0, "max_iter": 500} | options
    return make(n_jobs=n_jobs, **options).fit(*data)


@pytest.mark.parametrize("make", [MulticlassSVM, TaxonomySVM])
@pytest.mark.parametrize("data", [words, pixels])
@pytest.mark.parametrize("n_jobs", [2, 16])
def test_many_threads_certify_the_optimum_of_one(always_threads, make, data, n_jobs):
    alone, together = (fitted(make, data(), jobs) for jobs in (1, n_jobs))
    assert together.converged_
    for one, other in ((alone, together), (together, alone)):
        slack = 1e-6 * one.certificate_.primal
        assert one.certificate_.dual <= other.certificate_.primal + slack


@pytest.mark.parametrize("data", [words, pixels])
def test_with_a_large_C(always_threads, data):
    """With stages and second-order steps, too."""
    alone, together = (
        fitted(MulticlassSVM, data(), jobs, C=100.0, tol=0.02) for jobs in (1, 4)
    )
    assert alone.converged_
    assert together.converged_
    assert alone.certificate_.dual <= together.certificate_.primal * (1 + 1e-5)
    assert together.certificate_.dual <= alone.certificate_.primal * (1 + 1e-5)


@pytest.mark.parametrize("data", [words, pixels])
def test_several_threads_take_part(always_threads, monkeypatch, data):
    seen, real = set(), BlockThreads._run

    def watched(self, function, *arguments):
        seen.add((threading.get_ident(), function.__name__))
        return real(self, function, *arguments)

    monkeypatch.setattr(BlockThreads, "_run", watched)
    fitted(MulticlassSVM, data(4000), 3)
    assert len({number for number, _ in seen}) > 1
    assert ("copied_block_pass" in {name for _, name in seen}) == (data is pixels)
    seen.clear()
    fitted(MulticlassSVM, data(4000), 1)
    assert {name for _, name in seen} == {"exact_block_pass"}
    assert len(seen) == 1


@pytest.mark.parametrize("data", [words, pixels])
def test_lost_additions_do_not_reach_a_certificate(always_threads, monkeypatch, data):
    """Weights that lost a part of what was added to them are no proof, but an error."""
    real = BlockThreads.visit

    def losing(self, order, mass, alpha, w, *rest):
        real(self, order, mass, alpha, w, *rest)
        w *= w.dtype.type(0.9)

    monkeypatch.setattr(BlockThreads, "visit", losing)
    X, y = data()
    with pytest.raises(LostPrecision, match="nothing is proved"):
        MulticlassSVM(n_jobs=4, C=0.5, tol=1e-6, max_iter=50, solver=SOLVER).fit(X, y)


SOLVER = "block-coordinate"


class Task:
    """What BlockThreads asks of an objective."""

    def __init__(self, X, y, n_jobs):
        from maxmargin.classes.sparse import make_batch

        X = sp.csr_matrix(X)
        labels = np.unique(y, return_inverse=True)[1]
        cost = 1.0 - np.eye(4)
        arguments = X.indptr, X.indices, X.data, X.shape[1], labels, cost
        self.batch = make_batch(*arguments, np.float64)
        self.team, self.n = Team(n_jobs), len(y)

    def weights(self):
        return np.zeros(self.batch.n_features * self.batch.width)

    def buffers(self):
        from types import SimpleNamespace

        return SimpleNamespace(theta=np.zeros(contract.shape(self.batch)))


@pytest.mark.parametrize("data", [words, pixels])
def test_weights_are_those_of_the_dual_variables(always_threads, data):
    """After a pass of many threads nothing has been lost: w is what alpha says."""
    task = Task(*data(3000), n_jobs=8)
    n, mass, w = task.n, np.full(task.n, 0.3), task.weights()
    alpha, gaps, hinges = np.zeros((n, task.batch.width)), np.zeros(n), np.zeros(n)
    alpha[np.arange(n), task.batch.y] = mass
    threads = BlockThreads(task)
    with task.team.at_work():
        for _ in range(5):
            threads.visit(
                np.random.default_rng(0).permutation(n), mass, alpha, w, gaps, hinges
            )
    found = task.weights()
    run(rebuild_blocks, task.batch, 0, mass, alpha, found)
    assert np.abs(w).max() > 0.01
    np.testing.assert_allclose(w, found, atol=1e-10)


def test_no_change_is_lost_when_copies_tell_it():
    """Three threads that tell a long w what they changed after each block."""
    task = Task(*words(4000, d=4000), n_jobs=3)
    n, mass, w = task.n, np.full(task.n, 0.3), task.weights()
    alpha, gaps, hinges = np.zeros((n, task.batch.width)), np.zeros(n), np.zeros(n)
    alpha[np.arange(n), task.batch.y] = mass
    locks, between = row_locks(), 1

    def work(worker, part):
        memory = task.buffers().theta, np.empty_like(w), np.empty_like(w)
        shared = *memory, between, w, locks, gaps, hinges
        run(copied_block_pass, task.batch, mass, alpha, part, *shared)

    work(0, np.arange(1))
    with task.team.at_work():
        for _ in range(10):
            task.team.run(work, np.array_split(np.arange(n), 3), 3)
    assert not locks.any()
    found = task.weights()
    run(rebuild_blocks, task.batch, 0, mass, alpha, found)
    assert np.abs(w).max() > 0.01
    np.testing.assert_allclose(w, found, atol=1e-10)


def test_locks_change_no_sums():
    """One thread with locks does what one without does, bit for bit."""
    task = Task(*words(500), n_jobs=1)
    found = []
    for locks in (NO_LOCKS, row_locks()):
        n, mass, w = task.n, np.full(task.n, 0.3), task.weights()
        alpha, gaps, hinges = np.zeros((n, task.batch.width)), np.zeros(n), np.zeros(n)
        alpha[np.arange(n), task.batch.y] = mass
        arguments = mass, alpha, np.arange(n), task.buffers().theta, w, locks
        run(exact_block_pass, task.batch, *arguments, gaps, hinges)
        found.append((w, alpha, gaps, hinges))
        assert not locks.any()
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_copies_take_little_memory():
    """Of a w that is large beside the data, there are fewer copies than threads."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5000)), np.arange(30) % 4
    threads = BlockThreads(Task(X, y, n_jobs=16))
    assert threads.copies
    assert threads.most < 16
    assert BlockThreads(Task(*words(), n_jobs=16)).most == 16
    assert BlockThreads(Task(*pixels(), n_jobs=16)).most == 2  # few features


def test_second_order_steps_that_threads_undo_are_no_damage(tmp_path, monkeypatch):
    """A checkpoint goes on though a sweep of threads ended below where it began."""
    second, visit, starts = ExactBlocks._second_order, ExactBlocks._visit, []

    def noted(self):
        starts.append((self.alpha.copy(), self.w.copy()))
        second(self)

    def undone(self, order):
        visit(self, order)
        if len(starts) == 3:
            self.alpha[:], self.w[:] = starts[1]

    monkeypatch.setattr(ExactBlocks, "_second_order", noted)
    monkeypatch.setattr(ExactBlocks, "_visit", undone)
    options = {"C": 1e3, "tol": 1e-7}
    place = Checkpoint(tmp_path / "fit", every=0)
    with pytest.warns(ConvergenceWarning):
        fitted(MulticlassSVM, pixels(), 2, max_iter=3, checkpoint=place, **options)
    assert len(starts) == 3
    monkeypatch.undo()
    place = tmp_path / "fit"
    again = fitted(MulticlassSVM, pixels(), 2, checkpoint=place, resume=True, **options)
    assert again.converged_
    assert again.n_iter_ > 3


def test_every_pass_is_told_what_its_steps_gave(monkeypatch):
    heard = []
    monkeypatch.setattr(Team, "heed", lambda self, *told: bool(heard.append(told)))
    model = fitted(MulticlassSVM, words(), 2)
    assert len(heard) == model.n_iter_
    # little work is that of one thread, which never lowers the dual
    assert all(found >= before - 1e-6 for before, _, found in heard)
