"""The machine on coordinates by matrix products alone, for a GPU.

One product Z W scores all examples, another, Z'A, sums their cut: a round of the proximal
bundle (``cutting_planes/proximal_bundle.py``) is two products and a tiny quadratic
program. On a GPU rounds are cheap, and more of them do not matter; on a CPU
``linear.solve`` is faster.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from maxmargin.classes.sparse import MulticlassBatch, class_fields
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective, Sweep
from maxmargin.kernel_svm.devices import Device
from maxmargin.kernel_svm.linear import Solved
from maxmargin.solvers.block_coordinate import Signs
from maxmargin.solvers.cutting_planes.proximal_bundle import ProximalBundle
from maxmargin.solvers.cutting_planes.simplex import ascend_simplex
from maxmargin.solvers.driver import drive
from maxmargin.solvers.solver import Solver

MAX_ROUNDS = 3000  # where no limit was asked for


class MatrixObjective(Objective):
    """Coordinates on a device; the batch has classes and costs only."""

    def __init__(self, Z, y, cost, mass, tol: float, device: Device):
        n, k = Z.shape
        batch = MulticlassBatch(
            indptr=np.zeros(n + 1, np.int64),
            indices=np.zeros(0, np.int32),
            values=np.zeros(0, np.float32),
            norms=np.zeros(n),
            n_features=0,
            longest=0,
            **class_fields(n, y, cost),
        )
        form = make_form("margin", "linear", tol)
        m = len(cost)
        super().__init__(batch, k * m, form, mass, np.float64)
        self.Z, self.device, self.n_labels = Z, device, m
        self.truth = device.put(y, np.int64)
        self.rows = device.put(np.arange(n), np.int64)
        self.kind = np.float64 if "64" in str(Z.dtype) else np.float32
        self.cost = device.put(cost, self.kind)

    def prepare(self) -> None:
        """Nothing to compile: products only."""

    def sweep(self, w, multiple=1.0) -> Sweep:
        device = self.device
        weights = device.put(multiple * w.reshape(-1, self.n_labels), self.kind)
        scores = self.Z @ weights
        truth = scores[self.rows, self.truth]
        value, worst = device.largest(scores + self.cost[self.truth])
        hinges = device.get(value - truth).astype(np.float64)
        worst = np.ascontiguousarray(device.get(worst), np.int32)
        y = self.batch.y
        losses = self.batch.cost[y, worst].astype(np.float64)
        self.oracle_calls += self.n
        return Sweep(np.maximum(hinges, 0.0), losses, losses - hinges, worst)

    def gradient(self, outputs, slope) -> np.ndarray:
        """sum_i slope_i (e_truth - e_output) (x) z_i."""
        device = self.device
        a = np.zeros((self.n, self.n_labels), np.float32)
        rows = np.arange(self.n)
        a[rows, self.batch.y] += slope
        a[rows, outputs] -= slope
        return (
            device.get(self.Z.T @ device.put(a, self.kind)).astype(np.float64).ravel()
        )


class MatrixBundle(ProximalBundle):
    """The proximal bundle without a store of planes: its cuts keep their outputs."""

    def __init__(self, objective: MatrixObjective):
        Solver.__init__(self, objective)
        self.signs = Signs(objective)
        self.start_cuts()
        self.outputs = [objective.batch.y.copy()]
        self.start_near(self.w)

    def prepare(self) -> None:
        ascend_simplex(self.gram, self.offsets, self.alpha, 1.0, 1)

    def step(self) -> None:
        sweep = self.objective.sweep(self.w)
        began = time.perf_counter()
        cut = self._cut(sweep.outputs, sweep.hinges)
        self.estimate = self.judged(0.5 * float(self.w @ self.w) + cut.risk)
        self._add(cut)
        self.outputs.append(sweep.outputs)
        self._solve()
        self.gap = max(self.estimate - self.dual, 0.0)
        self.update_seconds += time.perf_counter() - began

    def learn_from(self, sweep) -> None:
        """A certificate's outputs are not kept."""

    def _sum(self, outputs, slope, c) -> np.ndarray:
        batch = self.objective.batch
        c[:] = batch.cost[batch.y, outputs]
        return self.objective.gradient(outputs, slope)

    def _drop(self, keep) -> None:
        super()._drop(keep)
        self.outputs = [o for o, kept in zip(self.outputs, keep, strict=True) if kept]

    def dual_point(self) -> np.ndarray:
        """Dual variables by class: the outputs of the cuts, weighted by theirs."""
        objective = self.objective
        alpha = np.zeros((objective.n, objective.n_labels))
        rows = np.arange(objective.n)
        for share, outputs in zip(self.alpha, self.outputs, strict=True):
            if share > 0:
                alpha[rows, outputs] += share * objective.mass
        return alpha


def solve_on_device(Z, y, cost, mass, limits, device: Device) -> Solved:
    """As ``linear.solve``; Z lies on the device."""
    objective = MatrixObjective(Z, y, cost, mass, limits.tol, device)
    solver = MatrixBundle(objective)
    if limits.max_iter is None:
        limits = replace(limits, max_iter=MAX_ROUNDS)
    solution = drive(objective, solver, limits)
    weights = solution.w.reshape(-1, objective.n_labels).astype(np.float64)
    return Solved(weights, solution, solver.dual_point())
