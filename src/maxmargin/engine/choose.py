"""Who does the work of a fit: the parameter ``engine``.

None is one process whose steps follow each other. All others cut the data into shards:
"threads" are ``n_jobs`` threads of this process; "dask" is the cluster of the
current Dask client, a client its cluster. Within a task of a cluster, such as a fold of a
cross-validation that runs on it, "dask" is that worker alone: workers that wait for each
other would wait for ever. The weights are the same for all engines but None.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from maxmargin.engine.lost import EngineLost

if TYPE_CHECKING:
    from maxmargin.engine.crew import Crew

THREADS = (None, "threads")
ANSWER = 30.0  # seconds that a cluster is given before any work


class NoCluster(ValueError):
    """The engine is a cluster to which there is no connection."""


def check_engine(engine: Any) -> None:
    """Before any work: is there such an engine, and do its workers fit?"""
    client = client_of(engine)
    if client is None:
        return
    from maxmargin.engine.dask_workers import GONE, check_scheduler, check_workers

    async def addresses() -> list[str]:
        return list(await client.nthreads())

    try:
        known = client.sync(addresses, callback_timeout=ANSWER)
    except (OSError, TimeoutError):
        raise EngineLost(GONE) from None
    wrong, _ = check_workers(client, known, ANSWER)
    reason = next(iter(wrong.values()), None) or check_scheduler(client, ANSWER)
    if reason:
        raise ValueError(reason)


def make_crew(engine: Any, specs: Sequence, n_jobs: int = 1) -> Crew:
    """Who runs the shards of these specs."""
    client = client_of(engine)
    if client is None:
        from maxmargin.engine.crew import ThreadCrew

        return ThreadCrew(specs, n_jobs)
    from maxmargin.engine.dask_crew import DaskCrew

    return DaskCrew(specs, client)


def client_of(engine: Any) -> Any:
    """The Dask client of an engine; None for threads."""
    if engine is None or (isinstance(engine, str) and engine in THREADS):
        return None
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
            f"engine={engine!r} is not possible: it must be None or 'threads' for this "
            "process, 'dask' for the current Dask client, or a dask.distributed.Client."
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
