"""What it would cost to search for groups of examples at the same weights.

    python benchmarks/searching_ahead.py [--groups 1 16 64 256]

Threads could search for a group of examples at once, and one of them then take the
steps one by one: the weights would not depend on the threads. This simulates it on one
thread, where searches take most of the time (trees) and where graphs are wide (Snakes):
passes to the default ``tol`` by the size of the groups, and the share of the passes with
the oracle that searches take. Groups of 1 are ordinary block-coordinate ascent.
"""

from __future__ import annotations

import argparse
import time
from unittest import mock

import numpy as np
from common import start, table
from scaling_tasks import TASKS

from maxmargin.core.objective import Sweep, sweep_range
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.planes import cached_pass, store_planes

NAMES = ("parsing, up to 15 words", "graphs, Snakes")


def fitted(name: str, group: int) -> tuple[int, float]:
    """(passes, share of searches in the visits)."""
    seconds = {"search": 0.0, "step": 0.0}

    def visit(solver, order):
        objective = solver.objective
        buffers = objective._scoring_buffers()
        numbers = (np.zeros(objective.n) for _ in range(3))
        found = Sweep(*numbers, np.zeros(len(objective.batch.y), np.int32))
        for first in range(0, len(order), group):
            some = order[first : first + group]
            began = time.perf_counter()
            for i in some.tolist():
                at = objective.form, i, i + 1, solver.w, 1.0
                objective.run(sweep_range, *at, *buffers, objective.mass, found)
            searched = time.perf_counter()
            violated = some[found.hinges[some] > 0]
            solver.hinges[some] = found.hinges[some]
            solver.crowded += solver.ask(store_planes, found.outputs, violated) or 0
            gaps = solver.schedule.gaps
            solver.gained += solver.ask(
                cached_pass, solver.buffers, some, solver.w, gaps
            )
            seconds["search"] += searched - began
            seconds["step"] += time.perf_counter() - searched
        objective.oracle_calls += len(order)

    model, data = TASKS[name].make()
    model.set_params(n_jobs=1)
    with mock.patch.object(BlockCoordinate, "_visit", visit):
        model.fit(*data)
    return model.n_iter_, seconds["search"] / sum(seconds.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", nargs="+", type=int, default=[1, 16, 64, 256])
    groups = parser.parse_args().groups
    rows = []
    for name in NAMES:
        runs = [fitted(name, group) for group in groups]
        passes = [str(passes) for passes, _ in runs]
        rows.append([name, *passes, f"{runs[0][1]:.0%}"])
    table(["passes, by the size of groups", *map(str, groups), "searching"], rows)


if __name__ == "__main__":
    start(main)
