"""How many threads a fit has: what ``n_jobs`` means, and those of BLAS.

BLAS libraries keep a thread per core, which spin for a while after every product, beside
loops that need the cores. So fits allow one thread, or as many as ``n_jobs`` says where
products are large ("sampling" of ``KernelSVM``), and give back what there was. The first
fit asks the process what libraries it has (threadpoolctl), which takes milliseconds; later
ones do not.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import multiprocessing
import os
import threading
from collections.abc import Iterator

from maxmargin.core.checks import is_whole
from maxmargin.engine.interrupts import undisturbed

MOST_THREADS = 16  # on machines with fewer cores: more would only stand in the way


def effective_jobs(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means here and now: one at least.

    As in scikit-learn, -1 is all cores, -2 all but one, and None is one, or what
    ``joblib.parallel_config`` says. Workers of joblib get their share of the cores.
    """
    import joblib

    cores = joblib.cpu_count()
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} is not possible: it must be a positive whole number, -1 "
            "for one per core, -2 for all cores but one, or None for one."
        )
    if n_jobs is not None and n_jobs < -cores:
        raise ValueError(
            f"n_jobs={int(n_jobs)} is not possible: of {cores} cores it leaves none to "
            "work with; n_jobs=-1 is all of them."
        )
    if n_jobs is not None:
        n_jobs = int(n_jobs) if n_jobs > 0 else cores + 1 + int(n_jobs)
    wanted = joblib.effective_n_jobs(n_jobs)  # 1 where all shall be sequential
    return max(1, min(wanted, max(cores, MOST_THREADS), _share(cores)))


def _share(cores: int) -> float:
    """How many threads whoever runs us leaves to us."""
    from joblib.parallel import get_active_backend

    if multiprocessing.current_process().name.startswith("LokyProcess"):
        told = os.environ.get("OMP_NUM_THREADS", "")  # by joblib: cores per worker
        return min(int(told), cores) if told.isdecimal() else 1
    # Elsewhere nobody says how many others there are.
    nested = get_active_backend()[0].nesting_level
    return 1 if nested else float("inf")


# of BLAS ------------------------------------------------------------------------------


_lock = threading.Lock()
_users: dict[object, int] = {}  # the threads that those who run now allow
_before: list[tuple] = []  # (library, its threads before the first of them)


@functools.cache
def _libraries() -> list:
    """What can be told how many threads to use; none if nobody knows."""
    try:
        importlib.import_module("scipy.linalg")  # which brings a BLAS of its own
        from threadpoolctl import ThreadpoolController

        found = ThreadpoolController().select(user_api="blas").lib_controllers
    except Exception:
        return []
    return list(found)


@contextlib.contextmanager
def at_most(threads: int) -> Iterator[None]:
    """No more than so many threads of BLAS, and never more than there were before.

    Where several fits of a process overlap, the smallest number holds for all of them, and
    the last one to end gives back what the first one found.
    """
    user = object()
    try:
        with undisturbed():
            _enter(user, max(threads, 1))
        yield
    finally:  # the fit is over, and its model whole
        try:
            with undisturbed(raising=False):
                _leave(user)
        except KeyboardInterrupt:  # before the block began
            with undisturbed(raising=False):
                _leave(user)


def _enter(user: object, threads: int) -> None:
    libraries = _libraries()
    with _lock:
        if not _users:
            _before[:] = [(library, library.num_threads) for library in libraries]
        _users[user] = threads
        _apply(min(_users.values()))


def _leave(user: object) -> None:
    with _lock:
        if _users.pop(user, None) is not None:
            _apply(min(_users.values(), default=None))


def _apply(threads: int | None) -> None:
    for library, before in _before:
        if before is not None:
            wanted = before if threads is None else min(before, threads)
            if library.num_threads != wanted:
                library.set_num_threads(wanted)
