"""Parts ``threads`` and ``passes`` of ``scaling.py``: what ``n_jobs`` gives."""

from __future__ import annotations

import os
import time

from common import Clock, Targets, data_file, fresh, median, no_compiling, table, worker
from scaling_limit import exchange, limit
from scaling_tasks import SMALL, TASKS

MEMORY = 1.10  # peak of two threads over one's
PASSES = 1.15
SECOND = 1.0  # of one thread: shorter fits need only not be slower
MANY, ENOUGH = 15, 4.0  # fits of small data in a process; seconds of all, in the end
COUNTS = (1, 2, 4, 8, 16)


# one fit -------------------------------------------------------------------------------


@worker
def fit_task(task: str, n_jobs: int, forced: bool = False) -> dict:
    """One fit, of kernels that are loaded; ``forced`` threads work whatever it is worth."""
    from sklearn.base import clone

    from maxmargin.engine import threads

    if forced:
        threads.WORTH, threads.PAYS = 1e-9, float("inf")
    model, arguments = TASKS[task].make()
    model.set_params(n_jobs=n_jobs)
    clone(model).set_params(max_iter=2).fit(*arguments)
    result: dict = {}
    with no_compiling(result), Clock() as clock:
        model.fit(*arguments)
    return result | {
        "wall": clock.wall,
        "cpu": clock.cpu,
        "solver": model.history_[-1]["seconds"],
        "passes": model.n_iter_,
        "gap": model.certificate_.relative_gap,
    }


@worker
def fit_small(task: str) -> dict:
    """Medians of many fits of one thread and of several, in turn."""
    import joblib
    from sklearn.base import clone

    make, _, n_jobs, cores, _ = SMALL[task]
    if cores:
        joblib.cpu_count = lambda *_, **__: cores
    model, arguments = make()
    rows: dict[int, list] = {1: [], n_jobs: []}

    def turn():
        for jobs, found in rows.items():
            with Clock() as clock:
                clone(model).set_params(n_jobs=jobs).fit(*arguments)
            found.append({"wall": clock.wall})

    turn()
    result: dict = {}
    end = time.perf_counter() + ENOUGH
    with no_compiling(result):
        while len(rows[1]) <= MANY and time.perf_counter() < end:
            turn()
    one, several = (median(found[1:], "wall") for found in rows.values())
    return result | {"one": one, "several": several, "ratio": several / one}


def there(name: str, task) -> bool:
    """Whether its data are there; says so if not."""
    found = not task.data or data_file(task.data) is not None
    if not found:
        print(f"skipped: {name}: {task.data} not found.")
    return found


def settled(function, **arguments) -> dict:
    """A worker's result, of a process that compiled nothing."""
    for _ in range(4):
        result = fresh(function, **arguments)
        if not result["compiled_before"] and not result["compiled_while_timing"]:
            break
    return result


# tables --------------------------------------------------------------------------------


def threads(groups, counts, repeats: int, quick: bool, known, targets: Targets) -> None:
    """Seconds, passes and memory of every task with so many threads."""
    limits = {2: known} if known else {}
    for count in counts:
        if count not in limits and 1 < count <= (os.cpu_count() or 1):
            limits[count] = limit(count)
    for count, share in limits.items():
        print(
            f"{count} processes at once, one per core, do a work in {share:.2f} of the "
            f"time that one needs:\nthe least that {count} threads can reach here."
        )
    if limits:
        print(
            f"A cache line goes from a core to another in {_nanoseconds()} ns: where "
            "threads write\nto the same weights, that decides what they gain."
        )
    for group in groups:
        rows = []
        for name, task in TASKS.items():
            chosen = task.group == group and task.timed and (task.quick or not quick)
            if chosen and there(name, task):
                rows += _timed(name, task, counts, repeats, limits, targets)
        if rows:
            columns = "|threads|fit s|of one's|times|solver s|passes|gap|peak MB"
            table([*columns.split("|"), "of one's"], rows)
    if "small" in groups:
        _small(3 if repeats > 2 else 1, quick, targets)


def _nanoseconds() -> str:
    return f"{1e9 * fresh(exchange)['seconds']:.0f}"


def _timed(name, task, counts, repeats, limits, targets) -> list:
    runs: dict[int, list] = {count: [] for count in counts}
    for _ in range(repeats):
        for count in counts:
            runs[count].append(settled(fit_task, task=name, n_jobs=count))
    keys = ("wall", "solver", "passes", "gap", "peak_mb")
    found = {
        count: {key: median(some, key) for key in keys} for count, some in runs.items()
    }
    one, rows = found[counts[0]], []
    for count, row in found.items():
        share, memory = (row[key] / one[key] for key in ("wall", "peak_mb"))
        cells = [name, count, row["wall"], f"{share:.2f}", f"{1 / share:.1f}"]
        cells += [row["solver"], row["passes"], f"{row['gap']:.4f}"]
        rows.append([*cells, f"{row['peak_mb']:.0f}", f"{memory:.2f}"])
        if count != 2 or counts[0] != 1:
            continue
        most, shown = task.most, ""
        if task.above is not None and one["wall"] > SECOND and 2 in limits:
            most = limits[2] + task.above
            shown = f"{most:.2f} (limit + {task.above})"
        targets.at_most(f"{name}: 2 threads over 1", share, most, shown)
        targets.at_most(f"{name}: peak memory", memory, MEMORY)
    return rows


def _small(repeats: int, quick: bool, targets: Targets) -> None:
    rows = []
    for name, task in SMALL.items():
        if (quick and not task.quick) or not there(name, task):
            continue
        runs = [settled(fit_small, task=name) for _ in range(repeats)]
        one, several, ratio = (median(runs, key) for key in ("one", "several", "ratio"))
        rows.append([name, f"{1e3 * one:.1f}", f"{1e3 * several:.1f}", f"{ratio:.3f}"])
        targets.at_most(f"{name}: several threads over 1", ratio, 1.05)
    table(["small data", "1 thread, ms", "several, ms", "of one's"], rows)


def passes(groups, quick: bool, targets: Targets) -> None:
    """Passes to the same gap for 1 to 16 threads, however few cores there are."""
    rows = []
    for name, task in TASKS.items():
        chosen = task.group in groups and task.passes and (task.quick or not quick)
        if not chosen or not there(name, task):
            continue
        found = [
            fresh(fit_task, task=name, n_jobs=count, forced=True) for count in COUNTS
        ]
        counted = [row["passes"] for row in found]
        gap = max(row["gap"] for row in found)
        rows.append([name, *counted, f"{gap:.4f}"])
        # of few passes, 15% are less than one
        most = max(PASSES, 1 + 1 / counted[0])
        targets.at_most(f"{name}: passes over one's", max(counted) / counted[0], most)
    table(["passes with threads", *map(str, COUNTS), "largest gap"], rows)
