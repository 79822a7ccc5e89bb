"""Shards on a Dask cluster: one actor per worker, which holds some of the shards.

Common arguments are sent once per worker and round. The first of them, mostly the weights,
is remembered on both sides: only what changed is sent. A worker that dies, or does not
answer for too long, is given up: its shards are built anew from their specs on others.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from maxmargin.engine.dask_host import MISSING, STALE, Failure
from maxmargin.engine.dask_workers import GONE, Remote, Workers, settled
from maxmargin.engine.executor import Executor, LocalExecutor, each_of
from maxmargin.engine.interrupts import undisturbed
from maxmargin.engine.lost import EngineLost
from maxmargin.engine.packing import loads, size
from maxmargin.engine.packing import unpack as unpacked
from maxmargin.engine.questions import Question, Weights, spec_frames
from maxmargin.engine.tree import merge_over, tell_all

HOPELESS = 20  # times patience: a worker that has not answered for so long is dead
SLOW = 5  # times the median of the others: late
ATTEMPTS = 5  # workers that may die of one question
MANY = 8  # hosts from which on one passes a question on to others
FETCHED = 30.0  # seconds in which a merged reply comes
LOOK = 1.0  # seconds between looks whether silent workers live
LOST, LATE = "lost", "late"


@dataclass(eq=False)
class Call:
    """A question to a host."""

    remote: Remote
    method: str
    arguments: tuple
    numbers: set[int]  # of the shards it is for
    held: int = 0  # its number, if replies are to be merged
    began: float = field(default_factory=time.monotonic)
    reply: asyncio.Task | None = None  # once it was sent


class DaskExecutor(Executor):
    """``patience``: seconds to wait for late replies, and for a worker if there is none.

    Questions that must be answered wait `HOPELESS` times as long for a silent worker.
    """

    def __init__(self, specs: Sequence, client, patience: float = 60.0):
        self.shards = len(specs)
        self.restarted = set()
        self.moved = 0
        self.patience = patience
        self._specs = [spec_frames(k, spec) for k, spec in enumerate(specs)]
        self._late: dict[Remote, Call] = {}
        self._weights = Weights()
        self._questions = 0  # whose replies were merged
        self._told = 0  # questions that hosts passed on
        self._workers = Workers(client, patience)
        try:
            self._place(set(range(self.shards)))
        except BaseException:
            self.close()
            raise

    def at_home(self) -> Executor:
        """EngineLost where the data of a shard cannot be read from here."""
        try:
            return LocalExecutor([loads(frames) for frames in self._specs])
        except (OSError, ValueError) as error:
            raise EngineLost(
                f"{GONE} The data cannot be read from here ({error}), so that nothing is "
                "proved of the weights so far: fit again, with a checkpoint to go on from."
            ) from None

    def close(self):
        self._specs, self._late = [], {}
        # It takes a while, and a fit that is over is not lost to a Ctrl-C in it.
        with undisturbed(raising=False):
            self._workers.close()

    def ask(self, method, *common, each=None):
        return self._ask(method, common, each, False, 0)[0]

    def reduce(self, method, *common, each=None, optional=False):
        for attempt in itertools.count(1):
            self._questions += 1
            held = self._questions
            _, ready = self._ask(method, common, each, optional, held)
            if not ready:
                return None
            try:
                frames = self._merged(ready)
            except Broken:
                if optional:  # the next question finds who is lost
                    return None
                _check_attempts(attempt)
                continue
            self.moved += size(frames)
            found = unpacked(loads(frames))
            if isinstance(found, Failure):
                raise _said(found.error)
            return found

    def _merged(self, ready: dict[Remote, int]) -> list[np.ndarray]:
        """The frames of what hosts hold, merged; Broken if one of them is lost."""

        def begin(client):
            return [merge_over(client, ready)]

        [future] = self._finished(begin, list(ready))
        try:
            return future.result(timeout=max(self.patience, FETCHED))
        except Exception:  # its worker was lost meanwhile
            raise Broken from None

    def _tell(self, question: Question, remotes: list[Remote]) -> set[Remote]:
        """Those who have heard the common arguments, passed on from host to host."""
        same = [r for r in remotes if r.version == remotes[0].version]
        if len(same) < MANY:
            return set()
        frames = question.common(same[0].version)
        self._told += 1
        number = self._told

        def begin(client):
            return tell_all(client, number, frames, same)

        try:
            self._finished(begin, same)
        except Broken:  # then each is told alone, and it is seen who is lost
            return set()
        self.moved += size(frames)
        return set(same)

    def _finished(self, begin: Callable, remotes: list[Remote]) -> list:
        """Tasks that ``begin(client)`` began, done; Broken if these hosts cannot do them.

        Without its scheduler a cluster can do no tasks, though workers still answer.
        """
        client, futures = self._workers.client, []

        async def wait():
            looked = time.monotonic()
            while not all(future.done() for future in futures):
                await asyncio.sleep(0.001)
                if time.monotonic() - looked > LOOK:
                    living, looked = await self._workers.look(), time.monotonic()
                    if living is not None and any(
                        remote.address not in living for remote in remotes
                    ):
                        raise Broken

        try:
            futures += begin(client)
            client.sync(wait)
            if all(future.status == "finished" for future in futures):
                return futures
        except EngineLost:
            raise
        except (
            Exception
        ):  # whatever it is, who is lost is seen now or with the next question
            pass
        with contextlib.suppress(Exception):
            client.cancel(futures)
        while client.status != "closed" and client.sync(self._workers.look) is None:
            time.sleep(
                min(LOOK, self.patience / 5)
            )  # EngineLost if that takes too long
        if client.status == "closed":
            raise EngineLost(GONE)
        raise Broken

    def _ask(self, method, common, each, optional: bool, held: int) -> tuple:
        """(replies, {host that holds its own: of which question}), if held is not 0."""
        own = each_of(each, self.shards)
        self._workers.hopeful()
        homeless = set(range(self.shards)) - self._housed()  # an ask was interrupted
        if homeless:
            self.restarted |= self._place(homeless)
        question = Question(common, own, self._weights)
        replies: list[Any] = [None] * self.shards
        failures: dict[int, BaseException] = {}
        calls = [*self._late.values()] if optional else []
        owing = {call.remote for call in calls}
        todo = {r: r.shards for r in self._workers.remotes if r not in owing}
        if held and not optional:  # what is late makes room for this
            self._late.clear()
        ready: dict[Remote, int] = {}  # and the number of the question
        for attempt in itertools.count(1):
            heard = self._tell(question, [r for r, some in todo.items() if some])
            for remote, numbers in todo.items():
                if numbers:
                    common: Any = self._told
                    if remote not in heard:
                        common = question.common(remote.version)
                    remote.version = question.version or remote.version
                    rest = method, common, question.own(numbers), held
                    calls.append(self._call(remote, numbers, "ask", *rest))
                    calls[-1].held = held
            todo, lost = {}, set()
            for call, outcome in self._outcomes(calls, optional):
                if outcome == STALE:
                    call.remote.version = None
                    todo[call.remote] = call.numbers
                elif outcome in (LOST, MISSING):
                    lost |= self._drop(call.remote, outcome)
                    ready.pop(call.remote, None)
                elif outcome != LATE:
                    ready[call.remote] = call.held
                    _sort(outcome, replies, failures)
            if lost:
                _check_attempts(attempt)
                lost = self._place(lost)
                self.restarted |= lost
                for remote in self._workers.remotes:
                    todo[remote] = todo.get(remote, set()) | remote.shards & lost
            if not any(todo.values()):
                break
            calls = []
        if failures:
            raise _said(failures[min(failures)])
        here = self._workers.remotes
        return replies, {remote: k for remote, k in ready.items() if remote in here}

    # shards ----------------------------------------------------------------------------

    def _place(self, numbers: set[int]) -> set[int]:
        """Build shards from their specs, on the hosts that have least to do.

        Returns those that were built: more if a host of others died of it.
        """
        built = set(numbers)
        for attempt in itertools.count(1):
            hosts = self._workers.gather()
            hosts = [host for host in hosts if host not in self._late] or hosts
            given = _share_out(sorted(numbers), hosts)
            puts = [
                self._call(host, {k}, "put", k, self._specs[k])
                for host, mine in given.items()
                for k in mine
            ]
            numbers, failures, dead = set(), {}, set()
            for call, outcome in self._outcomes(puts, False):
                if outcome == LOST:
                    dead.add(call.remote)
            alive = [host for host in given if host not in dead]
            builds = [self._call(host, given[host], "build") for host in alive]
            for call, outcome in self._outcomes(builds, False):
                if outcome == LOST:
                    dead.add(call.remote)
                else:
                    _sort(outcome, None, failures)
            for host, mine in given.items():
                host.shards |= mine
                if host in dead:
                    numbers |= self._drop(host, LOST)
            if failures:
                raise _said(failures[min(failures)])
            if not numbers:
                return built
            built |= numbers
            _check_attempts(attempt)

    def _housed(self) -> set[int]:
        return set().union(*(remote.shards for remote in self._workers.remotes))

    def _drop(self, remote: Remote, outcome: str) -> set[int]:
        self._late.pop(remote, None)
        return self._workers.drop(remote, shun=outcome == LOST)

    # calls -----------------------------------------------------------------------------

    def _call(self, remote: Remote, numbers: set[int], method: str, *arguments) -> Call:
        self.moved += sum(size(a) for a in arguments if isinstance(a, list))
        return Call(remote, method, arguments, set(numbers))

    def _outcomes(
        self, calls: list[Call], optional: bool
    ) -> Iterator[tuple[Call, Any]]:
        """Replies of hosts, or what became of them; remembers who is late."""
        found = self._workers.client.sync(self._wait, calls, optional)
        for call in calls:
            outcome = found[call]
            if outcome == LATE:
                self._late[call.remote] = call
            elif self._late.get(call.remote) is call:
                del self._late[call.remote]
            if isinstance(outcome, list):
                self.moved += size(outcome)
                outcome = unpacked(loads(outcome))
            yield call, outcome

    async def _wait(self, calls: list[Call], optional: bool) -> dict[Call, Any]:
        """{call: frames, LOST or LATE}."""
        found: dict[Call, Any] = {}
        for call in calls:
            if call.reply is None:
                reply = self._workers.send(call.remote, call.method, call.arguments)
                call.reply = asyncio.ensure_future(settled(reply, LOST))
                call.arguments = ()
        running = {call: call.reply for call in calls}
        seconds: list[float] = []  # of replies
        looked = time.monotonic()
        while running:
            await asyncio.wait(
                running.values(),
                timeout=min(LOOK, self.patience / 5),
                return_when=asyncio.FIRST_COMPLETED,
            )
            now = time.monotonic()
            living = None
            if now - looked > LOOK:
                living, looked = await self._workers.look(), now
            for call, task in list(running.items()):
                if task.done():
                    found[call] = task.result()
                    if found[call] != LOST:
                        seconds.append(now - call.began)
                elif living is not None and call.remote.address not in living:
                    found[call] = LOST
                else:
                    found[call] = self._verdict(now - call.began, seconds, optional)
                if found[call] is None:
                    del found[call]
                elif running.pop(call) and found[call] == LOST:
                    task.cancel()
        return found

    def _verdict(self, waited: float, others: list[float], optional) -> str | None:
        """What a worker is that has not answered yet; None while there is hope."""
        usual = SLOW * median(others) if others else 0.0
        if waited > max(HOPELESS * self.patience, usual):
            return LOST
        late = optional and others and waited > max(self.patience, usual)
        return LATE if late else None


class Broken(Exception):
    """A host was lost while replies were merged."""


def _share_out(numbers: list[int], hosts: list[Remote]) -> dict[Remote, set[int]]:
    """Shards for hosts, always to the one that has fewest for its threads."""
    given: dict[Remote, set[int]] = {host: set() for host in hosts}
    for k in numbers:
        host = min(hosts, key=lambda r: (len(r.shards | given[r]) + 1) / r.threads)
        given[host].add(k)
    return {host: mine for host, mine in given.items() if mine}


def _sort(outcome: dict, replies: list | None, failures: dict) -> None:
    """Replies of a host to their places."""
    for k, reply in outcome.items():
        if isinstance(reply, Failure):
            failures[k] = reply.error
        elif replies is not None:
            replies[k] = reply


def _said(error: BaseException) -> BaseException:
    """The error of a shard; an import that failed on a worker needs a word more."""
    if not isinstance(error, ModuleNotFoundError):
        return error
    return ValueError(
        f"The workers of the Dask cluster cannot import what is fitted ({error}): install "
        "it on every worker, or send it there with client.upload_file."
    )


def _check_attempts(attempt: int) -> None:
    if attempt >= ATTEMPTS:
        raise EngineLost(
            f"{attempt} times workers of the Dask cluster have died of the same work: most "
            "likely they have too little memory for it; their logs tell more."
        )
