"""Alignments of two sequences as a structure: slots are positions of the target s.

A slot holds the position of t that it is matched with, or -1. Parts of an output are its
matched pairs and its unmatched runs (``dp.py``), scored by the terms of a model
(``features/``). Losses, against a reference with M pairs that count:

    q        1 - (matched as in the reference) / M
    shift k  the same, where (i, j) counts if the reference has (u, j) with |i - u| <= k
    hamming  wrong pairs + missed pairs

All are sums over matched pairs plus a constant, so that the search for the most violated
alignment is alignment itself, with other scores. (Yu's thesis 2011, chapter 4.)
"""

import numpy as np

from maxmargin.alignments.counts import count_tables, layers_of, trace_layer
from maxmargin.alignments.dp import alignment_value, best_alignment
from maxmargin.alignments.pair_batch import (
    AlignmentBatch,
    PartialAlignmentBatch,
    lengths,
    make_batch,
    parts_of,
)
from maxmargin.alignments.scores import (
    list_gaps,
    list_pair,
    list_prior,
    score_gaps,
    score_matches,
    weight,
)
from maxmargin.alignments.sums import forbid_unknown
from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.rescale import violation

__all__ = ["AlignmentBatch", "lengths", "make_batch", "parts_of"]

FORCED = 50.0  # by how much more than all scores a bonus counts
COUNTED_CELLS = 1 << 20  # n * m * layers up to which rescaling is searched exactly


@implements(contract.shape, AlignmentBatch)
def shape(batch):
    return 1, batch.size


@implements(contract.capacity, AlignmentBatch)
def capacity(batch):
    return batch.entries


@implements(contract.least_loss, AlignmentBatch)
def least_loss(batch):
    return batch.least


@implements(contract.score, AlignmentBatch)
def score(batch, i, w, theta):
    match, gaps = parts_of(batch, i, theta)
    score_matches(batch.s, batch.t, batch.terms, i, w, batch.norm[i], match)
    score_gaps(batch.s, batch.t, batch.terms, i, w, batch.norm[i], gaps)


@implements(contract.score_planes, AlignmentBatch)
def score_planes(batch, i, w, labellings, count, theta):
    # A few hundred pairs of the planes instead of all n m.
    match, gaps = parts_of(batch, i, theta)
    score_gaps(batch.s, batch.t, batch.terms, i, w, batch.norm[i], gaps)
    n = batch.start[i + 1] - batch.start[i]
    index = np.empty(batch.entries, np.int64)
    values = np.empty(batch.entries, w.dtype)
    for k in range(n):
        for p in range(count):
            j = labellings[p * n + k]
            seen = p > 0 and (j == labellings[k] or j == labellings[(p - 1) * n + k])
            if j < 0 or seen:
                continue
            m = put_pair(batch, i, k, j, batch.norm[i], index, values, 0)
            total = 0.0
            for f in range(m):
                total += float(weight(batch.terms, w, index[f])) * float(values[f])
            match[k, j] = total


@implements(contract.possible, AlignmentBatch)
def possible(batch, i, y):
    """Positions of t that rise, and -1 in between."""
    n, m = lengths(batch, i)
    last = -1
    for k in range(n):
        if y[k] != -1:
            if not last < y[k] < m:
                return False
            last = y[k]
    return True


@implements(contract.value, AlignmentBatch)
def value(batch, i, theta, y):
    match, gaps = parts_of(batch, i, theta)
    return alignment_value(match, gaps, y)


@inlined
def put_pair(batch, i, k, j, c, index, values, m):
    """Append the features of the matched pair (k, j), c times."""
    return list_pair(batch.s, batch.t, batch.terms, i, k, j, c, index, values, m)


@inlined
def put_gaps(batch, i, y, c, index, values, m):
    """Append those of the unmatched runs."""
    free_s, free_t = batch.free_s, batch.free_t
    return list_gaps(batch.s, batch.t, i, free_s, free_t, y, c, index, values, m)


@implements(contract.emit, AlignmentBatch)
def emit(batch, i, y, coefficient, index, values, m):
    c, first = coefficient * batch.norm[i], m
    for k in range(batch.start[i + 1] - batch.start[i]):
        if y[k] >= 0:
            m = put_pair(batch, i, k, y[k], c, index, values, m)
    m = put_gaps(batch, i, y, c, index, values, m)
    return list_prior(batch.terms, index, values, first, m)


