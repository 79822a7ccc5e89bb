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

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.kernels.base import Kernel, must_be_kernel
from maxmargin.kernels.basis import expand
from maxmargin.kernels.inputs import count, float_type, take
from maxmargin.kernels.parameters import positive, whole

IDLE_ROUNDS = 20  # after which a cut that carries no mass is dropped
INNER = 0.01  # the quadratic program is solved to this share of the tolerance
ROUNDING = 1e-13  # ... but not beyond this share of its numbers
MAX_STEPS = 200_000  # ... nor in more steps


class SampledCuts(NamedTuple):
    """f_k(x) = sum_j coefficients[j, k] kernel(X[points[j]], x), and how it was found.

    ``primal`` is the exact objective of f. ``dual`` is the optimum of the model that the
    sampled cuts make. It is NO bound for the exact problem: a sample may overestimate the
    risk, so that ``dual`` can even exceed ``primal``; by how much it can exceed the optimum
    says theorem 6.2 (``bounds.theorem_6_2``), with some probability. ``history`` has a row
    per round.
    """

    points: np.ndarray
    coefficients: np.ndarray
    primal: float
    dual: float
    history: list[dict]
    converged: bool
    interrupted: bool = False


class _Problem(NamedTuple):
    kernel: Kernel
    X: Any
    y: np.ndarray
    cost: np.ndarray
    mass: np.ndarray

    def worst(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(hinges, classes) of all examples."""
        every = np.arange(len(self.y))
        values = scores + self.cost[self.y]
        values -= scores[every, self.y][:, None]
        found = values.argmax(axis=1)
        return np.maximum(values[every, found], 0.0), found


class _Cut(NamedTuple):
    rows: np.ndarray
    coefficients: np.ndarray  # (rows, classes)
    scores: np.ndarray  # (n, classes)


class _Model:
    """Cuts, the first of which is R >= 0, and the mixture of them that is best so far."""

    def __init__(self, shape: tuple[int, int]):
        none = np.zeros(0, np.int64), np.zeros((0, shape[1]))
        self.shape = shape
        self.cuts = [_Cut(*none, np.zeros((1, shape[1])))]
        self.offsets, self.alpha = np.zeros(1), np.ones(1)
        self.gram, self.idle = np.zeros((1, 1)), np.zeros(1, int)

    def add(self, cut: _Cut, offset: float) -> None:
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
        from maxmargin.solvers.simplex import ascend_simplex

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

    def terms(self) -> list[tuple[float, np.ndarray, np.ndarray]]:
        pairs = zip(self.alpha, self.cuts, strict=True)
        return [(a, cut.rows, cut.coefficients) for a, cut in pairs if a > 0]


def sample_cuts(
    kernel: Kernel,
    X: Any,
    y: Any,
    cost: Any,
    mass: Any,
    r: int,
    tol: float,
    rng: Any,
    max_iter: int,
    progress: Callable[[dict], Any] | None = None,
) -> SampledCuts:
    """Minimise the objective of this module with cuts of at most r examples.

    y are class numbers, ``cost[true, predicted]`` is a table with a zero diagonal, `mass`
    the C_i. It stops when the objective at w exceeds that of the model by no more than tol
    of it (the thesis's epsilon is tol times it over sum C_i), and returns the best w it has
    met; so does Ctrl-C after the first cut. `progress` gets every row of the history
    (``current`` is the objective at w, ``primal`` the best so far), and may return True to
    stop. Memory: (n, classes) numbers per cut, for the cuts in use and those that were in
    the last 20 rounds, and blocks of 8,192 by r values of the kernel.
    """
    problem = _checked(kernel, X, y, cost, mass)
    r, max_iter = whole(r, "r", high=2**53), whole(max_iter, "max_iter", high=2**53)
    tol, rng = positive(tol, "tol"), np.random.default_rng(rng)
    model = _Model((len(problem.y), len(problem.cost)))
    rounds = _Rounds(problem, model, r, tol, rng, progress)
    interrupted = False
    try:
        rounds.run(max_iter)
    except KeyboardInterrupt:
        if len(rounds.history) < 2:  # the first row is that of f = 0
            raise
        interrupted = True
    points, coefficients = _sum(rounds.terms, len(problem.cost))
    last = rounds.history[-1]
    return SampledCuts(
        points,
        coefficients,
        last["primal"],
        last["dual"],
        rounds.history,
        rounds.converged,
        interrupted,
    )


class _Rounds:
    """The loop, and the best mixture of cuts it has met."""

    def __init__(self, problem, model, r, tol, rng, progress):
        self.problem, self.model, self.r, self.tol = problem, model, r, tol
        self.rng, self.progress = rng, progress
        self.best, self.terms, self.history = np.inf, [], []
        self.converged = False

    def run(self, max_iter: int) -> None:
        problem, model, began = self.problem, self.model, time.perf_counter()
        for iteration in range(1, max_iter + 1):
            hinges, classes = problem.worst(model.scores())
            primal = 0.5 * model.square() + float(problem.mass @ hinges)
            if primal < self.best:
                self.best, self.terms = primal, model.terms()
            violated = np.flatnonzero((classes != problem.y) & (problem.mass > 0))
            dual = model.dual()
            self.converged = primal - dual <= self.tol * primal or len(violated) == 0
            row = {
                "iteration": iteration,
                "primal": self.best,
                "current": primal,
                "dual": dual,
                "gap": self.best - dual,
                "cuts": len(model.cuts) - 1,
                "violated": len(violated),
                "seconds": time.perf_counter() - began,
            }
            self.history.append(row)
            stopped = self.progress is not None and self.progress(row)
            if self.converged or stopped or iteration == max_iter:
                return
            costs = problem.cost[problem.y, classes][violated]
            cut = _sampled_cut(problem, classes, violated, self.r, self.rng)
            model.add(cut, float(problem.mass[violated] @ costs))
            model.solve(INNER * self.tol * self.best)


def _sampled_cut(problem: _Problem, classes, violated, r: int, rng) -> _Cut:
    rows, masses = sample(violated, problem.mass[violated], r, rng)
    coefficients = np.zeros((len(rows), len(problem.cost)))
    places = np.arange(len(rows))
    coefficients[places, problem.y[rows]] = masses
    coefficients[places, classes[rows]] = -masses
    points = take(problem.X, rows)
    scores = expand(problem.kernel, problem.X, points, coefficients)
    scores = scores.astype(float_type(problem.X), copy=False)
    return _Cut(rows, coefficients, scores)


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


def _sum(terms: list, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """(points, coefficients) of a mixture of cuts, every point once."""
    rows = [rows for _, rows, _ in terms]
    points, places = np.unique(np.concatenate(rows), return_inverse=True)
    coefficients = np.zeros((len(points), n_classes))
    np.add.at(
        coefficients, places, np.concatenate([a * table for a, _, table in terms])
    )
    used = coefficients.any(axis=1)
    return points[used], coefficients[used]


def _checked(kernel, X, y, cost, mass) -> _Problem:
    kernel, n = must_be_kernel(kernel, "kernel"), count(X)
    if n == 0:
        raise ValueError("X has no samples to train on.")
    cost = _numbers(cost, "cost")
    if cost.ndim != 2 or cost.shape[0] != cost.shape[1] or len(cost) < 2:
        raise ValueError(
            "cost must be a square table with a row per class, at least two, but has the "
            f"shape {cost.shape}."
        )
    if np.diag(cost).any():
        raise ValueError("cost must have a zero diagonal: the truth costs nothing.")
    mass = _numbers(mass, "mass")
    y = np.asarray(y)
    for name, values in (("y", y), ("mass", mass)):
        if values.shape != (n,):
            raise ValueError(
                f"{name} must have an entry for each of the {n} samples of X, but has the "
                f"shape {values.shape}."
            )
    if y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= len(cost):
        raise ValueError(f"y must be class numbers from 0 to {len(cost) - 1}.")
    return _Problem(kernel, X, y, cost, mass)


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        values = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers.") from None
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{name} must be finite and not negative.")
    return values
