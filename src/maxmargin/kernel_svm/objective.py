"""A kernel machine of terms at samples, as the driver sees it.

Its weights are coefficients a of functions f_k(x) = sum_i a_ik k(x_i, x), one for each
sample and class. To score all samples takes rows of the kernel's table, so that solvers
keep the scores of what they offer: :meth:`KernelObjective.known`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.compile.compiling import compile_seconds
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective, Sweep
from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.engine.threads import ALONE, Team
from maxmargin.solvers.driver import drive
from maxmargin.solvers.result import Solution


class Samples(NamedTuple):
    """The data, with a slot for the class of each sample."""

    start: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    lines: np.ndarray | None
    inputs: Any


class KernelObjective(Objective):
    """1/2 |f|^2 + sum_i C_i H_i; proved anew from coefficients by :meth:`scores_of`."""

    scalable = False
    slots = math.inf  # a certificate is never free
    exact = True

    def __init__(self, problem, tol: float, rng, team: Team = ALONE):
        X, y = problem.X, np.ascontiguousarray(problem.y, np.int64)
        cost = np.ascontiguousarray(problem.cost, np.float64)
        inputs = (X.data, X.indices, X.indptr, X.shape) if issparse(X) else X
        start = np.arange(len(y) + 1)
        batch = Samples(start, y, cost, problem.lines, inputs)
        form = make_form("margin", "linear", tol)
        mass = np.array(problem.mass, np.float64)
        # nothing counts as proved that was added up round by round
        super().__init__(batch, cost.size // len(cost) * len(y), form, mass, np.float32)
        self.problem, self.tol, self.rng, self.team = problem, tol, rng, team
        self.named = {"kernel": _formula(problem.kernel)}
        self._known: tuple | None = None

    @property
    def deadline(self) -> float:
        """Kernels are compiled when they are reached, which takes none of the time."""
        return self._deadline + compile_seconds() - self._compiled

    @deadline.setter
    def deadline(self, value: float) -> None:
        self._deadline, self._compiled = value, compile_seconds()

    def prepare(self) -> None:
        """Nothing: see ``deadline``."""

    def weights(self) -> np.ndarray:
        return np.zeros(self.n_weights)

    def known(self, w: np.ndarray, value: float, sweep: Sweep) -> np.ndarray:
        """These weights, whose objective will be asked for and is at hand."""
        self._known = w, value, sweep
        return w

    def primal(self, w, multiple=1.0):
        if self._known is not None and w is self._known[0]:
            _, value, sweep = self._known
        else:
            a = w.reshape(self.n, -1)
            scores = self.scores_of(a)
            sweep = worst(scores.T, self.batch.y, self.batch.cost)
            square = float(np.vdot(a.T, scores))
            value = self.primal_from_hinges(square, sweep.hinges)
        return value, multiple, sweep

    def scores_of(self, a: np.ndarray) -> np.ndarray:
        """Scores (classes, samples) of these coefficients, in double precision."""
        raise NotImplementedError


def worst(scores: np.ndarray, y: np.ndarray, cost: np.ndarray) -> Sweep:
    """The most violated class of every sample, for scores (samples, classes)."""
    every = np.arange(len(y))
    truth = scores[every, y]
    values = scores + cost[y]
    values -= truth[:, None]
    found = values.argmax(axis=1)
    hinges = np.maximum(values[every, found], 0.0)
    return Sweep(hinges, cost[y, found], truth - scores[every, found], found)


def train_machine(objective: KernelObjective, solver, limits) -> Solution:
    """Drive a solver; Ctrl-C before it has found anything is raised."""
    solution = drive(objective, solver, limits)
    if solution.status == INTERRUPTED and not solver.found:
        raise KeyboardInterrupt
    return solution


def _formula(kernel) -> Any:
    try:
        return kernel.state()
    except (TypeError, ValueError):  # a function of the user's
        return str(kernel)
