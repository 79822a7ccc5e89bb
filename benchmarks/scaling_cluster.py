"""Parts ``cluster``, ``shards`` and ``cost`` of ``scaling.py``: shards of the data.

OCR letters (few weights, dense) and CoNLL-2000 chunking (eight million weights, sparse),
margins and conditional random fields. A round is a pass of all shards.
"""

from __future__ import annotations

import time

from common import (
    fresh,
    load_chunks,
    load_letters,
    need_data,
    table,
    warm_tagger,
    worker,
)

C = 0.1
TASKS = {  # tolerance; shards that are tried
    ("ocr", "hinge"): (0.02, (1, 2, 4, 8, 16, 32, 64)),
    ("ocr", "log"): (0.01, (1, 8, 64)),
    ("conll", "hinge"): (0.1, (1, 2, 4, 8, 16, 32, 64)),
    ("conll", "log"): (0.05, (1, 8, 64)),
}
LIMIT = 40.0  # seconds of a fit; beyond it, the gap that was reached is told


def cluster(parts, quick: bool, targets) -> None:
    """The chosen parts; ``quick``: OCR letters only."""
    need_data("conll2000/train.txt.gz", "ocr_letters/letters.npz")
    tasks = [task for task in TASKS if task[0] == "ocr" or not quick]
    for name in {task[0] for task in tasks}:
        fresh(fit, task=name, objective="hinge", tol=0.5, engine=None, n_jobs=1)
    if "cluster" in parts:
        _cluster(tasks, targets)
    if "shards" in parts:
        _shards(tasks)
    if "cost" in parts:
        _cost(quick)


# fits ----------------------------------------------------------------------------------


def _data(task: str, copies: int = 1):
    """The task's sequences; of more than one copy, each has a tenth of its own words."""
    X, y = load_chunks("train") if task == "conll" else load_letters(train=True)
    if copies == 1 or task != "conll":
        return list(X) * copies, list(y) * copies
    grown = []
    for copy in range(copies):
        for i, sentence in enumerate(X):
            own = copy > 0 and i % 10 == 0
            mark = f"@{copy}"
            grown.append([[f + mark for f in t] for t in sentence] if own else sentence)
    return grown, list(y) * copies


@worker
def fit(
    task: str,
    objective: str,
    tol: float,
    engine: str | None,
    n_jobs: int,
    shards: int = 0,
    copies: int = 1,
    workers: int = 0,
    limit: float = LIMIT,
    strength: float = C,
) -> dict:
    """One fit; ``shards`` sets their number, which is a matter of the data otherwise."""
    from maxmargin import SequenceTagger
    from maxmargin.core import sharded
    from maxmargin.solvers.parallel_ascent import ParallelAscent

    warm_tagger(dense=task == "ocr")
    if shards:
        sharded.shard_count = lambda slots, n: shards
    X, y = _data(task, copies)
    model = SequenceTagger(
        C=strength, tol=tol, objective=objective, n_jobs=n_jobs, max_time=limit
    )
    result = {"tokens": sum(map(len, X)), "sentences": len(X)}
    seen: list = []
    rounds = ParallelAscent._round
    ParallelAscent._round = lambda solver: (seen.append(solver), rounds(solver))
    crews: list = []
    if workers:
        from distributed import Client, LocalCluster

        from maxmargin.engine import dask_crew

        build = dask_crew.DaskCrew.__init__

        def watched(crew, *arguments, **named):
            build(crew, *arguments, **named)
            crews.append(crew)

        dask_crew.DaskCrew.__init__ = watched
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            model.set_params(engine=client).fit(X, y)
    else:
        began = time.process_time()
        model.set_params(engine=engine).fit(X, y)
        result["cpu"] = time.process_time() - began
    last = model.history_[-1]
    return result | {
        "seconds": last["seconds"],
        "passes": model.n_iter_,
        "rounds": max(len(seen), model.n_iter_),
        "gap": model.certificate_.relative_gap,
        "converged": bool(model.converged_),
        "moved": crews[0].moved if crews else 0,
        "weights": int(model._w.size),
        "sum": float(abs(model._w).sum()),
    }


# tables --------------------------------------------------------------------------------


def _label(task) -> str:
    name, objective = task
    words = {"ocr": "OCR letters", "conll": "CoNLL-2000"}
    return f"{words[name]}, {'margins' if objective == 'hinge' else 'CRF'}"


