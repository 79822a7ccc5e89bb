"""What runs on a worker of a Dask cluster: an actor that holds some of the shards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.mirrors import Followed, Mirrors
from maxmargin.engine.crew import call, common_of, run_all
from maxmargin.engine.packing import dumps, loads, pack, unpack


class First(NamedTuple):
    """The first common argument, mostly weights: whole, or what changed since ``base``."""

    version: int
    base: int | None = None  # None: value is the whole array
    value: Any = None
    mirrored: bool = False  # shards get copies of it to write to


class Failure(NamedTuple):
    """What a shard raised."""

    error: BaseException


STALE, MISSING = "stale", "missing"  # replies of a host that cannot do what it is asked


class Host:
    """Shards of one worker, run in as many threads as the worker has.

    Dask calls the methods of an actor one after another. They take and return frames, see
    `maxmargin.engine.packing`; replies are ``{number: reply or Failure}``.
    """

    def __init__(self, threads: int):
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._specs: dict[int, list[np.ndarray]] = {}
        self._shards: dict[int, Any] = {}
        # (version, array) by whether it is mirrored
        self._first = {False: (0, np.zeros(0)), True: (0, np.zeros(0))}
        self._mirrors = Mirrors()

    def put(self, number: int, frames: list[np.ndarray]) -> list[np.ndarray]:
        """Take the spec of a shard."""
        self._specs[number] = frames
        return dumps({})

    def build(self) -> list[np.ndarray]:
        """Build the shards whose specs have come."""
        specs, self._specs = self._specs, {}
        built = self._all({k: lambda f=f: loads(f).build() for k, f in specs.items()})
        failed = {k: shard for k, shard in built.items() if isinstance(shard, Failure)}
        self._shards |= {k: shard for k, shard in built.items() if k not in failed}
        return _reply(failed)

    def ask(self, method: str, common: list, own: list) -> list[np.ndarray]:
        """``method`` of the shards that are keys of ``own``, its values their arguments."""
        try:
            first, rest = loads(common)
            each = unpack(loads(own))
            if not each.keys() <= self._shards.keys():
                return dumps(MISSING)
            if first is not None:
                if first.base not in (None, self._first[first.mirrored][0]):
                    return dumps(STALE)
                rest = (self._newest(first), *unpack(rest))
            else:
                rest = unpack(rest)
            shared = common_of(self._mirrors, rest)
        except Exception as error:
            return _reply({-1: Failure(error)})

        def answer(k):
            return lambda: call(self._shards[k], method, shared, each[k])

        return _reply(self._all({k: answer(k) for k in each}))

    def _newest(self, first: First) -> np.ndarray | Followed:
        """The array as it is now; one that is mirrored is written to, so it is our own."""
        changes, (_, array) = first.value, self._first[first.mirrored]
        if not first.mirrored:
            array = unpack(changes) if first.base is None else changes.onto(array)
            self._first[False] = first.version, array
            return array
        if first.base is None:
            whole, places = unpack(changes), None
            if whole.shape == array.shape and whole.dtype == array.dtype:
                array[:] = whole  # mirrors of it go on
            else:
                array = np.array(whole)
        else:
            array[changes.places] = changes.values
            places = [changes.places]
        self._first[True] = first.version, array
        return Followed(array, places)

    def _all(self, calls: dict) -> dict:
        def safely(call):
            try:
                return call()
            except Exception as error:
                return Failure(error)

        results = run_all(self._pool, [lambda c=c: safely(c) for c in calls.values()])
        return dict(zip(calls, results, strict=True))


def _reply(replies: dict) -> list[np.ndarray]:
    """Frames; what cannot travel becomes an error that can."""
    replies = pack(replies)
    try:
        frames = dumps(replies)
        if any(isinstance(reply, Failure) for reply in replies.values()):
            loads(frames)  # some errors are pickled but cannot be read
        return frames
    except Exception:
        return dumps({k: _portable(reply) for k, reply in replies.items()})


def _portable(reply: Any) -> Any:
    try:
        loads(dumps(reply))
        return reply
    except Exception as reason:
        if isinstance(reply, Failure):
            kind, text = type(reply.error).__name__, reply.error
            return Failure(RuntimeError(f"{kind}: {text}"))
        return Failure(TypeError(f"the reply of a shard cannot be sent: {reason}"))
