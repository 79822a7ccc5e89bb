"""Workers and schedulers that die, hang or are slow."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from crew_cases import scores, specs, weights

pytest.importorskip("distributed")
from distributed import Client

from maxmargin.engine import dask_workers
from maxmargin.engine.dask_crew import DaskCrew
from maxmargin.engine.lost import EngineLost

# distributed warns of much that is its own business
pytestmark = pytest.mark.filterwarnings("ignore")


def later(seconds, action, *arguments):
    timer = threading.Timer(seconds, action, arguments)
    timer.daemon = True
    timer.start()
    return timer


def test_twenty_workers_killed_in_the_middle(cluster, client):
    """Whenever it comes, all replies are there, and who lost its state is told."""
    rng = np.random.default_rng(0)
    with DaskCrew(specs(), client, patience=10.0) as crew:
        for kill in range(20):
            crew.restarted.clear()
            pids = crew.ask("pid")
            victim = int(rng.choice(pids))
            later(rng.uniform(0, 0.2), os.kill, victim, signal.SIGKILL)
            w = weights(kill)
            while not crew.restarted:
                assert crew.ask("slowly", w, 0.03) == scores(w)
            assert crew.restarted == {k for k in range(5) if pids[k] == victim}
            counts = crew.ask("count")
            assert max(counts[k] for k in crew.restarted) < 20
            assert victim not in crew.ask("pid")


def test_work_that_kills_every_worker_ends(client):
    crew = DaskCrew(specs(1), client, patience=10.0)
    with pytest.raises(EngineLost, match="died of the same work"):
        crew.ask("die")
    crew.close()


def test_a_slow_worker_is_late_and_its_reply_comes_later(client):
    client.wait_for_workers(2, timeout=20)
    with DaskCrew(specs(), client, patience=20.0) as crew:
        crew.patience = 0.3  # from now on: workers may take their time to begin
        pids = crew.ask("pid")
        w = weights()
        began = time.monotonic()
        replies = crew.ask("slow_on", w, pids[0], 1.5, optional=True)
        assert time.monotonic() - began < 2.9  # its two or three shards take longer
        late = [pid == pids[0] for pid in pids]
        assert [reply is None for reply in replies] == late
        changed = weights(1)
        while None in replies:
            replies = crew.ask("slow_on", changed, 0, 0.0, optional=True)
        for k in range(5):  # the late ones answer what they were asked
            assert replies[k] == scores(w if late[k] else changed)[k]
        assert crew.ask("slow_on", changed, 0, 0.0, optional=True) == scores(changed)
        assert crew.restarted == set()


def test_a_question_that_must_be_answered_waits_for_a_slow_worker(client):
    with DaskCrew(specs(), client, patience=20.0) as crew:
        crew.patience = 0.3
        pids, w = crew.ask("pid"), weights()
        assert crew.ask("slow_on", w, pids[0], 0.5) == scores(w)
        assert None in crew.ask("slow_on", w, pids[0], 0.5, optional=True)
        assert crew.ask("score", w) == scores(w)  # behind the late one
        assert crew.restarted == set()


def test_a_hung_worker_is_given_up(client):
    client.wait_for_workers(2, timeout=20)
    with DaskCrew(specs(), client, patience=0.2) as crew:
        pids, w = crew.ask("pid"), weights()
        os.kill(pids[0], signal.SIGSTOP)
        try:
            replies = crew.ask("score", w, optional=True)
            assert [reply is None for reply in replies] == [p == pids[0] for p in pids]
            assert crew.ask("score", w) == scores(w)
            assert crew.restarted == {k for k in range(5) if pids[k] == pids[0]}
            assert set(crew.ask("pid")) == set(pids) - {pids[0]}
        finally:
            os.kill(pids[0], signal.SIGKILL)


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
        crew = DaskCrew(specs(), client, patience=30.0)
        w = weights()
        assert crew.ask("score", w) == scores(w)
        worker.kill()
        later(0.3, outside, "dask_worker", *settings)
        assert crew.ask("score", w) == scores(w)
        assert crew.restarted == {0, 1, 2, 3, 4}
        crew._workers.patience = crew.patience = 1.0
        later(0.2, scheduler.kill)
        began = time.monotonic()
        with pytest.raises(EngineLost, match="does not answer any more"):
            all(crew.ask("slowly", w, 0.1) for _ in range(1000))
        assert time.monotonic() - began < 30
        crew.close()


def test_a_scheduler_that_goes_before_the_first_shard(monkeypatch):
    """Data are encoded between the first look at a cluster and the first shard."""
    monkeypatch.setattr(dask_workers, "ANSWER", 0.5)
    scheduler = SimpleNamespace(address="tcp://127.0.0.1:9")
    gone = SimpleNamespace(scheduler=scheduler, security=None)
    with pytest.raises(EngineLost, match="does not answer any more"):
        DaskCrew(specs(), gone, patience=0.5)


def test_a_cluster_that_is_lost_can_be_replaced_by_this_process():
    from distributed import LocalCluster

    with LocalCluster(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as own:
        client = Client(own, set_as_default=False)
        crew = DaskCrew(specs(), client, patience=5.0)
        client.close()
        home = crew.at_home()
        assert home.ask("score", weights(0)) == scores(weights(0))
        crew.close()
