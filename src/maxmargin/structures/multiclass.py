"""Multiclass classification: Psi(x, y) puts x into the row of class y.

One slot per example, one part per class. With shift(), a visit of the block-coordinate
solver solves the block exactly, as LIBLINEAR's Crammer-Singer solver does.
(Crammer & Singer 2001; Tsochantaridis et al. 2004, section on multiclass.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.kernel import implements
from maxmargin.structures import contract
from maxmargin.structures.layout import add_rows, padded_width
from maxmargin.structures.rescale import violation


class MulticlassBatch(NamedTuple):
    """CSR rows and their classes; w is (features, width), padded for SIMD."""

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


def make_batch(indptr, indices, values, n_features, y, cost, dtype) -> MulticlassBatch:
    """Encode rows in CSR form; ``y`` may be None for prediction."""
    n, k = len(indptr) - 1, len(cost)
    width = padded_width(k)
    padded = np.zeros((k, width), dtype)
    padded[:, :k] = cost
    values = np.ascontiguousarray(values, dtype)
    squares = np.concatenate([[0.0], np.cumsum(np.square(values, dtype=np.float64))])
    return MulticlassBatch(
        start=np.arange(n + 1, dtype=np.int64),
        y=np.zeros(n, np.int32) if y is None else np.ascontiguousarray(y, np.int32),
        indptr=indptr,
        indices=indices,
        values=values,
        norms=squares[indptr[1:]] - squares[indptr[:-1]],
        cost=padded,
        n_labels=k,
        width=width,
        n_features=n_features,
        longest=int(np.diff(indptr).max(initial=0)),
    )


@implements(contract.shape, MulticlassBatch)
def shape(batch):
    return 1, batch.width


@implements(contract.capacity, MulticlassBatch)
def capacity(batch):
    return batch.longest


@implements(contract.score, MulticlassBatch)
def score(batch, i, w, theta):
    rows = w.reshape((batch.n_features, batch.width))
    first, last = batch.indptr[i], batch.indptr[i + 1]
    add_rows(batch.indices, batch.values, first, last, rows, theta[0])


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


@implements(contract.emit, MulticlassBatch)
def emit(batch, i, y, coefficient, index, values, m):
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        index[m] = batch.indices[j] * batch.width + y[0]
        values[m] = coefficient * batch.values[j]
        m += 1
    return m


@implements(contract.shift, MulticlassBatch)
def shift(batch, i, step, s, rs, a, ra, theta):
    # w += step (rs psi(s) - ra psi(a)) moves the scores of three classes by |x|^2
    row = theta[0]
    t = step * batch.norms[i]
    row[batch.y[i]] += t * (rs - ra)
    row[s[0]] -= t * rs
    row[a[0]] += t * ra
    return True
