"""Label sequences: a first-order chain with first, last and transition weights.

    value(x, y) = sum_t w[y_t].x_t + first[y_1] + sum_t trans[y_(t-1), y_t] + last[y_T]

Slots are tokens. Both w and theta are tables of rows of ``width`` labels:

    w      rows 0 .. d-1 features;  then trans (K rows), first, last
    theta  trans (K rows), first, last;  then one row per token

The loss is a sum of cost[true, predicted] over tokens (Hamming, weighted, any cost
matrix) or the zero-one loss of the whole sequence. (Altun, Tsochantaridis & Hofmann
2003, hidden Markov support vector machines; Tsochantaridis et al. 2004.)
"""

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import generic, implements, inlined
from maxmargin.core.vectors import add_rows
from maxmargin.tags import chain_rows, chain_sums  # noqa: F401  implement sums, rows
from maxmargin.tags.chain_batch import ChainBatch, PartialChainBatch, make_batch
from maxmargin.tags.chain_counts import search_counts, search_wrong
from maxmargin.tags.chain_spans import (
    SpanTables,
    ZeroOne,
    argmax_spans,
    span_loss,
)
from maxmargin.tags.viterbi import viterbi

__all__ = ["ChainBatch", "make_batch"]


@implements(contract.least_loss, ChainBatch)
def least_loss(batch):
    return batch.least


@implements(contract.shape, ChainBatch)
def shape(batch):
    return batch.n_labels + 2 + batch.longest, batch.width


@implements(contract.capacity, ChainBatch)
def capacity(batch):
    return batch.widest + batch.longest + 1


@inlined
def score_token(batch, token, rows, row):
    """row <- scores of the labels of one token."""
    add_rows(
        batch.indices,
        batch.values,
        batch.indptr[token],
        batch.indptr[token + 1],
        rows,
        row,
    )


@inlined
def score_transitions(batch, rows, theta):
    for j in range(batch.n_labels + 2):
        out = theta[j]
        weights = rows[batch.n_features + j]
        wall = batch.barrier[j]
        for k in range(len(out)):
            out[k] = weights[k] + wall[k]


@implements(contract.score, ChainBatch)
def score(batch, i, w, theta):
    rows = w.reshape((batch.n_features + batch.n_labels + 2, batch.width))
    score_transitions(batch, rows, theta)
    first = batch.n_labels + 2
    for t in range(batch.start[i + 1] - batch.start[i]):
        score_token(batch, batch.start[i] + t, rows, theta[first + t])


@implements(contract.extent, ChainBatch)
def extent(batch, i):
    return (batch.n_labels + 2 + batch.start[i + 1] - batch.start[i]) * batch.width


@implements(contract.score_planes, ChainBatch)
def score_planes(batch, i, w, labellings, count, theta):
    # Only tokens on which the planes disagree matter to differences of their values.
    rows = w.reshape((batch.n_features + batch.n_labels + 2, batch.width))
    score_transitions(batch, rows, theta)
    length = batch.start[i + 1] - batch.start[i]
    for t in range(length):
        row = theta[batch.n_labels + 2 + t]
        differs = False
        for p in range(1, count):
            if labellings[p * length + t] != labellings[t]:
                differs = True
        if differs:
            score_token(batch, batch.start[i] + t, rows, row)
        else:
            for k in range(len(row)):
                row[k] = 0


@implements(contract.value, ChainBatch)
def value(batch, i, theta, y):
    length = batch.start[i + 1] - batch.start[i]
    if length == 0:
        return 0.0
    k = batch.n_labels
    total = float(theta[k, y[0]]) + float(theta[k + 1, y[length - 1]])
    total += float(theta[k + 2, y[0]])
    for t in range(1, length):
        total += float(theta[y[t - 1], y[t]]) + float(theta[k + 2 + t, y[t]])
    return total


@implements(contract.margin, ChainBatch)
def margin(batch, i, theta, y):
    # Near the optimum most labels agree: visit only the parts that differ.
    first, last = batch.start[i], batch.start[i + 1]
    k = batch.n_labels
    total = 0.0
    before = False
    for t in range(last - first):
        truth = batch.y[first + t]
        differs = truth != y[t]
        if differs:
            total += float(theta[k + 2 + t, truth] - theta[k + 2 + t, y[t]])
        if (differs or before) and t > 0:
            total += float(theta[batch.y[first + t - 1], truth] - theta[y[t - 1], y[t]])
        before = differs
    if last > first:
        z = last - first - 1
        total += float(theta[k, batch.y[first]] - theta[k, y[0]])
        total += float(theta[k + 1, batch.y[last - 1]] - theta[k + 1, y[z]])
    return total


@implements(contract.possible, ChainBatch)
def possible(batch, i, y):
    """Labels, none beside one that it must not follow."""
    k, before = batch.n_labels, batch.n_labels
    size = batch.start[i + 1] - batch.start[i]
    for t in range(size):
        if not 0 <= y[t] < k or batch.barrier[before, y[t]] == -np.inf:
            return False
        before = y[t]
    return size == 0 or batch.barrier[k + 1, before] > -np.inf


@implements(contract.loss, ChainBatch)
def loss(batch, i, y):
    return loss_by_kind(batch.tables, batch, i, y)


@generic
def loss_by_kind(tables, batch, i, y):
    """The loss, by the type of ``batch.tables``: only the one that is used is compiled."""
    total = 0.0
    for t in range(batch.start[i + 1] - batch.start[i]):
        total += float(batch.cost[batch.y[batch.start[i] + t], y[t]])
    return total


