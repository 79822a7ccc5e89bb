"""The workers of a Dask cluster: which there are, whether they fit, the hosts on them."""

from __future__ import annotations

import asyncio
import contextlib
import platform
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

import maxmargin
from maxmargin.engine.dask_host import Host
from maxmargin.engine.lost import EngineLost

# Evaluated on workers, which may lack the library: nothing of ours can be sent to ask.
FACTS = """(
    __import__('platform').python_version(),
    __import__('numpy').__version__
    if __import__('importlib.util').util.find_spec('numpy') else None,
    __import__('maxmargin').__version__
    if __import__('importlib.util').util.find_spec('maxmargin') else None,
)"""
ANSWER = 5.0  # seconds in which a scheduler answers
REPLACED = 5.0  # seconds in which a cluster may replace a worker that died
GONE = (
    "The scheduler of the Dask cluster does not answer any more: start the cluster anew "
    "and fit again."
)
SILENCE = (OSError, TimeoutError, asyncio.TimeoutError, RuntimeError, ValueError)


@dataclass(eq=False)
class Remote:
    """A host as seen from here."""

    address: str
    threads: int
    actor: Any  # the future that keeps it alive
    version: int | None = None  # of the weights that it has
    shards: set[int] = field(default_factory=set)


class Workers:
    """Hosts on all workers that fit; ``patience`` as of `DaskExecutor`."""

    def __init__(self, client, patience: float):
        from distributed import Client

        self.remotes: list[Remote] = []
        self.patience = patience
        self._shunned: set[str] = set()  # dead or hung, whatever the scheduler says
        self._most = 0  # hosts there were
        self._silent_since: float | None = None
        # Talks to workers directly, not by way of the scheduler.
        try:
            self.client = Client(
                client.scheduler.address,
                direct_to_workers=True,
                set_as_default=False,
                security=client.security,
                timeout=max(ANSWER, min(patience, 30.0)),
            )
        except (OSError, TimeoutError):  # it may have gone while data were encoded
            raise EngineLost(GONE) from None

    def close(self) -> None:
        self.remotes = []
        self.client.close(timeout=ANSWER)

    async def send(self, remote: Remote, method: str, arguments: tuple) -> list:
        """Call a method of a host: as actors do, but errors are not kept for ever."""
        from distributed.protocol import to_serialize

        reply = await self.client.rpc(remote.address).actor_execute(
            actor=remote.actor.key,
            function=method,
            args=[to_serialize(argument) for argument in arguments],
            kwargs={},
        )
        if reply["status"] != "OK":
            raise reply["exception"]
        return reply["result"]

    def drop(self, remote: Remote, shun: bool) -> set[int]:
        """Give up a host; the shards it had."""
        self.remotes.remove(remote)
        if shun:
            self._shunned.add(remote.address)
        return remote.shards

    def hopeful(self) -> None:
        """Forget that the scheduler was silent."""
        self._silent_since = None

    async def look(self) -> dict[str, int] | None:
        """{address: threads} of living workers; None if the scheduler is silent now."""
        now = time.monotonic()
        try:
            if self.client.status == "closed":
                raise EngineLost(GONE)
            found = dict(await asyncio.wait_for(self.client.nthreads(), ANSWER))
        except SILENCE as error:
            if isinstance(error, EngineLost):
                raise
            self._silent_since = self._silent_since or now
            if now - self._silent_since > self.patience:
                raise EngineLost(GONE) from None
            return None
        self._silent_since = None
        self._shunned &= found.keys()  # what comes back after it left is another
        return {a: threads for a, threads in found.items() if a not in self._shunned}

    def gather(self) -> list[Remote]:
        """Hosts on all workers there are; waits for the first, and a while for others."""
        began = time.monotonic()
        while True:
            here = self.client.sync(self.look) or {}
            have = {remote.address for remote in self.remotes}
            new = {a: threads for a, threads in here.items() if a not in have}
            if new:
                self._start(new)
            self._most = max(self._most, len(self.remotes))
            waited = time.monotonic() - began
            enough = len(self.remotes) >= self._most or waited > REPLACED
            if self.remotes and (enough or waited > self.patience):
                return self.remotes
            if waited > self.patience:
                if self._silent_since is not None:
                    raise EngineLost(GONE)
                raise EngineLost(
                    "The Dask cluster has no workers that answer, and none came within "
                    f"{self.patience:g} seconds: start workers and fit again."
                )
            time.sleep(min(0.2, self.patience / 5))

    def _start(self, new: dict[str, int]) -> None:
        """Hosts on workers; those on which none starts are left alone from now on."""
        wrong, silent = check_workers(self.client, list(new), self.patience)
        if wrong and not self._most:
            raise ValueError(next(iter(wrong.values())))
        begun = {
            address: self.client.submit(
                Host,
                threads,
                actor=True,
                pure=False,
                workers=[address],
                allow_other_workers=False,
            )
            for address, threads in new.items()
            if address not in wrong and address not in silent
        }
        self._wait_for(begun)
        for address, future in begun.items():
            if future.status == "finished":
                self.remotes.append(Remote(address, new[address], future))
        ready = {remote.address for remote in self.remotes}
        self._shunned |= new.keys() - ready

    def _wait_for(self, begun: dict[str, Any]) -> None:
        """Until these futures are done, or their workers gone, or too late."""
        from distributed import wait

        deadline = time.monotonic() + self.patience
        while begun and time.monotonic() < deadline:
            with contextlib.suppress(OSError, TimeoutError), self.client.as_current():
                wait(list(begun.values()), timeout=min(1.0, self.patience))
            here = self.client.sync(self.look)
            begun = {a: f for a, f in begun.items() if f.status == "pending"}
            if here is not None:
                begun = {a: f for a, f in begun.items() if a in here}


