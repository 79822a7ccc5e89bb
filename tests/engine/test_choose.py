"""What engine= means, and what is said of what it cannot mean."""

import pickle
import signal
import sys

import numpy as np
import pytest
from crew_cases import scores, specs, weights
from sklearn.base import clone

from maxmargin import MulticlassSVM
from maxmargin.engine import choose
from maxmargin.engine.crew import ThreadCrew
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


def test_engines_of_this_process():
    w = weights()
    for engine in (None, "threads"):
        choose.check_engine(engine)
        crew = choose.make_crew(engine, specs(), 2)
        assert isinstance(crew, ThreadCrew)
        assert crew.ask("score", w) == scores(w)
        crew.close()


def test_engines_of_a_cluster(inproc):
    w = weights()
    with distributed.Client(inproc) as client:
        for engine in ("dask", client):
            choose.check_engine(engine)
            with choose.make_crew(engine, specs()) as crew:
                assert crew.ask("score", w) == scores(w)


def test_ctrl_c_waits_while_a_crew_is_closed(inproc, monkeypatch):
    """The fit is over: what it has found would be lost."""
    done = []
    with distributed.Client(inproc, set_as_default=False) as client:
        crew = choose.make_crew(client, specs())
        close = crew._workers.close

        def interrupted():
            signal.raise_signal(signal.SIGINT)
            close()
            done.append(True)

        monkeypatch.setattr(crew._workers, "close", interrupted)
        crew.close()
    assert done


def test_within_a_task_the_worker_works_alone(inproc):
    def kind():
        return type(choose.make_crew("dask", specs())).__name__

    with distributed.Client(inproc, set_as_default=False) as client:
        assert client.submit(kind).result() == "ThreadCrew"


@pytest.mark.parametrize("engine", ["steam", 3, object, np.zeros(2), ["dask"]])
def test_other_engines_are_refused(engine):
    with pytest.raises(ValueError, match=r"engine=.* is not possible"):
        choose.check_engine(engine)
    with pytest.raises(ValueError, match=r"engine=.* is not possible"):
        MulticlassSVM(engine=engine).fit([[1.0], [2.0]], [0, 1])


def test_without_a_client_it_is_said_how_to_start_one():
    with pytest.raises(ValueError, match=r"start one with dask\.distributed\.Client"):
        choose.check_engine("dask")


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(choose, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[cluster\]'"):
        choose.check_engine("dask")


def test_clients_that_cannot_work_are_refused(inproc):
    client = distributed.Client(inproc, set_as_default=False)
    client.close()
    with pytest.raises(ValueError, match="is closed: make a new one"):
        choose.check_engine(client)


def test_a_scheduler_that_is_gone_is_said(inproc, monkeypatch):
    with distributed.Client(inproc, set_as_default=False) as client:

        async def silent():
            raise OSError

        monkeypatch.setattr(client, "nthreads", silent)
        with pytest.raises(EngineLost, match="does not answer any more"):
            choose.check_engine(client)


def test_a_scheduler_without_the_library_is_said(inproc, monkeypatch):
    with distributed.Client(inproc, set_as_default=False) as client:

        async def without(*_):
            return "3.11.1", "2.0.0", None

        monkeypatch.setattr(client, "run_on_scheduler", without)
        with pytest.raises(ValueError, match=r"scheduler \S+ does not have maxmargin"):
            choose.check_engine(client)


def test_estimators_with_a_client_can_be_cloned_and_pickled(inproc):
    with distributed.Client(inproc, set_as_default=False) as client:
        model = MulticlassSVM(C=3.0, engine=client)
        copy = clone(model)
        assert copy.engine is client
        assert copy.C == 3.0
        assert pickle.loads(pickle.dumps(model)).engine == "dask"
        assert model.engine is client
    assert clone(MulticlassSVM(engine="threads")).engine == "threads"


def test_dask_is_not_imported_without_need():
    import subprocess

    code = (
        "import sys, maxmargin, maxmargin.core.structural; print('dask' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "False"
