"""The linear machine on coordinates: classes, costs and masses, dense rows.

Minimises ``1/2 |W|^2 + sum_i C_i max_k [cost(y_i, k) + (w_k - w_(y_i)).z_i]`` by the
solvers of :class:`maxmargin.MulticlassSVM`. Its dual variables do not depend on the
coordinates, so those of one basis are where the training on a larger one begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Solved:
    """Weights of shape (k, classes), how it ended, and dual variables (n, classes)."""

    weights: np.ndarray
    solution: Any
    alpha: np.ndarray


def dense_batch(Z: np.ndarray, y: np.ndarray, cost: np.ndarray):
    """A batch of classes whose rows are all of Z; its values are not copied."""
    from maxmargin.classes.structure import MulticlassBatch, class_fields

    n, k = Z.shape
    return MulticlassBatch(
        indptr=np.arange(n + 1, dtype=np.int64) * k,
        indices=np.tile(np.arange(k, dtype=np.int32), n),
        values=np.ascontiguousarray(Z).ravel(),
        norms=np.einsum("ij,ij->i", Z, Z).astype(np.float64),
        n_features=k,
        longest=k,
        **class_fields(n, y, cost, Z.dtype),
    )


def solve(Z, y, cost, mass, limits, alpha=None, seed=0, solver="auto") -> Solved:
    """Train on coordinates Z, from the dual point ``alpha`` where it is given."""
    from maxmargin.core.formulation import make_form
    from maxmargin.core.objective import Objective
    from maxmargin.solvers import registry
    from maxmargin.solvers.driver import drive

    batch = dense_batch(Z, y, cost)
    form = make_form("margin", "linear", limits.tol)
    objective = Objective(
        batch, Z.shape[1] * batch.width, form, mass, Z.dtype, seed=seed
    )
    planes = None if alpha is None else planes_of(alpha, batch, mass)
    machine = registry.make(solver, objective, planes)
    solution = drive(objective, machine, limits)
    machine.finish(solution)
    m = batch.n_labels
    weights = np.array(solution.w.reshape(-1, batch.width)[:, :m], np.float64)
    return Solved(weights, solution, alpha_of(machine, batch))


def solve_lines(Z, problem, limits) -> Solved:
    """Train with a function per node of a taxonomy; weights are (k, nodes)."""
    from maxmargin.classes.taxonomy.structure import make_batch
    from maxmargin.core.formulation import make_form
    from maxmargin.core.objective import Objective
    from maxmargin.solvers import registry
    from maxmargin.solvers.driver import drive

    n, k = Z.shape
    flat = dense_batch(Z, problem.y, problem.cost)
    lines = [np.flatnonzero(row).tolist() for row in problem.lines]
    ones = np.ones(problem.lines.shape[1])
    rows = flat.indptr, flat.indices, flat.values
    batch = make_batch(*rows, k, problem.y, problem.cost, lines, ones, Z.dtype)
    form = make_form("margin", "linear", limits.tol)
    size = k * batch.node_width
    objective = Objective(batch, size, form, problem.mass, Z.dtype)
    machine = registry.make("auto", objective, None)
    solution = drive(objective, machine, limits)
    machine.finish(solution)
    weights = solution.w.reshape(k, -1)[:, : len(ones)]
    return Solved(np.array(weights, np.float64), solution, np.zeros((n, 0)))


def planes_of(alpha: np.ndarray, batch, mass: np.ndarray):
    """The dual point as a plane store, the truth first."""
    from maxmargin.solvers.planes import Planes

    n, m = alpha.shape
    labels = np.tile(np.arange(-1, m - 1, dtype=np.int32), (n, 1))
    labels += labels >= batch.y[:, None]
    labels[:, 0] = batch.y
    rows = np.arange(n)[:, None]
    planes = Planes(
        labels=labels.ravel(),
        count=np.full(n, m, np.int32),
        alpha=alpha[rows, labels].astype(np.float64),
        c=batch.cost[batch.y[:, None], labels].astype(np.float64),
        r=np.ones((n, m)),
        mass=mass,
    )
    planes.r[:, 0] = 0.0
    return planes


def alpha_of(machine, batch) -> np.ndarray:
    """Dual variables by class: they sum to C_i in every row."""
    planes, m = machine.planes, batch.n_labels
    n, room = planes.alpha.shape
    alpha = np.zeros((n, m))
    live = np.arange(room) < planes.count[:, None]
    rows = np.broadcast_to(np.arange(n)[:, None], live.shape)
    labels = planes.labels.reshape(n, room)
    np.add.at(alpha, (rows[live], labels[live]), planes.alpha[live])
    return alpha


def signed(alpha: np.ndarray, y: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """a with W = sum_i a_i (x) z_i: C_i for the truth less alpha, rows summing to 0."""
    a = -alpha
    a[np.arange(len(y)), y] += mass
    return a
