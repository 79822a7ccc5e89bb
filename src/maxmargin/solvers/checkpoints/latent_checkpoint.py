"""The checkpoint of a concave-convex run: what is kept, and what of it is believed.

As in ``proofs.py``: f at the weights is computed anew, completed truths must agree with
what is known, planes must be planes. How little another step could gain is believed only
if the planes prove it; else the run goes on, and the next step proves what it can.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np

from maxmargin.core.completion import with_truths
from maxmargin.core.kernel import run
from maxmargin.core.state import require, restored
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers import registry
from maxmargin.solvers.checkpoints.cut_proofs import proved_by_cuts
from maxmargin.solvers.checkpoints.proofs import compare
from maxmargin.solvers.checkpoints.stored_planes import (
    check_latent_planes,
    check_truths,
)
from maxmargin.solvers.hidden.carried import check_carried, follow
from maxmargin.solvers.planes import Planes, dual_value, make_planes, rebuild
from maxmargin.solvers.result import StationaryPoint
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.warm_start import copied, feasible


class KeptRun(Solver):
    """What the state between two outer steps is, for ``concave_convex.py``."""

    kept = ("w", "value", "planes", "outer", "round", "history", "moved", "passes")
    kept = (*kept, "tol", "easy", "threshold", "paced", "carried")
    confirmed = False  # of a checkpoint: see _confirmed()
    batch: Any
    name: str
    planes: Planes | None
    carried: dict | None

    def state(self) -> dict:
        own = {"point": astuple(self.point), "seconds": self.clock.seconds()}
        if isinstance(self.batch, tuple):
            own["batch"] = self.batch.y
        return super().state() | own

    def restore(self, state) -> None:
        self.w = self.easy = self.planes = self.carried = None
        like = self._empty_planes()
        super().restore(state)
        if self.planes is not None:
            self.planes = restored(like, self.planes, "planes", grows=True)
        self.point = StationaryPoint(*state["point"])
        if isinstance(self.batch, tuple):
            truths = restored(self.batch.y, state["batch"])
            check_truths(self.batch, truths)
            self.batch = with_truths(self.batch, truths)
        if self.planes is not None:
            check_latent_planes(self.make(self.batch, None), self.planes)
        if self.carried is not None:
            check_carried(self.make(self.batch, None), self.carried)
        self.clock.go_on(restored(0.0, state["seconds"], "seconds"))
        self.fresh, self.stuck = False, self._limit_reached()
        reached = self.point.bound <= self.limits.tol * self.value
        self.stationary = self.confirmed and not self.paced and reached

    def example(self, name: str):
        objective = self.make(self.batch, None)
        return {"w": objective.weights(), "easy": np.zeros(objective.n, bool)}.get(name)

    def _empty_planes(self) -> Planes:
        objective = self.make(self.batch, None)
        return make_planes(objective.batch, objective.form, objective.mass, 1)

    def check_restored(self) -> None:
        require(self.tol > 0, "tol", "out of range")
        rows = [*self.history, self.round]
        require(all(type(row) is dict for row in rows), "history", "no list of rows")
        for row in rows:
            numbers = all(isinstance(v, (int, float, np.number)) for v in row.values())
            require(numbers, "history", "not all numbers")

    def proved(self) -> float:
        """f at the weights of a checkpoint, computed anew; there is no dual."""
        point = self.point
        numbers = [point.objective, point.decrease, point.inner_gap, point.bound]
        good = all(isinstance(v, (float, np.floating)) for v in numbers)
        require(good and type(point.exact) is bool, "point", "not complete")
        require(point.objective == self.value, "point", "of other weights")
        if self.w is not None:
            _, truths = self._complete(self.w)
            value = self._value_at(self.w, truths)
            dtype = self.make(self.batch, None).dtype
            compare("the objective", self.value, value, value, dtype)
        if self.carried is not None and self.planes is not None:
            objective = self.make(self.batch, None)
            planes = feasible(copied(self.planes), objective)
            solver = registry.make(self.name, objective, planes)
            follow(solver, self.carried, self.w)
            proved_by_cuts(solver)
        self.confirmed = self._confirmed()
        return 0.0

    def _confirmed(self) -> bool:
        """Whether the planes prove how little another step could gain."""
        point, objective = self.point, self.make(self.batch, self.easy)
        if self.planes is None:
            return False
        planes = feasible(copied(self.planes), objective)
        w = objective.weights()
        buffers = objective.buffers()
        blocks = np.arange(objective.n)
        run(rebuild, objective.batch, objective.form, planes, buffers, blocks, w)
        dual = dual_value(planes, objective.form, sum_of_squares(w))
        slack = 1e-3 * max(abs(self.value), abs(dual))
        return self.value - dual <= point.bound + slack
