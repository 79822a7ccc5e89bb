"""n-slack cutting planes: rounds of search at fixed w, then ascent over all planes.

(Tsochantaridis et al. 2004, algorithm 1; Joachims, Finley & Yu 2009.) Each round finds
the most violated output of every example at the same w, keeps it if it violates by more
than what its stored planes do, and solves the dual over the stored planes, to a precision
that follows the gap. The quadratic program is the ascent of ``planes.cached_pass``.
"""

from __future__ import annotations

import time

import numpy as np

from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.block_coordinate import PlaneSolver
from maxmargin.solvers.planes import cached_pass, store_planes

INNER = 0.1  # the planes are solved to this share of the last gap
MAX_PASSES = 200  # ... or in so many passes over them
LEAST_GAP = 1e-9, 1e-12  # what rounding allows: sum of hinges, share of the primal


class NSlack(PlaneSolver):
    """See the module."""

    def prepare(self) -> None:
        nobody, outputs = np.zeros(0, np.int64), np.zeros(0, np.int32)
        self.ask(cached_pass, self.buffers, nobody, self.w, np.zeros(0))
        self.ask(store_planes, outputs, nobody)

    def step(self) -> None:
        objective = self.objective
        sweep = objective.sweep(self.w)
        began = time.perf_counter()
        self.learn_from(sweep)
        if objective.hard:
            wanted = INNER * max(float(sweep.hinges.sum()), LEAST_GAP[0])
        else:
            squared = sum_of_squares(self.w)
            primal = objective.primal_from_hinges(squared, sweep.hinges)
            wanted = INNER * max(primal - self.dual, LEAST_GAP[1] * abs(primal))
        gaps = np.zeros(objective.n)
        for _ in range(MAX_PASSES):
            order = objective.rng.permutation(objective.n)
            self.ask(cached_pass, self.buffers, order, self.w, gaps)
            gained = self.signs.hold(self.w)
            late = time.perf_counter() >= objective.deadline
            if late or gaps.sum() + gained <= wanted:
                break
            self.newton()
        self.rebuild()
        squared = sum_of_squares(self.w)
        self.estimate = objective.primal_from_hinges(squared, sweep.hinges)
        self.forget()
        self.update_seconds += time.perf_counter() - began

    def learn_from(self, sweep) -> None:
        chosen = np.flatnonzero(sweep.hinges > 0)
        while self.ask(store_planes, sweep.outputs, chosen):  # some have no room
            self.more_room()
