"""Threads of one process: they run kernels, which release the GIL.

Work is a list of parts, which threads take one after the other. A :class:`Team` keeps its
threads from call to call and knows from the calls before how long a part takes, so that it
wakes no more of them than the work is worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

PARTS = 4  # per thread: those who are done early take what others have not begun
WORTH = 4e-4  # seconds of work for which a thread is woken
TRIED = 64  # part of the work that is tried to see what the rest takes
LONG = 1 << 18  # numbers of a vector that are worth a second thread
KEEPS = 0.7  # share of the pace known so far when a new one is measured


class Team:
    """Up to ``size`` threads, the one that asks among them."""

    def __init__(self, size: int = 1):
        self.size = size
        self._pool: ThreadPoolExecutor | None = None
        self._pace: dict[Any, float] = {}  # seconds per unit of work, by kind

    def __getstate__(self) -> dict:
        return {"size": self.size, "_pool": None, "_pace": {}}

    def share(
        self, function: Callable, kind: Any, items: Sequence, most: int | None = None
    ) -> list:
        """``function(worker, part)`` of parts that make up the items, in their order.

        ``worker`` is the number of a thread, from 0: what belongs to it has one user at a
        time. ``kind`` says whose pace it is. At most ``most`` threads work.
        """
        count = len(items)
        threads = self.threads_for(kind, count, most)
        if threads == 1:
            began = time.perf_counter()
            found = [function(0, items)]
            self._learn(kind, time.perf_counter() - began, count)
            return found
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
        most = min(self.size, count, most or self.size)
        pace = self._pace.get(kind)
        if most > 1 and pace is not None:
            most = min(most, 1 + int(pace * count / WORTH))
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
    if team.size == 1 or length < LONG:
        return [function(0, slice(0, length))]
    edges = np.linspace(0, length, team.size + 1).astype(int).tolist()
    parts = [slice(lo, hi) for lo, hi in pairwise(edges)]
    return team.run(function, parts, team.size)


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
    depends on who did what. The first range says how many threads the others are worth.
    """
    team = n_jobs if isinstance(n_jobs, Team) else Team(n_jobs)
    n, slots = len(start) - 1, start[-1]
    cuts = np.linspace(0, slots, (shards or PARTS * team.size) + 1)[1:-1]
    if shards is None and team.size > 1:
        cuts = np.insert(cuts, 0, slots / TRIED)
    edges = [0, *np.searchsorted(start, cuts).tolist(), n]
    ranges = [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]
    if team.size == 1 or len(ranges) < 2:
        return [function(lo, hi) for lo, hi in ranges]
    began = time.perf_counter()
    first = function(*ranges[0])
    seconds = time.perf_counter() - began
    done = max(int(start[ranges[0][1]]), 1)
    left = seconds * (slots - done) / done
    threads = min(team.size, len(ranges) - 1, 1 + int(left / WORTH))
    try:
        others = team.run(lambda _, pair: function(*pair), ranges[1:], threads)
    finally:
        if team is not n_jobs:
            team.close()
    return [first, *others]
