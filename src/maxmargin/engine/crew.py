"""Who runs shards: the protocol, and threads of this process.

A *spec* is any object with ``build() -> shard``; a *shard* any object with methods. A crew
builds every shard once and keeps it; replies come in the order of the shards, so results do
not depend on who ran what. Shards must not write into arguments that all of them share, nor
keep them: the next round's may be in the same memory. Where the first of these is
:class:`~maxmargin.core.mirrors.Followed`, each shard gets a mirror of it to write to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from maxmargin.core.mirrors import Followed, Mirrors


class Crew:
    """What a solver knows of those who run its shards.

    ``restarted`` holds the numbers of shards that were built anew from their specs, without
    the state they had; who has seen to them takes them out. ``moved`` counts bytes.
    """

    shards: int
    restarted: set[int]
    moved: int = 0

    def ask(
        self,
        method: str,
        *common: Any,
        each: Sequence[tuple] | None = None,
        optional: bool = False,
    ) -> list:
        """``getattr(shard_k, method)(*common, *each[k])`` of every shard k, in order.

        With ``optional``, a shard that is late gives None: its reply comes with a later
        optional ask, in which it is not asked again.
        """
        raise NotImplementedError

    def replies(
        self, method: str, *common: Any, each: Sequence[tuple] | None = None
    ) -> Iterator:
        """The replies of :meth:`ask`, which may be as large as w: few at a time."""
        yield from self.ask(method, *common, each=each)

    def ask_one(self, k: int, method: str, *arguments: Any) -> Any:
        """The same of one shard alone; only crews of this process can."""
        raise NotImplementedError

    def at_home(self) -> Crew:
        """Shards built anew in this process, when those of a cluster are lost."""
        return self

    def close(self) -> None:
        """Let go of the shards."""

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class ThreadCrew(Crew):
    """Shards in this process, in ``n_jobs`` threads: kernels release the GIL."""

    def __init__(self, specs: Sequence, n_jobs: int = 1):
        self.shards = len(specs)
        self.restarted = set()
        threads = min(n_jobs, self.shards)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._threads = max(threads, 1)
        self._mirrors = Mirrors()
        self._shards = self._all([spec.build for spec in specs])

    def ask(self, method, *common, each=None, optional=False):
        return self._all(self._calls(method, common, each))

    def replies(self, method, *common, each=None):
        calls = self._calls(method, common, each)
        for first in range(0, len(calls), self._threads):
            yield from self._all(calls[first : first + self._threads])

    def _calls(self, method, common, each) -> list:
        own = each_of(each, self.shards)
        shared = common_of(self._mirrors, common)
        return [
            lambda shard=shard, more=more: call(shard, method, shared, more)
            for shard, more in zip(self._shards, own, strict=True)
        ]

    def ask_one(self, k, method, *arguments):
        return call(self._shards[k], method, common_of(self._mirrors, arguments), ())

    def _all(self, calls: list) -> list:
        return run_all(self._pool, calls)

    def close(self):
        self._shards = []
        if self._pool is not None:
            self._pool.shutdown()


def common_of(mirrors: Mirrors, common: tuple) -> tuple:
    """Arguments that shards share, with mirrors in place of weights that are followed."""
    if common and isinstance(common[0], Followed):
        mirrors.see(common[0])
        return mirrors, *common[1:]
    return common


def call(shard: Any, method: str, common: tuple, own: tuple) -> Any:
    """A method of a shard, with a mirror of its own if the weights are mirrored."""
    if not (common and isinstance(common[0], Mirrors)):
        return getattr(shard, method)(*common, *own)
    with common[0].lent() as mirror:
        return getattr(shard, method)(mirror, *common[1:], *own)


def each_of(each: Sequence[tuple] | None, shards: int) -> Sequence[tuple]:
    """The arguments of every shard's own."""
    if each is None:
        return [()] * shards
    if len(each) != shards:
        raise ValueError(f"each has {len(each)} entries for {shards} shards.")
    return each


def run_all(pool: ThreadPoolExecutor | None, calls: list) -> list:
    """Results in order; the first error in that order, when nothing runs any more."""
    if pool is None:
        return [call() for call in calls]
    futures = [pool.submit(call) for call in calls]
    try:
        wait(futures)
    except BaseException:  # Ctrl-C: shards must not run on while others ask them
        for future in futures:
            future.cancel()
        wait(futures)
        raise
    return [future.result() for future in futures]
