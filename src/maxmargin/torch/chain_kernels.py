"""Chains on the CPU: kernels over flat emissions, one row of labels per token.

Sequence i owns the rows start[i] .. start[i + 1]. Transitions, first and last scores are
the same for all: ``table`` has K rows of transitions, then one of each. Sums leave what
pair counts are made of in a later call, when the weight of every sequence is known:

    pairs[j, k] = step[j, k] * sum_t before[t - 1, j] * weighted[t, k]

Small batches are summed sequence by sequence, in double precision
(``tags/chain_sums.py``), others by products of matrices: the rows of all sequences at one
place are one matrix (Rabiner 1989 has the factors that are taken out).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined, kernel, summing
from maxmargin.tags.chain_sums import Sums, exp_transitions, log_sum, sum_labellings
from maxmargin.tags.viterbi import best_end, best_predecessor, max_into

SMALLEST = 1e-25  # of a sum in single precision: less may have lost what mattered
NEAR = 1e-3  # by how much marginals of a token may miss 1


@kernel
def sum_each(emissions, start, table, total, marginals, before, weighted, step, far):
    """Sums of every sequence by itself; ``far`` says where only log space was right.

    There, ``before`` and ``weighted`` are zero, and pair counts are up to
    :func:`far_pairs`.
    """
    n, width, longest = len(table) - 2, table.shape[1], 1
    for i in range(len(total)):
        longest = max(longest, start[i + 1] - start[i])
    theta = np.zeros((n + 2 + longest, width))
    theta[: n + 2] = table
    sums = room_for(n, width, longest)
    taken = exp_transitions(theta, n, sums)
    apart = sums.far[0]
    step[:] = sums.step
    for i in range(len(total)):
        a, length = start[i], start[i + 1] - start[i]
        if length == 0:
            continue
        for t in range(length):
            for k in range(n):
                theta[n + 2 + t, k] = emissions[a + t, k]
        sums.far[0] = apart
        total[i] = sum_labellings(theta, n, length, taken, sums)
        far[i] = sums.far[0]
        for t in range(length):
            for k in range(n):
                marginals[a + t, k] = sums.marginals[t, k]
            size = 0.0 if far[i] else 1.0 / sums.shrink[t]
            for k in range(width):
                before[a + t, k] = sums.before[t, k] if size > 0.0 else 0.0
                weighted[a + t, k] = 0.0
                if size > 0.0:
                    weighted[a + t, k] = sums.token[t, k] * sums.after[t, k] * size


@inlined
def room_for(n, width, longest):
    """Working memory for sequences up to ``longest`` tokens."""
    return Sums(
        np.zeros((longest, width)),
        np.zeros((longest, width)),
        np.zeros((longest, width)),
        np.zeros(longest),
        np.zeros((n, width)),
        np.zeros((n, width)),
        np.zeros((2, width)),
        np.zeros((longest, width)),
        np.zeros((n, width)),
        np.zeros(width, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def far_pairs(emissions, start, table, i, pairs):
    """pairs <- expected transitions of sequence i, in log space."""
    n, width, length = len(table) - 2, table.shape[1], start[i + 1] - start[i]
    theta = np.zeros((n + 2 + length, width))
    theta[: n + 2] = table
    theta[n + 2 :, :n] = emissions[start[i] : start[i + 1]]
    sums = room_for(n, width, length)
    taken = exp_transitions(theta, n, sums)
    sums.far[0] = 1
    sum_labellings(theta, n, length, taken, sums)
    pairs[:] = sums.pairs[:, :n]


@summing
def add_outer(a, b, weight, n, pairs):
    """pairs += weight * a b^T."""
    for j in range(n):
        x, row = weight * a[j], pairs[j]
        for k in range(len(row)):
            row[k] += x * b[k]


@kernel
def count_pairs(before, weighted, step, start, weights, pairs):
    """pairs <- expected transitions, those of every sequence times its weight."""
    n = len(step)
    pairs[:] = 0.0
    for i in range(len(weights)):
        for t in range(start[i] + 1, start[i + 1]):
            add_outer(before[t - 1], weighted[t], weights[i], n, pairs)
    for j in range(n):
        for k in range(pairs.shape[1]):
            pairs[j, k] *= step[j, k]


@kernel
def score_labels(emissions, labels, start, transitions, first, last, values):
    """values <- the scores of these labels."""
    for i in range(len(values)):
        a, z = start[i], start[i + 1]
        if a == z:
            continue
        total = np.float64(first[labels[a]]) + np.float64(last[labels[z - 1]])
        for t in range(a, z):
            total += emissions[t, labels[t]]
            if t > a:
                total += transitions[labels[t - 1], labels[t]]
        values[i] = total


@kernel
def sum_ends(start, tokens, first, last):
    """first, last <- the rows of first and of last tokens, added up."""
    first[:] = 0.0
    last[:] = 0.0
    for i in range(len(start) - 1):
        if start[i] < start[i + 1]:
            for k in range(len(first)):
                first[k] += tokens[start[i], k]
                last[k] += tokens[start[i + 1] - 1, k]


@kernel
def subtract_labels(labels, start, weights, tokens, pairs):
    """Take the labels, times the weight of their sequence, from expected ones."""
    for i in range(len(weights)):
        for t in range(start[i], start[i + 1]):
            tokens[t, labels[t]] -= weights[i]
            if t > start[i]:
                pairs[labels[t - 1], labels[t]] -= weights[i]


# many sequences -------------------------------------------------------------------------


@summing
def scaled(row, factor):
    """row *= factor, entry by entry; returns the sum."""
    total = row.dtype.type(0)
    for k in range(len(row)):
        row[k] *= factor[k]
        total += row[k]
    return total


@summing
def divide(row, size):
    factor = row.dtype.type(1) / size
    for k in range(len(row)):
        row[k] *= factor


@summing
def weigh(row, after, size):
    """row <- row * after / size, entry by entry."""
    factor = row.dtype.type(1) / size
    for k in range(len(row)):
        row[k] *= after[k] * factor


@summing
def multiply(a, b, out):
    """out <- a * b, entry by entry; returns the sum."""
    total = out.dtype.type(0)
    for k in range(len(out)):
        out[k] = a[k] * b[k]
        total += out[k]
    return total


@summing
def dot(a, b):
    total = a.dtype.type(0)
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@kernel
def sum_together(
    token, tops, at, rows, step, back, ends, step_top, total, before, marginals
):
    """Sums of all sequences at once, the longest first; False where they are not right.

    ``token`` has exponentials of emissions, place by place: rows at[t] .. at[t + 1] are
    those of the sequences with more than t tokens, and become ``weighted``. ``before`` is
    in the same order, ``marginals`` in that of ``rows``. ``ends`` are exponentials of
    first and last scores. What was taken out of exponentials is in ``tops``, ``step_top``
    and, to begin with, in ``total``, which becomes log Z.
    """
    places, real, ok = len(at) - 1, token.dtype.type, True
    shrink = np.empty(len(token), token.dtype)
    after = np.empty((at[1], token.shape[1]), token.dtype)
    for t in range(places):
        a, z = at[t], at[t + 1]
        if t == 0:
            before[:z] = ends[0]
        else:
            np.dot(before[at[t - 1] : at[t - 1] + z - a], step, before[a:z])
        for r in range(a, z):
            size = scaled(before[r], token[r])
            if not size > SMALLEST:
                return False
            shrink[r] = size
            total[r - a] += np.log(np.float64(size)) + tops[r]
            if t > 0:
                total[r - a] += step_top
            divide(before[r], size)
    for t in range(places - 1, -1, -1):
        a, z = at[t], at[t + 1]
        go_on = at[t + 2] - z if t + 1 < places else 0
        if go_on > 0:
            np.dot(token[z : z + go_on], back, after[:go_on])
        for r in range(a + go_on, z):  # the last token of its sequence
            size = dot(before[r], ends[1])
            if not size > SMALLEST:
                return False
            total[r - a] += np.log(np.float64(size))
            after[r - a] = ends[1]
            divide(after[r - a], size)
        for r in range(a, z):
            whole = multiply(before[r], after[r - a], marginals[rows[r]])
            ok = ok and abs(whole - real(1)) < NEAR
            weigh(token[r], after[r - a], shrink[r])
    return ok


# the best labels ------------------------------------------------------------------------


@kernel
def viterbi_all(emissions, start, table, labels, values):
    """The best labels of every sequence, and their scores; ties go to the lowest label."""
    n, width, longest = len(table) - 2, table.shape[1], 1
    for i in range(len(values)):
        longest = max(longest, start[i + 1] - start[i])
    best = np.empty((longest, width), table.dtype)
    for i in range(len(values)):
        a, length = start[i], start[i + 1] - start[i]
        if length == 0:
            continue
        for t in range(length):
            row, token = best[t], emissions[a + t]
            if t == 0:
                row[:] = table[n]
            else:
                max_into(best[t - 1], table, n, row)
            for k in range(n):
                row[k] += token[k]
        values[i], label = best_end(best[length - 1], table, n)
        labels[a + length - 1] = label
        for t in range(length - 2, -1, -1):
            label = best_predecessor(best[t], table, n, label)
            labels[a + t] = label


# random labels --------------------------------------------------------------------------


@kernel
def sample_each(emissions, start, table, uniform, labels):
    """Labels drawn with probability exp(score) / Z: backwards, after sums in log space."""
    n = len(table) - 2
    for i in range(len(start) - 1):
        a, length = start[i], start[i + 1] - start[i]
        ahead = np.empty((length, n))
        for t in range(length):
            for k in range(n):
                v = table[n, k]
                if t > 0:
                    v = log_sum(ahead[t - 1], table[:n, k])
                ahead[t, k] = v + emissions[a + t, k]
        label = -1
        for t in range(length - 1, -1, -1):
            way = table[n + 1, :n] if label < 0 else table[:n, label]
            label = drawn(ahead[t], way, uniform[a + t])
            labels[a + t] = label


@inlined
def drawn(a, b, uniform):
    """A number j with probability in proportion to exp(a_j + b_j)."""
    left = uniform
    whole = log_sum(a, b)
    last = 0
    for j in range(len(a)):
        p = np.exp(a[j] + b[j] - whole)
        if p > 0.0:
            last = j
            left -= p
            if left < 0.0:
                break
    return last
