"""Local clusters, which tests of a module share: a worker takes seconds to start.

Most tests of shards need none: in those with the fixture ``home``, engine="dask" is shards
in this process.
"""

import os
import subprocess
import sys

import pytest

from maxmargin.engine import engines
from maxmargin.engine.executor import LocalExecutor
from maxmargin.fitting import fit


class Home:
    """How many shards there are, who runs them, and the executors there were."""

    def __init__(self):
        self.count, self.kind, self.executors = 4, LocalExecutor, []

    def make(self, specs):
        self.executors.append(self.kind(specs(self.count)))
        return self.executors[-1]


@pytest.fixture
def home(monkeypatch):
    """Shards in this process, of fits with engine="dask"."""
    found, check, make = Home(), engines.check_engine, engines.make_executor
    monkeypatch.setattr(
        fit, "check_engine", lambda e: None if e == "dask" else check(e)
    )
    monkeypatch.setattr(
        engines,
        "make_executor",
        lambda e, s: found.make(s) if e == "dask" else make(e, s),
    )
    return found


@pytest.fixture(scope="module")
def cluster():
    """Two workers in processes of their own, which are replaced when they die."""
    distributed = pytest.importorskip("distributed")
    import dask

    # a worker that is missing just now must not count as taken away for good
    forever = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with (
        forever,
        distributed.LocalCluster(
            processes=True,
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def outside():
    """A scheduler and starters of workers, each a program of its own."""
    running = []

    def start(*arguments):
        command = [sys.executable, "-m", "distributed.cli." + arguments[0]]
        program = subprocess.Popen(
            [*command, *arguments[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        running.append(program)
        return program

    yield start
    for program in running:
        program.kill()
        program.wait()
