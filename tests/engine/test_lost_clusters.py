"""Fits whose scheduler or only worker is killed: the best weights so far are kept."""

import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM, SequenceTagger

distributed = pytest.importorskip("distributed")
# distributed warns of much that is its own business
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def processes(outside, tmp_path, monkeypatch):
    """(client, scheduler, worker): programs of their own, which nobody replaces."""
    from maxmargin.engine.dask_executor import DaskExecutor

    monkeypatch.setattr(
        DaskExecutor.__init__, "__defaults__", (2.0,)
    )  # seconds of patience
    file = tmp_path / "scheduler.json"
    settings = "--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"
    scheduler = outside("dask_scheduler", *settings, "--port", "0")
    worker = outside("dask_worker", *settings, "--no-nanny", "--nthreads", "1")
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    client = distributed.Client(
        scheduler_file=str(file), set_as_default=False, timeout=60
    )
    client.wait_for_workers(1, timeout=60)
    yield client, scheduler, worker
    client.close(timeout=2)


def vectors(n=3000):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + 2.0 * np.eye(3, 4)[y], y


def words(n=600):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        kinds = rng.integers(3, size=4)
        X.append([{f"w{k}": 1.0, f"v{rng.integers(9)}": 1.0} for k in kinds])
        y.append(["abc"[k] if rng.random() < 0.8 else "a" for k in kinds])
    return X, y


@pytest.mark.parametrize("victim", ["scheduler", "worker"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("kind", ["classes", "tags"])
def test_the_best_weights_are_kept(kind, moment, victim, processes, tmp_path):
    """Killed before, or after, the first certificate."""
    client, *programs = processes
    program = programs[["scheduler", "worker"].index(victim)]
    rows = []

    def kill(row):
        rows.append(row)
        wanted = np.isfinite(row["primal"]) == (moment == "after")
        if wanted and row["iteration"] >= 2 and program.poll() is None:
            program.kill()
            program.wait()

    settings = {"tol": 1e-7, "engine": client, "callbacks": [kill], "max_iter": 10**6}
    settings["checkpoint"] = tmp_path / "kept"
    if kind == "classes":
        model, (X, y) = MulticlassSVM(C=1.0, **settings), vectors()
    else:
        model, (X, y) = SequenceTagger(C=1.0, **settings), words()
    with pytest.warns(ConvergenceWarning, match="lost its cluster"):
        model.fit(X, y)
    assert program.poll() is not None
    assert np.isfinite(rows[-1]["primal"]) == (moment == "after")
    assert not model.converged_
    assert model.certificate_.dual <= model.certificate_.primal < np.inf
    began = time.monotonic()
    assert model.score(X, y) > 0.4  # of three, by chance a third
    assert time.monotonic() - began < 30  # nobody is waited for
