"""The linear machine on coordinates: classes, costs and masses, dense rows.

Minimises ``1/2 |W|^2 + sum_i C_i max_k [cost(y_i, k) + (w_k - w_(y_i)).z_i]`` by the
solvers of :class:`maxmargin.MulticlassSVM`. Its dual variables do not depend on the
coordinates, so those of one basis are where the training on a larger one begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.classes import dense
from maxmargin.classes.taxonomy import lineages as taxonomy
from maxmargin.core.encoded import SINGLE_PRECISION_MASS
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.solvers import registry
from maxmargin.solvers.best import LostPrecision
from maxmargin.solvers.by_label.exact_blocks import alpha_from, planes_from
from maxmargin.solvers.driver import drive


@dataclass
class Solved:
    """Weights of shape (k, classes), how it ended, and dual variables (n, classes)."""

    weights: np.ndarray
    solution: Any
    alpha: np.ndarray


def solve(Z, y, cost, mass, limits, alpha=None) -> Solved:
    """Train on coordinates Z, from the dual point ``alpha`` where it is given.

    Coordinates of single precision are trained on in double where C_i |z|^2 is too large,
    or where that turns out to be needed.
    """
    if _largest(mass) * _largest(Z) ** 2 > SINGLE_PRECISION_MASS:
        Z = Z.astype(np.float64, copy=False)
    try:
        return _solve(Z, y, cost, mass, limits, alpha)
    except LostPrecision:
        if Z.dtype == np.float64:
            raise
        return _solve(Z.astype(np.float64), y, cost, mass, limits, alpha)


def solve_on(device, Z, y, cost, mass, limits, alpha=None) -> Solved:
    """The machine where its coordinates lie; on a CPU, from the dual point ``alpha``."""
    if device.name == "cpu":
        return solve(Z, y, cost, mass, limits, alpha)
    from maxmargin.kernel_svm.device_solver import solve_on_device

    return solve_on_device(Z, y, cost, mass, limits, device)


def _largest(values: np.ndarray) -> float:
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _solve(Z, y, cost, mass, limits, alpha) -> Solved:
    batch = dense.make_batch(Z, y, cost)
    planes = None if alpha is None else planes_from(batch, alpha, mass)
    machine, solution = _train(batch, batch.n_labels, mass, limits, planes)
    weights = np.array(batch.weight_table(solution.w), np.float64)
    alpha = alpha_from(batch, machine.planes)[:, : batch.n_labels]
    return Solved(weights, solution, alpha)


def solve_lines(Z, problem, limits) -> Solved:
    """Train with a function per node of a taxonomy; weights are (k, nodes)."""
    n, k = Z.shape
    indptr = np.arange(n + 1, dtype=np.int64) * k
    indices = np.tile(np.arange(k, dtype=np.int32), n)
    lines = [np.flatnonzero(row).tolist() for row in problem.lines]
    ones = np.ones(problem.lines.shape[1])
    rows = indptr, indices, np.ascontiguousarray(Z).ravel()
    batch = taxonomy.make_batch(*rows, k, problem.y, problem.cost, lines, ones, Z.dtype)
    _, solution = _train(batch, batch.node_width, problem.mass, limits)
    weights = solution.w.reshape(k, -1)[:, : len(ones)]
    return Solved(np.array(weights, np.float64), solution, np.zeros((n, 0)))


def _train(batch, width: int, mass, limits, planes=None) -> tuple:
    """(solver, solution) of a batch with so many weights per coordinate."""
    form = make_form("margin", "linear", limits.tol)
    size = batch.n_features * width
    objective = Objective(batch, size, form, mass, batch.values.dtype)
    machine = registry.make("auto", objective, planes)
    solution = drive(objective, machine, limits)
    machine.finish(solution)
    return machine, solution


def signed(alpha: np.ndarray, y: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """a with W = sum_i a_i (x) z_i: C_i for the truth less alpha, rows summing to 0.

    Of the truth it is the sum of what the others have: C_i - alpha would have no digits
    left where C_i is large and almost all of it lies on the truth.
    """
    a, rows = -np.asarray(alpha, np.float64), np.arange(len(y))
    a[rows, y] = 0.0
    a[rows, y] = np.minimum(-a.sum(axis=1), mass)
    return a
