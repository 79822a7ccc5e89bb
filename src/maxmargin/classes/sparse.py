"""Multiclass classification: Psi(x, y) puts x into the row of class y.

One slot per example, one part per class, so a block can be solved in closed form: its
optimal dual variables are the projection of the scores onto a simplex.
(Crammer & Singer 2001; Tsochantaridis et al. 2004, section on multiclass.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.core.rescale import violation
from maxmargin.core.row_changes import leave_row, take_row
from maxmargin.core.vectors import add_rows, padded_width

UNSEEN = 1e-13  # C_i |x|^2 as a share of the scores, by class
NEIGHBOURS = 32  # groups of features, each with a lock where threads share w
ROUNDED = 1e-9  # share of C_i by which dual variables may miss it


class MulticlassBatch(NamedTuple):
    """CSR rows and their classes; w is (features, width), padded for SIMD."""

    cuts = cut_by(
        start="example",
        y="start",
        indptr="example",
        indices="indptr",
        values="indptr",
        norms="example",
    )

    says_outputs = ("start", "n_labels")  # warm_start.py

    start: np.ndarray
    y: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    norms: np.ndarray  # |x_i|^2
    cost: np.ndarray  # (classes, width): cost[true, predicted]
    n_labels: int
    width: int
    n_features: int
    longest: int

    def dense_rows(self) -> np.ndarray:
        n = len(self.indptr) - 1
        x = np.zeros((n, self.n_features))
        x[np.repeat(np.arange(n), np.diff(self.indptr)), self.indices] = self.values
        return x

    def weight_table(self, w) -> np.ndarray:
        return w.reshape(-1, self.width)[:, : self.n_labels]


PartialMulticlassBatch = with_known(MulticlassBatch)


def row_fields(indptr, indices, values, n_features, dtype) -> dict:
    """What batches of CSR rows have in common."""
    values = np.ascontiguousarray(values, dtype)
    squares = np.concatenate([[0.0], np.cumsum(np.square(values, dtype=np.float64))])
    return {
        "indptr": indptr,
        "indices": indices,
        "values": values,
        "norms": squares[indptr[1:]] - squares[indptr[:-1]],
        "n_features": n_features,
        "longest": int(np.diff(indptr).max(initial=0)),
    }


def class_fields(n, y, cost) -> dict:
    """What batches with one class per row have in common."""
    k = len(cost)
    padded = np.zeros((k, padded_width(k)))
    padded[:, :k] = cost
    return {
        "start": np.arange(n + 1, dtype=np.int64),
        "y": np.zeros(n, np.int32) if y is None else np.ascontiguousarray(y, np.int32),
        "cost": padded,
        "n_labels": k,
        "width": padded_width(k),
    }


def make_batch(indptr, indices, values, n_features, y, cost, dtype) -> MulticlassBatch:
    """Encode rows in CSR form; ``y`` may be None for prediction."""
    return MulticlassBatch(
        **row_fields(indptr, indices, values, n_features, dtype),
        **class_fields(len(indptr) - 1, y, cost),
    )


@implements(contract.shape, MulticlassBatch)
def shape(batch):
    return 1, batch.width


@implements(contract.extent, MulticlassBatch)
def extent(batch, i):
    return batch.n_labels


@implements(contract.capacity, MulticlassBatch)
def capacity(batch):
    return batch.longest


@implements(contract.score, MulticlassBatch)
def score(batch, i, w, theta):
    rows = w.reshape((batch.n_features, batch.width))
    first, last = batch.indptr[i], batch.indptr[i + 1]
    add_rows(batch.indices, batch.values, first, last, rows, theta[0])


@implements(contract.clamp, PartialMulticlassBatch)
def clamp(batch, i, theta):
    if batch.known[i]:
        for k in range(batch.n_labels):
            if k != batch.y[i]:
                theta[0, k] = -np.inf
    return 0.0


@implements(contract.sums, MulticlassBatch)
def sums(batch, i, theta, mu, work):
    scores, out = theta[0], mu[0]
    top, total = -np.inf, 0.0
    for k in range(batch.n_labels):
        top = max(top, float(scores[k]))
    for k in range(batch.n_labels):
        out[k] = np.exp(float(scores[k]) - top)
        total += out[k]
    for k in range(batch.n_labels):
        out[k] /= total
    return top + np.log(total)


@implements(contract.parts, MulticlassBatch)
def parts(batch, i, y, coefficient, mu):
    mu[0, y[0]] += coefficient


@implements(contract.spread, MulticlassBatch)
def spread(batch, i, coefficient, mu, w):
    rows = w.reshape((batch.n_features, batch.width))
    row = mu[0]
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        x, feature = coefficient * batch.values[j], rows[batch.indices[j]]
        for k in range(batch.n_labels):
            feature[k] += x * row[k]


@implements(contract.argmax, MulticlassBatch)
def argmax(batch, i, theta, scale, y):
    row = theta[0]
    cost = batch.cost[batch.y[i]]
    best, best_value = 0, row[0] + scale * cost[0]
    for k in range(1, batch.n_labels):
        v = row[k] + scale * cost[k]
        if v > best_value:
            best, best_value = k, v
    y[0] = best


@implements(contract.argmax_rescaled, MulticlassBatch)
def argmax_rescaled(batch, i, theta, form, y):
    row = theta[0]
    truth = batch.y[i]
    best, best_value = truth, 0.0
    for k in range(batch.n_labels):
        v = violation(form, float(batch.cost[truth, k]), float(row[truth] - row[k]))
        if v > best_value:
            best, best_value = k, v
    y[0] = best
    return True


@implements(contract.value, MulticlassBatch)
def value(batch, i, theta, y):
    return float(theta[0, y[0]])


@implements(contract.loss, MulticlassBatch)
def loss(batch, i, y):
    return float(batch.cost[batch.y[i], y[0]])


@implements(contract.possible, MulticlassBatch)
def possible(batch, i, y):
    return 0 <= y[0] < batch.n_labels


@implements(contract.emit, MulticlassBatch)
def emit(batch, i, y, coefficient, index, values, m):
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        index[m] = batch.indices[j] * batch.width + y[0]
        values[m] = coefficient * batch.values[j]
        m += 1
    return m


@implements(contract.solve_block, MulticlassBatch)
def solve_block(batch, i, theta, mass, alpha, w, locks):
    gap, top, moved = solve_simplex(batch, i, theta, mass, alpha)
    if moved:
        add_to_shared_rows(batch, i, theta[0], w, locks)
    return gap, top


@inlined
def solve_simplex(batch, i, theta, mass, alpha):
    """(gap before, hinge before, whether w changes: theta[0] is then by how much)."""
    # Without its own share, class k has score b_k - cost_k, where theta_k + cost_k =
    # b_k - |x|^2 alpha_k for every class (the truth too, with its share counted from
    # C_i downwards). At the optimum all classes that carry mass tie at some level:
    #     alpha_k = max(0, b_k - level) / |x|^2,    sum_k alpha_k = C_i.
    n_labels, truth, square = batch.n_labels, batch.y[i], batch.norms[i]
    row, cost = theta[0], batch.cost[truth]
    base = float(row[truth])
    b = np.empty(n_labels)
    top, mean = -np.inf, 0.0
    for k in range(n_labels):
        v = float(row[k]) + float(cost[k]) - base
        a = float(alpha[k])
        top = max(top, v)
        mean += a * v
        b[k] = v + square * a
    gap = mass * top - mean
    if gap <= 1e-15 * mass * top:
        return max(gap, 0.0), top, False
    step = theta[0]  # the scores are used up: keep the changes of alpha in their place
    for k in range(n_labels, len(step)):
        step[k] = 0
    if square * mass <= UNSEEN * n_labels * top:
        # Nothing to learn from, or nothing that is seen beside the scores: the dearest
        # class takes all the mass.
        dearest = 0
        for k in range(n_labels):
            step[k] = alpha[k]
            alpha[k] = 0
            if b[k] > b[dearest]:
                dearest = k
        alpha[dearest] = mass
        step[dearest] -= alpha[dearest]
        return gap, top, square > 0.0
    # Find the level by dropping classes below it until none is (Michelot 1986).
    active, level = n_labels + 1, -np.inf
    while True:
        total, count = 0.0, 0
        for k in range(n_labels):
            if b[k] > level:
                total += b[k]
                count += 1
        if count >= active or count == 0:  # rounding may bring one back
            break
        active = count
        level = (total - square * mass) / count
    inverse, total = 1.0 / square, 0.0
    for k in range(n_labels):
        total += max(b[k] - level, 0.0) * inverse
    if abs(total - mass) > ROUNDED * mass:  # few digits are left of small differences
        inverse *= mass / total
    for k in range(n_labels):
        new = alpha.dtype.type(max(b[k] - level, 0.0) * inverse)
        step[k] = alpha[k] - new
        alpha[k] = new
    return gap, top, True


@implements(contract.emit_block, MulticlassBatch)
def emit_block(batch, i, mass, alpha, w):
    step = np.zeros(batch.width, w.dtype)
    total = block_step(batch, i, mass, alpha, step)
    add_to_rows(batch, i, step, w)
    return total


@inlined
def block_step(batch, i, mass, alpha, step):
    """step <- what example i adds to w by class; returns sum alpha loss."""
    truth, total = batch.y[i], 0.0
    for k in range(batch.n_labels):
        step[k] = -alpha[k]
        total += float(alpha[k]) * float(batch.cost[truth, k])
    step[truth] += mass
    return total


@inlined
def add_to_rows(batch, i, step, w):
    """w += x_i (x) step, where step is as long as a row of w."""
    rows = w.reshape((batch.n_features, len(step)))
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        x = batch.values[j]
        feature = rows[batch.indices[j]]
        for k in range(len(feature)):
            feature[k] += x * step[k]


@inlined
def add_to_shared_rows(batch, i, step, w, locks):
    """The same where other threads add to w: without locks, nobody does.

    Neighbours share a lock, for it takes longer to have one than to add a row.
    """
    if len(locks) == 0:
        add_to_rows(batch, i, step, w)
        return
    rows = w.reshape((batch.n_features, len(step)))
    size = batch.n_features // NEIGHBOURS + 1
    held = -1
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        x, number = batch.values[j], batch.indices[j]
        if held < 0 or number < held * size or number >= (held + 1) * size:
            if held >= 0:
                leave_row(locks, held)
            held = number // size
            take_row(locks, held)
        feature = rows[number]
        for k in range(len(feature)):
            feature[k] += x * step[k]
    if held >= 0:
        leave_row(locks, held)


@inlined
def emit_rows(batch, i, change, width, index, values):
    """x_i (x) change as a list, feature by feature: its row of w lies together."""
    nodes = np.flatnonzero(change)
    m = 0
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        row = batch.indices[j] * width
        for v in nodes:
            index[m] = row + v
            values[m] = change[v] * batch.values[j]
            m += 1
    return m