def check_workers(
    client, addresses: list[str], timeout: float
) -> tuple[dict[str, str], set[str]]:
    """({address: why it cannot work with us}, those that are silent, perhaps dead)."""

    async def one(address: str) -> tuple | None:
        try:
            reply = client.run(eval, FACTS, workers=[address], on_error="return")
            found = (await asyncio.wait_for(reply, timeout)).get(address)
        except SILENCE:
            found = None
        return found if isinstance(found, tuple) else None

    async def all_of_them() -> list:
        return await asyncio.gather(*map(one, addresses))

    found = dict(zip(addresses, client.sync(all_of_them), strict=True))
    silent = {address for address, facts in found.items() if facts is None}
    wrong = {a: mismatch(a, facts) for a, facts in found.items() if facts is not None}
    return {address: reason for address, reason in wrong.items() if reason}, silent


def check_scheduler(client, timeout: float) -> str | None:
    """Why the scheduler cannot work with us: it must know what it hands to workers."""

    async def ask() -> Any:
        reply = client.run_on_scheduler(eval, FACTS)
        return await settled(asyncio.wait_for(reply, timeout), None)

    found = client.sync(ask)
    if not isinstance(found, tuple) or found[2] is not None:
        return None
    return (
        f"The scheduler {client.scheduler.address} does not have maxmargin: install "
        f"maxmargin {maxmargin.__version__} where it runs, too."
    )


def mismatch(address: str, found: tuple) -> str | None:
    """Why a worker cannot work with us; None if it can."""
    import numpy

    python, np, library = found
    if library is None:
        return (
            f"The worker {address} does not have maxmargin: install maxmargin "
            f"{maxmargin.__version__} on every worker of the cluster."
        )
    for name, theirs, ours, digits in (
        ("maxmargin", library, maxmargin.__version__, 3),
        ("Python", python, platform.python_version(), 2),
        ("numpy", np, numpy.__version__, 2),
    ):
        if str(theirs).split(".")[:digits] != ours.split(".")[:digits]:
            return (
                f"The worker {address} has {name} {theirs}, but here it is {ours}: "
                "install the same version on every worker of the cluster."
            )
    return None


def settled(awaitable: Awaitable, otherwise: Any) -> Awaitable:
    """Its result; ``otherwise`` if it raises, as hosts themselves never do."""

    async def outcome():
        try:
            return await awaitable
        except Exception:
            return otherwise

    return outcome()
