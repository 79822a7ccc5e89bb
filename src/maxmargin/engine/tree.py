"""Questions to many hosts and their replies, from worker to worker, as tasks of Dask.

Replies are merged in pairs: the process that asks receives one, and every worker at most
as many as the tree is high, with 1,000 workers ten; the driver alone would receive 1,000.
A question goes the same way: every host passes it on to two others.
"""

from __future__ import annotations

from typing import Any


def merge_over(client: Any, held: dict[Any, int]) -> Any:
    """The future of the frames of all that hosts hold, of questions with a number."""
    parts = [(r, client.submit(_take, r.actor, k, **_at(r))) for r, k in held.items()]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        rest = parts[-1:] if len(parts) % 2 else []
        parts = [
            (a, client.submit(_merge, a.actor, one, other, **_at(a)))
            for (a, one), (_, other) in pairs
        ] + rest
    return parts[0][1]


def tell_all(client: Any, number: int, frames: list, remotes: list) -> list:
    """Futures, done when these hosts have heard the frames, under a number."""
    [root] = client.scatter([frames], workers=[remotes[0].address], hash=False)
    told: list = []
    for k, remote in enumerate(remotes):
        source = told[(k - 1) // 2] if k else root
        told.append(
            client.submit(_pass_on, remote.actor, number, source, **_at(remote))
        )
    return told


def _at(remote: Any) -> dict:
    place = {"workers": [remote.address], "allow_other_workers": False}
    return place | {"pure": False, "retries": 0}


def _pass_on(host: Any, number: int, frames: list) -> list:
    host.hear(number, frames).result()
    return frames


def _take(host: Any, number: int) -> list:
    return host.take(number).result()


def _merge(host: Any, one: list, other: list) -> list:
    return host.merged(one, other).result()
