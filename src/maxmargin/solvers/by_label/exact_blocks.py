"""Block-coordinate ascent where a structure solves its blocks in closed form.

For classes, margin rescaling and linear slacks, every output has its own dual variable
(``core/by_label.py``), so there is nothing to search for or to cache: a visit scores
the example, solves its block (``contract.solve_block``) and updates w once. (Crammer &
Singer 2001; Keerthi et al. 2008, the method of LIBLINEAR.)

With many more examples than features, or a large C, the ascent from zero is slow, because
many blocks pull hard at the same weights. Then the first passes work with a smaller C,
raised in steps: its dual points are feasible for the larger one, and scaled up they are a
good start (OCR letters: a dual within 2% of the optimum after 20 visits instead of 100).

Where there are few features and C |x|^2 is so large that this would not help either, or
when the passes no longer gain much, second-order steps take over (``proximal_newton``).
"""

from __future__ import annotations

import time

import numpy as np

from maxmargin.core.by_label import OutputsByLabel, by_label
from maxmargin.core.contract import emit_block
from maxmargin.core.kernel import kernel, run
from maxmargin.core.state import require
from maxmargin.core.vectors import blend_into, sum_of_squares
from maxmargin.engine.interrupts import undisturbed
from maxmargin.solvers.by_label.block_threads import BlockThreads
from maxmargin.solvers.by_label.proximal_newton import ProximalNewton
from maxmargin.solvers.checkpoints.proofs import compare_weights
from maxmargin.solvers.planes import Planes
from maxmargin.solvers.schedule import Average, Schedule
from maxmargin.solvers.solver import Solver

MAX_VARIABLES = 1 << 28  # dual variables: beyond, planes take less memory
STAGE_RATIO = 4  # C grows by this factor ...
STAGE_PASSES = 5  # ... after this many passes
MAX_STAGES = 12  # 4^12: no C worth its passes is further away
MIN_VISITS = 5000  # per pass: on small data a pass is several sweeps ...
MAX_SWEEPS = 20  # ... but not too many
MANY_EXAMPLES = 5  # examples per feature from which the stages pay
HARD_PULL = 500.0  # C |x|^2 from which second-order steps begin at once
FIRST_LOOK = 16  # passes; then after 32, 64, ... the gap should have fallen to
SLOW = 0.4  # this share: with 1/2 it falls as 1 / passes
SUMS = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}  # errors of sums
AT_ONCE = 4096  # examples whose dual variables are made double at a time
MAX_VAIN = 5  # second-order steps in a row that gain nothing end them


