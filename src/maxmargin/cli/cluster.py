"""Options of the command line for work on a cluster: --cluster and --workers."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from maxmargin.core.jobs import effective_jobs
from maxmargin.engine.interrupts import undisturbed

OPTIONS = """
--cluster ADDRESS  train on the Dask cluster of this scheduler, such as tcp://host:8786
--workers N  train in N processes on this machine
"""
CONNECT = 10  # seconds
PER_CORE, LEAST = 4, 16  # processes that a machine can be asked for, at the least
# A terminal sends Ctrl-C to all processes of a command. Workers leave it to the first.
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
# Dask serves pages about itself, to whoever asks: nobody shall.
NO_PAGES = "def dask_setup(server):\n    server.http_server.stop()\n"


def check_cluster(args) -> None:
    """What can be said before any work."""
    given = [o for o in ("cluster", "workers") if getattr(args, o, None) is not None]
    if len(given) > 1:
        raise ValueError("choose --cluster or --workers, not both.")
    engine = getattr(args, "engine", None)
    if engine == "threads":
        raise ValueError(
            "--engine threads is no more: threads train together without it, and faster. "
            "Leave it out, and give --jobs 2, or --jobs -1 for all cores."
        )
    if engine not in (None, "dask"):
        raise ValueError(
            f"--engine {engine} is not possible: choose dask (with --cluster or --workers)."
        )
    if engine == "dask" and not given:
        raise ValueError(
            "--engine dask works on a Dask cluster: name its scheduler with --cluster "
            "ADDRESS, or work in processes of this machine with --workers N."
        )
    if "workers" in given:
        _check_workers(args.workers)
    needs = {"distributed": "Dask"} if given else {}
    if "workers" in given:  # for the keys of its processes
        needs["cryptography"] = "the package cryptography"
    for package, name in needs.items():
        if find_spec(package) is None:
            raise ImportError(
                f"--{given[0]} needs {name}: install it with pip install "
                "'maxmargin[cluster]'."
            )


def _check_workers(workers: int) -> None:
    if workers < 1:
        raise ValueError(f"--workers {workers} is not possible: one is the least.")
    cores = effective_jobs(-1)
    most = max(PER_CORE * cores, LEAST)
    if workers > most:
        raise ValueError(
            f"--workers {workers} is not possible: each is a process, and more than {most} "
            f"would only take the memory of this machine, which has {cores} cores. Choose "
            "fewer, or name a cluster of several machines with --cluster ADDRESS."
        )


@contextlib.contextmanager
def cluster(args) -> Iterator[Any]:
    """A Dask client for the time of a command; None if there are no such options."""
    check_cluster(args)
    if getattr(args, "cluster", None) is not None:
        with _connect(args.cluster) as client:
            yield client
    elif getattr(args, "workers", None) is not None:
        from distributed import Client

        stack = contextlib.ExitStack()
        try:
            local = stack.enter_context(own_cluster(args.workers))
            yield stack.enter_context(Client(local))
        finally:  # the command is done when they are closed
            with undisturbed(raising=False):
                stack.close()
    else:
        yield None


def own_cluster(workers: int) -> Any:
    """A Dask cluster of processes that talk among themselves only.

    They listen on this machine, and answer nobody without the key, which is made anew
    and never leaves them.
    """
    from distributed import LocalCluster
    from distributed.security import Security

    # a free port, whatever the first choice of Dask would be
    pages = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        security=Security.temporary(),
        scheduler_kwargs={**pages, "preload": [NO_PAGES]},
        silence_logs=logging.CRITICAL,
        preload=[DEAF, NO_PAGES],
    )


def _connect(address: str):
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT)
    except (OSError, TimeoutError, ValueError, TypeError):
        raise ValueError(
            f"No Dask scheduler answers at {address}: name it as dask scheduler does, such "
            "as tcp://host:8786, and see that it runs."
        ) from None
