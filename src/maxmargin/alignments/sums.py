"""Sums over all alignments of a pair: log-partition, expected parts; and given values.

Forward tables as in ``dp.py`` with log-sum-exp in place of max, then a way back: what is
expected of a state is passed on to the states it came from, in proportion to their sums.
That is the gradient of the log-partition, written by hand.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.alignments.dp import leading, trailing
from maxmargin.alignments.pair_batch import (
    AlignmentBatch,
    PartialAlignmentBatch,
    lengths,
    parts_of,
)
from maxmargin.alignments.scores import spread_gaps, spread_matches
from maxmargin.core import contract
from maxmargin.core.contract import score, shape, value
from maxmargin.core.expectations import expectations
from maxmargin.core.kernel import direct, implements, inlined, inner, kernel
from maxmargin.engine.threads import over_ranges


def values(batch, w, labels, n_jobs: int = 1) -> np.ndarray:
    """The score of one labelling per example, all laid out as ``batch.y``."""
    out = np.zeros(len(batch.start) - 1)
    over_ranges(
        lambda lo, hi: direct(values_range, batch, lo, hi, w, labels, out),
        batch.start,
        n_jobs,
    )
    return out


def match_marginals(batch, w, n_jobs: int = 1) -> list[np.ndarray]:
    """For every example an array (n, m): the probability of each matched pair."""
    tables, _ = expectations(batch, w, n_jobs)
    sizes = zip(np.diff(batch.start), np.diff(batch.t.start), strict=True)
    return [
        table[: n * m].reshape(n, m)
        for table, (n, m) in zip(tables, sizes, strict=True)
    ]


@kernel
def values_range(batch, lo, hi, w, labels, out):
    theta = np.empty(shape(batch))
    for i in range(lo, hi):
        score(batch, i, w, theta)
        y = labels[batch.start[i] : batch.start[i + 1]]
        out[i] = value(batch, i, theta, y)


@implements(contract.extent, AlignmentBatch)
def extent(batch, i):
    n, m = lengths(batch, i)
    return n * m + 3 * (n + m) + 2


@implements(contract.sums_room, AlignmentBatch)
def sums_room(batch):
    return batch.size


@implements(contract.sums, AlignmentBatch)
def sums(batch, i, theta, mu, work):
    return sums_with(batch, i, theta, mu, work, lengths(batch, i)[0], 0)


@implements(contract.known_sums, PartialAlignmentBatch)
def known_sums(batch, i, theta, mu, work):
    forbid_unknown(batch, i, theta)
    first, last = lengths(batch, i)[0], 0
    for k in range(batch.start[i + 1] - batch.start[i]):
        if batch.known[batch.start[i] + k] and batch.y[batch.start[i] + k] >= 0:
            first, last = min(first, k), k + 1
    return sums_with(batch, i, theta, mu, work, first, last)


@inlined
def forbid_unknown(batch, i, theta):
    """-inf for all pairs and unmatched runs that contradict what is known.

    It does not keep a position with a known partner out of a run at an end that is free.
    """
    match, gaps = parts_of(batch, i, theta)
    n, m = match.shape
    for k in range(n):
        slot = batch.start[i] + k
        if not batch.known[slot]:
            continue
        for j in range(m):
            if j != batch.y[slot]:
                match[k, j] = -np.inf
        if batch.y[slot] >= 0:
            gaps.extend_s[k] = -np.inf


@inlined
def sums_with(batch, i, theta, mu, work, first, last):
    # log-sums of hundreds of scores need double precision
    scores = work.reshape((1, batch.size))
    for k in range(contract.extent(batch, i)):
        scores[0, k] = theta[0, k]
        mu[0, k] = 0.0
    match, gaps = parts_of(batch, i, scores)
    expected, runs = parts_of(batch, i, mu)
    return sum_alignments(match, gaps, first, last, expected, runs)


@implements(contract.parts, AlignmentBatch)
def parts(batch, i, y, coefficient, mu):
    match, gaps = parts_of(batch, i, mu)
    n, m = match.shape
    i0, j0 = 0, 0
    for k in range(n + 1):
        if k < n and y[k] < 0:
            continue
        j = y[k] if k < n else m
        outside = k == n or (i0 == 0 and j0 == 0)
        if k > i0 and not (gaps.free_s and outside):
            gaps.open_s[i0] += coefficient
            gaps.at_t[j0] += coefficient
            for u in range(i0, k):
                gaps.extend_s[u] += coefficient
        if j > j0 and not (gaps.free_t and outside):
            gaps.open_t[j0] += coefficient
            gaps.at_s[k] += coefficient
            for u in range(j0, j):
                gaps.extend_t[u] += coefficient
        if k < n:
            match[k, j] += coefficient
            i0, j0 = k + 1, j + 1


@implements(contract.spread, AlignmentBatch)
def spread(batch, i, coefficient, mu, w):
    match, gaps = parts_of(batch, i, mu)
    c = coefficient * batch.norm[i]
    spread_matches(batch.s, batch.t, batch.terms, i, c, match, w)
    spread_gaps(batch.s, batch.t, batch.terms, i, c, gaps, w)


@inlined
def add(a, b):
    """log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@kernel
