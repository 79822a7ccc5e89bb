"""Rows of a kernel matrix, computed when asked for and kept as long as there is room."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.kernel_svm.devices import Cpu
from maxmargin.kernels.inputs import count, is_sparse, take, toarray

BLOCKS = 3 * 8  # bytes per value while a block of rows is computed
SHARE = 0.1  # of the memory, that such a block may take


class Rows:
    """A cache of ``room`` rows; those that were not used for longest make way.

    ``values[slots]`` are the rows that :meth:`slots` was asked for, until the next call.
    """

    def __init__(self, compute: Callable, n: int, room: int, dtype, together: int):
        self.compute, self.together = compute, together
        self.values = np.empty((room, n), dtype)
        self.slot = np.full(n, -1)  # of every row, -1 where it is not here
        self.owner = np.full(room, -1)
        self.used = np.zeros(room, np.int64)
        self.calls = self.computed = 0

    def slots(self, rows: np.ndarray) -> np.ndarray:
        """Where these rows are, each of which is named once; at most ``room``."""
        self.calls += 1
        here = self.slot[rows]
        self.used[here[here >= 0]] = self.calls
        missing = rows[here < 0]
        if len(missing):
            k = len(missing)
            free = np.argpartition(self.used, k - 1)[:k]
            lost = self.owner[free]
            self.slot[lost[lost >= 0]] = -1
            self.owner[free] = -1
            for first in range(0, k, self.together):
                part = slice(first, first + self.together)
                self.values[free[part]] = self.compute(missing[part])
                self.owner[free[part]] = missing[part]
                self.slot[missing[part]] = free[part]
            self.used[free] = self.calls
            self.computed += k
        return self.slot[rows]


def kernel_rows(problem, device: Cpu, dtype) -> Callable:
    """From numbers of samples to their rows of the kernel matrix."""
    X, kernel = problem.X, problem.kernel
    if kernel.kind == "precomputed":
        return lambda rows: toarray(X[rows])
    if device.name == "cpu":
        return lambda rows: kernel(take(X, rows), X)
    there = device.put(X.toarray() if is_sparse(X) else X, dtype)
    return lambda rows: device.get(kernel(there[device.index(rows)], there))


def make_rows(problem, device: Cpu, dtype, memory: float, least: int) -> Rows:
    """A cache that takes so many bytes, or a sentence if it would hold too few rows."""
    n, classes = count(problem.X), len(problem.cost)
    size = np.dtype(dtype).itemsize
    fixed = 8.0 * n * (4 * classes + 4)  # scores, dual variables, the best of them
    least = min(least, n)
    needed = fixed + n * (least * size + BLOCKS)
    if needed > memory:
        raise ValueError(
            f"The exact machine of {n:,} samples takes at least {needed / 1e9:.2g} GB, for "
            f"{least} rows of the kernel's table, but memory={memory:g} allows "
            f"{memory / 1e9:.2g} GB: choose another method, or allow more."
        )
    together = int(np.clip(SHARE * (memory - fixed) / (n * BLOCKS), 1, n))
    room = int((memory - fixed - n * together * BLOCKS) / (n * size))
    room = min(max(room, least), n)
    return Rows(kernel_rows(problem, device, dtype), n, room, dtype, together)
