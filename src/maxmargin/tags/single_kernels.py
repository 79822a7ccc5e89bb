"""The best labels of one sentence, compiled.

The kernel takes plain arrays where those of a batch take the batch, because looking up the
functions of a batch costs more than labelling a sentence. Sums are taken in the order of
``chain.py`` and ``viterbi.py``, by the same functions, so that labels are the same.
"""

import numpy as np

from maxmargin.core.kernel import inlined, kernel
from maxmargin.core.vectors import add_rows
from maxmargin.tags.viterbi import best_end, best_predecessor, max_into


@kernel
def label_one(indices, values, indptr, w, wall, n_labels, alone, y):
    """y <- the best labels of one sentence; (their score, number of unknown features).

    Token t has the features indptr[t] .. indptr[t + 1] of ``indices``, where -1 is one
    that is not known: these are left out. Tokens that are ``alone`` have no transitions
    (order 0), and the score is the least of theirs; it is -inf where no labels are allowed.
    """
    unknown = leave_out_unknown(indices, values, indptr)
    width = wall.shape[1]
    rows = w.reshape((len(w) // width, width))
    first_row = len(rows) - n_labels - 2
    theta = np.empty_like(wall)
    for j in range(n_labels + 2):
        for k in range(width):
            theta[j, k] = rows[first_row + j, k] + wall[j, k]
    best = np.empty((len(y), width))
    emission = np.empty(width)
    score = np.inf
    for t in range(len(y)):
        row = best[t]
        if t == 0 or alone:
            start = theta[n_labels]
            for k in range(width):
                row[k] = start[k]
        else:
            max_into(best[t - 1], theta, n_labels, row)
        add_rows(indices, values, indptr[t], indptr[t + 1], rows, emission)
        for k in range(width):
            row[k] += emission[k]
        if alone or t == len(y) - 1:
            value, label = best_end(row, theta, n_labels)
            y[t] = label
            score = min(score, float(value))
    if not alone:
        for t in range(len(y) - 2, -1, -1):
            y[t] = best_predecessor(best[t], theta, n_labels, y[t + 1])
    return score, unknown


@inlined
def leave_out_unknown(indices, values, indptr):
    """Remove the -1 of CSR arrays, in place; how many there were."""
    to = first = 0
    for t in range(len(indptr) - 1):
        for j in range(first, indptr[t + 1]):
            if indices[j] >= 0:
                if to < j:
                    indices[to] = indices[j]
                    values[to] = values[j]
                to += 1
        first = indptr[t + 1]
        if to < first:
            indptr[t + 1] = to
    return first - to
