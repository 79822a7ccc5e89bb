"""Processes that search a user's Python problem for many examples at once.

Python runs one thread at a time, so threads are of no use to such a problem. Where its
search is expensive, copies of it in other processes search for a group of the examples that
come next, all at the same w; then steps are taken one by one, as ever. What cannot be
sent, or goes wrong there, is asked here, where errors are those of the user's method.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.core.problems.answers import CachedOutput
from maxmargin.core.warn import warn
from maxmargin.engine.interrupts import undisturbed
from maxmargin.engine.threads import Team

EXPENSIVE = 1e-3  # seconds of a search for which another process is worth asking
ENOUGH = 0.25  # seconds of searches in this process before others are started
LONG = 0.25  # seconds that a group may take, so that Ctrl-C and the clock are heard
AT_ONCE = 64  # of so many examples, one is searched at weights that others then change
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class SearchTeam(Team):
    """The team of a Python problem: one thread, and up to ``jobs`` processes."""

    def __init__(self, batch: Any, jobs: int):
        super().__init__()
        self.jobs = jobs
        self._batch = batch
        self._calls, self._seconds = 0, 0.0  # of searches in this process
        self._processes: Any = None
        self._asked: list = []  # futures of what they were asked last
        self._begun = False  # whether they have the problem
        self._settled = True  # whether it is decided if there will be any
        self._order: list[int] = []
        self._place: dict[int, int] = {}
        self._moving = False
        self._found: dict[int, CachedOutput | None] = {}

    def __reduce__(self):
        return Team, ()  # processes are of this one alone

    @contextlib.contextmanager
    def expecting(self, order: np.ndarray, moving: bool = False) -> Iterator[None]:
        """While these examples are searched in this order; ``moving``: w changes."""
        self._order, self._moving = order.tolist(), moving
        self._place = {i: k for k, i in enumerate(self._order)}
        try:
            yield
        finally:
            self._place, self._found = {}, {}

    def search(self, name: str, i: int, *arguments: Any) -> tuple[CachedOutput, bool]:
        """What a method finds for example i, and whether it was asked at this very w."""
        if i in self._place and i not in self._found and self._ready():
            self._search_group(name, self._place[i], arguments)
        entry = self._found.pop(i, None)
        if entry is not None:
            return entry, not self._moving
        began = time.perf_counter()
        entry = self._batch.ask_entry(name, i, *arguments)
        self._seconds += time.perf_counter() - began
        self._calls += 1
        return entry, True

    def at_work(self) -> contextlib.AbstractContextManager[None]:
        self._settled = False  # from now on somebody will close them
        return super().at_work()

    def close(self) -> None:
        super().close()
        self._settled, self._begun = True, False
        processes, self._processes = self._processes, None
        if processes is not None:
            with undisturbed(raising=False):
                deadline = time.perf_counter() + 1.0
                # a pool that has not yet looked at a question ends with an error
                while self._unseen() and time.perf_counter() < deadline:
                    time.sleep(1e-3)
                processes.shutdown(wait=True, kill_workers=True)

    # processes -------------------------------------------------------------------------

    def _ready(self) -> bool:
        """Whether others can be asked; starts them once they promise to be of use."""
        if not self._settled and self._seconds > ENOUGH:
            self._settled = True
            if self._per_search() < EXPENSIVE:
                self._say(
                    f"its searches ({1e3 * self._per_search():.2g} ms) are too short to be "
                    "worth other processes"
                )
            else:
                self._start()
        if self._processes is None:
            return False
        if not self._begun and all(one.done() for one in self._asked):
            with self._or_here():
                for one in self._asked:
                    one.result()
                self._begun = True
        return self._begun

    def _unseen(self) -> bool:
        return not all(one.running() or one.done() for one in self._asked)

    def _per_search(self) -> float:
        return self._seconds / self._calls

    def _start(self) -> None:
        from joblib.externals import loky
        from joblib.externals.loky.backend.reduction import dumps

        batch = self._batch
        with self._or_here(), undisturbed():
            sent = bytes(dumps((batch.answers, batch.X, batch.Y, batch.numbers)))
            self._processes = loky.ProcessPoolExecutor(
                self.jobs, initializer=_begin, initargs=(sent,), env=QUIET
            )
            self._asked = [self._processes.submit(_problem) for _ in range(self.jobs)]

    def _search_group(self, name: str, first: int, arguments: tuple) -> None:
        size = self.jobs * LONG / self._per_search()
        if self._moving:
            size = min(size, len(self._batch.X) / AT_ONCE)
        size = self.jobs * max(int(size / self.jobs), 1)
        group = self._order[first : first + size]
        parts = [group[k :: self.jobs] for k in range(self.jobs)]
        began = time.perf_counter()
        with self._or_here():
            with undisturbed():  # the pool would be left with half a question
                self._asked = [
                    self._processes.submit(_search, name, part, *arguments)
                    for part in parts
                    if part
                ]
            for part, one in zip(parts, self._asked, strict=False):
                self._found.update(zip(part, one.result(), strict=True))
        self._batch.answers.seconds += time.perf_counter() - began

    @contextlib.contextmanager
    def _or_here(self) -> Iterator[None]:
        """What fails in other processes is done in this one from now on."""
        try:
            yield
        except Exception as error:
            self.close()
            kind = type(self._batch.answers.problem).__name__
            reason = f"{type(error).__name__}: {error}".split("\n")[0]
            self._say(f"{kind} cannot be searched in other processes ({reason:.200})")

    def _say(self, reason: str) -> None:
        warn(
            f"n_jobs={self.jobs} is of no use here: a problem in Python is searched by "
            f"one thread at a time, and {reason}.",
            RuntimeWarning,
        )


# in those processes ----------------------------------------------------------------------

_sent: Any = b""


def _begin(sent: bytes) -> None:
    global _sent
    _sent = sent
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks decides what it ends


def _problem() -> None:
    global _sent
    if isinstance(_sent, bytes):
        _sent = pickle.loads(_sent)


def _search(
    name: str, examples: list[int], w: np.ndarray, *more
) -> list[CachedOutput | None]:
    """The answers of a method; None where it raises: it is asked again by who can say."""
    _problem()
    answers, X, Y, numbers = _sent
    w.flags.writeable = False
    found: list[CachedOutput | None] = []
    for i in examples:
        with contextlib.suppress(Exception):
            found.append(answers.searched(name, numbers[i], X[i], Y[i], w, *more))
            continue
        found.append(None)
    return found
