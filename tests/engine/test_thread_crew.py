"""The protocol, in threads."""

import threading
import time

import numpy as np
import pytest
from crew_cases import BadSpec, specs, weights
from crew_cases import scores as expected

from maxmargin.engine.crew import ThreadCrew


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_replies_come_in_order(n_jobs):
    with ThreadCrew(specs(), n_jobs) as crew:
        w = weights()
        assert crew.shards == 5
        assert crew.ask("score", w) == expected(w)
        own = [(float(k),) for k in range(5)]
        assert crew.ask("score", w, each=own) == [
            s * k for k, s in enumerate(expected(w))
        ]
        assert crew.ask("score", w, 2.0, optional=True) == expected(w, factor=2.0)
        assert crew.ask("count") == [3] * 5  # built once, kept
        assert crew.moved == 0
        assert crew.restarted == set()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_first_error_in_order_ends_the_ask(n_jobs):
    crew = ThreadCrew(specs(), n_jobs)
    with pytest.raises(FileNotFoundError, match="shard 2 has no file"):
        crew.ask("fail", {2, 4})
    assert crew.ask("fail", set()) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="each has 4 entries for 5 shards"):
        crew.ask("score", each=[()] * 4)
    with pytest.raises(FileNotFoundError, match="shard 1 has no file"):
        ThreadCrew([*specs(1), BadSpec(1)], n_jobs)
    crew.close()


class Slow:
    """A shard that must not run twice at the same time."""

    def __init__(self):
        self.lock = threading.Lock()

    def build(self):
        return self

    def run(self):
        assert self.lock.acquire(blocking=False), "it runs already"
        time.sleep(0.1)
        self.lock.release()


def test_after_an_interrupt_nothing_runs_any_more(monkeypatch):
    from maxmargin.engine import crew as module

    real = module.wait
    calls = []

    def interrupted(futures):
        calls.append(len(futures))
        if len(calls) == 2:  # the first were the builds
            raise KeyboardInterrupt
        return real(futures)

    monkeypatch.setattr(module, "wait", interrupted)
    with ThreadCrew([Slow() for _ in range(4)], 2) as crew:
        with pytest.raises(KeyboardInterrupt):
            crew.ask("run")
        crew.ask("run")
    assert np.all(np.array(calls) == 4)
