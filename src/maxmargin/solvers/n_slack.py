"""n-slack cutting planes: rounds of search at fixed w, then ascent over all planes.

(Tsochantaridis et al. 2004, algorithm 1; Joachims, Finley & Yu 2009.) Each round finds
the most violated output of every example at the same w, keeps it if it violates by more
than what its stored planes do, and solves the dual over the stored planes, to a precision
that follows the gap. The quadratic program is the ascent of ``planes.cached_pass``.
"""

from __future__ import annotations

import time

import numpy as np

from maxmargin.core.kernel import run
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.planes import cached_pass, store_planes, with_room

INNER = 0.1  # the planes are solved to this share of the last gap
MAX_PASSES = 200


class NSlack(BlockCoordinate):
    """Shares the plane store, the dual and the certificates with block-coordinate."""

    def prepare(self) -> None:
        super().prepare()
        nothing = np.zeros(0, np.int64)
        outputs = np.zeros(0, np.int32)
        run(
            store_planes,
            self.objective.batch,
            self.objective.form,
            self.planes,
            outputs,
            nothing,
        )

    def step(self) -> None:
        objective = self.objective
        sweep = objective.sweep(self.w)
        began = time.perf_counter()
        self.hinges = sweep.hinges
        self._store(sweep)
        if objective.hard:
            wanted = INNER * max(float(sweep.hinges.sum()), 1e-9)
        else:
            squared = self._squared()
            primal = objective.primal_from_hinges(squared, sweep.hinges)
            wanted = INNER * max(primal - self.dual, 1e-12 * abs(primal))
        everything = np.arange(objective.n)
        gaps = np.zeros(objective.n)
        for _ in range(MAX_PASSES):
            run(
                cached_pass,
                objective.batch,
                objective.form,
                self.planes,
                self.buffers,
                objective.rng.permutation(everything),
                self.w,
                gaps,
            )
            late = time.perf_counter() >= objective.deadline
            if late or gaps.sum() <= wanted:
                break
            self._newton()
        self.passes += 1
        self.dual = self._dual()
        self.average[:] = self.w
        self.estimate = objective.primal_from_hinges(self._squared(), self.hinges)
        self._forget()
        self.update_seconds += time.perf_counter() - began

    def candidates(self):
        return super().candidates()[-1:]

    def learn_from(self, sweep) -> None:
        self._store(sweep)

    def _store(self, sweep) -> None:
        chosen = np.flatnonzero(sweep.hinges > 0)
        while True:
            crowded = run(
                store_planes,
                self.objective.batch,
                self.objective.form,
                self.planes,
                sweep.outputs,
                chosen,
            )
            if not crowded:
                return
            room = self.planes.alpha.shape[1]
            self.planes = with_room(self.objective.batch, self.planes, 2 * room)