@implements(loss_by_kind, ZeroOne)
def zero_one_loss(tables, batch, i, y):
    for t in range(batch.start[i + 1] - batch.start[i]):
        if batch.y[batch.start[i] + t] != y[t]:
            return 1.0
    return 0.0


@implements(loss_by_kind, SpanTables)
def loss_of_spans(tables, batch, i, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    return span_loss(tables, truth, y, len(truth))


@implements(contract.argmax, ChainBatch)
def argmax(batch, i, theta, scale, y):
    if batch.start[i + 1] > batch.start[i]:
        search_by_kind(batch.tables, batch, i, theta, scale, y)


@generic
def search_by_kind(tables, batch, i, theta, scale, y):
    """argmax(), by the type of ``batch.tables``."""
    viterbi(batch, i, theta, scale, y)


@implements(search_by_kind, ZeroOne)
def search_zero_one(tables, batch, i, theta, scale, y):
    if scale == 0.0:
        viterbi(batch, i, theta, scale, y)
    else:
        base = contract.value(batch, i, theta, batch.y[batch.start[i] :])
        search_wrong(batch, i, theta, base, scale, y)


@implements(search_by_kind, SpanTables)
def search_spans(tables, batch, i, theta, scale, y):
    if scale == 0.0:
        viterbi(batch, i, theta, scale, y)
    else:
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        argmax_spans(tables, batch.n_labels, theta, truth, len(truth), scale, y)


@implements(contract.argmax_rescaled, ChainBatch)
def argmax_rescaled(batch, i, theta, form, y):
    length = batch.start[i + 1] - batch.start[i]
    cap = most_counts(batch.tables, length)
    if cap > 0 and length > 0:
        base = contract.value(batch, i, theta, batch.y[batch.start[i] :])
        search_counts(batch, i, theta, form, base, cap, y)
    return cap > 0 or length == 0


@generic
def most_counts(tables, length):
    """Up to how many wrong labels decide the loss; 0 if it is no function of them."""
    return length if tables.counted else 0


@implements(most_counts, ZeroOne)
def only_one(tables, length):
    return 1


@implements(most_counts, SpanTables)
def no_counts(tables, length):
    return 0


@implements(contract.clamp, PartialChainBatch)
def clamp(batch, i, theta):
    first = batch.start[i]
    for t in range(batch.start[i + 1] - first):
        if batch.known[first + t]:
            row = theta[batch.n_labels + 2 + t]
            for k in range(batch.n_labels):
                if k != batch.y[first + t]:
                    row[k] = -np.inf
    return 0.0


@implements(contract.emit, ChainBatch)
def emit(batch, i, y, coefficient, index, values, m):
    length = batch.start[i + 1] - batch.start[i]
    if length == 0:
        return m
    width = batch.width
    trans = batch.n_features * width
    for t in range(length):
        token = batch.start[i] + t
        m = put_token(batch, token, y[t], coefficient, index, values, m)
        if t > 0:
            index[m] = trans + y[t - 1] * width + y[t]
            values[m] = coefficient
            m += 1
    ends = trans + batch.n_labels * width
    index[m] = ends + y[0]
    index[m + 1] = ends + width + y[length - 1]
    values[m] = coefficient
    values[m + 1] = coefficient
    return m + 2


@implements(contract.difference, ChainBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    # Most labels agree near the optimum: leave out every part on which s, a and the
    # truth cancel.
    length = batch.start[i + 1] - batch.start[i]
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    width = batch.width
    trans = batch.n_features * width
    m = 0
    before = True
    for t in range(length):
        same = s[t] == a[t] and (rs == ra or s[t] == truth[t])
        if not same:
            ct, cs, ca = cancel(truth[t], s[t], a[t], rs, ra)
            token = batch.start[i] + t
            m = put_token(batch, token, truth[t], ct, index, values, m)
            m = put_token(batch, token, s[t], cs, index, values, m)
            m = put_token(batch, token, a[t], ca, index, values, m)
        if t > 0 and not (same and before):
            pt = trans + truth[t - 1] * width + truth[t]
            ps = trans + s[t - 1] * width + s[t]
            pa = trans + a[t - 1] * width + a[t]
            m = put3(index, values, m, pt, ps, pa, rs, ra)
        before = same
    if length > 0:
        ends = trans + batch.n_labels * width
        m = put3(index, values, m, ends + truth[0], ends + s[0], ends + a[0], rs, ra)
        ends += width
        z = length - 1
        m = put3(index, values, m, ends + truth[z], ends + s[z], ends + a[z], rs, ra)
    return m


@inlined
def cancel(truth, s, a, rs, ra):
    """Coefficients of (rs - ra) e_truth - rs e_s + ra e_a, equal parts merged."""
    ct, cs, ca = rs - ra, -rs, ra
    if a == truth:
        ct, ca = ct + ca, 0.0
    elif a == s:
        cs, ca = cs + ca, 0.0
    if s == truth:
        ct, cs = ct + cs, 0.0
    return ct, cs, ca


@inlined
def put_token(batch, token, label, coefficient, index, values, m):
    if coefficient == 0.0:
        return m
    for j in range(batch.indptr[token], batch.indptr[token + 1]):
        index[m] = batch.indices[j] * batch.width + label
        values[m] = coefficient * batch.values[j]
        m += 1
    return m


@inlined
def put(index, values, m, where, x):
    if x == 0.0:
        return m
    index[m] = where
    values[m] = x
    return m + 1


@inlined
def put3(index, values, m, truth, s, a, rs, ra):
    ct, cs, ca = cancel(truth, s, a, rs, ra)
    m = put(index, values, m, truth, ct)
    m = put(index, values, m, s, cs)
    return put(index, values, m, a, ca)
