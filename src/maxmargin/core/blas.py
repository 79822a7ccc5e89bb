"""Threads of BLAS: one, where its products are small and stand between our own loops.

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
import threading
from collections.abc import Iterator

from maxmargin.engine.interrupts import Undisturbed

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
        with Undisturbed():
            _enter(user, max(threads, 1))
        yield
    finally:
        with Undisturbed(raising=False):  # the fit is over, and its model whole
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
