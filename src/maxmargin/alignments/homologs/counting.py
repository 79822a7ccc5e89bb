"""An objective that counts the different outputs which its sweeps have found violated."""

from __future__ import annotations

import numpy as np

from maxmargin.core.objective import Objective


class CountingObjective(Objective):
    """n-slack stores every output that a sweep finds violated: this counts them once.

    It is the number of constraints in the working set of Tsochantaridis et al. 2004,
    algorithm 1. Solvers with oracle calls outside of sweeps find more than is counted.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.found: set[tuple[int, bytes]] = set()

    def state(self) -> dict:
        owner = [i for i, _ in self.found]
        labels = np.frombuffer(b"".join(y for _, y in self.found), np.int32)
        return {**super().state(), "owner": np.array(owner, np.int64), "labels": labels}

    def restore(self, state) -> None:
        super().restore(state)
        owner, start = state["owner"], self.batch.start
        ends = np.cumsum(start[owner + 1] - start[owner])
        labels = np.split(state["labels"], ends)
        self.found = {
            (i, y.tobytes()) for i, y in zip(owner.tolist(), labels, strict=False)
        }

    def sweep(self, w, multiple=1.0):
        sweep = super().sweep(w, multiple)
        start = self.batch.start
        for i in np.flatnonzero((sweep.hinges > 0) & (sweep.losses > 0)).tolist():
            self.found.add((i, sweep.outputs[start[i] : start[i + 1]].tobytes()))
        return sweep
