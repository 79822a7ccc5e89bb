"""Rows of a kernel matrix, computed when asked for and kept as long as there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.kernel import kernel as compiled
from maxmargin.engine.threads import ALONE, Team
from maxmargin.kernel_svm.devices import Device
from maxmargin.kernel_svm.gaussian_rows import GaussianRows
from maxmargin.kernel_svm.ranges import over_ranges_of
from maxmargin.kernels.inputs import count, take
from maxmargin.kernels.tables import toarray

BLOCKS = 3 * 8  # bytes per value while a block of rows is computed
LEAST_ROWS = 100  # that memory must hold
SHARE = 0.1  # of the memory, that such a block may take
TOGETHER = 8  # rows that are quicker to compute than one after the other
READING = 24  # rows that take as long to compute as samples take to be read
LINES = 128  # of a table between some samples, that one thread fills at least


class Rows:
    """A cache of ``room`` rows; those that were not used for longest make way.

    ``values[slots]`` are the rows that :meth:`slots` was asked for, until the next call.
    ``compute(rows, part, worker)`` gives rows at a slice of the samples, for a thread of
    the team; it is asked for all samples at once unless ``in_parts``.
    """

    def __init__(
        self,
        compute: Callable,
        n: int,
        room: int,
        dtype,
        together: int,
        team: Team = ALONE,
        in_parts: bool = True,
    ):
        self.compute, self.together, self.team = compute, together, team
        self.filling = team if in_parts else ALONE
        self.values = np.empty((room, n), dtype)
        self.slot = np.full(n, -1)  # of every row, -1 where it is not here
        self.owner = np.full(room, -1)
        self.used = np.zeros(room, np.int64)
        self.filled = self.calls = self.computed = 0

    def slots(self, rows: np.ndarray) -> np.ndarray:
        """Where these rows are, each of which is named once; at most ``room``."""
        self.calls += 1
        here = self.slot[rows]
        self.used[here[here >= 0]] = self.calls
        missing = rows[here < 0]
        if len(missing):
            k = len(missing)
            if self.filled + k <= len(self.values):
                free = np.arange(self.filled, self.filled + k)
            else:
                free = np.argpartition(self.used, k - 1)[:k]
            self.filled = min(self.filled + k, len(self.values))
            lost = self.owner[free]
            self.slot[lost[lost >= 0]] = -1
            self.owner[free] = -1
            for first in range(0, k, self.together):
                part = slice(first, first + self.together)
                self._fill(free[part], missing[part])
                self.owner[free[part]] = missing[part]
                self.slot[missing[part]] = free[part]
            self.used[free] = self.calls
            self.computed += k
        return self.slot[rows]

    def _fill(self, free: np.ndarray, rows: np.ndarray) -> None:
        n = self.values.shape[1]

        def fill_rows(worker, some):
            values = self.compute(rows[some], slice(0, n), worker)
            self.values[free[some]] = values

        def fill_part(worker, part):
            self.values[free, part] = self.compute(rows, part, worker)

        if isinstance(self.compute, GaussianRows):  # a row costs what it costs alone
            over_ranges_of(self.filling, "rows", fill_rows, len(rows), n, TOGETHER)
        else:
            work = READING + len(rows)
            over_ranges_of(self.filling, "rows", fill_part, n, work)

    def among(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(slots, the kernel between these samples in double precision)."""
        slots, rows = self.slots(rows), np.asarray(rows, np.int64)
        out = np.empty((len(rows), len(rows)))

        def fill(worker, part):
            some_columns(self.values, slots[part], rows, out[part])

        over_ranges_of(self.team, "among", fill, len(rows), len(rows), LINES)
        return slots, out

    def blocks(self, rows: np.ndarray) -> Callable:
        """These rows, as a function of a slice of the samples and a thread."""
        slots = self.slots(rows)
        return lambda part, worker: self.values[slots, part]


class Table:
    """The kernel's table of a problem: its rows, computed on a device or given."""

    _double: Callable | None = None  # computes rows in double precision

    def __init__(self, problem, device: Device, memory: float, team: Team = ALONE):
        self.problem, self.device, self.memory = problem, device, memory
        self.team = team
        # functions of the user's need not bear threads, strings are read for every part
        vectors = problem.kernel.differentiable and hasattr(problem.X, "shape")
        self.in_parts = vectors and device.name == "cpu"

    def blocks(self, rows: np.ndarray) -> Callable:
        """As those of :class:`Rows`, computed, in double precision."""
        if self._double is None:
            self._double = self._computer(np.float64)
        compute = self._double
        if self.in_parts:
            return lambda part, worker: compute(rows, part, worker)
        values = compute(rows, slice(0, self.problem.n), 0)
        return lambda part, worker: values[:, part]

    def rows(self, dtype) -> Rows:
        """A cache of rows that takes the memory that is allowed."""
        n, classes = self.problem.n, len(self.problem.cost)
        limits = rooms(n, classes, dtype, self.memory)
        return Rows(self._computer(dtype), n, *limits, self.team, self.in_parts)

    def _computer(self, dtype) -> Callable:
        """From numbers of samples to their rows of the kernel matrix."""
        X, kernel, device = self.problem.X, self.problem.kernel, self.device
        if self.problem.given:
            return lambda rows, *_: toarray(X[rows])
        if device.name != "cpu":
            there = device.put(X.toarray() if issparse(X) else X, dtype)
            return lambda rows, *_: device.get(
                kernel(there[device.put(rows, np.int64)], there)
            )
        if dtype == np.float64 and getattr(X, "dtype", None) == np.float32:
            X = X.astype(np.float64)
        if kernel.kind == "rbf" and isinstance(X, np.ndarray):
            return GaussianRows(X, kernel.gamma)
        every = slice(0, count(X))

        def compute(rows, part, worker):
            return kernel(take(X, rows), X if part == every else take(X, part))

        return compute


@compiled
def some_columns(values, slots, columns, out):
    """out_ij = values at column j of the row in slot i."""
    for i in range(len(slots)):
        row = values[slots[i]]
        for j in range(len(columns)):
            out[i, j] = row[columns[j]]


def rooms(n: int, classes: int, dtype, memory: float) -> tuple[int, Any, int]:
    """(rows that are kept, their type, rows that are computed together).

    A sentence is raised where memory would hold too few rows.
    """
    size = np.dtype(dtype).itemsize
    fixed = 8.0 * n * (8 * classes + 4)  # scores, dual variables, the best, the proof
    least = min(LEAST_ROWS, n)
    needed = fixed + n * (least * size + BLOCKS)
    if needed > memory:
        raise ValueError(
            f"The exact machine of {n:,} samples takes at least {needed / 1e9:.2g} GB, for "
            f"{least} rows of the kernel's table, but memory={memory:g} allows "
            f"{memory / 1e9:.2g} GB: choose another method, or allow more."
        )
    together = int(np.clip(SHARE * (memory - fixed) / (n * BLOCKS), 1, n))
    room = int((memory - fixed - n * together * BLOCKS) / (n * size))
    return min(max(room, least), n), dtype, together
