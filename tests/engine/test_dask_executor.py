"""Shards on a cluster: the protocol, bytes, errors."""

import itertools
import threading
from functools import partial

import numpy as np
import pytest
from executor_cases import BadSpec, Problem, Sum, ToySpec, scores, specs, weights

pytest.importorskip("distributed")
from maxmargin.engine import dask_executor
from maxmargin.engine.dask_executor import DaskExecutor
from maxmargin.engine.dask_workers import check_workers, mismatch
from maxmargin.engine.executor import LocalExecutor
from maxmargin.engine.lost import EngineLost

# distributed warns of much that is its own business
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def executor(client):
    with DaskExecutor(specs(), client, patience=20.0) as executor:
        yield executor


def test_replies_come_in_order(executor):
    w = weights()
    assert executor.ask("score", w) == scores(w)
    own = [(float(k),) for k in range(5)]
    assert executor.ask("score", w, each=own) == [
        s * k for k, s in enumerate(scores(w))
    ]
    assert executor.ask("score", w, 2.0) == scores(w, factor=2.0)
    assert executor.ask("count") == [3] * 5
    assert executor.ask("threads") == [1] * 5
    assert len(set(executor.ask("pid"))) == 2
    assert executor.restarted == set()


def test_replies_are_those_of_this_process(executor):
    w = weights().astype(np.float32)
    for here, there in zip(
        LocalExecutor(specs()).ask("arrays", w), executor.ask("arrays", w), strict=True
    ):
        (a, (b, k)), (c, (d, m)) = here, there
        assert (a.tobytes(), b.tobytes(), k) == (c.tobytes(), d.tobytes(), m)


@pytest.mark.parametrize("hosts", [1, 2, 3, 5])
def test_questions_and_replies_go_from_worker_to_worker(hosts, monkeypatch):
    """The driver sends and receives one, whatever the number of workers."""
    from distributed import Client, LocalCluster

    monkeypatch.setattr(dask_executor, "MANY", 3)
    inproc = LocalCluster(
        processes=False, n_workers=hosts, dashboard_address="127.0.0.1:0"
    )
    w = weights()
    with (
        inproc as cluster,
        Client(cluster, set_as_default=False) as client,
        DaskExecutor(specs(7), client) as executor,
    ):
        assert len(executor._workers.remotes) == hosts
        executor.ask("score", w)
        before = executor.moved
        executor.ask("score", w + 1)
        assert executor.moved - before < min(hosts, 3) * (w.nbytes + 4000)
        wanted = Sum(pytest.approx(sum(scores(w, 7))), set(range(7)))
        for optional in (False, True):
            assert executor.reduce("summed", w, optional=optional) == wanted
        own = [(float(k == 3),) for k in range(7)]
        found = executor.reduce("summed", w, each=own)
        assert found.value == pytest.approx(scores(w, 7)[3])
        with pytest.raises(FileNotFoundError, match="shard 2 has no file"):
            executor.reduce("fail", {2, 4})
        assert executor.reduce("summed", w) == wanted
        for size in (3, 3000):  # the weights are there, however few they are
            assert executor.reduce("around", weights(size=size)).w == size
        with pytest.raises(ArithmeticError, match="one weight is not enough"):
            executor.reduce("around", weights(size=1), optional=True)
        assert (
            len({w.ctypes.data, *executor.ask("place", w)}) == hosts + 1
        )  # of their own


def test_common_arrays_are_sent_once_per_worker_and_only_what_changed(executor):
    w = weights().astype(np.float32)
    executor.ask("score", w)
    before = executor.moved
    w += 1
    assert executor.ask("score", w) == scores(w)
    whole = executor.moved - before
    assert 2 * w.nbytes < whole < 2 * w.nbytes + 4000  # two workers, five shards
    before = executor.moved
    w[::100] = -0.0
    assert executor.ask("score", w) == scores(w)
    few = executor.moved - before
    assert few < 2 * 8 * 30 + 4000
    before = executor.moved
    assert executor.ask("score", w) == scores(w)
    assert executor.moved - before < 4000
    assert executor.ask("flags", w) == [(True, True, "<f4")] * 5


