"""One training problem as solvers see it: examples by number, never x or y.

An :class:`Objective` owns the batch, the formulation and the masses C_i, and answers the
two questions that every solver and the driver ask: what are the most violated outputs at
this w (``sweep``), and what is the exact primal there (``primal``).
"""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import capacity, rescale_scores, score, shape, solve_block
from maxmargin.core.formulation import Form, Plain
from maxmargin.core.kernel import implemented, kernel, run
from maxmargin.core.oracle import most_violated
from maxmargin.core.state import Stateful
from maxmargin.core.vectors import Buffers, copy_into, sum_of_squares
from maxmargin.engine.threads import Team, over_ranges

MULTIPLES = 2  # of w tried per certificate, beside 1
DIRECT = 1 << 16  # weights up to which norms are summed in an array as long as w


class Sweep(NamedTuple):
    """The most violated output of every example at one w."""

    hinges: np.ndarray  # upper bounds on H_i, exact where the search is
    losses: np.ndarray
    margins: np.ndarray
    outputs: np.ndarray  # labellings, laid out as batch.y


class Objective(Stateful):
    """Batch, formulation, masses, weights' size and type, threads, random numbers."""

    kept = ("rng", "oracle_calls")

    solver = "hinge-handover"  # what "auto" stands for

    answer = Sweep  # what sweep() returns

    exact = True  # False when a user's oracle is declared approximate

    # numbers of the weights that must not be negative (``solvers/block_coordinate.py``)
    nonnegative: np.ndarray | None = None

    def __init__(
        self, batch, n_weights, form: Form | Plain, mass, dtype, n_jobs=1, seed=0
    ):
        self.batch = batch
        self.n_weights = n_weights
        self.form = form
        self.mass = mass
        self.dtype = np.dtype(dtype)
        in_python = not isinstance(batch, tuple)
        self.team = batch.team(n_jobs, form) if in_python else Team(n_jobs)
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.n = len(batch.start) - 1
        self.hard = bool(np.isinf(mass).any())
        self.deadline = math.inf  # of time.perf_counter(); long passes look at it
        self.oracle_calls = 0
        if not getattr(batch, "exact", True):
            self.exact = False

    @property
    def scalable(self) -> bool:
        """Whether multiples of w may be tried for a smaller primal."""
        return not self.hard

    @property
    def closed_blocks(self) -> bool:
        """Whether the structure solves the block of an example in closed form."""
        return implemented(solve_block, type(self.batch))

    def run(self, function, *arguments):
        """A kernel on the batch."""
        return run(function, self.batch, *arguments)

    def weights(self) -> np.ndarray:
        # Written at once: pages of lazily zeroed memory that are read first and written
        # later fault twice, in the middle of the first pass.
        w = np.empty(self.n_weights, self.dtype)
        w.fill(0)
        return w

    def buffers(self) -> Buffers:
        """Working memory for one worker that takes steps."""
        entries = 3 * self.run(_capacity) + 16
        table = 1 << (4 * entries).bit_length()
        direct = self.n_weights <= DIRECT
        return Buffers(
            *self._scoring_buffers(),
            index=np.zeros(entries, np.int64),
            values=np.zeros(entries, self.dtype),
            keys=np.full(0 if direct else table, -1),
            sums=np.zeros(self.n_weights if direct else table),
        )

    def _scoring_buffers(self):
        rows, columns = self.run(_shape)
        longest = int(np.diff(self.batch.start).max(initial=1))
        return np.zeros((rows, columns)), np.zeros(longest, np.int32)

    def come_home(self) -> None:
        """Certify in this process, after a cluster was lost: here it is anyway."""

    def prepare(self) -> None:
        """Compile (or load) the kernels of a sweep, so that the clock does not count it."""
        theta, y = self._scoring_buffers()
        empty = Sweep(*np.zeros((3, 0)), np.zeros(0, np.int32))
        w = np.zeros(self.n_weights, self.dtype)  # never touched: takes no memory
        self.run(sweep_range, self.form, 0, 0, w, 1.0, theta, y, self.mass, empty)
        sum_of_squares(w[:0])

    def sweep(self, w, multiple=1.0) -> Sweep:
        """Search every example at multiple * w, in threads; the result has no order."""
        n = self.n
        if not isinstance(self.batch, tuple):  # there the scores are w itself
            w, multiple = multiple * w, 1.0
        result = Sweep(
            np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(len(self.batch.y), np.int32)
        )

        def part(lo, hi):
            return self._sweep_range(lo, hi, w, multiple, result)

        with self.team.expecting(np.flatnonzero(self.mass > 0)):
            calls = over_ranges(part, self.batch.start, self.team)
        self.oracle_calls += sum(calls)
        return result

    def _sweep_range(self, lo, hi, w, multiple, result) -> int:
        theta, y = self._scoring_buffers()
        arguments = (self.form, lo, hi, w, multiple, theta, y, self.mass, result)
        return self.run(sweep_range, *arguments)

    def primal(self, w, multiple=1.0):
        """(primal at multiple * w, multiple, sweep there).

        With a hard margin the multiple grows until every output obeys.
        """
        if not self.hard:
            w, scale = as_returned(w, multiple)
            sweep = self.sweep(w, scale)
            squared = scale**2 * sum_of_squares(w)
            return self.primal_from_hinges(squared, sweep.hinges), multiple, sweep
        squared = sum_of_squares(w)
        # Dinkelbach: the smallest t such that t w violates nothing.
        t = multiple
        for _ in range(100):
            sweep = self.sweep(w, t)
            broken = sweep.hinges > 1e-7 * np.maximum(sweep.losses, 1e-12)
            if not broken.any():
                return 0.5 * t * t * squared, t, sweep
            longer = t * self.obeying_multiple(sweep, broken)
            if longer == math.inf:
                return math.inf, multiple, sweep
            t = max(t * (1 + 1e-9), longer)
        return math.inf, multiple, sweep

    def along(self, w, point: tuple, dual: float, tol: float, share: float) -> tuple:
        """Try t w for a t near 1, where the slope of the primal says that it pays.

        ``point`` is what :meth:`primal` has found at w. Near the optimum of the dual, many
        margins fall just short of what is asked; a slightly longer w then has a much
        smaller primal (CoNLL-2000 tokens: a gap of 2.5% instead of 6.4% for t = 1.01). A
        parabola with the slope at t = 1 and a minimum that closes such a ``share`` of the
        gap as the last one did gives the first t, the slopes at both the second. Returns
        (the best point, the share that it closes).
        """
        primal, multiple, sweep = point
        gap, squared = primal - dual, sum_of_squares(w)
        if squared == 0 or not self.scalable:
            return point, share
        # Nearly separated, and C is large: a little longer, w violates nothing.
        t = self.obeying(sweep)
        if 0.5 * t * t * squared < dual + 0.5 * gap:
            longer = self.primal(w, t)
            if longer[0] < primal:
                primal, multiple, sweep = point = longer
                gap = primal - dual
                if gap <= tol * primal:
                    return point, share
        slope = multiple * squared - self.pull(sweep) / multiple
        if abs(slope) < 1e-9 * squared or gap - tol * primal > 3.0 * share * gap:
            return point, share  # it cannot be enough
        best = point
        t, step = multiple, -2.0 * share * gap / slope
        for _ in range(MULTIPLES):
            step = min(max(step, -0.3), 0.3)
            t += step
            other, _, sweep = self.primal(w, t)
            if other < best[0]:
                best = other, t, sweep
            slope, before = t * squared - self.pull(sweep) / t, slope
            bend = (slope - before) / step
            if bend <= 0 or best[0] - dual <= tol * best[0]:
                break
            step = -slope / bend
            if other + 0.5 * step * slope - dual > tol * best[0]:
                break  # not even the bottom of the parabola is low enough
        share = min(max((primal - best[0]) / gap, 0.5 * share, 0.02), 0.9)
        return best, share

    def piece(self, number: int, mass, batch=None) -> Objective:
        """The same for some of the examples: shard ``number`` (``sharded.py``)."""
        piece = copy.copy(self)
        piece.batch, piece.mass, piece.n, piece.team = batch, mass, len(mass), Team()
        piece.nonnegative = None  # signs are a matter of the weights of all
        piece.rng = np.random.default_rng([self.seed, number])
        return piece

    @property
    def slots(self) -> int:
        return len(self.batch.y)

    def obeying(self, sweep: Sweep) -> float:
        """The factor by which w must grow to violate nothing; inf if none."""
        return self.obeying_multiple(sweep, sweep.hinges > 0)

    def obeying_multiple(self, sweep: Sweep, broken) -> float:
        """The factor by which w must grow for these outputs to obey; inf if none."""
        margins = sweep.margins[broken]
        if (margins <= 0).any():
            return math.inf
        wanted = np.ones_like(margins)
        if not self.form.slack:
            wanted = sweep.losses[broken]
            if self.form.quadratic:
                wanted = np.sqrt(wanted)
        return float((wanted / margins).max(initial=1.0))

    def pull(self, sweep: Sweep) -> float:
        """sum_i C_i phi'(H_i) r_i margin_i: minus the slope of the risk along w."""
        live = sweep.hinges > 0
        factor = self.mass[live] * sweep.margins[live]
        if self.form.quadratic:
            factor = factor * sweep.hinges[live]
        if self.form.slack:
            losses = sweep.losses[live]
            factor = factor * (np.sqrt(losses) if self.form.quadratic else losses)
        return float(factor.sum())

    def primal_at(self, w_squared: float, sweep: Sweep) -> float:
        """1/2 |w|^2 and the risk that this sweep found."""
        return self.primal_from_hinges(w_squared, sweep.hinges)

    # of a user's Python functions (``functions.py``) -----------------------------------

    @property
    def in_python(self) -> bool:
        return not isinstance(self.batch, tuple)

    def check_maxima(self, w, sweep: Sweep) -> None:
        """Let a Python batch look for outputs that its oracle should have found at w."""
        if hasattr(self.batch, "check_maxima"):
            self.batch.check_maxima(w, self.form, self.mass, sweep.hinges)

    def explore(self, w, looks: int) -> bool:
        """Whether a Python batch that looks around w meets more violated outputs."""
        look = getattr(self.batch, "explore", None)
        if look is None:
            return False
        return any(look(w, self.form, self.mass, self.rng) for _ in range(looks))

    def met(self, w, sweep: Sweep) -> float:
        """The primal at w over the outputs met, also since the search there."""
        squared = sum_of_squares(w)
        recall = getattr(self.batch, "known_hinges", None)
        if recall is not None:
            return self.primal_from_hinges(squared, recall(w, self.form, self.mass))
        return self.primal_at(squared, sweep) - self.left_open(sweep)

    def left_open(self, sweep: Sweep) -> float:
        """What the bounds of the search add to the risk, over the outputs found."""
        form = self.form
        if not (form.slack or form.quadratic) or self.hard:
            return 0.0
        c = np.sqrt(sweep.losses) if form.quadratic else sweep.losses
        found = c - (c if form.slack else 1.0) * sweep.margins
        bound = self.primal_from_hinges(0.0, sweep.hinges)
        met = self.primal_from_hinges(0.0, np.maximum(found, 0.0))
        return max(bound - met, 0.0)

    def primal_from_hinges(self, w_squared, hinges) -> float:
        """1/2 |w|^2 + sum_i C_i phi(H_i); an estimate if H was seen at other times."""
        if self.hard:
            return math.inf
        phi = 0.5 * hinges**2 if self.form.quadratic else hinges
        return 0.5 * w_squared + float(self.mass @ phi)


def as_returned(w, multiple: float) -> tuple[np.ndarray, float]:
    """(v, t) with t v = multiple * w, rounded where a fit returns single precision."""
    if w.dtype == np.float64 or multiple == 1.0:
        return w, multiple
    return w * w.dtype.type(multiple), 1.0


@kernel
def sweep_range(batch, form, lo, hi, w, multiple, theta, y, mass, result):
    calls = 0
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1] or mass[i] == 0.0:
            continue
        score(batch, i, w, theta)
        if multiple != 1.0:
            rescale_scores(batch, i, multiple, theta)
        bound, found, margin, used = most_violated(batch, form, i, theta, y)
        calls += used
        result.hinges[i] = max(bound, 0.0)
        result.losses[i] = found
        result.margins[i] = margin
        size = batch.start[i + 1] - batch.start[i]
        copy_into(result.outputs, batch.start[i], y, size)
    return calls


@kernel
def _shape(batch):
    return shape(batch)


@kernel
def _capacity(batch):
    return capacity(batch)
