"""Who runs shards: the protocol, and this process.

A *spec* is any object with ``build(threads) -> shard``; a *shard* any object with methods.
An executor builds every shard once and keeps it; replies come in the order of the shards.
Shards must not write into arguments that all of them share, nor keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any


class Executor:
    """What a solver knows of those who run its shards.

    ``restarted`` holds the numbers of shards that were built anew from their specs, without
    the state they had; who has seen to them takes them out. ``moved`` counts bytes.
    """

    shards: int
    restarted: set[int]
    moved: int = 0

    def ask(
        self, method: str, *common: Any, each: Sequence[tuple] | None = None
    ) -> list:
        """``getattr(shard_k, method)(*common, *each[k])`` of every shard k, in order."""
        raise NotImplementedError

    def reduce(
        self,
        method: str,
        *common: Any,
        each: Sequence[tuple] | None = None,
        optional: bool = False,
    ) -> Any:
        """The same, merged in any order: ``reply.merge(other, first common argument)``.

        With ``optional``, those of shards that are late are left out and come with a later
        optional question, in which these are not asked again; None if there is no reply.
        """
        raise NotImplementedError

    def at_home(self) -> Executor:
        """Shards built anew in this process, when those of a cluster are lost."""
        return self

    def close(self) -> None:
        """Let go of the shards."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class LocalExecutor(Executor):
    """Shards in this process, one after the other."""

    def __init__(self, specs: Sequence, threads: int = 1):
        self.shards = len(specs)
        self.restarted = set()
        self._shards = [spec.build(threads) for spec in specs]

    def ask(self, method, *common, each=None):
        own = each_of(each, self.shards)
        pairs = zip(self._shards, own, strict=True)
        return [getattr(shard, method)(*common, *more) for shard, more in pairs]

    def reduce(self, method, *common, each=None, optional=False):
        return merged(self.ask(method, *common, each=each), *common[:1])


def merged(replies: Sequence, w: Any = None) -> Any:
    """All in one."""
    return reduce(lambda a, b: a.merge(b, w), replies)


def each_of(each: Sequence[tuple] | None, shards: int) -> Sequence[tuple]:
    """The arguments of every shard's own."""
    if each is None:
        return [()] * shards
    if len(each) != shards:
        raise ValueError(f"each has {len(each)} entries for {shards} shards.")
    return each