class ExactBlocks(Solver):
    """See the module."""

    kept = (*Solver.kept, "alpha", "mass", "schedule", "average", "hinges")
    kept = (*kept, "stages", "last_look", "vain", "newton")

    @staticmethod
    def applies(objective) -> bool:
        form = objective.form
        return (
            objective.closed_blocks
            and not (form.slack or form.quadratic or objective.hard)
            and objective.nonnegative is None
            and objective.n * objective.batch.width <= MAX_VARIABLES
        )

    def __init__(self, objective, planes=None):
        super().__init__(objective)
        batch = by_label(objective.batch)
        self.threads = BlockThreads(objective)
        self.schedule = Schedule(objective, max_wait=32, longest_run=8)
        self.hinges = np.zeros(objective.n)
        pull = self._pull()
        self.newton: ProximalNewton | None = None
        self.newton_at_once = pull > HARD_PULL and ProximalNewton.applies(objective)
        self.last_look, self.vain = np.inf, 0
        self.stages: list[float] = []
        self.mass = objective.mass
        if planes is not None:
            self.alpha = alpha_from(batch, planes).astype(objective.dtype)
        else:
            self.alpha = np.zeros((objective.n, batch.width), objective.dtype)
            shares = self._shares(pull)
            if shares:
                self.stages = [share for share in shares for _ in range(STAGE_PASSES)]
                self.mass = objective.mass * shares[0]
            self.alpha[np.arange(objective.n), batch.y] = self.mass
        self._rebuild()
        # so many short passes that a long average is the better one
        self.average = Average(self.w, newest=0.0)

    def _pull(self) -> float:
        """The mean of C |x|^2."""
        objective = self.objective
        return float(objective.mass @ objective.batch.norms) / max(objective.n, 1)

    def _shares(self, pull: float) -> list[float]:
        """Shares of C to begin with: from where C |x|^2, the pull, is about 1."""
        few = self.objective.n < MANY_EXAMPLES * self.objective.batch.n_features
        if few or self.newton_at_once:
            return []
        count = int(np.ceil(np.log(max(pull, 1.0)) / np.log(STAGE_RATIO)))
        return [float(STAGE_RATIO) ** -k for k in range(min(count, MAX_STAGES), 0, -1)]

    def prepare(self) -> None:
        found = self.schedule.gaps, self.hinges
        self.threads.prepare(self.mass, self.alpha, self.w, *found)
        blend_into(self.w[:0], self.w[:0], 0.0)

    def step(self) -> None:
        objective, schedule = self.objective, self.schedule
        if self._slow():
            self._second_order()
            return
        passes = schedule.passes
        share = self.stages[passes] if passes < len(self.stages) else 1.0
        if not np.array_equal(self.mass, share * objective.mass):
            with undisturbed():
                self._raise_mass(share * objective.mass)
        visits, before = 0, self._dual() if objective.team.size > 1 else self.dual
        while visits < min(MIN_VISITS, MAX_SWEEPS * objective.n):
            order = schedule.choose()
            schedule.in_chunks(order, self._visit)
            visits += len(order)
            if len(order) == 0:
                break
        objective.oracle_calls += visits
        began = time.perf_counter()
        schedule.passes += 1
        self.dual = self._dual()
        # hopes are not added up here
        self.falls |= objective.team.heed(before, before, self.dual)
        age = max(schedule.passes - len(self.stages), 1)
        squared = self.average.take(self.w, age)
        self.estimate = np.inf
        if share == 1.0:
            self.estimate = objective.primal_from_hinges(squared, self.hinges)
        self.update_seconds += time.perf_counter() - began

    def _slow(self) -> bool:
        """Whether it is time for second-order steps, which go on until they are vain."""
        if self.newton_at_once or self.newton is not None:
            return self.vain < MAX_VAIN
        look = self.schedule.passes - len(self.stages)
        if look < FIRST_LOOK or look & (look - 1):
            return False
        gap = (self.estimate - self.dual) / self.estimate
        slow, self.last_look = gap > SLOW * self.last_look, gap
        return slow and ProximalNewton.applies(self.objective)

    def _second_order(self) -> None:
        """A proximal step, then a sweep, which mends what is left of its error."""
        objective, schedule = self.objective, self.schedule
        if self.newton is None:
            self.newton = ProximalNewton(objective, self.alpha)
        k, dual, before = objective.batch.n_labels, self._dual(), self.alpha.copy()
        found, solved = self.newton.step(before, dual)
        self.vain += 1
        self.newton.write_weights(self.average.w)
        for start in [found, before] if solved else [before]:
            self.alpha[:, :k] = start[:, :k]
            self._rebuild()
            everyone = schedule.shuffled(np.arange(objective.n))
            schedule.in_chunks(everyone, self._visit)
            objective.oracle_calls += objective.n
            self.dual = self._dual()
            if self.dual > dual:
                self.vain = self.vain if start is before else 0
                break
        self.falls |= objective.team.heed(dual, dual, self.dual)
        schedule.passes += 1
        self.estimate = self.dual  # a certificate is always worth its price here

    def candidates(self):
        self._rebuild()
        return [self.average.w, self.w]

    def _visit(self, order) -> None:
        found = self.schedule.gaps, self.hinges
        self.threads.visit(order, self.mass, self.alpha, self.w, *found)

    def _raise_mass(self, mass) -> None:
        """Scale alpha (but the truth's share) to the new mass, at the best multiple."""
        ratio = float(mass.max() / self.mass.max())
        squared = sum_of_squares(self.w)
        linear = self._dual() + 0.5 * squared
        t = min(ratio, linear / squared) if squared > 0 else 1.0
        rows = np.arange(self.objective.n)
        truth = self.objective.batch.y
        self.alpha *= t
        self.alpha[rows, truth] = 0
        # at least 0: rounding may leave less than nothing
        self.alpha[rows, truth] = np.maximum(mass - self.alpha.sum(axis=1), 0)
        self.w *= self.w.dtype.type(t)
        self.mass = mass
        self.schedule.everyone()

    def exact_point(self, w=None) -> tuple[np.ndarray, float]:
        """(w, to which it is added; the rest of the dual) anew, in double precision."""
        objective, linear = self.objective, 0.0
        w = np.zeros(objective.n_weights) if w is None else w
        for lo in range(0, objective.n, AT_ONCE):
            rows = self._variables(lo, min(lo + AT_ONCE, objective.n))
            linear += run(rebuild_blocks, objective.batch, lo, self.mass, rows, w)
        return w, linear

    def _rebuild(self) -> None:
        """w and dual anew from the dual variables."""
        w, linear = self.exact_point()
        self.w[:] = w
        self.dual = linear - 0.5 * sum_of_squares(w)

    def _variables(self, lo: int, hi: int) -> np.ndarray:
        """Dual variables of some examples; those of single precision add up to C_i."""
        if self.alpha.dtype == np.float64:
            return self.alpha[lo:hi]
        rows, mass = self.alpha[lo:hi].astype(np.float64), self.mass[lo:hi]
        at = np.arange(hi - lo), self.objective.batch.y[lo:hi]
        rows[at] = 0.0
        used = rows.sum(axis=1)
        over = used > mass
        rows[over] *= (mass[over] / used[over])[:, None]
        rows[at] = mass - rows.sum(axis=1)
        return rows

    def _dual(self) -> float:
        return self.rest() - 0.5 * sum_of_squares(self.w)

    def rest(self) -> float:
        """sum alpha loss."""
        cost = self.objective.batch.cost
        by_truth = np.zeros_like(cost, np.float64)
        sum_by_truth(self.objective.batch.y, self.alpha, by_truth)
        return float(np.sum(by_truth * cost))

    def restore(self, state) -> None:
        self.newton = None
        if state["newton"] is not None:
            self.newton = ProximalNewton(self.objective, self.alpha)
        super().restore(state)

    def check_restored(self) -> None:
        super().check_restored()
        whole, k = self.objective.mass, self.objective.batch.n_labels
        shares = [1.0, *self._shares(self._pull())]
        good = any(np.array_equal(self.mass, share * whole) for share in shares)
        require(good, "mass", "of another C")
        require(all(s in shares for s in self.stages), "stages", "of another C")
        check_simplices(self.alpha[:, :k], self.mass, "alpha")
        require(not self.alpha[:, k:].any(), "alpha", "not empty beyond the classes")
        if self.newton is not None:
            check_simplices(self.newton.a, whole, "newton.a")

    def proved(self) -> float:
        saved = self.w.copy()
        self._rebuild()
        compare_weights(saved, self.w)
        return self.dual

    @property
    def planes(self) -> Planes:
        """The dual point as a plane store, for a later fit to start from."""
        return planes_from(self.objective.batch, self.alpha, self.objective.mass)


