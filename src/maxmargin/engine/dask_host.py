"""What runs on a worker of a Dask cluster: an actor that holds some of the shards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.engine.executor import merged
from maxmargin.engine.packing import dumps, loads, pack, unpack


class First(NamedTuple):
    """The first common argument, mostly weights: whole, or what changed since ``base``."""

    version: int
    base: int | None = None  # None: value is the whole array
    value: Any = None


class Failure(NamedTuple):
    """What a shard raised."""

    error: BaseException


STALE, MISSING = "stale", "missing"  # replies of a host that cannot do what it is asked


class Host:
    """Shards of one worker, one after the other, each in all threads of the worker.

    Dask calls the methods of an actor one after another. They take and return frames, see
    `maxmargin.engine.packing`; replies are ``{number: reply or Failure}``.
    """

    def __init__(self, threads: int):
        self._threads = threads
        self._specs: dict[int, list[np.ndarray]] = {}
        self._shards: dict[int, Any] = {}
        self._first = 0, np.zeros(0)  # version and array
        self._heard: tuple[int, list] = 0, []
        self._held: tuple[int, list] = 0, []  # number of a question, replies to merge
        self._at: Any = None  # the first common argument of that question

    def hear(self, number: int, common: list) -> None:
        """The common arguments of the next question, in which they are left out."""
        self._heard = number, common

    def put(self, number: int, frames: list[np.ndarray]) -> list[np.ndarray]:
        """Take the spec of a shard."""
        self._specs[number] = frames
        return dumps({})

    def build(self) -> list[np.ndarray]:
        """Build the shards whose specs have come."""
        specs, self._specs = self._specs, {}
        built = {
            k: _safely(lambda f=f: loads(f).build(self._threads))
            for k, f in specs.items()
        }
        failed = {k: shard for k, shard in built.items() if isinstance(shard, Failure)}
        self._shards |= {k: shard for k, shard in built.items() if k not in failed}
        return _reply(failed)

    def ask(self, method: str, common: list | int, own: list, held: int) -> list:
        """``method`` of the shards that are keys of ``own``, its values their arguments.

        Common arguments that were heard before are named by their number.

        Of question ``held`` (0: of none), replies stay here, for :meth:`take`.
        """
        try:
            if isinstance(common, int):  # a task that was given up may still come
                if common != self._heard[0]:
                    return dumps(STALE)
                common = self._heard[1]
            first, rest = loads(common)
            each = unpack(loads(own))
            if not each.keys() <= self._shards.keys():
                return dumps(MISSING)
            rest = unpack(rest)
            if first is not None:
                version, array = self._first
                if first.base not in (None, version):
                    return dumps(STALE)
                if first.base is None:
                    # of its own: within a process, hosts are sent the same one
                    array = np.array(unpack(first.value))
                else:
                    first.value.onto(array)
                self._first, rest = (first.version, array), (array, *rest)
        except Exception as error:
            return _reply({-1: Failure(error)})
        replies = {
            k: _safely(lambda k=k: getattr(self._shards[k], method)(*rest, *each[k]))
            for k in each
        }
        if held:
            before = self._held[1] if self._held[0] == held else []
            good = [r for r in replies.values() if not isinstance(r, Failure)]
            self._held, self._at = (held, [*before, *good]), rest[0] if rest else None
            failed = {k: r for k, r in replies.items() if isinstance(r, Failure)}
            replies = dict.fromkeys(each) | failed
        return _reply(replies)

    def take(self, number: int) -> list[np.ndarray]:
        """What is held of a question, merged; it is held no more.

        A task that was given up may still come: it must not take what is for others.
        """
        if self._held[0] != number:
            raise LookupError(f"question {number} is not that of {self._held[0]}")
        held, self._held = self._held[1], (0, [])
        return self._merged(held)

    def merged(self, one: list, other: list) -> list[np.ndarray]:
        """What two hosts have taken."""
        return self._merged([unpack(loads(frames)) for frames in (one, other)])

    def _merged(self, replies: list) -> list[np.ndarray]:
        """The frames of all in one, or of a Failure."""
        failed = [reply for reply in replies if isinstance(reply, Failure)]
        found = failed[0] if failed else _safely(lambda: merged(replies, self._at))
        return dumps(pack(_portable(found) if isinstance(found, Failure) else found))


def _safely(call):
    try:
        return call()
    except Exception as error:
        return Failure(error)


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
