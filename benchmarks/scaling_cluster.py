"""Parts ``cluster``, ``rounds`` and ``billion`` of ``scaling.py``: shards of the data.

cluster   one process against two local Dask workers, scheduler and driver on the same cores
rounds    rounds on 2, 4, 8 and 16 shards, all in this process, and those of other methods
billion   what the measured numbers mean for a billion sentences on 1,000 machines

OCR letters (few weights, dense), CoNLL-2000 chunking and Spanish entities (millions of
weights, sparse); sentences of CoNLL-2000 with made words (``large.py``) where many are
needed. The other methods are those that one process has too (cuts of all examples, whose
rounds do not depend on shards), and the same ascent with the factor that is always safe.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from common import Targets, fresh, need_data, table, worker
from large import make
from scaling_tasks import chunks, letters, names

C = 0.1
SHARDS = (2, 4, 8, 16)
TASKS = {"OCR letters": letters, "CoNLL-2000": chunks, "Spanish entities": names}
LIMIT = 60.0  # seconds of a fit; beyond it, the gap that was reached is told
TOKENS = 8_000_000  # for which one process needs about a minute
MORE_ROUNDS = 3.0  # times those of 2 shards, with 16
LESS_TIME = 0.9  # of one process's, with two workers
SAFE = "ascent, safe factor"


def cluster(parts, tokens: int | None, quick: bool, targets: Targets) -> None:
    """The chosen parts; ``quick``: OCR letters, and a tenth of the made sentences."""
    need_data("conll2000/train.txt.gz", "ocr_letters/letters.npz")
    if "rounds" in parts:
        _rounds(["OCR letters"] if quick else list(TASKS), targets)
    if "cluster" in parts or "billion" in parts:
        tokens = tokens or (TOKENS // 10 if quick else TOKENS)
        measured = _workers(tokens, targets)
        if "billion" in parts:
            _billion(measured)


# rounds --------------------------------------------------------------------------------


@worker
def shards(task: str, objective: str, count: int, solver: str, limit: float) -> dict:
    """A fit on so many shards in this process, or (none) of one process."""
    from maxmargin.engine import engines
    from maxmargin.engine.executor import LocalExecutor
    from maxmargin.fitting import fit
    from maxmargin.solvers.shards import parallel_ascent

    if solver == SAFE:
        parallel_ascent.FIRST_STRETCH, parallel_ascent.FREE = 1.0, 2.0
        solver = "auto"
    model, data = TASKS[task](C=C, objective=objective, solver=solver, max_time=limit)
    if count:
        fit.check_engine = lambda engine: None
        engines.make_executor = lambda engine, specs: LocalExecutor(specs(count))
        model.set_params(engine="dask")
    model.fit(*data)
    return {
        "rounds": model.n_iter_,
        "gap": model.certificate_.relative_gap,
        "converged": bool(model.converged_),
    }


def _rounds(tasks, targets: Targets) -> None:
    rows = []
    for task in tasks:
        for objective, method in (
            ("hinge", "ascent"),
            ("hinge", SAFE),
            ("hinge", "proximal-bundle"),
            ("hinge", "one-slack"),
            ("log", "lbfgs, averaged start"),
            ("log", "lbfgs"),
        ):
            solver = (
                method if method in (SAFE, "proximal-bundle", "one-slack") else "auto"
            )
            alone = method in ("proximal-bundle", "one-slack", "lbfgs")
            same = {"task": task, "objective": objective, "limit": LIMIT}
            same["solver"] = "lbfgs" if method == "lbfgs" else solver
            counts = (0,) if alone else SHARDS
            found = {k: fresh(shards, **same, count=k) for k in counts}
            cells = [_told(found[k]) for k in counts]
            rows.append([task, objective, method, *(cells * 4 if alone else cells)])
            print(" ", *rows[-1], flush=True)  # each takes minutes
            if method in ("ascent", "lbfgs, averaged start"):
                few, many = found[2]["rounds"], found[16]["rounds"]
                many = many if found[16]["converged"] else float("inf")
                name = f"{task}, {method}: rounds of 16 shards over those of 2"
                targets.at_most(name, many / few, MORE_ROUNDS)
    table(["", "objective", "method", *(f"{k} shards" for k in SHARDS)], rows)


def _told(row: dict) -> str:
    """Rounds, or the gap where a minute was not enough."""
    return str(row["rounds"]) if row["converged"] else f"gap {row['gap']:.2f}"


# workers -------------------------------------------------------------------------------


@worker
def fit(path: str, objective: str, tol: float | None, workers: int) -> dict:
    """A fit of one process, or of so many Dask workers with one thread each.

    Workers wait while this process encodes the data, in as many threads as there are
    workers.
    """
    from maxmargin import SequenceTagger
    from maxmargin.engine import dask_executor
    from maxmargin.files import read_columns

    read = read_columns(path)
    X, y = read._replace(columns=read.columns[:2]), read.strings(-1)
    model = SequenceTagger(features="chunking", C=C, objective=objective, tol=tol)
    few = X.select(range(50)), y[:50]
    executors: list = []
    if workers:
        from distributed import Client, LocalCluster

        build = dask_executor.DaskExecutor.__init__

        def watched(executor, *arguments, **named):
            build(executor, *arguments, **named)
            executors.append(executor)

        dask_executor.DaskExecutor.__init__ = watched
        settings = {"threads_per_worker": 1, "dashboard_address": None}
        with (
            LocalCluster(n_workers=workers, **settings) as local,
            Client(local) as client,
        ):
            model.set_params(engine=client, n_jobs=workers)
            model.fit(*few)  # loads kernels everywhere
            began = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - began
    else:
        model.fit(*few)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "solver": model.history_[-1]["seconds"],
        "rounds": model.n_iter_,
        "moved": executors[-1].moved if executors else 0,
        "weights": int(model._w.size),
        "tokens": X.n_tokens,
        "sentences": X.n_sentences,
        "converged": bool(model.converged_),
    }


def _workers(tokens: int, targets: Targets) -> dict:
    rows, first = [], {}
    with tempfile.TemporaryDirectory(prefix="maxmargin-scaling-") as folder:
        fresh(make, folder=folder, tokens=tokens, size=tokens)
        path = str(next(Path(folder).iterdir()))
        for objective, tol in (("hinge", None), ("hinge", 0.02), ("log", None)):
            same = {"path": path, "objective": objective, "tol": tol}
            one, two = (fresh(fit, **same, workers=n) for n in (0, 2))
            ratio = two["seconds"] / one["seconds"]
            first = first or one | {"moved": two["moved"] / two["rounds"]}
            cells = [one["seconds"], two["seconds"], f"{ratio:.2f}"]
            cells += [one["rounds"], two["rounds"]]
            cells.append(f"{two['moved'] / two['rounds'] / 1e6:.1f}")
            rows.append([objective, "default" if tol is None else tol, *cells])
            print(" ", *rows[-1], flush=True)  # each takes minutes
            if tol is None and one["seconds"] >= LIMIT:
                name = f"{objective}: two workers over one process"
                targets.at_most(name, ratio, LESS_TIME)
    columns = "objective|tol|one process s|2 workers s|ratio|passes|rounds|MB per round"
    print(f"{tokens:,} tokens.")
    table(columns.split("|"), rows)
    return first


# a calculation -------------------------------------------------------------------------


@worker
def bandwidth() -> dict:
    """Bytes per second that a round on Dask moves between two processes."""
    from functools import partial
    from types import SimpleNamespace

    import numpy as np
    from distributed import Client, LocalCluster

    from maxmargin.engine.dask_executor import DaskExecutor

    def build(threads):
        return SimpleNamespace(echo=np.negative)

    rng, speeds = np.random.default_rng(0), []
    settings = {"threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(n_workers=1, **settings) as local,
        Client(local) as client,
        DaskExecutor([SimpleNamespace(build=partial(build))], client) as executor,
    ):
        for _ in range(4):
            w = rng.normal(size=8_000_000).astype(np.float32)
            began, moved = time.perf_counter(), executor.moved
            executor.ask("echo", w)
            speeds.append((executor.moved - moved) / (time.perf_counter() - began))
    return {"speed": max(speeds)}


def _billion(row: dict) -> None:
    """A billion sentences on 1,000 machines of 16 cores, from measured numbers."""
    speed = fresh(bandwidth)["speed"]
    sentences, machines, cores, levels = 10**9, 1000, 16, 10
    length = row["tokens"] / row["sentences"]
    per_token = row["solver"] / row["rounds"] / row["tokens"]
    computing = sentences * length * per_token / machines / cores
    whole = 4 * row["weights"]
    driver = 2 * whole * machines / speed
    # down, every host sends to two others; up, it receives one at every level
    tree = (2 * levels + levels) * whole / speed
    rows = [
        ["MB per second through Dask, measured here", f"{speed / 1e6:.0f}"],
        ["weights, as of the data above", row["weights"]],
        ["computing, s per pass", f"{computing:.1f}"],
        ["messages of a round, all through the driver, s", f"{driver:.0f}"],
        ["messages of a round, from machine to machine, s", f"{tree:.1f}"],
        ["GB that the driver receives in a round", f"{1e-9 * whole:.2f}"],
    ]
    table(["a billion sentences, 1,000 machines of 16 cores", "calculated"], rows)
