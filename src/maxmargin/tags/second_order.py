"""Label sequences of second order: weights for three labels in a row.

    value(x, y) = value in chain.py + sum_(t>=2) triple[y_(t-2), y_(t-1), y_t]

The rows of w and theta go on where those of the first order end:

    w      features, trans (K rows), first, last;  then triple (K * K rows)
    theta  trans, first, last, one row per token;  then triple

so a first-order model is a second-order one with triple = 0. Decoding costs T K^3.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.tags.chain import (
    ChainBatch,
    clamp,
    least_loss,
    loss,
    possible,
    put_token,
    score_token,
    score_transitions,
)


class SecondOrderBatch(ChainBatch):
    """The fields of a ChainBatch; only the type differs."""

    says_outputs = ChainBatch._fields  # warm_start.py


PartialSecondOrderBatch = with_known(SecondOrderBatch)
implements(contract.clamp, PartialSecondOrderBatch)(clamp)
implements(contract.possible, SecondOrderBatch)(possible)
implements(contract.least_loss, SecondOrderBatch)(least_loss)
implements(contract.loss, SecondOrderBatch)(loss)


def second_order(batch: ChainBatch) -> SecondOrderBatch:
    return SecondOrderBatch(*batch)


@implements(contract.shape, SecondOrderBatch)
def shape(batch):
    k = batch.n_labels
    return k + 2 + batch.longest + k * k, batch.width


@implements(contract.capacity, SecondOrderBatch)
def capacity(batch):
    return batch.widest + 2 * batch.longest + 2


@inlined
def triple_row(batch, a, b):
    """Row of theta with the scores of c after a, b."""
    return batch.n_labels + 2 + batch.longest + a * batch.n_labels + b


@implements(contract.score, SecondOrderBatch)
def score(batch, i, w, theta):
    k = batch.n_labels
    rows = w.reshape((batch.n_features + k + 2 + k * k, batch.width))
    score_transitions(batch, rows, theta)
    length = batch.start[i + 1] - batch.start[i]
    for t in range(length):
        score_token(batch, batch.start[i] + t, rows, theta[k + 2 + t])
    if length > 2:
        for j in range(k * k):
            for c in range(batch.width):
                theta[k + 2 + batch.longest + j, c] = rows[
                    batch.n_features + k + 2 + j, c
                ]


@implements(contract.value, SecondOrderBatch)
def value(batch, i, theta, y):
    length = batch.start[i + 1] - batch.start[i]
    if length == 0:
        return 0.0
    k = batch.n_labels
    total = float(theta[k, y[0]]) + float(theta[k + 1, y[length - 1]])
    for t in range(length):
        total += float(theta[k + 2 + t, y[t]])
        if t > 0:
            total += float(theta[y[t - 1], y[t]])
        if t > 1:
            total += float(theta[triple_row(batch, y[t - 2], y[t - 1]), y[t]])
    return total


@implements(contract.argmax, SecondOrderBatch)
def argmax(batch, i, theta, scale, y):
    first = batch.start[i]
    length = batch.start[i + 1] - first
    k = batch.n_labels
    if length == 0:
        return
    token = np.empty(batch.width, theta.dtype)
    augmented(batch, first, theta[k + 2], scale, token)
    if length == 1:
        best, label = -np.inf, 0
        for c in range(k):
            v = theta[k, c] + theta[k + 1, c] + token[c]
            if v > best:
                best, label = v, c
        y[0] = label
        return
    # table[t, b, c]: the best prefix that ends in labels b, c at tokens t - 1, t
    table = np.empty((length, k, k), theta.dtype)
    for b in range(k):
        for c in range(k):
            table[1, b, c] = theta[k, b] + token[b] + theta[b, c]
    for t in range(1, length):
        augmented(batch, first + t, theta[k + 2 + t], scale, token)
        if t > 1:
            for b in range(k):
                row = table[t, b]
                for c in range(k):
                    row[c] = -np.inf
                for a in range(k):
                    so_far = table[t - 1, a, b]
                    triple = theta[triple_row(batch, a, b)]
                    for c in range(k):
                        row[c] = max(row[c], so_far + triple[c])
                for c in range(k):
                    row[c] += theta[b, c]
        for b in range(k):
            for c in range(k):
                table[t, b, c] += token[c]
    best, before, label = -np.inf, 0, 0
    for b in range(k):
        for c in range(k):
            v = table[length - 1, b, c] + theta[k + 1, c]
            if v > best:
                best, before, label = v, b, c
    y[length - 1] = label
    y[length - 2] = before
    for t in range(length - 1, 1, -1):
        best, winner = -np.inf, 0
        for a in range(k):
            v = table[t - 1, a, before] + theta[triple_row(batch, a, before), label]
            if v > best:
                best, winner = v, a
        before, label = winner, before
        y[t - 2] = before


@inlined
def augmented(batch, token, scores, scale, out):
    """out <- the scores of one token plus scale times the cost of its labels."""
    s = out.dtype.type(scale)
    for c in range(len(out)):
        out[c] = scores[c]
    if scale != 0.0:
        cost = batch.cost[batch.y[token]]
        for c in range(len(out)):
            out[c] += s * cost[c]


@implements(contract.emit, SecondOrderBatch)
def emit(batch, i, y, coefficient, index, values, m):
    first = batch.start[i]
    length = batch.start[i + 1] - first
    if length == 0:
        return m
    k, width = batch.n_labels, batch.width
    trans = batch.n_features * width
    triple = trans + (k + 2) * width
    for t in range(length):
        m = put_token(batch, first + t, y[t], coefficient, index, values, m)
        if t > 0:
            index[m] = trans + y[t - 1] * width + y[t]
            values[m] = coefficient
            m += 1
        if t > 1:
            index[m] = triple + (y[t - 2] * k + y[t - 1]) * width + y[t]
            values[m] = coefficient
            m += 1
    index[m] = trans + k * width + y[0]
    index[m + 1] = trans + (k + 1) * width + y[length - 1]
    values[m] = coefficient
    values[m + 1] = coefficient
    return m + 2
