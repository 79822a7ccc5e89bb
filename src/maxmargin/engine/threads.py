"""Threads of one process: they run kernels, which release the GIL.

Work is a list of parts, which threads take one after the other. A :class:`Team` keeps its
threads from call to call and knows from the calls before how long a part takes, so that it
wakes no more of them than the work is worth. Whether several threads are faster at all
depends on the machine (how long a cache line takes from core to core) and on what else runs
there: now and then one thread does a part alone, and the others must be faster than that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from typing import Any

import numpy as np

PARTS = 4  # per thread: those who are done early take what others have not begun
WORTH = 4e-4  # seconds of work for which a thread is woken
STARTED = 3  # times as much where it must be started first
HINDERED = 2.5  # times as much where threads write to the same memory
CALL = 1.5e-5  # seconds of a call that do no work
TRIED = 64  # part of the work that is tried to see what the rest takes
COMPARED = 16  # part of the work that one thread does alone, to compare
PAYS = 0.95  # share of its time in which several threads must do the same
LONG = 1 << 18  # numbers of a vector that are worth two threads
KEEPS = 0.7  # share of the pace known so far when a new one is measured


class Team:
    """Up to ``size`` threads, the one that asks among them."""

    def __init__(self, size: int = 1):
        self.size = size
        self._pool: ThreadPoolExecutor | None = None
        self._pace: dict[Any, float] = {}  # seconds per unit of work, by kind
        self._calls: dict[Any, int] = {}  # with work for several threads, by kind
        self._most: dict[Any, int] = {}  # threads that were faster than one, by kind

    def __getstate__(self) -> dict:
        return vars(Team(self.size))

    def share(
        self, function: Callable, kind: Any, items: Sequence, most: int | None = None
    ) -> list:
        """``function(worker, part)`` of parts that make up the items, in their order.

        ``worker`` is the number of a thread, from 0: what belongs to it has one user at a
        time. ``kind`` says whose pace it is. At most ``most`` threads work.
        """
        threads = self.threads_for(kind, len(items), most)
        if threads == 1:
            return [self._alone(function, kind, items)]
        calls = self._calls[kind] = self._calls.get(kind, 0) + 1
        if calls & (calls - 1):  # neither 1 nor 2, 4, 8, ...
            threads = min(threads, self._most.get(kind, threads))
            return self._shared(function, kind, items, threads)
        threads = min(threads, 2 * self._most.get(kind, threads))
        some = max(len(items) // COMPARED, 1)
        if kind in self._pace:  # a part that takes long enough to be compared
            some = min(max(some, int(WORTH / self._pace[kind])), len(items) // 2)
        began = time.perf_counter()
        first = self._alone(function, kind, items[:some])
        then = time.perf_counter()
        if calls == 1:
            threads = min(threads, self.threads_for(kind, len(items) - some, most))
        others = self._shared(function, kind, items[some:], threads)
        alone = (then - began) / some
        several = (time.perf_counter() - then) / (len(items) - some)
        pays = several <= PAYS * alone
        self._most[kind] = threads if pays else max(threads // 2, 1)
        return [first, *others]

    def _alone(self, function: Callable, kind: Any, items: Sequence) -> Any:
        began = time.perf_counter()
        found = function(0, items)
        self._learn(kind, time.perf_counter() - began, len(items))
        return found

    def _shared(
        self, function: Callable, kind: Any, items: Sequence, threads: int
    ) -> list:
        if threads == 1:
            return [self._alone(function, kind, items)]
        count = len(items)
        edges = np.linspace(0, count, PARTS * threads + 1).astype(int).tolist()
        parts = [items[lo:hi] for lo, hi in pairwise(edges) if lo < hi]
        busy = [0.0] * threads

        def timed(worker, part):
            began = time.perf_counter()
            found = function(worker, part)
            busy[worker] += time.perf_counter() - began
            return found

        found = self.run(timed, parts, threads)
        self._learn(kind, sum(busy), count)
        return found

    def threads_for(self, kind: Any, count: int, most: int | None = None) -> int:
        """How many threads so many items are worth."""
        most = min(self.size, count, self.size if most is None else most)
        pace = self._pace.get(kind)
        if most > 1 and pace is not None:
            most = min(most, 1 + int(pace * count / (HINDERED * WORTH)))
        return max(most, 1)

    def run(self, function: Callable, parts: list, threads: int) -> list:
        """``function(worker, part)`` of every part, in order, by so many threads.

        An error, or Ctrl-C, is raised when nobody works any more.
        """
        results: list[Any] = [None] * len(parts)
        numbers = iter(range(len(parts)))

        def work(worker: int) -> None:
            for k in numbers:
                results[k] = function(worker, parts[k])

        if threads == 1:
            work(0)
            return results
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, "maxmargin")
        futures = [self._pool.submit(work, worker) for worker in range(1, threads)]
        try:
            work(0)
            wait(futures)
        except BaseException:
            for _ in numbers:  # what was not begun is not done
                pass
            wait(futures)
            raise
        for future in futures:
            future.result()
        return results

    def expecting(
        self, order: np.ndarray, moving: bool = False
    ) -> AbstractContextManager:
        """While examples are searched in this order: of use where processes do it."""
        return nullcontext()

    def close(self) -> None:
        """End the threads; new ones begin when there is work again."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """End the threads behind a block of statements."""
        try:
            yield
        finally:
            self.close()

    def _learn(self, kind: Any, seconds: float, count: int) -> None:
        if count:
            known, new = self._pace.get(kind), seconds / count
            self._pace[kind] = (
                new if known is None else KEEPS * known + (1 - KEEPS) * new
            )


ALONE = Team()


def over_vector(team: Team, function: Callable, length: int) -> list:
    """``function(worker, slice)`` of slices that make up a long vector."""
    threads = max(min(team.size, 2 * length // max(LONG, 1)), 1)
    edges = np.linspace(0, length, threads + 1).astype(int).tolist()
    parts = [slice(lo, hi) for lo, hi in pairwise(edges)]
    return team.run(function, parts, threads)


def over_ranges(
    function: Callable,
    start: np.ndarray,
    n_jobs: int | Team,
    shards: int | None = None,
) -> list:
    """``function(lo, hi)`` for ranges that together cover all examples.

    Ranges are four per thread, or ``shards`` whatever the number of threads. ``start``
    holds the slots of the examples: ranges are cut by slots, so that threads get equal
    work also when lengths differ. Callers write into arrays by example, so nothing
    depends on who did what. The first ranges say how many threads the others are worth.
    """
    team = n_jobs if isinstance(n_jobs, Team) else Team(n_jobs)
    n, slots = len(start) - 1, int(start[-1])

    def ranges(first: int, cuts) -> list:
        edges = [first, *np.searchsorted(start, cuts).tolist(), n]
        return [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]

    def equal(first: int, parts: int) -> list:
        return ranges(first, np.linspace(start[first], slots, parts + 1)[1:-1])

    if team.size == 1 or shards is not None:
        rest = equal(0, shards or PARTS)
    else:
        rest = ranges(0, [slots / TRIED, 5 * slots / TRIED])
    if team.size == 1 or len(rest) < 3:
        return [function(lo, hi) for lo, hi in rest]
    found, seconds = [], 0.0
    while len(found) < 2 and seconds < WORTH / 4:
        began = time.perf_counter()
        found.append(function(*rest.pop(0)))
        took = time.perf_counter() - began
        seconds += max(took - CALL, 0.1 * took)
    here = rest[0][0]
    done = max(int(start[here]), 1)
    left = seconds * (slots - done) / done
    worth = WORTH if team._pool else STARTED * WORTH
    threads = min(team.size, 1 + int(left / worth))
    if shards is None:
        rest = equal(here, PARTS * threads if threads > 1 else 1)
    try:
        found += team.run(lambda _, pair: function(*pair), rest, threads)
    finally:
        if team is not n_jobs:
            team.close()
    return found
