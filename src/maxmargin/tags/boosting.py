"""Label sequence AdaBoost, a baseline: one weight per round, sparse models.

The exponential risk of the labellings that are not the truth,

    R(w) = sum_i C_i s_i sum_(y != y_i) exp(F(x_i, y) - F(x_i, y_i)),   s_i = BASE^-T_i

bounds the length-weighted rank risk (how many labellings score above the truth). With
D(i, y) the share of a pair in R and u_k(i, y) = Psi_k(x_i, y) - Psi_k(x_i, y_i), adding a
to weight k multiplies R by Z = E_D[exp(a u_k)]. As exp is convex, and u_k lies between
umin_k and umax_k, and is 0 where feature k does not occur,

    Z <= 1 - d + d (r exp(a umax) + (1 - r) exp(a umin))

    d = D(feature k occurs),   r = (E_D[u | it occurs] - umin) / (umax - umin)
    a = log(-(1 - r) umin / (r umax)) / (umax - umin)          where that is smallest

One forward-backward per sequence gives E_D[u_k] of every feature: it is the gradient of R
divided by R. The feature of the smallest bound is taken, so R(w_n) / R(0), which is what
the objective reports as its primal, is at most Z_1 ... Z_n.
A feature with umin = 0 or umax = 0 never contradicts the labels and would get an infinite
weight: steps are cut. (Altun, Hofmann & Johnson 2003; Schapire & Singer 1999.)
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.core.contract import parts, score, spread, sums, value
from maxmargin.core.expectations import working_memory
from maxmargin.core.kernel import inlined, kernel
from maxmargin.core.objective import Sweep
from maxmargin.core.state import require, restored
from maxmargin.engine.threads import over_ranges
from maxmargin.solvers.checkpoints.proofs import compare
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.solver import Solver

SHARDS = 4  # sums are taken in this many parts, whatever the number of threads
LONGEST = 2.0  # steps are cut where a (umax - umin) would be longer
NO_GAIN = 1e-6  # the fit ends when the best Z is this near 1
LARGEST = 300.0  # exponents are cut here
NOTHING = 1e-8  # 1/p - 1 of all sequences below which it is mostly rounding
# Long sequences have more labellings, but s_i = labels^-T_i takes too much away from them:
# their share falls like (what is still possible / labels)^T as soon as anything is
# learned. CoNLL-2000 (1000 sentences, 3000 rounds), accuracy by base: 1 .857, 2 .861,
# 4 .839, labels .738.
BASE = 2.0


class BoostingObjective(LogObjective):
    """The exponential risk of a chain batch, divided by that of w = 0."""

    kept = (*LogObjective.kept, "start", "_known")

    scalable = False
    solver = "boosting"

    def __init__(self, batch, n_weights, form, mass, dtype, n_jobs=1, seed=0):
        # a risk near zero is a small difference of scores: double precision
        super().__init__(batch, n_weights, form, mass, np.float64, n_jobs, seed)
        self.exact = False  # no bound from below is known
        self.log_mass = np.full(self.n, -np.inf)
        lengths = np.diff(batch.start)
        live = (mass > 0) & (lengths > 0)
        self.log_mass[live] = np.log(mass[live]) - lengths[live] * math.log(BASE)
        self.start = None  # log R(0)
        self._known = None

    def example(self, name: str):
        return 0.0 if name == "start" else (self.weights(), np.zeros(self.n))

    def check_restored(self) -> None:
        if self._known is not None:
            like = self.example("_known")
            require(len(self._known) == 2, "_known", "not complete")
            for one, saved in zip(like, self._known, strict=True):
                restored(one, saved, "_known")

    def prepare(self) -> None:
        self._part(0, 0, self.weights(), 0.0, np.zeros(0))

    def statistics(self, w, shift):
        """(log R, gradient, occurrence), the last two divided by exp(shift).

        occurrence[j] sums R_i over the sequences that have feature j; the entries after
        the features stand for transitions and for the ends of sequences.
        """
        risks = np.full(self.n, -np.inf)
        parts = {}

        def part(lo, hi):
            parts[lo] = self._part(lo, hi, w, shift, risks)

        over_ranges(part, self.batch.start, self.team, shards=SHARDS)
        gradient = np.zeros(self.n_weights)
        occurs = np.zeros(self.batch.n_features + 2)
        for lo in sorted(parts):
            mine = parts.pop(lo)
            gradient += mine[0]
            occurs += mine[1]
        self.oracle_calls += self.n
        self._known = w.copy(), risks
        return float(np.logaddexp.reduce(risks, initial=-np.inf)), gradient, occurs

    def _part(self, lo, hi, w, shift, risks):
        batch = self.batch
        gradient = np.zeros(self.n_weights)
        occurs = np.zeros(batch.n_features + 2)
        seen = np.full(batch.n_features, -1)
        arguments = (w, working_memory(batch), self.log_mass, shift)
        boosting_range(batch, lo, hi, *arguments, risks, gradient, occurs, seen)
        return gradient, occurs

    def sweep(self, w, multiple=1.0) -> Sweep:
        # the solver has just been here: a pass is not worth repeating
        if self.start is None:
            self.start = self.statistics(self.weights(), 0.0)[0]
        if self._known is None or not np.array_equal(w, self._known[0]):
            self.statistics(w, 0.0)
        live = np.flatnonzero(self._known[1] > -np.inf)
        shares = np.exp(np.minimum(self._known[1][live] - self.start, LARGEST))
        hinges, empty = np.zeros(self.n), np.zeros(self.n)
        hinges[live] = shares / self.mass[live]
        return Sweep(hinges, empty, empty, np.zeros(0, np.int32))

    def primal_from_hinges(self, w_squared, hinges) -> float:
        return float(self.mass @ hinges)

    def ranges(self):
        """(umin, umax) of every weight over all sequences that count."""
        low, high = np.zeros(self.n_weights), np.zeros(self.n_weights)
        size = self.batch.n_features
        scratch = np.zeros((2, size)), np.zeros(self.n_weights), np.full(size, -1)
        range_of_features(self.batch, self.log_mass, *scratch, low, high)
        return low, high


class Boosting(Solver):
    """One round per step; ``stationary`` when no feature lowers the bound."""

    kept = (*Solver.kept, "risk", "least", "bound", "rounds", "gradient", "occurs")
    ends = True

    def __init__(self, objective: BoostingObjective, planes=None):
        super().__init__(objective)
        self.risk = None
        self.bound = 1.0
        self.rounds: list[dict] = []  # Z and Z_1 ... Z_n of every round

    def prepare(self) -> None:
        objective = self.objective
        self.low, self.high = objective.ranges()
        nothing = np.zeros(objective.batch.n_features + 2)
        best_step(objective.batch, objective.weights(), nothing, self.low, self.high)

    def example(self, name: str):
        if name == "gradient":
            return self.objective.weights()
        if name == "occurs":
            return np.zeros(self.objective.batch.n_features + 2)
        return 0.0  # logarithms

    def check_restored(self) -> None:
        super().check_restored()
        good = all(type(r) is dict and r.keys() == {"Z", "bound"} for r in self.rounds)
        good = good and all(type(v) is float for r in self.rounds for v in r.values())
        require(good, "rounds", "not complete")

    def proved(self) -> float:
        """There is no dual, but log R(0), by which risks are divided, is compared."""
        objective = self.objective
        if self.risk is not None:
            start = objective.statistics(objective.weights(), 0.0)[0]
            compare("start", objective.start, start, 1.0, np.float64)
            risk = objective.statistics(self.w, 0.0)[0]
            compare("risk", self.risk, risk, 1.0, np.float64)
        objective._known = None
        return 0.0

    def step(self) -> None:
        if self.risk is None:
            self.risk = self.objective.start = self._look(0.0)
            masses = np.logaddexp.reduce(self.objective.log_mass, initial=-np.inf)
            self.least = masses + math.log(NOTHING)
        Z, k, a = best_step(
            self.objective.batch, self.gradient, self.occurs, self.low, self.high
        )
        if k < 0 or Z >= 1.0 - NO_GAIN or not self.risk > self.least:
            self.rounds.append({"Z": 1.0, "bound": self.bound})
            self.stationary = True
            return
        self.w[k] += a
        self.bound *= Z
        self.rounds.append({"Z": float(Z), "bound": self.bound})
        self.risk = self._look(self.risk)

    def finish(self, solution) -> None:
        """Add the rounds to the history."""
        for row, own in zip(solution.history, self.rounds, strict=False):
            row.update(own)

    def _look(self, shift) -> float:
        """Statistics at w, relative to its risk; returns the log of the risk."""
        risk, gradient, occurs = self.objective.statistics(self.w, shift)
        if risk > -np.inf:
            if abs(risk - shift) > 0.5 * LARGEST:  # too much was cut or lost: again
                shift = risk
                _, gradient, occurs = self.objective.statistics(self.w, shift)
            factor = math.exp(shift - risk)
            gradient *= factor
            occurs *= factor
        self.gradient, self.occurs = gradient, occurs
        start = self.objective.start
        self.estimate = 1.0 if start is None else math.exp(min(risk - start, LARGEST))
        return risk


@kernel
def boosting_range(
    batch, lo, hi, w, memory, log_mass, shift, risks, gradient, occurs, seen
):
    theta, mu, work = memory
    for i in range(lo, hi):
        if log_mass[i] == -np.inf:
            continue
        first, last = batch.start[i], batch.start[i + 1]
        length = last - first
        truth = batch.y[first:last]
        score(batch, i, w, theta)
        total = sums(batch, i, theta, mu, work)
        found = max(total - value(batch, i, theta, truth), 0.0)
        if found > 0.0:
            # log(1/p - 1) = log(e^found - 1)
            risks[i] = log_mass[i] + found + np.log(-np.expm1(-found))
        share = np.exp(min(risks[i] - shift, LARGEST))
        parts(batch, i, truth, -1.0, mu)
        factor = np.exp(min(log_mass[i] + found - shift, LARGEST))
        spread(batch, i, factor, mu, gradient)
        for j in range(batch.indptr[first], batch.indptr[last]):
            feature = batch.indices[j]
            if seen[feature] != i:
                seen[feature] = i
                occurs[feature] += share
        if length > 1:
            occurs[batch.n_features] += share
        occurs[batch.n_features + 1] += share


@kernel
def range_of_features(batch, log_mass, sizes, mine, seen, low, high):
    """low, high <- the least and largest u_k(i, y) over i and y.

    Feature j with label k counts sum_t x_tj [y_t = k]: at least the sum of its negative
    values, at most that of its positive ones, minus what the truth has.
    """
    n, width = batch.n_labels, batch.width
    rows = batch.n_features
    for i in range(len(batch.start) - 1):
        if log_mass[i] == -np.inf:
            continue
        first, last = batch.start[i], batch.start[i + 1]
        length = last - first
        for t in range(first, last):
            for j in range(batch.indptr[t], batch.indptr[t + 1]):
                f = batch.indices[j]
                if seen[f] != i:
                    seen[f] = i
                    sizes[0, f] = sizes[1, f] = 0.0
                    mine[f * width : f * width + n] = 0.0
                x = batch.values[j]
                sizes[0, f] += min(x, 0.0)
                sizes[1, f] += max(x, 0.0)
                mine[f * width + batch.y[t]] += x
        for j in range(batch.indptr[first], batch.indptr[last]):
            f = batch.indices[j]
            for k in range(n):
                p = f * width + k
                widen(low, high, p, sizes[0, f] - mine[p], sizes[1, f] - mine[p])
        mine[rows * width :] = 0.0
        for t in range(first + 1, last):
            mine[(rows + batch.y[t - 1]) * width + batch.y[t]] += 1.0
        mine[(rows + n) * width + batch.y[first]] += 1.0
        mine[(rows + n + 1) * width + batch.y[last - 1]] += 1.0
        for j in range(n + 2):
            for k in range(n):
                if batch.barrier[j, k] != 0.0:
                    continue
                most = 1.0
                if j < n:
                    most = float(length - 1 if j == k else length // 2)
                p = (rows + j) * width + k
                widen(low, high, p, -mine[p], most - mine[p])


@inlined
def widen(low, high, p, least, most):
    low[p] = min(low[p], least)
    high[p] = max(high[p], most)


@kernel
def best_step(batch, gradient, occurs, low, high):
    """(Z, k, a): the weight whose bound is smallest and its increment, or k = -1."""
    best, best_k, best_a = 1.0, -1, 0.0
    width, n = batch.width, batch.n_labels
    rows = batch.n_features
    for row in range(rows + n + 2):
        here = row
        if row >= rows:
            here = rows if row < rows + n else rows + 1
        d = min(occurs[here], 1.0)
        if 1.0 - d >= best:
            continue  # not even an infinite step would be better
        for k in range(n):
            p = row * width + k
            umin, umax = low[p], high[p]
            span = umax - umin
            if span <= 0.0:
                continue
            r = min(max((gradient[p] / d - umin) / span, 0.0), 1.0)
            if -(1.0 - r) * umin <= 0.0:
                a = -LONGEST / span
            elif r * umax <= 0.0:
                a = LONGEST / span
            else:
                a = np.log(-(1.0 - r) * umin / (r * umax)) / span
                a = min(max(a, -LONGEST / span), LONGEST / span)
            z = 1.0 - d + d * (r * np.exp(a * umax) + (1.0 - r) * np.exp(a * umin))
            if z < best:
                best, best_k, best_a = z, p, a
    return best, best_k, best_a
