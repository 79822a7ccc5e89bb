"""Block-coordinate ascent with pairwise steps: the default solver.

Each pass visits the blocks in random order, asks the oracle for one plane each and moves
mass between planes (``planes.exact_pass``). Between oracle passes come passes over the
stored planes alone, as long as they raise the dual faster than the whole round did
(Shah, Kolmogorov & Lampert 2015). Blocks whose gap was small at their last visit are
left out for a few passes; the certificate never is.

A running average of the weights has the smaller primal until high precision is asked
for. Iterate k of K weighs about (k / K)^3 at first, and soon only the last few count
(Lacoste-Julien et al. 2013 average with k / K, which forgets too slowly: OCR letters
reach a gap of 1% in 19 passes with that and in 15 with ours). The driver certifies
whichever is better.
"""

from __future__ import annotations

import time

import numpy as np

from maxmargin.core.kernel import kernel, run
from maxmargin.core.objective import Objective
from maxmargin.solvers.driver import NotSeparable, not_separable
from maxmargin.solvers.newton import newton_steps
from maxmargin.solvers.planes import (
    cached_pass,
    dual_value,
    exact_pass,
    make_planes,
    rebuild,
    store_planes,
    sum_of_squares,
    with_room,
)

SKIP_BELOW = 0.5  # blocks with less than this share of the mean gap may wait
WORTHWHILE = 0.03  # share of the estimated gap that a pass over chosen blocks must gain
MAX_CACHED = 50
CACHED_COST = 1.0  # a visit without the oracle, in visits with it
MAX_ROOM = 64
CHUNK_SECONDS = 0.5  # kernels run this long at most, so that Ctrl-C is heard


