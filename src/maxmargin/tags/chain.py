"""Label sequences: a first-order chain with first, last and transition weights.

    value(x, y) = sum_t w[y_t].x_t + first[y_1] + sum_t trans[y_(t-1), y_t] + last[y_T]

Slots are tokens. Both w and theta are tables of rows of ``width`` labels:

    w      rows 0 .. d-1 features;  then trans (K rows), first, last
    theta  trans (K rows), first, last;  then one row per token

The loss is a sum of cost[true, predicted] over tokens (Hamming, weighted, any cost
matrix) or the zero-one loss of the whole sequence. (Altun, Tsochantaridis & Hofmann
2003, hidden Markov support vector machines; Tsochantaridis et al. 2004.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined, kernel
from maxmargin.core.rescale import violation
from maxmargin.core.rows import add_rows
from maxmargin.tags import chain_sums  # noqa: F401  implements sums
from maxmargin.tags.chain_batch import ChainBatch, make_batch
from maxmargin.tags.chain_spans import argmax_spans, span_loss

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


@implements(contract.loss, ChainBatch)
def loss(batch, i, y):
    total = 0.0
    if batch.spans:
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        return span_loss(batch.tables, truth, y, len(truth))
    for t in range(batch.start[i + 1] - batch.start[i]):
        truth = batch.y[batch.start[i] + t]
        if batch.zero_one:
            if truth != y[t]:
                return 1.0
        else:
            total += float(batch.cost[truth, y[t]])
    return total


@implements(contract.argmax, ChainBatch)
def argmax(batch, i, theta, scale, y):
    length = batch.start[i + 1] - batch.start[i]
    if length == 0:
        return
    if batch.spans and scale != 0.0:
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        argmax_spans(batch.tables, batch.n_labels, theta, truth, length, scale, y)
        return
    if batch.zero_one and scale != 0.0:
        table = counted_table(batch, i, theta, 1)
        wrong, label = best_with_count(batch, table, length, theta, 1)
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        if wrong + scale > contract.value(batch, i, theta, truth):
            counted_backtrace(batch, i, theta, table, 1, label, y)
        else:
            y[:length] = truth
        return
    best = np.empty((length, batch.width), theta.dtype)
    n_labels = batch.n_labels
    for t in range(length):
        row = best[t]
        if t == 0:
            start = theta[n_labels]
            for k in range(len(row)):
                row[k] = start[k]
        else:
            max_into(best[t - 1], theta, n_labels, row)
        emission = theta[n_labels + 2 + t]
        if scale == 0.0:
            for k in range(len(row)):
                row[k] += emission[k]
        else:
            s = theta.dtype.type(scale)
            cost = batch.cost[batch.y[batch.start[i] + t]]
            for k in range(len(row)):
                row[k] += emission[k] + s * cost[k]
    label = best_end(best[length - 1], theta, n_labels)[1]
    y[length - 1] = label
    for t in range(length - 2, -1, -1):
        label = best_predecessor(best[t], theta, n_labels, label)
        y[t] = label


@inlined
def max_into(previous, theta, n_labels, row):
    """row[k] <- max_j previous[j] + trans[j, k].

    Values only: the winners are found again on the way back, for one label per token
    instead of all, which leaves this loop free of branches. Four rows at a time halve
    its time (CoNLL-2000: 38 to 17 ms a pass).
    """
    for k in range(len(row)):
        row[k] = -np.inf
    whole = n_labels // 4 * 4
    for j in range(0, whole, 4):
        a, b, c, d = previous[j], previous[j + 1], previous[j + 2], previous[j + 3]
        ta, tb, tc, td = theta[j], theta[j + 1], theta[j + 2], theta[j + 3]
        for k in range(len(row)):
            ab = max(a + ta[k], b + tb[k])
            cd = max(c + tc[k], d + td[k])
            row[k] = max(row[k], max(ab, cd))
    for j in range(whole, n_labels):
        a = previous[j]
        trans = theta[j]
        for k in range(len(row)):
            row[k] = max(row[k], a + trans[k])


@inlined
def best_end(row, theta, n_labels):
    last = theta[n_labels + 1]
    label, best = 0, -np.inf
    for k in range(n_labels):
        v = row[k] + last[k]
        if v > best:
            label, best = k, v
    return best, label


@inlined
def best_predecessor(row, theta, n_labels, label):
    winner, best = 0, -np.inf
    for j in range(n_labels):
        v = row[j] + theta[j, label]
        if v > best:
            winner, best = j, v
    return winner


# Viterbi with the number of wrong labels as part of the state -----------------------
# table[t, c, k]: best score of a prefix that ends in label k with c wrong labels, where
# the highest count stands for "that many or more". Count 1 gives the best wrong
# sequence (zero-one loss), counts up to T every rescaling of the Hamming loss
# (algorithm of Bauer et al. 2014; O(T^2 K^2)).


@kernel
def counted_table(batch, i, theta, cap):
    length = batch.start[i + 1] - batch.start[i]
    n_labels = batch.n_labels
    table = np.full((length, cap + 1, batch.width), -np.inf, theta.dtype)
    row = np.empty(batch.width, theta.dtype)
    for t in range(length):
        truth = batch.y[batch.start[i] + t]
        emission = theta[n_labels + 2 + t]
        for c in range(min(t, cap) + 1):
            if t == 0:
                for k in range(n_labels):
                    row[k] = theta[n_labels, k]
            else:
                max_into(table[t - 1, c], theta, n_labels, row)
            for k in range(n_labels):
                after = c if k == truth else min(c + 1, cap)
                v = row[k] + emission[k]
                if v > table[t, after, k]:
                    table[t, after, k] = v
    return table


@kernel
def best_with_count(batch, table, length, theta, count):
    return best_end(table[length - 1, count], theta, batch.n_labels)


@kernel
def counted_backtrace(batch, i, theta, table, count, label, y):
    length, cap = table.shape[0], table.shape[1] - 1
    y[length - 1] = label
    for t in range(length - 1, 0, -1):
        truth = batch.y[batch.start[i] + t]
        before = count if label == truth else count - 1
        winner = best_predecessor(table[t - 1, before], theta, batch.n_labels, label)
        if count == cap and label != truth:
            # a wrong label may also have come from a prefix already at the cap
            other = best_predecessor(table[t - 1, cap], theta, batch.n_labels, label)
            if (
                table[t - 1, cap, other] + theta[other, label]
                > table[t - 1, before, winner] + theta[winner, label]
            ):
                before, winner = cap, other
        count, label = before, winner
        y[t - 1] = label


@implements(contract.argmax_rescaled, ChainBatch)
def argmax_rescaled(batch, i, theta, form, y):
    if not (batch.zero_one or batch.counted):
        return False
    length = batch.start[i + 1] - batch.start[i]
    if length == 0:
        return True
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    base = contract.value(batch, i, theta, truth)
    cap = 1 if batch.zero_one else length
    table = counted_table(batch, i, theta, cap)
    best, best_count, best_label = 0.0, 0, 0
    for count in range(1, cap + 1):
        v, label = best_with_count(batch, table, length, theta, count)
        v = violation(form, float(count), base - v)
        if v > best:
            best, best_count, best_label = v, count, label
    if best_count == 0:
        y[:length] = truth
    else:
        counted_backtrace(batch, i, theta, table, best_count, best_label, y)
    return True


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
