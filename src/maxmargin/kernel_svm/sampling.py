"""Cutting planes made of samples: algorithm 6.2 of Yu's thesis, for classes with any costs.

The objective 1/2 |w|^2 + R(w), with f_k(x) = <w_k, phi(x)> and the risk

    R(w) = sum_i C_i max_k [cost(y_i, k) + f_k(x_i) - f_(y_i)(x_i)],

is bounded from below by one cut c - <w, g> per round. With the worst classes k_i at w and
the violated examples I = {i: k_i != y_i},

    c = sum_I C_i cost(y_i, k_i),   g = sum_I C_i psi_i,   <w, psi_i> = f_(y_i) - f_(k_i),

which has |I| terms, so that scores of n examples need |I| n values of the kernel. A
sampled cut has r terms: for equal masses, r of the violated examples without replacement,
with C_i times |I| / r as coefficients; for any masses, example i occurs r C_i / C_I times
in the mean, C_I = sum_I C_i, and every time counts C_I / r. So its mean is g, and where I
has no more than r examples it is g itself.

What one round costs: r n values of the kernel. What is kept: (n, classes) scores of every
cut (the matrix A of the thesis), so that scores under w, a mixture of cuts, need no kernel.
The risk, and with it the test whether to stop, is exact: it is read from all examples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.kernel_svm.objective import KernelObjective, train_machine, worst
from maxmargin.kernels.basis import expand
from maxmargin.kernels.inputs import float_type, take
from maxmargin.solvers.cutting_planes.simplex import ascend_simplex
from maxmargin.solvers.result import Solution
from maxmargin.solvers.solver import Solver

IDLE_ROUNDS = 20  # after which a cut that carries no mass is dropped
INNER = 0.01  # the quadratic program is solved to this share of the tolerance
ROUNDING = 1e-13  # ... but not beyond this share of its numbers
MAX_STEPS = 200_000  # ... nor in more steps


class Cut(NamedTuple):
    rows: np.ndarray
    coefficients: np.ndarray  # (rows, classes)
    scores: np.ndarray  # (n, classes)


class Model:
    """Cuts, the first of which is R >= 0, and the mixture of them that is best so far."""

    def __init__(self, shape: tuple[int, int]):
        none = np.zeros(0, np.int64), np.zeros((0, shape[1]))
        self.shape = shape
        self.cuts = [Cut(*none, np.zeros((1, shape[1])))]
        self.offsets, self.alpha = np.zeros(1), np.ones(1)
        self.gram, self.idle = np.zeros((1, 1)), np.zeros(1, int)

    def add(self, cut: Cut, offset: float) -> None:
        t = len(self.cuts)
        self.cuts.append(cut)
        gram = np.zeros((t + 1, t + 1))
        gram[:t, :t] = self.gram
        for s in range(1, t + 1):
            there = self.cuts[s].scores[cut.rows]
            gram[s, t] = gram[t, s] = np.vdot(cut.coefficients, there.astype(float))
        self.gram = gram
        self.offsets = np.append(self.offsets, offset)
        self.alpha, self.idle = np.append(self.alpha, 0.0), np.append(self.idle, 0)

    def solve(self, tolerance: float) -> None:
        tolerance = max(tolerance, ROUNDING * float(np.abs(self.offsets).max()))
        ascend_simplex(self.gram, self.offsets, self.alpha, tolerance, MAX_STEPS)
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        keep = self.idle <= IDLE_ROUNDS
        keep[0] = True
        if not keep.all():
            self.cuts = [cut for cut, kept in zip(self.cuts, keep, strict=True) if kept]
            self.gram = np.ascontiguousarray(self.gram[np.ix_(keep, keep)])
            self.offsets, self.alpha = self.offsets[keep], self.alpha[keep]
            self.idle = self.idle[keep]

    def square(self) -> float:
        return float(self.alpha @ self.gram @ self.alpha)

    def dual(self) -> float:
        return float(self.alpha @ self.offsets) - 0.5 * self.square()

    def scores(self) -> np.ndarray:
        out = np.zeros(self.shape)
        for share, cut in zip(self.alpha[1:], self.cuts[1:], strict=True):
            if share > 0:
                out += share * cut.scores
        return out

    def mixture(self) -> np.ndarray:
        """Coefficients of all samples, flat."""
        out = np.zeros(self.shape)
        for share, cut in zip(self.alpha, self.cuts, strict=True):
            if share > 0:
                out[cut.rows] += share * cut.coefficients
        return out.ravel()


class SampledCuts(Solver):
    """Cuts of at most r samples; stops where the model's optimum is near the objective.

    ``dual`` is that optimum. It is NO bound for the exact problem: a sample may
    overestimate the risk, so that it can even exceed the primal; by how much it can exceed
    the optimum says theorem 6.2 of Yu's thesis, with some probability. Memory:
    (n, classes) numbers per cut, for those in use and those that were in the last 20
    rounds, and blocks of 8,192 by r values of the kernel.
    """

    unit = "cuts"
    looks = 1, 1.0
    ends = True
    found = False
    kept = ()  # no checkpoint

    def __init__(self, objective: KernelObjective, r: int):
        self.objective, self.r = objective, r
        batch = objective.batch
        self.model = Model((len(batch.y), len(batch.cost)))
        self.best, self.classes, self.violated = np.inf, batch.y, None

    def step(self) -> None:
        if self.violated is not None:
            self.add()
        self.look()

    def add(self) -> None:
        """A cut of some that were violated at the last look."""
        batch, problem = self.objective.batch, self.objective.problem
        cut = sampled_cut(
            problem, self.classes, self.violated, self.r, self.objective.rng
        )
        costs = batch.cost[batch.y, self.classes][self.violated]
        self.model.add(cut, float(self.objective.mass[self.violated] @ costs))
        self.model.solve(INNER * self.objective.tol * self.best)
        self.found = True

    def look(self) -> None:
        """The objective at the mixture of cuts, from all samples."""
        objective, model = self.objective, self.model
        y, mass = objective.batch.y, objective.mass
        sweep = worst(model.scores(), y, objective.batch.cost)
        objective.oracle_calls += len(y)
        self.estimate = 0.5 * model.square() + float(mass @ sweep.hinges)
        if self.estimate < self.best:
            self.best = self.estimate
            self.w = objective.known(model.mixture(), self.best, sweep)
        self.dual = model.dual()
        self.classes = sweep.outputs
        self.violated = np.flatnonzero((self.classes != y) & (mass > 0))
        self.stationary = len(self.violated) == 0

    def columns(self) -> dict:
        """``current`` is the objective at the last mixture, ``primal`` the best so far."""
        cuts = len(self.model.cuts) - 1
        now = {"current": self.estimate, "cuts": cuts}
        return now | {"violated": len(self.violated)}


def sample_cuts(problem, r: int, rng, limits) -> Solution:
    """Minimise the objective of this module with cuts of at most r examples.

    It stops when the objective exceeds the optimum of the model by no more than tol of it
    (the thesis's epsilon is tol times it over sum C_i); w is the best that was met.
    """
    objective = KernelObjective(problem, limits.tol, rng)
    objective.exact = False
    return train_machine(objective, SampledCuts(objective, r), limits)


def sampled_cut(problem, classes, violated, r: int, rng) -> Cut:
    rows, masses = sample(violated, problem.mass[violated], r, rng)
    coefficients = np.zeros((len(rows), len(problem.cost)))
    places = np.arange(len(rows))
    coefficients[places, problem.y[rows]] = masses
    coefficients[places, classes[rows]] = -masses
    points = take(problem.X, rows)
    scores = expand(problem.kernel, problem.X, points, coefficients)
    scores = scores.astype(float_type(problem.X), copy=False)
    return Cut(rows, coefficients, scores)


def sample(
    examples: np.ndarray, masses: np.ndarray, r: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """At most r of the examples, and masses for them with the given ones as their means.

    The masses lie end to end in random order, and r points at equal distances, the first
    of them random, say who is taken, and how often.
    """
    if len(examples) <= r:
        return examples, masses
    order = rng.permutation(len(examples))
    ends = np.cumsum(masses[order])
    step = ends[-1] / r
    places = np.searchsorted(ends, (np.arange(r) + rng.random()) * step, side="right")
    taken, times = np.unique(np.minimum(places, len(ends) - 1), return_counts=True)
    return examples[order[taken]], times * step