class BlockCoordinate:
    """See the module. ``planes`` continues from the dual point of an earlier fit."""

    max_wait = 4  # passes
    longest_run = 16  # examples
    newest = 0.35  # share of the newest weights in their average, at least

    def __init__(self, objective: Objective, planes=None):
        self.objective = objective
        self.buffers = objective.buffers()
        self.w = objective.weights()
        self.average = objective.weights()
        self._start(planes)
        if planes is not None:
            self._rebuild()
            self.average[:] = self.w
        self.gaps = np.zeros(objective.n)
        self.hinges = np.zeros(objective.n)
        self.wait = np.ones(objective.n, np.int64)
        self.next_visit = np.zeros(objective.n, np.int64)
        self.last_visited = np.zeros(0, np.int64)
        self.selective = True
        self.passes = 0
        self.update_seconds = 0.0
        self.chunk = max(1, objective.n // 4)
        # among few examples, runs would leave the order hardly random
        self.run = min(max(objective.n // 64, 1), self.longest_run)
        self.cached_cost = CACHED_COST if isinstance(objective.batch, tuple) else 0.0
        self.dual = self._dual()
        self.estimate = np.inf

    def prepare(self) -> None:
        nobody = np.zeros(0, np.int64)
        self._exact(nobody)
        self._cached(np.zeros(self.objective.n))
        self._rebuild()
        blend_into(self.average[:0], self.w[:0], 0.0)

    def _start(self, planes) -> None:
        if planes is None:
            planes = make_planes(
                self.objective.batch, self.objective.form, self.objective.mass
            )
        self.planes = planes

    def step(self) -> None:
        objective = self.objective
        order = self._chosen()
        gained, work = self._exact(order), float(len(order))
        began = time.perf_counter()
        # Cached passes go on while they gain more per unit of work than the round as a
        # whole. Work is counted, not timed: equal seeds must give equal weights.
        gaps = np.where(self.planes.count > 1, self.gaps, 0.0)
        for _ in range(MAX_CACHED):
            gain, visits = self._cached(gaps)
            cost = self.cached_cost * visits
            gained, work = gained + gain, work + cost
            late = time.perf_counter() >= objective.deadline
            if late or gain * work <= gained * cost:
                break
        self.dual += gained + self._newton()
        self.passes += 1
        squared = blend_into(self.average, self.w, self._newest_share(self.passes))
        self.estimate = objective.primal_from_hinges(squared, self.hinges)
        # Blocks with small gaps can hold most of the gap together: when the chosen few
        # no longer pay, everyone is visited again.
        self.selective = gained >= WORTHWHILE * (self.estimate - self.dual)
        self._forget()
        self.update_seconds += time.perf_counter() - began

    def candidates(self):
        # Steps in single precision drift: make w exactly what alpha says, so that the
        # dual that the certificate quotes is the dual of a real point.
        self._rebuild()
        self.dual = self._dual()
        if self.objective.hard:
            return [self.w]
        both = [self.average, self.w]
        # after Newton steps the last weights are the best
        return both if isinstance(self.objective.batch, tuple) else both[::-1]

    def learn_from(self, sweep) -> None:
        """A certificate's planes are free; worth storing where the oracle is dear."""
        if not isinstance(self.objective.batch, tuple):
            chosen = np.flatnonzero(sweep.hinges > 0)
            run(
                store_planes,
                self.objective.batch,
                self.objective.form,
                self.planes,
                sweep.outputs,
                chosen,
            )

    def _chosen(self):
        """Blocks to visit in this pass, in random order.

        A block whose gap was below a share of the mean waits, twice as long each time.
        """
        seen = self.last_visited
        if len(seen):
            low = self.gaps[seen] < SKIP_BELOW * self.gaps.mean()
            longer = np.minimum(2 * self.wait[seen], self.max_wait)
            self.wait[seen] = np.where(low, longer, 1)
            self.next_visit[seen] = self.passes - 1 + self.wait[seen]
        if not self.selective:
            self.next_visit[:] = self.passes
        self.last_visited = np.flatnonzero(self.next_visit <= self.passes)
        return self._shuffled(self.last_visited)

    def _shuffled(self, blocks):
        """Random order of runs of neighbours.

        Examples that stand together share features, so their weights are still in the
        processor's cache. Runs of 16 take a fifth off the time of a pass (CoNLL-2000),
        runs of 8 a quarter where visits are short (``exact_blocks``), and the progress
        per pass is as before.
        """
        whole = len(blocks) // self.run * self.run
        runs = blocks[:whole].reshape(-1, self.run)
        order = self.objective.rng.permutation(len(runs))
        return np.concatenate([runs[order].ravel(), blocks[whole:]])

    def _exact(self, order) -> float:
        """Visits with the oracle, in chunks; returns the gain of the dual."""
        objective = self.objective
        done, crowded, gained = 0, 0, 0.0
        while True:
            began = time.perf_counter()
            part = order[done : done + self.chunk]
            calls, full, impossible, gain = run(
                exact_pass,
                objective.batch,
                objective.form,
                self.planes,
                self.buffers,
                part,
                self.w,
                self.gaps,
                self.hinges,
            )
            done += len(part)
            objective.oracle_calls += calls
            crowded += full
            gained += gain
            if impossible:
                raise NotSeparable(
                    not_separable("a wrong output has the features of the true one")
                )
            now = time.perf_counter()
            if done >= len(order) or now >= objective.deadline:
                break
            self._pace(now - began, len(part))
        room = self.planes.alpha.shape[1]
        if crowded > 0.01 * objective.n and room < MAX_ROOM:
            self.planes = with_room(objective.batch, self.planes, 2 * room)
        return gained

    def _pace(self, seconds, blocks) -> None:
        wanted = blocks * CHUNK_SECONDS / max(seconds, 1e-6)
        self.chunk = int(np.clip(wanted, 1, 16 * self.chunk))

    def _cached(self, gaps):
        """A pass over stored planes where they promise most: (gain, visits)."""
        objective = self.objective
        threshold = SKIP_BELOW * gaps.mean() if self.selective else 0.0
        chosen = np.flatnonzero((gaps >= threshold) & (gaps > 0))
        order = self._shuffled(chosen)
        gain = run(
            cached_pass,
            objective.batch,
            objective.form,
            self.planes,
            self.buffers,
            order,
            self.w,
            gaps,
        )
        return gain, len(order)

    def _newton(self) -> float:
        """Where planes are few and passes are Python's: all of them together."""
        if isinstance(self.objective.batch, tuple) or self.objective.hard:
            return 0.0
        batch, form = self.objective.batch, self.objective.form
        return newton_steps(batch, form, self.planes, self.w)

    def _rebuild(self) -> None:
        run(
            rebuild,
            self.objective.batch,
            self.objective.form,
            self.planes,
            self.buffers,
            self.w,
        )

    def _squared(self) -> float:
        return sum_of_squares(self.w)

    def _dual(self) -> float:
        return dual_value(self.planes, self.objective.form, self._squared())

    def _newest_share(self, passes: int) -> float:
        return min(1.0, max(4.0 / (passes + 3), self.newest))

    def _forget(self) -> None:
        """Let a Python batch drop the outputs that no plane refers to."""
        forget = getattr(self.objective.batch, "forget", None)
        if forget is not None:
            forget(self.planes)


@kernel
def blend_into(average, w, weight):
    """average += weight * (w - average); returns |w|^2, for which w is read anyway."""
    lanes = np.zeros(8)
    a = average.dtype.type(weight)
    whole = len(w) // 8 * 8
    for j in range(0, whole, 8):
        for k in range(8):
            x = w[j + k]
            average[j + k] += a * (x - average[j + k])
            lanes[k] += float(x) * float(x)
    total = lanes.sum()
    for j in range(whole, len(w)):
        average[j] += a * (w[j] - average[j])
        total += float(w[j]) * float(w[j])
    return total