@implements(contract.difference, AlignmentBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    # Pairs on which alignments agree cancel; near the optimum that is most of them.
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    norm = batch.norm[i]
    m = 0
    for k in range(len(truth)):
        ct, cs, ca = rs - ra, -rs, ra
        if s[k] == truth[k]:
            cs, ct = cs + ct, 0.0
        if a[k] == s[k]:
            cs, ca = cs + ca, 0.0
        elif a[k] == truth[k]:
            ca, ct = ca + ct, 0.0
        if truth[k] >= 0 and ct != 0.0:
            m = put_pair(batch, i, k, truth[k], ct * norm, index, values, m)
        if s[k] >= 0 and cs != 0.0:
            m = put_pair(batch, i, k, s[k], cs * norm, index, values, m)
        if a[k] >= 0 and ca != 0.0:
            m = put_pair(batch, i, k, a[k], ca * norm, index, values, m)
    if rs != ra:
        m = put_gaps(batch, i, truth, (rs - ra) * norm, index, values, m)
    m = put_gaps(batch, i, s, -rs * norm, index, values, m)
    m = put_gaps(batch, i, a, ra * norm, index, values, m)
    return list_prior(batch.terms, index, values, 0, m)


@implements(contract.clamp, PartialAlignmentBatch)
def clamp(batch, i, theta):
    # A position with a known partner must not be in an unmatched run: -inf there. But a
    # run of s at an end may be free: then a bonus for the pair is needed. (Sums know the
    # ends: what a bonus leaves of other alignments may be many times those that agree.)
    match, _ = parts_of(batch, i, theta)
    bonus = 0.0
    if batch.free_s:
        bonus = FORCED
        for k in range(contract.extent(batch, i)):
            bonus += 2.0 * abs(float(theta[0, k]))
    total = 0.0
    for k in range(len(match)):
        slot = batch.start[i] + k
        if batch.known[slot] and batch.y[slot] >= 0:
            match[k, batch.y[slot]] += bonus
            total += bonus
    forbid_unknown(batch, i, theta)
    return total


# losses ------------------------------------------------------------------------------


@inlined
def agrees(batch, i, k, j):
    """Whether the matched pair (k, j) counts as right."""
    u = batch.partner[batch.t.start[i] + j]
    return u >= 0 and abs(u - k) <= batch.shift


@implements(contract.loss, AlignmentBatch)
def loss(batch, i, y):
    total = batch.counted[i]
    for k in range(batch.start[i + 1] - batch.start[i]):
        if y[k] >= 0:
            if agrees(batch, i, k, y[k]):
                total -= 1
            elif batch.hamming and batch.judged[batch.start[i] + k]:
                total += 1
    if batch.hamming or total == 0:
        return float(total)
    return total / batch.counted[i]


@implements(contract.argmax, AlignmentBatch)
def argmax(batch, i, theta, scale, y):
    # loss = constant - sum over right pairs of gain (+ sum over wrong ones, hamming):
    # change the scores of right pairs, align, and change them back.
    match, gaps = parts_of(batch, i, theta)
    n, m = match.shape
    bonus = np.zeros(n, theta.dtype)
    gain = 0.0
    if scale != 0.0 and batch.hamming:
        gain = 2.0 * scale
        for k in range(n):
            bonus[k] = scale * batch.judged[batch.start[i] + k]
    elif scale != 0.0 and batch.counted[i] > 0:
        gain = scale / batch.counted[i]
    if gain == 0.0:
        best_alignment(match, gaps, bonus, y)
        return
    amount = theta.dtype.type(gain)
    kept = np.empty((m, 2 * batch.shift + 1), theta.dtype)
    for j in range(m):
        u = batch.partner[batch.t.start[i] + j]
        if u >= 0:
            for k in range(max(u - batch.shift, 0), min(u + batch.shift + 1, n)):
                kept[j, k - u + batch.shift] = match[k, j]
                match[k, j] -= amount
    best_alignment(match, gaps, bonus, y)
    for j in range(m):
        u = batch.partner[batch.t.start[i] + j]
        if u >= 0:
            for k in range(max(u - batch.shift, 0), min(u + batch.shift + 1, n)):
                match[k, j] = kept[j, k - u + batch.shift]


@implements(contract.argmax_rescaled, AlignmentBatch)
def argmax_rescaled(batch, i, theta, form, y):
    match, gaps = parts_of(batch, i, theta)
    n, m = match.shape
    total = batch.counted[i]
    layers = layers_of(n, m, total, batch.hamming)
    if n * m * layers > COUNTED_CELLS:
        return False
    # step[k, j]: what the pair (k, j) adds to loss, in units of the loss
    step = np.zeros((n, m), np.int64)
    for k in range(n):
        for j in range(m):
            if agrees(batch, i, k, j):
                step[k, j] = -1
            elif batch.hamming and batch.judged[batch.start[i] + k]:
                step[k, j] = 1
    truth = contract.value(
        batch, i, theta, batch.y[batch.start[i] : batch.start[i + 1]]
    )
    unit = 1.0 if batch.hamming else 1.0 / max(total, 1)
    tables = count_tables(match, gaps, step, total, layers)
    best, layer = 0.0, -1
    for c in range(layers):
        if tables.best[c] > -np.inf:
            v = violation(form, c * unit, truth - tables.best[c])
            if v > best:
                best, layer = v, c
    if layer < 0:
        y[:n] = batch.y[batch.start[i] : batch.start[i + 1]]
    else:
        trace_layer(tables, gaps, step, layer, y)
    return True
