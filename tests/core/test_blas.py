"""Threads of BLAS: few while a fit runs, and afterwards as many as before."""

import signal
import threading
from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from maxmargin import KernelSVM, MulticlassSVM
from maxmargin.core import jobs
from maxmargin.core.jobs import at_most

Y = np.arange(40) % 3
X = np.random.default_rng(0).normal(size=(40, 3)) + 3.0 * np.eye(3)[Y]


def pools() -> list[int]:
    info = ThreadpoolController().select(user_api="blas").info()
    return [library["num_threads"] for library in info]


@pytest.fixture
def three():
    with threadpool_limits(3, user_api="blas"):
        if max(pools()) < 3:
            pytest.skip("BLAS has one thread only")
        yield pools()


def test_a_fit_leaves_the_pools_as_they_were(three):
    seen = []
    model = MulticlassSVM(callbacks=[lambda row: seen.append(max(pools()))])
    model.fit(X, Y)
    assert set(seen) == {1}
    assert pools() == three
    model.path(X, Y, [0.1, 1.0])
    assert pools() == three
    with pytest.raises(ValueError, match="NaN"):
        MulticlassSVM().fit(X * np.nan, Y)
    assert pools() == three
    KernelSVM().fit(X, Y)
    assert pools() == three


def test_all_of_a_fit_of_kernels_is_limited(three, monkeypatch):
    """Also what comes before training: reading, scales of kernels."""
    seen = []

    def spy(name):
        before = getattr(KernelSVM, name)

        def look(*args):
            seen.append((name, max(pools())))
            return before(*args)

        monkeypatch.setattr(KernelSVM, name, look)

    for name in ("_encode", "_machines"):
        spy(name)
    KernelSVM().fit(X, Y)
    KernelSVM().path(X, Y, Cs=[0.1, 1.0])
    assert {name for name, _ in seen} == {"_encode", "_machines"}
    assert {threads for _, threads in seen} == {1}
    assert pools() == three


@pytest.mark.parametrize(
    ("method", "threads"),
    [("auto", 1), ("exact", 1), ("subspace-pursuit", 1), ("sampling", 2)],
)
def test_kernels_have_threads_of_blas_where_they_pay(
    three, monkeypatch, method, threads
):
    monkeypatch.setattr(KernelSVM, "_threads", lambda self: 2)
    before, seen = KernelSVM._machines, []

    def look(*args):
        seen.append(max(pools()))
        return before(*args)

    monkeypatch.setattr(KernelSVM, "_machines", look)
    size = None if method in ("auto", "exact") else 5
    KernelSVM(method=method, n_components=size, n_jobs=2, tol=0.5).fit(X, Y)
    assert seen == [threads]
    assert pools() == three


def test_a_limit_of_the_user_is_not_raised(three):
    with threadpool_limits(1, user_api="blas"):
        with at_most(2):
            assert max(pools()) == 1
        assert max(pools()) == 1
    assert pools() == three


def test_fits_that_overlap_in_any_order(three):
    first, second = at_most(1), at_most(2)
    first.__enter__()
    second.__enter__()
    assert max(pools()) == 1
    first.__exit__(None, None, None)
    assert max(pools()) == 2
    second.__exit__(None, None, None)
    assert pools() == three


def test_fits_in_threads(three):
    def work():
        for _ in range(20):
            with at_most(1):
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pools() == three


@pytest.mark.parametrize("name", ["_enter", "_apply", "_leave"])
def test_ctrl_c_at_any_moment_gives_the_threads_back(three, monkeypatch, name):
    real, pressed = getattr(jobs, name), []

    def interrupted(*arguments):
        found = real(*arguments)
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(jobs, name, interrupted)
    over = name == "_leave"  # a fit that has ended is not interrupted any more
    with nullcontext() if over else pytest.raises(KeyboardInterrupt), at_most(1):
        pass
    assert pressed
    assert pools() == three
    assert not jobs._users


def test_ctrl_c_just_before_the_threads_are_given_back(three, monkeypatch):
    """When a fit is over, and before nothing can disturb what follows."""
    real, calls = jobs.undisturbed, []

    def late(*arguments, **settings):
        calls.append(settings)
        if len(calls) == 2:  # the first one is on the way in
            raise KeyboardInterrupt
        return real(*arguments, **settings)

    monkeypatch.setattr(jobs, "undisturbed", late)
    with at_most(1):
        assert max(pools()) == 1
    assert len(calls) == 3
    assert pools() == three
    assert not jobs._users
