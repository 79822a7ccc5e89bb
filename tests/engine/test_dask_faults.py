"""Workers and schedulers that die, hang or are slow."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from executor_cases import Sum, scores, specs, weights

pytest.importorskip("distributed")
from distributed import Client

from maxmargin.engine import dask_workers
from maxmargin.engine.dask_executor import DaskExecutor
from maxmargin.engine.dask_host import Host
from maxmargin.engine.lost import EngineLost
from maxmargin.engine.packing import dumps, loads

# distributed warns of much that is its own business
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def later(seconds, action, *arguments):
    timer = threading.Timer(seconds, action, arguments)
    timer.daemon = True
    timer.start()
    return timer


def total(w, numbers):
    """What these shards reply together."""
    found = scores(w)
    return pytest.approx(sum(found[k] for k in numbers))


def test_twenty_workers_killed_in_the_middle(cluster, client):
    """Whenever it comes, all replies are there, and who lost its state is told."""
    rng = np.random.default_rng(0)
    with DaskExecutor(specs(), client, patience=10.0) as executor:
        for kill in range(20):
            executor.restarted.clear()
            pids = executor.ask("pid")
            victim = int(rng.choice(pids))
            later(rng.uniform(0, 0.2), os.kill, victim, signal.SIGKILL)
            w = weights(kill)
            while not executor.restarted:
                assert executor.ask("slowly", w, 0.03) == scores(w)
            assert executor.restarted == {k for k in range(5) if pids[k] == victim}
            counts = executor.ask("count")
            assert max(counts[k] for k in executor.restarted) < 20
            assert victim not in executor.ask("pid")


def test_work_that_kills_every_worker_ends(client):
    executor = DaskExecutor(specs(1), client, patience=10.0)
    with pytest.raises(EngineLost, match="died of the same work"):
        executor.ask("die")
    executor.close()


def test_a_slow_worker_is_late_and_its_reply_comes_later(client):
    client.wait_for_workers(2, timeout=20)
    with DaskExecutor(specs(), client, patience=20.0) as executor:
        executor.patience = 0.3  # from now on: workers may take their time to begin
        pids, w, changed = executor.ask("pid"), weights(), weights(1)
        late = {k for k in range(5) if pids[k] == pids[0]}
        began = time.monotonic()
        found = executor.reduce("slow_on", w, pids[0], 1.5, optional=True)
        assert time.monotonic() - began < 2.9  # its two or three shards take longer
        assert found == Sum(total(w, {0, 1, 2, 3, 4} - late), {0, 1, 2, 3, 4} - late)
        while not found.numbers & late:
            found = executor.reduce("slow_on", changed, 0, 0.0, optional=True)
        assert found.numbers == {0, 1, 2, 3, 4}  # they answer what they were asked
        value = found.value - sum(scores(w)[k] for k in late)
        assert value == total(changed, {0, 1, 2, 3, 4} - late)
        found = executor.reduce("slow_on", changed, 0, 0.0, optional=True)
        assert found.value == total(changed, range(5))
        assert executor.restarted == set()


def test_a_question_that_must_be_answered_waits_for_a_slow_worker(client):
    with DaskExecutor(specs(), client, patience=20.0) as executor:
        executor.patience = 0.3
        pids, w = executor.ask("pid"), weights()
        assert executor.reduce("slow_on", w, pids[0], 0.5).value == total(w, range(5))
        found = executor.reduce("slow_on", w, pids[0], 0.5, optional=True)
        assert 0 not in found.numbers
        assert executor.reduce("summed", w).value == total(
            w, range(5)
        )  # behind the late
        assert executor.reduce("summed", w, optional=True).value == total(w, range(5))
        assert executor.restarted == set()


def test_a_hung_worker_is_given_up(client):
    client.wait_for_workers(2, timeout=20)
    with DaskExecutor(specs(), client, patience=0.2) as executor:
        pids, w = executor.ask("pid"), weights()
        hung = {k for k in range(5) if pids[k] == pids[0]}
        os.kill(pids[0], signal.SIGSTOP)
        try:
            found = executor.reduce("summed", w, optional=True)
            assert found.numbers == {0, 1, 2, 3, 4} - hung
            assert executor.ask("score", w) == scores(w)
            assert executor.restarted == hung
            assert set(executor.ask("pid")) == set(pids) - {pids[0]}
        finally:
            os.kill(pids[0], signal.SIGKILL)


def test_workers_that_die_while_replies_are_merged(client):
    """Whoever must have an answer asks again; others learn it with the next question."""
    w, every = weights(), set(range(5))
    for turn in range(6):
        client.wait_for_workers(2, timeout=60)
        with DaskExecutor(specs(), client, patience=20.0) as executor:
            pids = executor.ask("pid")
            pid = pids[turn % 2]
            assert executor.reduce("last_words", w, pid, optional=True) is None
            assert executor.reduce("summed", w) == Sum(total(w, every), every)
            assert executor.restarted == {k for k in every if pids[k] == pid}
            assert pid not in executor.ask("pid")


def test_a_merge_that_was_given_up_takes_nothing_of_a_later_one():
    host, w = Host(1), weights()
    for k, spec in enumerate(specs(2)):
        host.put(k, dumps(spec))
    host.build()
    common = dumps((None, (w,)))
    for number, k in ((1, 0), (2, 0), (2, 1)):
        host.ask("summed", common, dumps({k: ()}), number)
        if number == 2:
            with pytest.raises(LookupError):
                host.take(1)
    assert loads(host.take(2)) == Sum(total(w, {0, 1}), {0, 1})


def test_lost_workers_new_workers_lost_scheduler(outside, tmp_path):
    """The last worker dies and another comes; then the scheduler dies."""
    file = tmp_path / "scheduler.json"
    settings = "--host", "127.0.0.1", "--no-dashboard"
    scheduler = outside(
        "dask_scheduler", *settings, "--port", "0", "--scheduler-file", str(file)
    )
    settings = "--scheduler-file", str(file), *settings, "--no-nanny", "--nthreads", "2"
    worker = outside("dask_worker", *settings)
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    with Client(scheduler_file=str(file), set_as_default=False, timeout=60) as client:
        client.wait_for_workers(1, timeout=60)
        executor = DaskExecutor(specs(), client, patience=30.0)
        w = weights()
        assert executor.ask("score", w) == scores(w)
        worker.kill()
        later(0.3, outside, "dask_worker", *settings)
        assert executor.ask("score", w) == scores(w)
        assert executor.restarted == {0, 1, 2, 3, 4}
        executor._workers.patience = executor.patience = 1.0
        later(0.2, scheduler.kill)
        began = time.monotonic()
        with pytest.raises(EngineLost, match="does not answer any more"):
            all(executor.ask("slowly", w, 0.1) for _ in range(1000))
        assert time.monotonic() - began < 30
        executor.close()


def test_a_scheduler_that_goes_before_the_first_shard(monkeypatch):
    """Data are encoded between the first look at a cluster and the first shard."""
    monkeypatch.setattr(dask_workers, "ANSWER", 0.5)
    scheduler = SimpleNamespace(address="tcp://127.0.0.1:9")
    gone = SimpleNamespace(scheduler=scheduler, security=None)
    with pytest.raises(EngineLost, match="does not answer any more"):
        DaskExecutor(specs(), gone, patience=0.5)


def test_a_cluster_that_is_lost_can_be_replaced_by_this_process():
    from distributed import LocalCluster

    with LocalCluster(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as own:
        client = Client(own, set_as_default=False)
        executor = DaskExecutor(specs(), client, patience=5.0)
        client.close()
        home = executor.at_home()
        assert home.ask("score", weights(0)) == scores(weights(0))
        executor.close()
