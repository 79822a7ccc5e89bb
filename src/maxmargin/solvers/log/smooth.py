"""Smooth objectives minimised by L-BFGS, with L1 if wanted.

    1/2 |w|^2 + l1 |w|_1 + sum_i C_i loss_i(w)

(``log_objective.py``, ``tags/chain_gradients.py``). It is 1-strongly convex when the loss
is convex (log, exponential): with v = -sum_i C_i dloss_i / dw, the losses lie above their
tangent at w, so that

    optimum >= sum_i C_i loss_i(w) + w.v - 1/2 |v moved towards zero by l1|^2

which is objective(w) - 1/2 |gradient|^2 without l1, and the value of a dual point: that of
the distributions at w. Without l1, the best mixture of the last few such points
(:class:`Cuts`) is the dual bound of the certificate: the entropy of a mixture is at least
the mixture of entropies. The marginal loss is not convex: its bound is 0, and the fit ends
where the gradient vanishes.

With l1 > 0 the steps are those of OWL-QN (Andrew & Gao 2007): directions from the
gradient, kept in the orthant of the current signs. They move the weights that are not zero
or would not stay so, which are few, and the quasi-Newton matrix is that of these alone.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.state import Stateful, require, restored
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.checkpoints.cut_proofs import check_shares
from maxmargin.solvers.checkpoints.proofs import compare, compare_weights
from maxmargin.solvers.cutting_planes.simplex import ascend_simplex
from maxmargin.solvers.log.log_objective import LogObjective, norm1, shrunk
from maxmargin.solvers.solver import Solver

MEMORY = 6  # pairs of steps and changes of the gradient
CUTS = 8  # dual points that are mixed
STEEP = 100.0  # |g|^2 over the objective from which a dual point is rounding only
SLOPE = 1e-4
WARM_UP = 30  # iterations on an easier objective, where there is one
FLAT = 1e-3  # |g| / |w| at which a fit without a dual bound ends, times tol


class Cuts(Stateful):
    """Dual points (v, e): max over mixtures a of a.e - 1/2 |sum_j a_j v_j|^2."""

    kept = ("points", "gram", "entropies", "shares", "at")
    grows = ("gram", "entropies", "shares")
    finite = "gram", "entropies"

    def __init__(self):
        self.points: list = []
        self.at: list = []  # weights whose distributions they are, to prove them again
        self.gram = np.zeros((0, 0))
        self.entropies, self.shares = np.zeros(0), np.ones(0)

    def check_restored(self) -> None:
        count = len(self.points)
        require(self.gram.shape == (count, count), "gram", "not of as many points")
        for name in ("entropies", "shares"):
            require(
                getattr(self, name).shape == (count,), name, "not of as many points"
            )
        require(len(self.at) == count <= CUTS, "points", "too many")
        if count:
            check_shares(self.shares, "shares")

    def add(self, point, entropy: float, at=None) -> float:
        """The best bound, with a new point that ``entropy`` belongs to."""
        if len(self.points) == CUTS:
            self._drop(int(self.shares.argmin()))
        products = [float(np.vdot(other, point)) for other in self.points]
        self.points.append(point)
        self.at.append(at)
        products.append(sum_of_squares(point))
        size = len(products)
        gram = np.empty((size, size))
        gram[:-1, :-1], gram[-1], gram[:, -1] = self.gram, products, products
        self.gram = gram
        self.entropies = np.append(self.entropies, entropy)
        self.shares = np.append(self.shares, float(size == 1))
        tolerance = 1e-9 * float(np.abs(self.entropies).max())
        ascend_simplex(gram, self.entropies, self.shares, tolerance, 10_000)
        # exact, whatever the rounding of the products: a true lower bound
        mixed = sum(a * p for a, p in zip(self.shares, self.points, strict=True) if a)
        return float(self.shares @ self.entropies) - 0.5 * sum_of_squares(mixed)

    def _drop(self, j: int) -> None:
        del self.points[j], self.at[j]
        self.gram = np.delete(np.delete(self.gram, j, 0), j, 1)
        self.entropies = np.delete(self.entropies, j)
        self.shares = np.delete(self.shares, j)
        self.shares /= self.shares.sum()


class LBFGS(Solver):
    """One iteration per step; ``stationary`` when there is nothing left to gain."""

    kept = (*Solver.kept, "smooth", "gradient", "warm", "cuts", "steps", "changes")
    kept = (*kept, "proof")
    ends = True
    smooth = 0.0  # the objective without l1
    given: tuple | None = None  # (point, entropy) of a solver before this one

    def __init__(self, objective: LogObjective, planes=None):
        super().__init__(objective)
        self.gradient = None
        self.warm = False
        self.cuts = Cuts()
        self.steps: list = []
        self.changes: list = []
        self._found: tuple | None = None  # free weights, by the gradient
        self.proof: tuple = ([], [])  # weights, and their shares in the bound

    def prepare(self) -> None:
        self.objective.prepare_gradient()

    def _warm_up(self) -> None:
        objective = self.objective
        self.objective = objective.first
        try:
            for _ in range(WARM_UP):
                self.step()
        finally:  # also after Ctrl-C: a bound of the first objective is none of this one
            self.objective = objective
            self.gradient, self.steps, self.changes = None, [], []
            self.cuts, self.proof = Cuts(), ([], [])
            self.dual, self.stationary = 0.0, False

    def step(self) -> None:
        objective = self.objective
        if objective.first is not None and not self.warm:
            self.warm = True
            self._warm_up()
        if self.gradient is None:
            self.smooth, self.gradient = objective.value_and_gradient(self.w)
            self.estimate = self.smooth + objective.l1 * norm1(self.w)
        free, slope = self._free(self.w, self.gradient)
        direction, scaled = self._direction(slope, free)
        here = self.w[free]
        orthant = np.where(here != 0, np.sign(here), -np.sign(slope))
        if _dot(slope, direction) >= 0:  # rounding has spoiled the memory
            self.steps, self.changes, scaled = [], [], False
            direction = -slope.astype(here.dtype, copy=False)
        rate = 1.0
        if not scaled:
            rate = 1.0 / max(np.sqrt(_dot(slope, slope)), 1.0)
        for _ in range(30):
            there = here + self.w.dtype.type(rate) * direction
            w = there
            if objective.l1 > 0:
                there[np.sign(there) != orthant] = 0
                w = self.w.copy()
                w[free] = there
            smooth, gradient = objective.value_and_gradient(w)
            value = smooth + objective.l1 * norm1(there)
            if value <= self.estimate + SLOPE * _dot(slope, there - here):
                break
            rate *= 0.5
        else:
            self.stationary = True
            return
        change = (gradient - self.gradient).astype(w.dtype, copy=False)
        self._remember(w - self.w, change)
        gain = self.estimate - value
        self.w, self.smooth, self.gradient = w, smooth, gradient
        self.estimate = value
        slope = self._free(w, gradient)[1]
        squared = _dot(slope, slope)
        if objective.convex:
            self._see(self._bound(), [w], [1.0])
        if objective.convex and objective.l1 == 0 and squared <= STEEP * abs(value):
            point = w - gradient
            entropy = value + 0.5 * (sum_of_squares(point) - squared)
            bound = self.cuts.add(point, entropy, w)
            self._see(bound, list(self.cuts.at), self.cuts.shares.tolist())
        size = max(_dot(w, w), 1e-30)
        self.stationary = not objective.convex and (
            squared <= FLAT**2 * size or gain <= 1e-7 * abs(value)
        )

    def _see(self, bound: float, at: list, shares: list) -> None:
        if bound > self.dual:
            self.dual, self.proof = bound, (at, shares)

    def example(self, name: str):
        return np.zeros(self.objective.n_weights) if name == "gradient" else None

    def check_restored(self) -> None:
        super().check_restored()
        like, (at, shares) = self.objective.weights(), self.proof
        require(len(self.steps) == len(self.changes) <= MEMORY, "steps", "too many")
        require(type(shares) is list and len(shares) == len(at), "proof", "cut")
        for w in [*self.steps, *self.changes]:
            require(np.isfinite(restored(like, w, "steps")).all(), "steps", "infinite")
        for w in self.cuts.points:
            point = restored(np.zeros(len(like)), w, "points")
            require(np.isfinite(point).all(), "points", "infinite")
        for w in [*at, *self.cuts.at]:
            good = w is None or np.isfinite(restored(like, w, "proof")).all()
            require(good, "proof", "infinite")
        for s, d in zip(self.steps, self.changes, strict=True):
            require(_dot(s, d) > 0, "steps", "not downhill")

    def proved(self) -> float:
        """The bound of the points in ``proof``; value and gradient at w are compared."""
        objective = self.objective
        if self.gradient is not None:
            smooth, gradient = objective.value_and_gradient(self.w)
            compare("smooth", self.smooth, smooth, smooth, objective.dtype)
            value = smooth + objective.l1 * norm1(self.w)
            compare("the objective", self.estimate, value, value, objective.dtype)
            compare_weights(self.gradient, gradient)
        cuts = self.cuts
        for w, point, entropy in zip(cuts.at, cuts.points, cuts.entropies, strict=True):
            own, found = self._point(w)
            compare_weights(point, own)
            compare("entropies", entropy, found, found, objective.dtype)
        gram = [[float(np.vdot(a, b)) for a in cuts.points] for b in cuts.points]
        if gram:
            scale = float(np.abs(gram).max())
            close = np.allclose(cuts.gram, gram, 1e-3, 1e-4 * scale)
            require(close, "gram", "not that of the points")
        if not self.proof[0]:
            return 0.0
        check_shares(np.array(self.proof[1]), "proof")
        mixed, total = 0.0, 0.0
        for w, share in zip(*self.proof, strict=True):
            point, entropy = self._point(w)
            mixed, total = mixed + share * point, total + share * entropy
        return total - 0.5 * sum_of_squares(shrunk(mixed, objective.l1))

    def _bound(self) -> float:
        """The value of the dual point at w: only free weights count in it."""
        free, slope = self._free(self.w, self.gradient)
        if self.objective.l1 == 0:
            return self.estimate - 0.5 * _dot(slope, slope)
        w, gradient = self.w[free].astype(float), self.gradient[free].astype(float)
        ahead = shrunk(w - gradient, self.objective.l1)
        tangent = self.smooth + 0.5 * _dot(w, w) - _dot(w, gradient)
        return tangent - 0.5 * _dot(ahead, ahead)

    def _point(self, w) -> tuple:
        """The dual point of the distributions at w, and its entropy."""
        if w is None:
            require(self.given is not None, "proof", "of nobody")
            return self.given
        smooth, gradient = self.objective.value_and_gradient(w)
        point = w - gradient
        entropy = smooth + 0.5 * (sum_of_squares(point) - _dot(gradient, gradient))
        return point, entropy

    def _pseudo_gradient(self, w, gradient):
        """The subgradient of smallest norm."""
        l1 = self.objective.l1
        if l1 == 0:
            return gradient
        toward = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0)
        return np.where(w != 0, gradient + l1 * np.sign(w), toward)

    def _free(self, w, gradient) -> tuple:
        """(where, the subgradient of smallest norm there, which is zero elsewhere).

        With l1 that is a small part of all weights: those not zero, and those that would
        not stay so. It is found once for the end of a step and the beginning of the next.
        """
        if self.objective.l1 == 0:
            return slice(None), gradient
        if self._found is None or self._found[0] is not gradient:
            free = np.flatnonzero((w != 0) | (np.abs(gradient) > self.objective.l1))
            slope = self._pseudo_gradient(w[free], gradient[free])
            self._found = gradient, free, slope
        return self._found[1:]

    def _direction(self, slope, free) -> tuple:
        """-H slope by the two-loop recursion (Nocedal 1980), and whether H is known.

        With l1, H is that of the free weights: the others stay zero.
        """
        q = slope.astype(self.w.dtype)
        pairs = [(s[free], d[free]) for s, d in self._pairs()]
        if self.objective.l1 > 0:
            pairs = [(s, d) for s, d in pairs if _curved(s, d)]
        parts = []
        for s, d in reversed(pairs):
            a = _dot(s, q) / _dot(s, d)
            q -= q.dtype.type(a) * d
            parts.append(a)
        if pairs:
            s, d = pairs[-1]
            q *= q.dtype.type(_dot(s, d) / _dot(d, d))
        for (s, d), a in zip(pairs, reversed(parts), strict=True):
            b = _dot(d, q) / _dot(s, d)
            q += q.dtype.type(a - b) * s
        q = -q
        if self.objective.l1 > 0:
            q[q * slope >= 0] = 0  # only downhill in every coordinate
        return q, bool(pairs)

    def _pairs(self):
        return zip(self.steps, self.changes, strict=True)

    def _remember(self, step, change) -> None:
        if _curved(step, change):
            self.steps = [*self.steps, step][-MEMORY:]
            self.changes = [*self.changes, change][-MEMORY:]


def _curved(step, change) -> bool:
    return _dot(step, change) > 1e-10 * _dot(change, change)


def _dot(a, b) -> float:
    return float(np.dot(a, b))
