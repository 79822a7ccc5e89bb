"""Several threads that step on one w: the same certificate, whatever happens to sums."""

import threading
import time

import numpy as np
import pytest

from maxmargin import SequenceTagger
from maxmargin.engine.threads import Team, over_ranges
from maxmargin.solvers import block_coordinate
from maxmargin.solvers.best import LostPrecision


def sentences(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.integers(0, 2, (rng.integers(3, 12), 6)).astype(float) for _ in range(n)]
    y = [[f"L{int(2 * x[0] + x[1])}" for x in sample] for sample in X]
    for tags in y[::7]:
        tags[0] = "L0"
    return X, y


def fitted(n_jobs, n=300, **options):
    options = {"C": 0.5, "tol": 0.01, "random_state": 0} | options
    return SequenceTagger(n_jobs=n_jobs, **options).fit(*sentences(n))


@pytest.fixture
def always_threads(monkeypatch):
    """However little there is to do, all threads take part in it."""
    monkeypatch.setattr("maxmargin.engine.threads.WORTH", 1e-9)
    monkeypatch.setattr("maxmargin.engine.threads.PAYS", np.inf)
    monkeypatch.setattr(block_coordinate, "IN_FLIGHT", 1)


@pytest.mark.parametrize(
    "options", [{}, {"slack": "quadratic"}, {"rescaling": "slack"}]
)
@pytest.mark.parametrize("n_jobs", [2, 16])
def test_many_threads_certify_the_optimum_of_one(always_threads, n_jobs, options):
    n = 40 if n_jobs == 16 else 300
    names = SequenceTagger().get_params()
    if not set(options) <= set(names):
        pytest.skip("taggers have no such parameter")
    alone, together = fitted(1, n, **options), fitted(n_jobs, n, **options)
    assert together.converged_
    for one, other in ((alone, together), (together, alone)):
        slack = 1e-9 * one.certificate_.primal
        assert one.certificate_.dual <= other.certificate_.primal + slack


def test_one_thread_gives_the_same_weights_again():
    first, second = fitted(1), fitted(1)
    assert first.certificate_ == second.certificate_
    assert [r["dual"] for r in first.history_] == [r["dual"] for r in second.history_]


def test_lost_additions_do_not_reach_a_certificate(always_threads, monkeypatch):
    """Weights that lost a part of what was added to them are no proof, but an error."""
    together = block_coordinate.PlaneSolver.together

    def losing(self, kernel, blocks, *rest):
        found = together(self, kernel, blocks, *rest)
        if kernel is block_coordinate.exact_pass and len(blocks):
            self.w *= self.w.dtype.type(0.9)  # a tenth of all additions
        return found

    monkeypatch.setattr(block_coordinate.PlaneSolver, "together", losing)
    # the dual that such weights seem to have is above the primal that is computed anew
    with pytest.raises(LostPrecision, match="nothing is proved"):
        fitted(4)


def test_no_thread_is_left_behind():
    fitted(3)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("maxmargin")]


def test_an_error_is_raised_when_nobody_works_any_more():
    team, running = Team(4), []

    def work(worker, part):
        running.append(part)
        if part == 3:
            raise ValueError("part 3")
        return part

    with pytest.raises(ValueError, match="part 3"), team.at_work():
        team.run(work, list(range(100)), 4)
    before = len(running)
    assert team.run(lambda worker, part: part, [5, 6], 1) == [5, 6]
    assert len(running) == before


@pytest.mark.parametrize("n_jobs", [1, 2, 7, 64])
def test_ranges_cover_all_examples_in_order(n_jobs):
    start = np.cumsum([0, 3, 0, 5, 1, 1, 40, 2])
    found = over_ranges(lambda lo, hi: list(range(lo, hi)), start, n_jobs)
    assert [i for part in found for i in part] == list(range(7))


@pytest.mark.parametrize("n_jobs", [2, 64])
def test_little_work_wakes_nobody(n_jobs):
    team = Team(n_jobs)
    for _ in range(20):
        found = team.share(lambda worker, part: (worker, list(part)), "a", range(50))
        assert {worker for worker, _ in found} == {0}
        assert [i for _, part in found for i in part] == list(range(50))
        over_ranges(lambda lo, hi: None, np.arange(51), team)
    assert team._pool is None


def test_threads_that_hinder_each_other_are_left_out():
    """Work that only one can do at a time, as where all write to the same memory."""
    lock, used = threading.Lock(), []

    def work(worker, part):
        used.append(worker)
        with lock:
            time.sleep(2e-4 * len(part))

    with (team := Team(2)).at_work():
        for _ in range(20):
            used.clear()
            team.share(work, "hindered", range(100))
            late = set(used)
        assert late == {0}  # the 20th call compares nothing
        for _ in range(20):
            used.clear()
            team.share(lambda worker, part: used.append(worker), "little", range(9))
            assert set(used) == {0}


def test_threads_that_pay_stay():
    used = []

    def work(worker, part):
        used.append(worker)
        time.sleep(2e-4 * len(part))

    with (team := Team(2)).at_work():
        for _ in range(12):
            used.clear()
            team.share(work, "free", range(100))
            assert set(used) == {0, 1}
