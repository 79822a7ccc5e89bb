"""Label sequences of second order: weights for three labels in a row.

    value(x, y) = value in chain.py + sum_(t>=2) triple[y_(t-2), y_(t-1), y_t]

The rows of w and theta go on where those of the first order end:

    w      features, trans (K rows), first, last;  then triple (K * K rows)
    theta  trans, first, last, triple;  then one row per token

so a first-order model is a second-order one with triple = 0. Decoding costs T K^3.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.tags.chain import (
    ChainBatch,
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
implements(contract.possible, SecondOrderBatch)(possible)
implements(contract.least_loss, SecondOrderBatch)(least_loss)
implements(contract.loss, SecondOrderBatch)(loss)


def second_order(batch: ChainBatch) -> SecondOrderBatch:
    return SecondOrderBatch(*batch)


@implements(contract.shape, SecondOrderBatch)
def shape(batch):
    return first_token(batch) + batch.longest, batch.width


@implements(contract.extent, SecondOrderBatch)
def extent(batch, i):
    return (first_token(batch) + batch.start[i + 1] - batch.start[i]) * batch.width


@implements(contract.common, SecondOrderBatch)
def common(batch):
    return first_token(batch) * batch.width


@implements(contract.capacity, SecondOrderBatch)
def capacity(batch):
    return batch.widest + 2 * batch.longest + 2


@inlined
def triple_row(batch, a, b):
    """Row of theta with the scores of c after a, b."""
    return batch.n_labels + 2 + a * batch.n_labels + b


@inlined
def first_token(batch):
    """Row of theta with the scores of the first token."""
    return batch.n_labels + 2 + batch.n_labels * batch.n_labels


@implements(contract.score, SecondOrderBatch)
def score(batch, i, w, theta):
    k = batch.n_labels
    rows = w.reshape((batch.n_features + k + 2 + k * k, batch.width))
    score_transitions(batch, rows, theta)
    length = batch.start[i + 1] - batch.start[i]
    for t in range(length):
        score_token(batch, batch.start[i] + t, rows, theta[first_token(batch) + t])
    if length > 2:
        for j in range(k * k):
            for c in range(batch.width):
                theta[k + 2 + j, c] = rows[batch.n_features + k + 2 + j, c]


@implements(contract.value, SecondOrderBatch)
def value(batch, i, theta, y):
    length = batch.start[i + 1] - batch.start[i]
    if length == 0:
        return 0.0
    k = batch.n_labels
    total = float(theta[k, y[0]]) + float(theta[k + 1, y[length - 1]])
    for t in range(length):
        total += float(theta[first_token(batch) + t, y[t]])
        if t > 0:
            total += float(theta[y[t - 1], y[t]])
        if t > 1:
            total += float(theta[triple_row(batch, y[t - 2], y[t - 1]), y[t]])
    return total


@implements(contract.parts, SecondOrderBatch)
def parts(batch, i, y, coefficient, mu):
    length = batch.start[i + 1] - batch.start[i]
    mu[batch.n_labels, y[0]] += coefficient
    mu[batch.n_labels + 1, y[length - 1]] += coefficient
    for t in range(length):
        mu[first_token(batch) + t, y[t]] += coefficient
        if t > 0:
            mu[y[t - 1], y[t]] += coefficient
        if t > 1:
            mu[triple_row(batch, y[t - 2], y[t - 1]), y[t]] += coefficient


@implements(contract.clamp, PartialSecondOrderBatch)
def clamp(batch, i, theta):
    first = batch.start[i]
    for t in range(batch.start[i + 1] - first):
        if batch.known[first + t]:
            row = theta[first_token(batch) + t]
            for k in range(batch.n_labels):
                if k != batch.y[first + t]:
                    row[k] = -np.inf
    return 0.0


@implements(contract.argmax, SecondOrderBatch)
def argmax(batch, i, theta, scale, y):
    first = batch.start[i]
    length = batch.start[i + 1] - first
    k = batch.n_labels
    if length == 0:
        return
    token, tokens = np.empty(batch.width, theta.dtype), theta[first_token(batch) :]
    augmented(batch, first, tokens[0], scale, token)
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
        augmented(batch, first + t, tokens[t], scale, token)
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
