"""Viterbi with the number of wrong labels as part of the state.

    table[t, c, k]   best score of a prefix that ends in label k with c wrong labels

where the highest count stands for "that many or more". Count 1 gives the best wrong
sequence (zero-one loss), counts up to T every rescaling of the Hamming loss (algorithm of
Bauer et al. 2014; O(T^2 K^2)).
"""

import numpy as np

from maxmargin.core.kernel import inner
from maxmargin.core.rescale import violation
from maxmargin.core.vectors import copy_into
from maxmargin.tags.viterbi import best_end, best_predecessor, max_into


@inner
def search_wrong(batch, i, theta, base, scale, y):
    """y <- the best wrong sequence, or the truth if that wins by ``scale`` or more.

    ``base`` is the score of the truth.
    """
    table = counted_table(batch, i, theta, 1)
    wrong, label = best_end(table[-1, 1], theta, batch.n_labels)
    if wrong + scale > base:
        counted_backtrace(batch, i, theta, table, 1, label, y)
    else:
        copy_into(y, 0, batch.y[batch.start[i] :], len(table))


@inner
def search_counts(batch, i, theta, form, base, cap, y):
    """y <- the most violated sequence, where the loss is the number of wrong labels."""
    table = counted_table(batch, i, theta, cap)
    best, best_count, best_label = 0.0, 0, 0
    for count in range(1, cap + 1):
        v, label = best_end(table[-1, count], theta, batch.n_labels)
        v = violation(form, float(count), base - v)
        if v > best:
            best, best_count, best_label = v, count, label
    if best_count == 0:
        copy_into(y, 0, batch.y[batch.start[i] :], len(table))
    else:
        counted_backtrace(batch, i, theta, table, best_count, best_label, y)


@inner
def counted_table(batch, i, theta, cap):
    length = batch.start[i + 1] - batch.start[i]
    n_labels = batch.n_labels
    table = np.empty((length, cap + 1, batch.width), theta.dtype)
    for t in range(length):
        for c in range(cap + 1):
            for k in range(batch.width):
                table[t, c, k] = -np.inf
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


@inner
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
