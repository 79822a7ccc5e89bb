"""Threads of a team: who is woken for what, and what Ctrl-C and errors leave."""

import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from maxmargin.engine import threads
from maxmargin.engine.threads import Team, over_ranges, over_vector


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


@pytest.mark.parametrize("n_jobs", [2, 5, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 50, 1000])
def test_every_item_has_one_visit(always_threads, monkeypatch, n_jobs, count):
    monkeypatch.setattr("maxmargin.engine.threads.LONG", 1)
    items, start = list(range(count)), np.arange(count + 1)
    with (team := Team(n_jobs)).at_work():
        for _ in range(9):  # some compare the threads with one, some do not
            found = team.share(lambda worker, part: part, "a", np.arange(count))
            assert np.concatenate(found).tolist() == items
            pairs = over_ranges(lambda lo, hi: (lo, hi), start, team)
            assert [i for lo, hi in pairs for i in range(lo, hi)] == items
            slices = over_vector(team, lambda worker, part: part, count)
            assert [i for part in slices for i in items[part]] == items
        assert team.started or count == 1


def pool_after_little_work(n_jobs):
    team = Team(n_jobs)
    for _ in range(20):
        found = team.share(lambda worker, part: (worker, list(part)), "a", range(50))
        assert {worker for worker, _ in found} == {0}
        assert [i for _, part in found for i in part] == list(range(50))
        over_ranges(lambda lo, hi: None, np.arange(51), team)
    return team._pool


@pytest.mark.parametrize("n_jobs", [2, 64])
def test_little_work_wakes_nobody(n_jobs):
    """Nor does work that a busy machine has made look long, most of the time."""
    assert any(pool_after_little_work(n_jobs) is None for _ in range(5))


def test_threads_are_started_once_they_would_have_saved_what_that_costs():
    cost = threads.STARTED * threads.WORTH
    team = Team(2)
    assert team.worth(0.9 * cost) == 1
    assert team.worth(1.1 * cost) == 2  # at once
    team = Team(2)
    with team.at_work():
        worth = [team.worth(cost / 5) for _ in range(30)]  # of which half is saved
        assert worth == [1] * 10 + [2] * 20
        assert team.worth(0.9 * threads.WORTH) == 1
        team.run(lambda worker, part: part, [0, 1], 2)
        assert team.worth(1.1 * threads.WORTH) == 2  # they wait for work


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


@pytest.mark.parametrize(("seconds", "threads"), [(2e-3, 1), (4e-3, 5), (4e-2, 16)])
def test_steps_of_short_passes_are_those_of_one_thread(seconds, threads):
    """Though threads wait for work: what they write to one w costs more than they do."""
    team = Team(16)
    team._pace["pass"] = seconds / 1000
    with team.at_work():
        team.run(lambda worker, part: part, [0, 1], 2)
        assert team.threads_for("pass", 1000, None, 1000, steps=True) == threads


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


def test_steps_that_undo_each_other_are_taken_by_fewer():
    team = Team(16)
    assert team.at_once(10_000) == 16
    assert team.at_once(100) == 6
    team.heed(1.0, 3.0, 2.8)  # nearly what was hoped for
    team.heed(3.0, 3.0 + 1e-9, 3.0)  # rounding
    assert team.stepping == 16
    team.heed(1.0, 3.0, 1.5)
    assert team.stepping == 8
    team.heed(2.0, 2.0, 1.9)  # the dual fell
    assert team.at_once(10_000) == 4
    for _ in range(5):
        team.heed(2.0, 3.0, 1.0)
    assert team.at_once(10_000) == 1


def interrupt_main():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to threads")
def test_a_second_ctrl_c_waits_for_the_other_threads_too():
    both, ended = threading.Barrier(2), threading.Event()

    def work(worker, part):
        both.wait()
        if worker == 0:
            threading.Timer(0.05, interrupt_main).start()
            raise KeyboardInterrupt
        time.sleep(0.3)
        ended.set()

    with (team := Team(2)).at_work():
        with pytest.raises(KeyboardInterrupt):
            team.run(work, [0, 1], 2)
        assert ended.is_set()


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to threads")
def test_ctrl_c_while_threads_are_woken_leaves_none_at_work(monkeypatch):
    begun, ended, submit = [], [], ThreadPoolExecutor.submit

    def interrupted(*arguments):
        found = submit(*arguments)
        time.sleep(0.05)  # the other thread has begun
        interrupt_main()
        time.sleep(0.05)
        return found

    def work(worker, part):
        begun.append(part)
        time.sleep(0.3)
        ended.append(part)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with (team := Team(2)).at_work():
        with pytest.raises(KeyboardInterrupt):
            team.run(work, list(range(10)), 2)
        assert begun == ended == [0]