def _cluster(tasks, targets) -> None:
    rows = []
    for task in tasks:
        tol, _ = TASKS[task]
        same = {"task": task[0], "objective": task[1], "tol": tol, "engine": None}
        one, two = (fresh(fit, **same, n_jobs=1, workers=n) for n in (1, 2))
        ratio = two["seconds"] / one["seconds"]
        rows.append(
            [
                _label(task),
                tol,
                one["seconds"],
                two["seconds"],
                ratio,
                two["rounds"],
                f"{two['moved'] / two['rounds'] / 1e6:.2f}",
                "yes" if one["sum"] == two["sum"] else "NO",
            ]
        )
        targets.at_most(f"{_label(task)}: 2 workers over 1", ratio, 0.75)
    columns = "|gap|1 worker s|2 workers s|2 / 1|rounds|MB per round|same weights"
    table(columns.split("|"), rows)


def _shards(tasks) -> None:
    rows = []
    for task in tasks:
        tol, counts = TASKS[task]
        for shards in counts:
            same = {"task": task[0], "objective": task[1], "tol": tol}
            row = fresh(fit, **same, engine="threads", n_jobs=2, shards=shards)
            reached = "" if row["converged"] else f"stopped at {row['gap']:.3f}"
            rows.append(
                [
                    _label(task),
                    shards,
                    row["passes"],
                    row["rounds"],
                    row["seconds"],
                    reached,
                ]
            )
    table(["", "shards", "passes", "rounds", "s, 2 threads", ""], rows)


def _cost(quick: bool) -> None:
    """Measured growth, and a calculation from it."""
    task, tol = ("ocr", 0.02) if quick else ("conll", 0.1)
    rows, measured = [], []
    for copies, strength in ((1, C), (2, C / 2), (4, C / 4), (8, C / 8), (8, C)):
        same = {"task": task, "objective": "hinge", "tol": tol, "copies": copies}
        same |= {"engine": "threads", "n_jobs": 2, "strength": strength}
        row = fresh(fit, **same, limit=240.0)
        measured.append(row)
        per_round = row["cpu"] / row["rounds"] / row["tokens"]
        rows.append(
            [
                f"{copies} x",
                f"{strength:g}",
                row["sentences"],
                row["tokens"],
                row["weights"],
                row["rounds"],
                row["seconds"],
                f"{1e9 * per_round:.0f}",
                f"{row['gap']:.3f}",
            ]
        )
    columns = (
        "|C|sentences|tokens|weights|rounds|s, 2 threads|ns per token and round|gap"
    )
    table(columns.split("|"), rows)
    print(
        "With C divided by the size, the data term keeps its weight, as in the papers,\n"
        "whose bounds on rounds do not depend on the number of examples then; the last\n"
        "row keeps C per sentence, which is a harder problem.\n"
    )
    _billion(measured[-2])


@worker
def bandwidth() -> dict:
    """Bytes per second that a round on Dask moves between two processes."""
    from functools import partial
    from types import SimpleNamespace

    import numpy as np
    from distributed import Client, LocalCluster

    from maxmargin.engine.dask_crew import DaskCrew

    echo = SimpleNamespace(build=partial(SimpleNamespace, echo=np.negative))
    rng = np.random.default_rng(0)
    speeds = []
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
        DaskCrew([echo], client) as crew,
    ):
        for _ in range(4):
            w = rng.normal(size=8_000_000).astype(np.float32)
            began, moved = time.perf_counter(), crew.moved
            crew.ask("echo", w)
            speeds.append((crew.moved - moved) / (time.perf_counter() - began))
    return {"speed": max(speeds)}


def _billion(row: dict) -> None:
    """A billion sentences on 1,000 machines of 16 cores, from measured numbers."""
    speed = fresh(bandwidth)["speed"]
    sentences, machines, cores = 10**9, 1000, 16
    length = row["tokens"] / row["sentences"]
    per_token = row["cpu"] / row["rounds"] / row["tokens"]
    weights = row["weights"]
    computing = sentences * length * per_token / machines / cores
    # w there and back, one after the other through the driver
    moving = 2 * 4 * weights * machines / speed
    tree = 2 * 2 * 4 * weights / speed * 10  # by a tree of ten levels
    rows = [
        ["MB per second through Dask, measured here", f"{speed / 1e6:.0f}"],
        ["computing, s per round", f"{computing:.1f}"],
        ["w to 1,000 machines and back, all through the driver, s", f"{moving:.0f}"],
        ["the same through a tree of machines (not built), s", f"{tree:.1f}"],
        [
            "gram of 1,000 moves at the driver, GB held",
            f"{4e-9 * weights * machines:.0f}",
        ],
        ["rounds, as for the largest measured", row["rounds"]],
        [
            "hours, through the driver",
            f"{row['rounds'] * (computing + moving) / 3600:.1f}",
        ],
    ]
    table(["a billion sentences, 1,000 machines of 16 cores", "calculated"], rows)
    first = (
        "what the driver can send and receive" if moving > computing else "computing"
    )
    print(
        f"What would break first: {first}, then the driver's memory for the moves of all "
        "shards.\nThe calculation takes the weights of the largest measured data; a larger "
        "vocabulary needs hashing.\n"
    )
