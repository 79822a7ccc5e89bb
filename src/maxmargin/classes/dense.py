"""The same classes where no entry of a row is zero, as of coordinates in a kernel's basis.

Weights lie class by class, so that a score is an inner product of two contiguous vectors:
with two classes, several times faster than a row of classes per feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.classes import sparse
from maxmargin.classes.sparse import block_step, class_fields, solve_simplex
from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, summing


class DenseClasses(NamedTuple):
    """Rows and their classes; w is (classes, features)."""

    cuts = cut_by(start="example", y="start", values="example", norms="example")

    says_outputs = ("start", "n_labels")  # warm_start.py

    start: np.ndarray
    y: np.ndarray
    values: np.ndarray  # (n, features)
    norms: np.ndarray  # |x_i|^2
    cost: np.ndarray  # (classes, width): cost[true, predicted]
    n_labels: int
    width: int
    n_features: int

    def dense_rows(self) -> np.ndarray:
        return self.values.astype(np.float64)

    def weight_table(self, w) -> np.ndarray:
        return w.reshape(self.n_labels, -1).T


def make_batch(rows: np.ndarray, y, cost) -> DenseClasses:
    """A batch of these rows, which are not copied where they are contiguous."""
    rows = np.ascontiguousarray(rows)
    return DenseClasses(
        values=rows,
        norms=np.einsum("ij,ij->i", rows, rows).astype(np.float64),
        n_features=rows.shape[1],
        **class_fields(len(rows), y, cost),
    )


for shared in ("shape", "extent", "argmax", "argmax_rescaled", "value", "loss"):
    implements(getattr(contract, shared), DenseClasses)(getattr(sparse, shared))


@implements(contract.capacity, DenseClasses)
def capacity(batch):
    return batch.n_features


@implements(contract.score, DenseClasses)
def score(batch, i, w, theta):
    weights, row = w.reshape((batch.n_labels, batch.n_features)), theta[0]
    for k in range(batch.n_labels):
        row[k] = product(weights[k], batch.values[i])
    for k in range(batch.n_labels, len(row)):
        row[k] = 0


@summing
def product(a, b):
    total = 0.0
    for j in range(len(b)):
        total += np.float64(a[j]) * b[j]
    return total


implements(contract.possible, DenseClasses)(sparse.possible)


@implements(contract.emit, DenseClasses)
def emit(batch, i, y, coefficient, index, values, m):
    first = y[0] * batch.n_features
    for j in range(batch.n_features):
        index[m] = first + j
        values[m] = coefficient * batch.values[i, j]
        m += 1
    return m


@implements(contract.solve_block, DenseClasses)
def solve_block(batch, i, theta, mass, alpha, w, locks):
    # no locks: an example reaches all of w, so that threads have copies
    gap, top, moved = solve_simplex(batch, i, theta, mass, alpha)
    if moved:
        add_to_classes(batch, i, theta[0], w)
    return gap, top


@implements(contract.emit_block, DenseClasses)
def emit_block(batch, i, mass, alpha, w):
    step = np.zeros(batch.width, w.dtype)
    total = block_step(batch, i, mass, alpha, step)
    add_to_classes(batch, i, step, w)
    return total


@summing
def add_to_classes(batch, i, step, w):
    """w += step (x) x_i."""
    weights, x = w.reshape((batch.n_labels, batch.n_features)), batch.values[i]
    for k in range(batch.n_labels):
        s, row = step[k], weights[k]
        if s != 0:
            for j in range(len(x)):
                row[j] += s * x[j]
