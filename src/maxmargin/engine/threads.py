"""Threads of one process: they run kernels, which release the GIL.

Work is a list of parts, which threads take one after the other. A :class:`Team` keeps its
threads from call to call and knows from the calls before how long a part takes, so that it
wakes no more of them than the work is worth. Whether several threads are faster at all
depends on the machine (how long a cache line takes from core to core) and on what else runs
there: now and then one thread does a part alone, and the others must be faster than that.
They must be faster than the best that one thread has shown: what it does after others is
slower, for what they wrote must come from their caches first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.engine.interrupts import undisturbed
from maxmargin.waiting import counted

PARTS = 4  # per thread: those who are done early take what others have not begun
WATCHED = 256  # parts for one thread where somebody looks at a bar
FINE = (
    4e-3  # seconds of a part, if more parts can be made: nobody waits longer at the end
)
WORTH = 4e-4  # seconds of work for which a thread is woken
STARTED = 8  # times as much where it must be started first
HINDERED = 2.5  # times as much where threads write to the same memory
STEPS = 7.5  # times as much in a pass whose steps several threads take at all
CALL = 1.5e-5  # seconds of a call that do no work
TRIED = 64  # part of the work that is tried to see what the rest takes
COMPARED = 16  # part of the work that one thread does alone, to compare
RETRIED = 4  # part of the work on which several threads are tried again
TINY = 1e-300
AGEING = 1.5  # what was the best pace may not be reached for ever
PAYS = 0.95  # share of its time in which several threads must do the same
IN_FLIGHT = 16  # blocks of a pass for one that is visited at the same time as others
KEPT = 0.5  # share of what steps hoped to gain that they must gain together
SEEN = 1e-6  # of the dual: less is rounding
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
        self._single: dict[Any, float] = {}  # the best pace of one thread, by kind
        self.stepping = size  # threads that may step on one w at the same time
        self._missed = 0.0  # seconds that threads would have saved, if there were any

    def __getstate__(self) -> dict:
        return vars(Team(self.size))

    def share(
        self,
        function: Callable,
        kind: Any,
        items: np.ndarray,
        most: int | None = None,
        sizes: np.ndarray | None = None,
        alone: Callable | None = None,
        steps: bool = False,
    ) -> list:
        """``function(worker, part)`` of parts that make up the items, in their order.

        ``worker`` is the number of a thread, from 0: what belongs to it has one user at a
        time. ``kind`` says whose pace it is. At most ``most`` threads work. ``sizes`` says
        how much work each item is, if they differ. ``alone`` is the function while nobody
        else works, if that is simpler. With ``steps``, items are blocks of a pass whose
        steps are on one w: no more threads than may take them at the same time.
        """
        how = function, alone or function
        if steps:
            able = self.at_once(len(items))
            most = able if most is None else min(most, able)

        def work(part) -> float:
            return float(len(part) if sizes is None else sizes[part].sum())

        threads = self.threads_for(kind, work(items), most, len(items), steps)
        if threads == 1:
            return [self._alone(how, kind, items, work)]
        calls = self._calls[kind] = self._calls.get(kind, 0) + 1
        if calls & (calls - 1):  # neither 1 nor 2, 4, 8, ...
            threads = min(threads, self._most.get(kind, threads))
            return self._shared(how, kind, items, threads, work)
        threads = min(threads, 2 * self._most.get(kind, threads))
        some = max(len(items) // COMPARED, 1)
        if kind in self._pace:  # a part that takes long enough to be compared
            enough = WORTH * len(items) / max(self._pace[kind] * work(items), TINY)
            some = min(max(some, int(enough)), len(items) // 2)
        first, pace = self._timed(self._alone, how, kind, items[:some], work)
        self._single[kind] = min(AGEING * self._single.get(kind, pace), pace)
        rest = items[some:]
        if calls == 1:
            enough = self.threads_for(kind, work(rest), most, len(rest), steps)
            threads = min(threads, enough)
        # what has not paid is tried on a part
        tried = len(rest) // RETRIED if self._most.get(kind, 0) == 1 else len(rest)
        found, several = self._timed(
            self._shared, how, kind, rest[:tried], threads, work
        )
        pays = several <= PAYS * self._single[kind]
        self._most[kind] = threads if pays else max(threads // 2, 1)
        if tried < len(rest):
            more = self._most[kind]
            found += self._shared(how, kind, rest[tried:], more, work)
        return [first, *found]

    @staticmethod
    def _timed(call: Callable, how, kind, items, *rest) -> tuple:
        """What a call gives, and its seconds per unit of work."""
        began = time.perf_counter()
        found = call(how, kind, items, *rest)
        seconds, work = time.perf_counter() - began, rest[-1]
        return found, seconds / max(work(items), TINY)

    def _alone(self, how: tuple, kind: Any, items, work: Callable) -> Any:
        began = time.perf_counter()
        found = how[1](0, items)
        self._learn(kind, time.perf_counter() - began, work(items))
        return found

    def _shared(
        self, how: tuple, kind: Any, items, threads: int, work: Callable
    ) -> list:
        if threads == 1 or len(items) == 0:
            return [self._alone(how, kind, items, work)]
        count = len(items)
        seconds = self._pace.get(kind, 0.0) * work(items)
        edges = np.linspace(0, count, _parts(threads, seconds) + 1).astype(int).tolist()
        parts = [items[lo:hi] for lo, hi in pairwise(edges) if lo < hi]
        busy = [0.0] * threads

        def timed(worker, part):
            began = time.perf_counter()
            found = how[0](worker, part)
            busy[worker] += time.perf_counter() - began
            return found

        found = self.run(timed, parts, threads)
        self._learn(kind, sum(busy), work(items))
        return found

    @property
    def started(self) -> bool:
        """Whether threads wait for work."""
        return self._pool is not None

    def at_once(self, blocks: int) -> int:
        """How many threads may take the steps of a pass over so many blocks."""
        return min(self.stepping, blocks // IN_FLIGHT)

    def heed(self, before: float, hoped: float, found: float) -> bool:
        """Compare what the steps of a pass should have given with what they gave.

        Each is measured as if no other thread took one at the same time. Where blocks pull
        at the same weights, such steps go too far together: then fewer are taken at once.
        Returns whether they have lowered the dual, which those of one thread never do.
        """
        short = hoped - found
        if short > (1 - KEPT) * (hoped - before) and short > SEEN * abs(found):
            self.stepping = max(self.stepping // 2, 1)
        return bool(self.size > 1 and found < before)

    def threads_for(
        self, kind: Any, work: float, most: int | None, count: int, steps: bool = False
    ) -> int:
        """How many threads so much work is worth, of so many items."""
        most = min(self.size, count, self.size if most is None else most)
        pace = self._pace.get(kind)
        if most > 1 and pace is not None:
            seconds = pace * work
            worth = HINDERED * WORTH * (1 if self.started else STARTED)
            most = min(most, 1 + int(seconds / worth))
            if steps and seconds < STEPS * WORTH:
                most = 1
        return max(most, 1)

    def worth(self, seconds: float) -> int:
        """How many threads that hardly hinder each other so much work is worth.

        To start them costs more than to wake them: it is done for work that is worth it
        at once, or where they would have saved as much in the calls before.
        """
        threads = min(self.size, 1 + int(seconds / WORTH))
        if not self.started and self._missed < STARTED * WORTH:
            self._missed += seconds * (1.0 - 1.0 / threads)
            threads = min(threads, 1 + int(seconds / (STARTED * WORTH)))
        return threads

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
        futures: list = []
        try:
            with undisturbed():  # or a thread would work that nobody waits for
                others = range(1, threads)
                futures = [self._pool.submit(work, worker) for worker in others]
            work(0)
            wait(futures)
        except BaseException:
            with undisturbed():  # another Ctrl-C waits as well
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
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """End the threads behind a block of statements."""
        try:
            yield
        finally:
            self.close()

    def _learn(self, kind: Any, seconds: float, work: float) -> None:
        if work:
            known, new = self._pace.get(kind), seconds / work
            self._pace[kind] = (
                new if known is None else KEEPS * known + (1 - KEEPS) * new
            )


ALONE = Team()


def _parts(threads: int, seconds: float) -> int:
    """Into how many parts so many threads should cut work that takes so long."""
    return max(PARTS * threads, int(seconds / FINE))


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
    work = lambda lo, hi: int(start[hi] - start[lo])  # noqa: E731
    with counted(function, int(start[-1]), work) as call:
        alone = PARTS if call is function else WATCHED
        return _over_ranges(call, start, n_jobs, shards, alone)


def _over_ranges(function, start, n_jobs, shards, alone: int) -> list:
    """With so many ranges for one thread that is alone."""
    team = n_jobs if isinstance(n_jobs, Team) else Team(n_jobs)
    n, slots = len(start) - 1, int(start[-1])

    def ranges(first: int, cuts) -> list:
        edges = [first, *np.searchsorted(start, cuts).tolist(), n]
        return [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]

    def equal(first: int, parts: int) -> list:
        return ranges(first, np.linspace(start[first], slots, parts + 1)[1:-1])

    if team.size == 1 or shards is not None:
        rest = equal(0, shards or alone)
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
    threads = team.worth(left)
    if shards is None:
        rest = equal(here, _parts(threads, left) if threads > 1 else alone // PARTS)
    try:
        found += team.run(lambda _, pair: function(*pair), rest, threads)
    finally:
        if team is not n_jobs:
            team.close()
    return found
