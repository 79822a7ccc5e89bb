"""Second-order steps for classes with few features, whatever their scales.

Block-coordinate ascent is slow where features differ much in size: it moves along one
example at a time, and long features hide short ones. With few features the dual is better
climbed by the proximal point method, whose steps

    alpha <- argmax_a  D(a) - nu/2 |a - alpha|^2

see all examples at once. Their dual is smooth, and in as many variables as w has:

    min_W  1/2 |W|^2 + sum_i phi_i(W) - C_i x_i w_(y_i)
    phi_i = max over a in C_i simplex of  a.(cost_i + x_i W) - nu/2 |a - alpha_i|^2

with the maximum where a is the projection of alpha_i + (cost_i + x_i W) / nu. Newton's
method solves it: the second derivative is I + sum_i x_i x_i' (x) (I_A - 1 1'/|A|) / nu,
where A are the classes with a_k > 0. The systems are solved by conjugate gradients with
the blocks of single classes as preconditioner, which takes the scales out. The error of
a is known: 1/2 |W - w(a)|^2. (Rockafellar 1976; Li, Sun & Toh 2018.)
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from maxmargin.core.by_label import LinearInLabels
from maxmargin.core.kernel import kernel
from maxmargin.core.state import Stateful, require, require_within

MAX_FEATURES = 512
MAX_ENTRIES = 1 << 25  # of the examples as a dense table, and of alpha
MAX_NEWTON = 30  # steps for one nu
MAX_CG = 200
MAX_SEARCH = 12  # points on a line
EXACT = 0.1  # error of a proximal step, in shares of its gain


class ProximalNewton(Stateful):
    """``weights`` (features, classes) have the smaller primal, ``alpha`` is feasible."""

    kept = ("a", "active", "weights", "scores", "nu", "easy")
    finite = "weights", "scores"

    def __init__(self, objective, alpha):
        batch: LinearInLabels = objective.batch
        self.objective = objective
        self.mass, self.y = objective.mass, batch.y
        k = self.classes = batch.n_labels
        self.cost = batch.cost[:, :k].astype(np.float64)
        self.x = batch.dense_rows()
        # The mass that truth holds, so that w(a) = x' (truth - a).
        self.truth = np.zeros((objective.n, k))
        self.truth[np.arange(objective.n), batch.y] = objective.mass
        self.a = np.array(alpha[:, :k], np.float64, order="C")
        self.active = np.zeros(objective.n, np.int64)
        self.weights = self.x.T @ (self.truth - self.a)
        self.scores = self.x @ self.weights
        self.stiffest = 0.5 / float(self.mass.max())
        self.nu = max(float(batch.norms.mean()) / 100, 8 * self.stiffest)
        self.easy = True

    def check_restored(self) -> None:
        require_within(self.active, 0, self.classes, "active")
        require(0 < self.nu < np.inf, "nu", "out of range")

    @staticmethod
    def applies(objective) -> bool:
        batch = objective.batch
        return (
            isinstance(batch, LinearInLabels)
            and batch.n_features <= MAX_FEATURES
            and objective.n * max(batch.n_features, batch.width) <= MAX_ENTRIES
        )

    def write_weights(self, w) -> None:
        """w <- the weights found, as the batch has them."""
        self.objective.batch.weight_table(w)[:] = self.weights

    def step(self, alpha, dual: float):
        """Towards the next proximal point of ``alpha``: (a, whether it is one)."""
        centre = np.ascontiguousarray(alpha[:, : self.classes], np.float64)
        while self.easy:  # nu falls while one or two Newton steps are enough
            self.easy = self._solve(centre, dual, 3, True)
            if self.easy and self.nu <= self.stiffest:
                self.easy = False
            elif self.easy:
                self.nu = max(0.1 * self.nu, self.stiffest)
        solved = self._solve(centre, dual, MAX_NEWTON, False)
        # The next step may be longer if this one was not too hard, and must be shorter
        # if it could not be solved.
        used = self.used if solved else MAX_NEWTON
        self.nu *= 0.2 if used <= 6 else 0.5 if used <= 12 else 1.0 if solved else 4.0
        return self.a, solved

    def _solve(self, centre, dual, steps, roughly) -> bool:
        w = self.weights
        value = self._project(centre, self.scores)
        for self.used in range(steps):
            own = self.x.T @ (self.truth - self.a)
            gradient = w - own
            error = 0.5 * np.sum(gradient**2)
            moved = 0.5 * self.nu * np.sum((self.a - centre) ** 2)
            linear = float(np.sum(self.a * self.cost[self.y]))
            gain = linear - 0.5 * np.sum(own**2) - moved - dual
            if not roughly and error <= max(EXACT * gain, 1e-9 * abs(dual)):
                return True
            if time.perf_counter() >= self.objective.deadline:
                return False
            direction = self._newton(gradient, max(0.01 * error, 0.03 * gain))
            slope = float(np.sum(gradient * direction))
            if roughly and self.used and -slope <= 0.6 * moved:
                return True
            if slope >= -1e-14 * abs(value):
                return False
            value = self._search(centre, direction, slope)
        return False

    def _search(self, centre, z, slope) -> float:
        """W moves along z to where the slope is nearly 0, by secants; at most by 1."""
        w, shift = self.weights, self.x @ z
        linear, square = float(np.sum(w * z)), float(np.sum(z * z))
        low, low_slope, high, high_slope, t = 0.0, slope, 0.0, 0.0, 1.0
        for attempt in range(MAX_SEARCH):
            value = self._project(centre, self.scores + t * shift)
            here = linear + t * square - float(np.sum((self.truth - self.a) * shift))
            near = abs(here) <= 0.1 * abs(slope) or (t == 1.0 and here <= 0)
            if near or attempt == MAX_SEARCH - 1:
                break
            if here > 0:
                high, high_slope = t, here
            else:
                low, low_slope = t, here
            share = low_slope / (low_slope - high_slope)
            t = low + (high - low) * min(max(share, 0.1), 0.9)
        w += t * z
        self.scores += t * shift
        return value + 0.5 * float(np.sum(w * w))

    def _newton(self, gradient, enough):
        """Solve H z = -gradient until 1/2 |residual|^2 <= enough."""
        live = np.flatnonzero(self.active > 1)
        x, inside = self.x[live], self.a[live] > 0
        scale = (1.0 - 1.0 / self.active[live]) / self.nu
        factors = [_factor(x[rows], scale[rows]) for rows in inside.T]
        z, r = np.zeros_like(gradient), -gradient
        q = _precondition(factors, r)
        p, rq = q, float(np.sum(r * q))
        first = rq
        for _ in range(MAX_CG):
            hp = x @ p
            project_out(inside, self.nu, hp)
            hp = p + x.T @ hp
            curvature = float(np.sum(p * hp))
            if curvature <= 0.0:  # nothing is left but rounding, or all has underflown
                break
            step = rq / curvature
            z += step * p
            r = r - step * hp
            q = _precondition(factors, r)
            rq, before = float(np.sum(r * q)), rq
            if rq <= 0.01 * first and 0.5 * np.sum(r * r) <= enough:
                break
            p = q + rq / before * p
        return z

    def _project(self, centre, scores) -> float:
        return project_all(
            scores, centre, self.cost, self.y, self.mass, self.nu, self.a, self.active
        )


def _factor(x, scale):
    """(Cholesky factor of the scaled I + x' diag(scale) x, the scales)."""
    x = x * np.sqrt(scale)[:, None]
    h = x.T @ x
    h.flat[:: len(h) + 1] += 1.0
    size = 1.0 / np.sqrt(np.diag(h))
    h *= size * size[:, None]
    h.flat[:: len(h) + 1] += 1e-13
    return cho_factor(h, lower=True, overwrite_a=True, check_finite=False), size


def _precondition(factors, r):
    q = np.empty_like(r)
    for k, (factor, size) in enumerate(factors):
        q[:, k] = size * cho_solve(factor, size * r[:, k], check_finite=False)
    return q


@kernel
def project_all(scores, centre, cost, y, mass, nu, a, active):
    """a_i <- projection of centre_i + (cost_i + scores_i) / nu; the sum of the maxima."""
    n, k = scores.shape
    total = 0.0
    b = np.empty(k)
    for i in range(n):
        base = scores[i, y[i]]
        for j in range(k):
            b[j] = centre[i, j] + (cost[y[i], j] + scores[i, j] - base) / nu
        level, count = -np.inf, k + 1
        while True:  # drop what is below the level until nothing is (Michelot 1986)
            above, left = 0.0, 0
            for j in range(k):
                if b[j] > level:
                    above += b[j]
                    left += 1
            if left >= count or left == 0:
                break
            count = left
            level = (above - mass[i]) / left
        active[i] = 0
        for j in range(k):
            share = max(b[j] - level, 0.0)
            moved = share - centre[i, j]
            a[i, j] = share
            active[i] += share > 0.0
            total += share * (cost[y[i], j] + scores[i, j] - base)
            total -= 0.5 * nu * moved * moved
    return total


@kernel
def project_out(inside, nu, rows):
    """rows <- (I_A - 1 1'/|A|) rows / nu."""
    for i in range(len(rows)):
        total, count = 0.0, 0
        for j in range(rows.shape[1]):
            if inside[i, j]:
                total += rows[i, j]
                count += 1
        for j in range(rows.shape[1]):
            rows[i, j] = (rows[i, j] - total / count) / nu if inside[i, j] else 0.0