def forward(match, gaps, lead):
    """Tables (M, X, Y): alignments of prefixes that end in a match, a run of s or of t."""
    n, m = match.shape
    M = np.full((n + 1, m + 1), -np.inf)
    X = np.full((n + 1, m + 1), -np.inf)
    Y = np.full((n + 1, m + 1), -np.inf)
    if not gaps.free_t:
        M[0, 0] = 0.0
        total = gaps.at_s[0] + (gaps.open_t[0] if m > 0 else 0.0)
        for j in range(m):
            total += gaps.extend_t[j]
            Y[0, j + 1] = total
        for i in range(1, n + 1):
            X[i, 0] = lead[i]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            h = add(add(M[i - 1, j - 1], X[i - 1, j - 1]), Y[i - 1, j - 1])
            if gaps.free_t:
                h = add(h, lead[i - 1])
            M[i, j] = match[i - 1, j - 1] + h
            opened = M[i - 1, j] + (gaps.open_s[i - 1] + gaps.at_t[j])
            X[i, j] = gaps.extend_s[i - 1] + add(X[i - 1, j], opened)
        for j in range(1, m + 1):
            opened = add(M[i, j - 1], X[i, j - 1])
            opened += gaps.open_t[j - 1] + gaps.at_s[i]
            Y[i, j] = gaps.extend_t[j - 1] + add(Y[i, j - 1], opened)
    return M, X, Y


@inlined
def share(flow, source, step, target):
    """The part of a flow out of ``target`` that came from ``source`` by ``step``."""
    return flow * math.exp(source + step - target) if source > -np.inf else 0.0


@inner
def sum_alignments(match, gaps, first, last, expected, runs):
    """Add expected parts to ``expected`` (of pairs) and ``runs``; returns log Z.

    Over alignments whose runs of s at the ends are in s[:first] and s[last:].
    """
    n, m = match.shape
    lead, tail = leading(gaps, n), trailing(gaps, n, m)
    for i in range(first + 1, n + 1):
        lead[i] = -np.inf
    M, X, Y = forward(match, gaps, lead)
    total = lead[n] + tail[0]  # nothing is matched
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if gaps.free_s and i >= last:
                total = add(total, M[i, j] + tail[j])
            elif i == n and not gaps.free_s:
                total = add(total, add(M[i, j], X[i, j]) + tail[j])
    if total == -np.inf:
        return total  # no alignment is possible, nothing is expected
    # flows: of states, and of the runs at both ends
    FM, FX = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1))
    FY = np.zeros((n + 1, m + 1))
    from_lead, to_tail = np.zeros(n + 1), np.zeros(m + 1)
    from_lead[n] = to_tail[0] = math.exp(lead[n] + tail[0] - total)
    for i in range(n, 0, -1):
        for j in range(1, m + 1):
            if i == n or (gaps.free_s and i >= last):
                p = share(1.0, M[i, j], tail[j], total)
                FM[i, j] += p
                to_tail[j] += p
                if not gaps.free_s:
                    p = share(1.0, X[i, j], tail[j], total)
                    FX[i, j] += p
                    to_tail[j] += p
        for j in range(m, 0, -1):
            f = FY[i, j]
            if f > 0.0:
                extension = gaps.extend_t[j - 1]
                opening = extension + gaps.open_t[j - 1] + gaps.at_s[i]
                FY[i, j - 1] += share(f, Y[i, j - 1], extension, Y[i, j])
                p = share(f, M[i, j - 1], opening, Y[i, j])
                q = share(f, X[i, j - 1], opening, Y[i, j])
                FM[i, j - 1] += p
                FX[i, j - 1] += q
                runs.extend_t[j - 1] += f
                runs.open_t[j - 1] += p + q
                runs.at_s[i] += p + q
        from_lead[i] += FX[i, 0]
        for j in range(1, m + 1):
            f = FX[i, j]
            if f > 0.0:
                extension = gaps.extend_s[i - 1]
                opening = extension + gaps.open_s[i - 1] + gaps.at_t[j]
                FX[i - 1, j] += share(f, X[i - 1, j], extension, X[i, j])
                p = share(f, M[i - 1, j], opening, X[i, j])
                FM[i - 1, j] += p
                runs.extend_s[i - 1] += f
                runs.open_s[i - 1] += p
                runs.at_t[j] += p
            f = FM[i, j]
            if f > 0.0:
                x = match[i - 1, j - 1]
                expected[i - 1, j - 1] += f
                FM[i - 1, j - 1] += share(f, M[i - 1, j - 1], x, M[i, j])
                FX[i - 1, j - 1] += share(f, X[i - 1, j - 1], x, M[i, j])
                FY[i - 1, j - 1] += share(f, Y[i - 1, j - 1], x, M[i, j])
                if gaps.free_t:
                    from_lead[i - 1] += share(f, lead[i - 1], x, M[i, j])
    pass_ends(gaps, FY[0], from_lead, to_tail, runs)
    return total


@inner
def pass_ends(gaps, first, from_lead, to_tail, runs):
    """Runs at the ends: of t and of s before the first match, of t after the last."""
    n, m = len(from_lead) - 1, len(to_tail) - 1
    f = 0.0
    for j in range(m, 0, -1):
        f += first[j]
        runs.extend_t[j - 1] += f
    if m > 0:
        runs.open_t[0] += f
        runs.at_s[0] += f
    f = 0.0
    if not gaps.free_s and n > 0:
        for i in range(n, 0, -1):
            f += from_lead[i]
            runs.extend_s[i - 1] += f
        runs.open_s[0] += f
        runs.at_t[0] += f
    f = 0.0
    if not gaps.free_t:
        for j in range(m):
            f += to_tail[j]
            runs.extend_t[j] += f
            runs.open_t[j] += to_tail[j]
        runs.at_s[n] += f
