"""Who does the work of a fit: the parameter ``engine``.

None is this process, whose ``n_jobs`` threads step on one w. "dask" is the cluster of the
current Dask client, a client its cluster: every worker gets a shard of the data. "auto" is
the current client where it has several workers, not all on this machine, and the data are
so many that they may pay; this process otherwise, whose threads do better on one machine.
Within a task of a cluster, such as a fold of a cross-validation that runs on it, "dask" is
that worker alone: workers that wait for each other would wait for ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from maxmargin.engine.lost import EngineLost

if TYPE_CHECKING:
    from maxmargin.engine.executor import Executor

# From which "auto" takes several machines: what a round costs beside its passes does not
# grow with the data. For two workers on one machine, eight million tokens were not enough
# (``scaling.py --parts cluster``).
AUTO_SLOTS = 20_000_000
AUTO_TOL = 0.05  # below which its shards would need too many rounds
ANSWER = 30.0  # seconds that a cluster is given before any work


class NoCluster(ValueError):
    """The engine is a cluster to which there is no connection."""


def check_engine(engine: Any) -> None:
    """Before any work: is there such an engine, and do its workers fit?"""
    client = client_of(engine)
    if client is None:
        return
    from maxmargin.engine.dask_workers import check_scheduler, check_workers

    wrong, _ = check_workers(client, _addresses(client), ANSWER)
    reason = next(iter(wrong.values()), None) or check_scheduler(client, ANSWER)
    if reason:
        raise ValueError(reason)


def make_executor(engine: Any, specs_of: Callable[[int], Sequence]) -> Executor:
    """Who runs the shards; ``specs_of`` gives those for a number of workers."""
    client = client_of(engine)
    if client is None:
        from maxmargin.engine.executor import LocalExecutor

        return LocalExecutor(specs_of(1))
    from maxmargin.engine.dask_executor import DaskExecutor

    return DaskExecutor(specs_of(max(len(_addresses(client)), 1)), client)


def _addresses(client: Any) -> list[str]:
    """Of the workers; the scheduler may have gone while data were encoded."""
    from maxmargin.engine.dask_workers import GONE

    async def ask() -> list[str]:
        return list(await client.nthreads())

    try:
        return client.sync(ask, callback_timeout=ANSWER)
    except (OSError, TimeoutError):
        raise EngineLost(GONE) from None


def decided(engine: Any, slots: int, tol: float) -> Any:
    """The engine that "auto" is for data with so many slots; any other as it is."""
    if not (isinstance(engine, str) and engine == "auto"):
        return engine
    few = slots < AUTO_SLOTS or tol < AUTO_TOL
    if few or find_spec("distributed") is None or _in_task():
        return None
    from distributed import Client

    try:
        client = Client.current()
        workers = list(client.nthreads())
    except (ValueError, OSError, TimeoutError):
        return None
    return client if len(workers) > 1 and not _all_here(workers) else None


def _all_here(workers: list[str]) -> bool:
    """Whether all these addresses are of this machine."""
    import psutil
    from distributed.comm import get_address_host

    cards = psutil.net_if_addrs().values()
    here = {address.address for card in cards for address in card} | {"localhost"}
    return all(w.startswith("inproc:") or get_address_host(w) in here for w in workers)


def client_of(engine: Any) -> Any:
    """The Dask client of an engine; None for this process."""
    if engine is None or (isinstance(engine, str) and engine == "auto"):
        return None
    if isinstance(engine, str) and engine == "threads":
        raise ValueError(
            "engine='threads' is no more: n_jobs threads train together without it, and "
            "faster. Leave engine out and give n_jobs=2, or n_jobs=-1 for all cores."
        )
    if isinstance(engine, str) and engine == "dask":
        if find_spec("distributed") is None:
            raise ImportError(
                "engine='dask' needs Dask: install it with pip install "
                "'maxmargin[cluster]'."
            )
        if _in_task():
            return None
        from distributed import Client

        try:
            engine = Client.current()
        except ValueError:
            raise NoCluster(
                "engine='dask' needs a Dask client, but there is none: start one with "
                "dask.distributed.Client(address), or Client() for this machine, or give "
                "it as engine."
            ) from None
    elif not _is_client(engine):
        raise ValueError(
            f"engine={engine!r} is not possible: it must be None for this process, 'dask' "
            "for the current Dask client, a dask.distributed.Client, or 'auto'."
        )
    if engine.asynchronous:
        raise ValueError(
            "engine is an asynchronous Dask client, which cannot wait for results: give "
            "one that was made without asynchronous=True."
        )
    if engine.status != "running":
        raise NoCluster(
            f"engine is a Dask client that is {engine.status}: make a new one."
        )
    return engine


def _is_client(engine: Any) -> bool:
    distributed = sys.modules.get("distributed")  # else it cannot be one
    return distributed is not None and isinstance(engine, distributed.Client)


def _in_task() -> bool:
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


# as a parameter ------------------------------------------------------------------------


def portable(engine: Any) -> Any:
    """The parameter without a connection, which cannot be copied nor sent elsewhere."""
    return engine if isinstance(engine, (str, type(None))) else "dask"
