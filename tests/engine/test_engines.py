"""What engine= means, and what is said of what it cannot mean."""

import pickle
import signal
import sys

import numpy as np
import pytest
from executor_cases import scores, specs, weights
from sklearn.base import clone

from maxmargin import MulticlassSVM
from maxmargin.engine import engines
from maxmargin.engine.executor import LocalExecutor
from maxmargin.engine.lost import EngineLost

distributed = pytest.importorskip("distributed")
# distributed warns of much that is its own business
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def inproc():
    with distributed.LocalCluster(
        processes=False, n_workers=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


def shards(workers):
    return specs(workers + 2)


def test_engines_of_this_process():
    engines.check_engine(None)
    executor = engines.make_executor(None, shards)
    assert isinstance(executor, LocalExecutor)
    assert executor.shards == 3


def test_engines_of_a_cluster(inproc):
    w = weights()
    with distributed.Client(inproc) as client:
        for engine in ("dask", client):
            engines.check_engine(engine)
            with engines.make_executor(engine, shards) as executor:
                assert executor.ask("score", w) == scores(w, 3)


def test_ctrl_c_waits_while_an_executor_is_closed(inproc, monkeypatch):
    """The fit is over: what it has found would be lost."""
    done = []
    with distributed.Client(inproc, set_as_default=False) as client:
        executor = engines.make_executor(client, shards)
        close = executor._workers.close

        def interrupted():
            signal.raise_signal(signal.SIGINT)
            close()
            done.append(True)

        monkeypatch.setattr(executor._workers, "close", interrupted)
        executor.close()
    assert done


def test_within_a_task_the_worker_works_alone(inproc):
    def kind():
        return type(engines.make_executor("dask", shards)).__name__

    with distributed.Client(inproc, set_as_default=False) as client:
        assert client.submit(kind).result() == "LocalExecutor"


@pytest.mark.parametrize("engine", ["steam", 3, object, np.zeros(2), ["dask"]])
def test_other_engines_are_refused(engine):
    with pytest.raises(ValueError, match=r"engine=.* is not possible"):
        engines.check_engine(engine)
    with pytest.raises(ValueError, match=r"engine=.* is not possible"):
        MulticlassSVM(engine=engine).fit([[1.0], [2.0]], [0, 1])


def test_without_a_client_it_is_said_how_to_start_one():
    with pytest.raises(ValueError, match=r"start one with dask\.distributed\.Client"):
        engines.check_engine("dask")


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[cluster\]'"):
        engines.check_engine("dask")


def test_clients_that_cannot_work_are_refused(inproc):
    client = distributed.Client(inproc, set_as_default=False)
    client.close()
    with pytest.raises(ValueError, match="is closed: make a new one"):
        engines.check_engine(client)


def test_a_scheduler_that_is_gone_is_said(inproc, monkeypatch):
    with distributed.Client(inproc, set_as_default=False) as client:

        async def silent():
            raise OSError

        monkeypatch.setattr(client, "nthreads", silent)
        for ask in (
            engines.check_engine,
            lambda engine: engines.make_executor(engine, specs),
        ):
            with pytest.raises(EngineLost, match="does not answer any more"):
                ask(client)


def test_a_scheduler_without_the_library_is_said(inproc, monkeypatch):
    with distributed.Client(inproc, set_as_default=False) as client:

        async def without(*_):
            return "3.11.1", "2.0.0", None

        monkeypatch.setattr(client, "run_on_scheduler", without)
        with pytest.raises(ValueError, match=r"scheduler \S+ does not have maxmargin"):
            engines.check_engine(client)


def test_estimators_with_a_client_can_be_cloned_and_pickled(inproc):
    with distributed.Client(inproc, set_as_default=False) as client:
        model = MulticlassSVM(C=3.0, engine=client)
        copy = clone(model)
        assert copy.engine is client
        assert copy.C == 3.0
        assert pickle.loads(pickle.dumps(model)).engine == "dask"
        assert model.engine is client
    assert clone(MulticlassSVM(engine="auto")).engine == "auto"


def test_threads_are_no_engine_any_more():
    with pytest.raises(ValueError, match="n_jobs threads train together without it"):
        MulticlassSVM(engine="threads").fit([[1.0], [2.0]], [0, 1])


get_ip = distributed.utils.get_ip
MANY, ROUGH = engines.AUTO_SLOTS, engines.AUTO_TOL
# addresses, and whether they may be faster than the threads of this machine
WORKERS = {
    ("tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "inproc://203.0.113.7/1/2"): False,
    (f"tls://{get_ip()}:1", "tcp://localhost:2", "tcp://[::1]:3"): False,
    ("tcp://203.0.113.7:1",): False,
    ("tcp://127.0.0.1:1", "tcp://203.0.113.7:2"): True,
}


def test_auto_takes_a_cluster_where_it_may_pay(inproc, monkeypatch):
    engines.check_engine("auto")
    for engine in (None, "dask"):
        assert engines.decided(engine, 1, 1e-9) is engine
    assert engines.decided("auto", MANY, ROUGH) is None  # no client
    with distributed.Client(inproc) as client:
        assert engines.decided("auto", MANY, ROUGH) is None  # one worker
        for workers, found in WORKERS.items():
            monkeypatch.setattr(client, "nthreads", lambda w=workers: dict.fromkeys(w))
            expected = client if found else None
            assert engines.decided("auto", MANY, ROUGH) is expected, workers
        assert engines.decided("auto", MANY - 1, ROUGH) is None
        assert engines.decided("auto", MANY, ROUGH / 2) is None

        def gone():
            raise OSError

        monkeypatch.setattr(client, "nthreads", gone)
        assert engines.decided("auto", MANY, ROUGH) is None
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert engines.decided("auto", MANY, ROUGH) is None


X = np.random.default_rng(0).normal(size=(40, 3))
Y = X.argmax(axis=1)


@pytest.mark.parametrize(
    ("options", "shards"),
    [
        ({}, 2),
        ({"objective": "log"}, 2),
        ({"solver": "one-slack"}, 0),
        ({"objective": "perceptron"}, 0),
        ({"tol": 1e-3}, 0),
        ({"C": np.inf}, 0),
    ],
)
def test_auto_in_a_fit(home, monkeypatch, options, shards):
    """What cannot be done in shards, or not well, is done here."""
    monkeypatch.setattr(engines, "AUTO_SLOTS", 40)
    monkeypatch.setattr(engines, "_all_here", lambda workers: False)
    decided = engines.decided
    monkeypatch.setattr(engines, "decided", lambda *a: decided(*a) and "dask")
    home.count = 2
    cluster = distributed.LocalCluster(
        processes=False, n_workers=2, dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster):
        MulticlassSVM(**{"tol": ROUGH, "engine": "auto"} | options).fit(X, Y)
    assert [executor.shards for executor in home.executors] == [2] * (shards > 0)


def test_dask_is_not_imported_without_need():
    import subprocess

    code = "import sys, maxmargin.fitting.structural; print('dask' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "False"