def check_simplices(alpha: np.ndarray, mass: np.ndarray, name: str) -> None:
    """ValueError unless the rows are not negative and add up to these masses."""
    require(np.isfinite(alpha).all() and (alpha >= 0).all(), name, "out of range")
    apart = np.abs(alpha.sum(axis=1, dtype=np.float64) - mass)
    slack = SUMS[alpha.dtype] * mass
    require((apart <= slack).all(), name, "not of this C")


def planes_from(batch: OutputsByLabel, alpha: np.ndarray, mass: np.ndarray) -> Planes:
    """A plane store from dual variables by label, the truth first."""
    n, k = len(alpha), batch.n_labels
    labels = np.tile(np.arange(-1, k - 1, dtype=np.int32), (n, 1))
    labels += labels >= batch.y[:, None]
    labels[:, 0] = batch.y
    rows = np.arange(n)[:, None]
    planes = Planes(
        labels=labels.ravel(),
        count=np.full(n, k, np.int32),
        alpha=alpha[rows, labels].astype(np.float64),
        c=batch.cost[batch.y[:, None], labels].astype(np.float64),
        r=np.ones((n, k)),
        mass=mass,
    )
    planes.r[:, 0] = 0.0
    return planes


def alpha_from(batch: OutputsByLabel, planes: Planes) -> np.ndarray:
    """Dual variables by label from a plane store."""
    n, room = planes.alpha.shape
    alpha = np.zeros((n, batch.width))
    live = np.arange(room) < planes.count[:, None]
    rows = np.broadcast_to(np.arange(n)[:, None], live.shape)
    np.add.at(
        alpha, (rows[live], planes.labels.reshape(n, room)[live]), planes.alpha[live]
    )
    return alpha


@kernel
def rebuild_blocks(batch, lo, mass, alpha, w):
    """w += sum alpha psi; returns sum alpha loss. ``alpha`` is of examples from lo on."""
    total = 0.0
    for k in range(len(alpha)):
        i = lo + k
        if mass[i] > 0.0 and alpha[k, batch.y[i]] < mass[i]:
            total += emit_block(batch, i, mass[i], alpha[k], w)
    return total


@kernel
def sum_by_truth(y, alpha, out):
    for i in range(len(y)):
        row, sums = alpha[i], out[y[i]]
        for k in range(len(row)):
            sums[k] += row[k]
