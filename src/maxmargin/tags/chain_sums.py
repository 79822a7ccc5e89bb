"""Sums over all labellings of a chain: partition function, marginals, expectations.

Forward and backward passes in probability space, in double precision, with a factor
taken out at every token (Rabiner 1989):

    before[t, k] ~ sum over prefixes that end in label k at token t, normalised
    after[t, k]  ~ sum over suffixes, such that before * after is the marginal

Scores enter as ``theta`` (layout in ``chain.py``). Minus infinity, a forbidden
transition, is probability zero and needs no special case. Where scores lie so far apart
that products of their exponentials would vanish, the sums are done again in log space.
That may be so in one table (``FLOOR``, ``TINY``), or add up over tokens if transitions
keep labels apart (``WALL``): then the prefixes of a label may come to less than ``LOST``
although they lead to the best labelling. While none do, ``before`` has all digits,
``after`` is below 1 / LOST, and what is too small for it adds less than ``LOST`` to any
marginal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined, inner, summing
from maxmargin.tags.chain_batch import ChainBatch

FLOOR = -300.0  # scores further than this below the best of their table are far apart

TINY = 1e-200
LOST = 1e-290  # smaller sums may lack terms that are too small to be stored
WALL = 1e-150  # with no transition below this, all sums are above e^FLOOR * WALL


class Sums(NamedTuple):
    """Working memory of one worker, and what :func:`sum_labellings` leaves in it.

    Views of the caller's ``work``, and of ``mu`` for the two results.
    """

    token: np.ndarray  # (longest, width): exp of the scores of tokens
    before: np.ndarray
    after: np.ndarray
    shrink: np.ndarray  # (longest,): the factors taken out
    step: np.ndarray  # (labels, width): exp of the transition scores
    back: np.ndarray  # (labels, width): their transpose
    ends: np.ndarray  # (2, width): exp of first and last scores
    marginals: np.ndarray  # (longest, width)
    pairs: np.ndarray  # (labels, width): expected number of each transition
    bits: np.ndarray  # int64 (width,): exponents of floating point numbers
    far: np.ndarray  # int64 (1,): whether scores were found to be far apart


@implements(contract.sums_room, ChainBatch)
def sums_room(batch):
    rows = 3 * max(batch.longest, 1) + 2 * batch.n_labels + 3
    return rows * batch.width + max(batch.longest, 1) + 1


@inlined
def sums_in(batch, mu, work):
    """Sums whose results lie in mu and whose memory is in work.

    All have their places whatever the length of a sequence, so that padding stays zero.
    """
    n, width, longest = batch.n_labels, batch.width, max(batch.longest, 1)
    a = longest * width
    b = 3 * a + longest
    c = b + n * width
    d = c + n * width
    e = d + 2 * width
    return Sums(
        work[:a].reshape((longest, width)),
        work[a : 2 * a].reshape((longest, width)),
        work[2 * a : 3 * a].reshape((longest, width)),
        work[3 * a : b],
        work[b:c].reshape((n, width)),
        work[c:d].reshape((n, width)),
        work[d:e].reshape((2, width)),
        mu[n + 2 :],
        mu[:n],
        work[e : e + width].view(np.int64),
        work[e + width : e + width + 1].view(np.int64),
    )


@implements(contract.sums, ChainBatch)
def sums(batch, i, theta, mu, work):
    n = batch.n_labels
    length = batch.start[i + 1] - batch.start[i]
    found = sums_in(batch, mu, work)
    taken = exp_transitions(theta, n, found)
    total = sum_labellings(theta, n, length, taken, found)
    sum_pairs(n, length, found)
    copy_ends(batch, length, mu)
    return total


@inlined
def copy_ends(batch, length, mu):
    """What holds for the first and the last token holds for the ends."""
    n = batch.n_labels
    for k in range(batch.width):
        mu[n, k] = mu[n + 2, k]
        mu[n + 1, k] = mu[n + 1 + length, k]


@implements(contract.shared, ChainBatch)
def shared(batch):
    return (batch.n_labels + 2) * batch.width


@implements(contract.common, ChainBatch)
def common(batch):
    return (batch.n_labels + 2) * batch.width


@implements(contract.parts, ChainBatch)
def parts(batch, i, y, coefficient, mu):
    n, length = batch.n_labels, batch.start[i + 1] - batch.start[i]
    mu[n, y[0]] += coefficient
    mu[n + 1, y[length - 1]] += coefficient
    for t in range(length):
        mu[n + 2 + t, y[t]] += coefficient
        if t > 0:
            mu[y[t - 1], y[t]] += coefficient


@implements(contract.spread, ChainBatch)
def spread(batch, i, coefficient, mu, w):
    n, width, first = batch.n_labels, batch.width, batch.start[i]
    rows = w.reshape((batch.n_features + n + 2, width))
    change = np.empty(width, w.dtype)
    for j in range(n + 2):
        row, source = rows[batch.n_features + j], mu[j]
        for k in range(len(row)):
            row[k] += coefficient * source[k]
    for t in range(batch.start[i + 1] - first):
        source = mu[n + 2 + t]
        size = 0.0
        for k in range(len(change)):
            change[k] = coefficient * source[k]
            size = max(size, abs(source[k]))
        if size > 0.0:
            for j in range(batch.indptr[first + t], batch.indptr[first + t + 1]):
                row, x = rows[batch.indices[j]], batch.values[j]
                for k in range(len(row)):
                    row[k] += x * change[k]


@implements(contract.shrink, ChainBatch)
def shrink(batch, i, v, l1, w):
    n, width, first = batch.n_labels, batch.width, batch.start[i]
    shape = batch.n_features + n + 2, width
    source, rows, least = v.reshape(shape), w.reshape(shape), v.dtype.type(l1)
    grown = 0.0
    for j in range(batch.n_features, batch.n_features + n + 2):
        grown += contract.shrink_row(source[j], least, rows[j])
    for t in range(batch.indptr[first], batch.indptr[batch.start[i + 1]]):
        j = batch.indices[t]
        grown += contract.shrink_row(source[j], least, rows[j])
    return 0.5 * grown


@summing
def exp_row(scores, n, bits, far, out):
    """out <- exp(scores - top) on the first n entries; returns top.

    2^m e^r with |r| <= log(2) / 2: a polynomial of degree 11 and an exponent put
    together from bits, without calls or branches, so that it runs in SIMD lanes. The
    relative error is below 1e-14.
    """
    top = -np.inf
    for k in range(n):
        top = max(top, float(scores[k]))
    shift = top if top > -np.inf else 0.0
    least = 0.0
    for k in range(n):
        x = float(scores[k]) - shift
        least = min(least, x if x > -np.inf else 0.0)
        y = max(x, FLOOR)
        m = np.floor(y * 1.4426950408889634 + 0.5)
        r = (y - m * 0.693147180369123816490) - m * 1.90821492927058770002e-10
        e = 1.0 + r * (1.0 / 11.0)
        e = 1.0 + r * e * (1.0 / 10.0)
        e = 1.0 + r * e * (1.0 / 9.0)
        e = 1.0 + r * e * (1.0 / 8.0)
        e = 1.0 + r * e * (1.0 / 7.0)
        e = 1.0 + r * e * (1.0 / 6.0)
        e = 1.0 + r * e * (1.0 / 5.0)
        e = 1.0 + r * e * (1.0 / 4.0)
        e = 1.0 + r * e * (1.0 / 3.0)
        e = 1.0 + r * e * (1.0 / 2.0)
        e = 1.0 + r * e
        bits[k] = (np.int64(m) + 1023) << 52
        out[k] = e if x > -np.inf else 0.0
    if least < FLOOR:
        far[0] = 1
    powers = bits.view(np.float64)
    for k in range(n):
        out[k] *= powers[k]
    return top


@summing
def exp_transitions(theta, n, sums):
    """Fill ``step``, ``back`` and ``ends``; returns what was taken out: (step, ends).

    The third result says whether transitions may keep labels apart. All this depends on
    no token, so one call serves all sequences under the same weights.
    """
    sums.far[0] = 0
    top = -np.inf
    for j in range(n):
        for k in range(n):
            top = max(top, float(theta[j, k]))
    if top == -np.inf:
        top = 0.0
    walls = 0.0
    for j in range(n):
        own = exp_row(theta[j], n, sums.bits, sums.far, sums.step[j])
        factor = np.exp(max(own - top, FLOOR)) if own > -np.inf else 0.0
        if -np.inf < own < top + FLOOR:
            sums.far[0] = 1
        for k in range(n):
            sums.step[j, k] *= factor
            walls += 1.0 if sums.step[j, k] < WALL else 0.0
        for k in range(n):
            sums.back[k, j] = sums.step[j, k]
    first = exp_row(theta[n], n, sums.bits, sums.far, sums.ends[0])
    last = exp_row(theta[n + 1], n, sums.bits, sums.far, sums.ends[1])
    return top, first + last, walls > 0.0


@summing
def times(vector, n, table, out):
    """out <- vector times table, by rows, four at a time."""
    for k in range(len(out)):
        out[k] = 0.0
    whole = n // 4 * 4
    for j in range(0, whole, 4):
        a, b, c, d = vector[j], vector[j + 1], vector[j + 2], vector[j + 3]
        ta, tb, tc, td = table[j], table[j + 1], table[j + 2], table[j + 3]
        for k in range(len(out)):
            out[k] += (a * ta[k] + b * tb[k]) + (c * tc[k] + d * td[k])
    for j in range(whole, n):
        a = vector[j]
        ta = table[j]
        for k in range(len(out)):
            out[k] += a * ta[k]


@summing
def sum_labellings(theta, n, length, taken, sums):
    """Forward and backward; returns log Z. ``taken`` is what exp_transitions returned.

    Leaves ``before``, ``after``, ``shrink`` and the marginals of tokens in ``sums``.
    """
    top, both, walled = taken
    total = both + (length - 1) * top
    for t in range(length):
        token, row = sums.token[t], sums.before[t]
        total += exp_row(theta[n + 2 + t], n, sums.bits, sums.far, token)
        if t == 0:
            for k in range(len(row)):
                row[k] = sums.ends[0, k]
        else:
            times(sums.before[t - 1], n, sums.step, row)
        size = 0.0
        for k in range(len(row)):
            row[k] *= token[k]
            size += row[k]
        if walled and t > 0 and lost(n, t, row, sums):
            sums.far[0] = 1
        if size < TINY:  # every way on was all but impossible until now
            sums.far[0] = 1
            size = TINY
        sums.shrink[t] = size
        total += np.log(size)
        size = 1.0 / size
        for k in range(len(row)):
            row[k] *= size
    row, end = sums.before[length - 1], sums.after[length - 1]
    size = 0.0
    for k in range(n):
        size += row[k] * sums.ends[1, k]
    if size < TINY:
        sums.far[0] = 1
        size = TINY
    total += np.log(size)
    for k in range(len(end)):
        end[k] = sums.ends[1, k] / size
    weighted = np.empty(sums.token.shape[1])
    for t in range(length - 1, -1, -1):
        row, after, out = sums.before[t], sums.after[t], sums.marginals[t]
        if walled:  # where nothing leads to k, suffixes may add up to infinity
            for k in range(len(out)):
                after[k] = after[k] if row[k] > 0.0 else 0.0
        for k in range(len(out)):
            out[k] = row[k] * after[k]
        if t > 0:
            token = sums.token[t]
            size = 1.0 / sums.shrink[t]
            for k in range(len(weighted)):
                weighted[k] = token[k] * after[k] * size
            times(weighted, n, sums.back, sums.after[t - 1])
    if sums.far[0] != 0:
        return sum_far_apart(theta, n, length, sums)
    return total


@inner
def lost(n, t, row, sums):
    """Whether one of the sums in ``row`` is too small, not zero by what is forbidden."""
    before, token = sums.before[t - 1], sums.token[t]
    for k in range(n):
        if row[k] < LOST and token[k] > 0.0:
            for j in range(n):
                if before[j] > 0.0 and sums.back[k, j] > 0.0:
                    return True
    return False


@inner
def sum_far_apart(theta, n, length, sums):
    """log Z, marginals and pairs in log space; ``before`` and ``after`` stay as found."""
    ahead, behind = np.empty((length, n)), np.empty((length, n))
    for k in range(n):
        ahead[0, k] = theta[n, k] + theta[n + 2, k]
        behind[length - 1, k] = theta[n + 1, k]
    for t in range(1, length):
        for k in range(n):
            ahead[t, k] = log_sum(ahead[t - 1], theta[:n, k]) + theta[n + 2 + t, k]
    for t in range(length - 1, 0, -1):
        token = theta[n + 2 + t, :n] + behind[t]
        for j in range(n):
            behind[t - 1, j] = log_sum(token, theta[j, :n])
    total = log_sum(ahead[length - 1], behind[length - 1])
    size = total if total > -np.inf else 0.0  # without a labelling nothing is expected
    for j in range(n):
        for k in range(sums.pairs.shape[1]):
            sums.pairs[j, k] = 0.0
    for t in range(length):
        for k in range(n):
            sums.marginals[t, k] = np.exp(ahead[t, k] + behind[t, k] - size)
            rest = theta[n + 2 + t, k] + behind[t, k] - size
            for j in range(n):
                if t > 0:
                    sums.pairs[j, k] += np.exp(ahead[t - 1, j] + theta[j, k] + rest)
    return total


@inner
def log_sum(a, b):
    """log sum_j exp(a_j + b_j)."""
    top = -np.inf
    for j in range(len(a)):
        top = max(top, a[j] + b[j])
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(len(a)):
        total += np.exp(a[j] + b[j] - top)
    return top + np.log(total)


@summing
def sum_pairs(n, length, sums):
    """pairs <- expected number of each transition, after :func:`sum_labellings`."""
    if sums.far[0] != 0:
        return  # sum_far_apart has done it
    pairs = sums.pairs
    for j in range(n):
        for k in range(pairs.shape[1]):
            pairs[j, k] = 0.0
    weighted = np.empty(pairs.shape[1])
    for t in range(1, length):
        before, after, token = sums.before[t - 1], sums.after[t], sums.token[t]
        size = 1.0 / sums.shrink[t]
        for k in range(len(weighted)):
            weighted[k] = token[k] * after[k] * size
        for j in range(n):
            a = before[j]
            row = pairs[j]
            for k in range(len(row)):
                row[k] += a * weighted[k]
    for j in range(n):
        for k in range(pairs.shape[1]):
            pairs[j, k] *= sums.step[j, k]