def test_any_sequence_of_weights_arrives(executor):
    """Also when a host missed some, or forgot what it had."""
    rng = np.random.default_rng(3)
    for round_ in range(30):
        w = weights(round_ // 3)
        w[rng.random(w.size) < rng.random()] = 0
        if round_ % 4 == 1:
            executor._workers.remotes[round_ % 2].version = -7  # sent long ago
        if round_ % 5 == 2:
            executor._workers.remotes[0].version = executor._weights.version  # not true
        if round_ % 7 == 3:
            w = np.concatenate([w, [1.0]])[:-1]
        assert executor.ask("score", w) == scores(w), round_


def test_errors_of_shards_are_raised_here(client, executor):
    with pytest.raises(FileNotFoundError, match="shard 2 has no file"):
        executor.ask("fail", {2, 4})
    with pytest.raises(RuntimeError, match="Strange: it is strange"):
        executor.ask("strange_error")
    with pytest.raises(TypeError, match="reply of a shard cannot be sent"):
        executor.ask("strange_reply")
    assert executor.ask("fail", set()) == [0, 1, 2, 3, 4]
    with pytest.raises(FileNotFoundError, match="shard 3 has no file"):
        DaskExecutor([*specs(3), BadSpec(3)], client)


def test_what_cannot_be_sent_is_named(client, tmp_path):
    spec = ToySpec(0)
    spec.problem = Problem(lambda x: x + 1)  # can be sent
    with DaskExecutor([spec], client) as executor:
        assert executor.ask("count") == [0]
    bad = ToySpec(1)
    with open(tmp_path / "log", "w") as file:
        bad.problem = Problem(partial(print, file=file))
        with pytest.raises(
            ValueError, match=r"Shard 1 .* as problem\.features"
        ) as said:
            DaskExecutor([spec, bad], client)
        assert "cannot be pickled" in str(said.value)
    bad.problem = Problem({"lock": threading.Lock()})
    with pytest.raises(ValueError, match=r"problem\.features\.lock is a lock"):
        DaskExecutor([bad], client)


def test_workers_with_other_versions_are_refused(client, monkeypatch):
    import maxmargin

    addresses = list(client.nthreads())
    assert check_workers(client, addresses, 20) == ({}, set())
    nobody = "tcp://127.0.0.1:9"
    assert check_workers(client, [nobody], 1) == ({}, {nobody})
    monkeypatch.setattr(maxmargin, "__version__", "9.9.9")
    with pytest.raises(ValueError, match=r"has maxmargin \S+, but here it is 9.9.9"):
        DaskExecutor(specs(), client)
    assert "does not have maxmargin: install maxmargin 9" in mismatch(
        "tcp://a", ("3.11.1", "2.0.0", None)
    )
    monkeypatch.undo()
    ours = maxmargin.__version__
    assert "has Python 2.7.1" in mismatch("tcp://a", ("2.7.1", np.__version__, ours))
    import platform

    python = platform.python_version()
    assert "has numpy 1.2.3" in mismatch("tcp://a", (python, "1.2.3", ours))
    assert mismatch("tcp://a", (python, np.__version__, ours)) is None


def test_no_workers_is_said_in_time():
    from distributed import Client, LocalCluster

    empty = LocalCluster(processes=False, n_workers=0, dashboard_address="127.0.0.1:0")
    with (
        empty as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(EngineLost, match="has no workers that answer"),
    ):
        DaskExecutor(specs(), client, patience=0.5)


def test_many_rounds_and_executors(client):
    executors = [DaskExecutor(specs(k), client) for k in (1, 2, 3)]
    for executor, seed in itertools.product(executors, range(10)):
        w = weights(seed)
        assert executor.ask("score", w) == scores(w, executor.shards)
    for executor in executors:
        executor.close()
