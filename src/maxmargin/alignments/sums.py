"""Sums over all alignments of a pair: probabilities of matches; and values of given ones.

Forward tables as in ``alignment_dp.py`` with log-sum-exp in place of max; backward tables
hold the log-sum of all ways to complete an alignment from a state.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.alignments.dp import leading, trailing
from maxmargin.alignments.structure import parts_of
from maxmargin.core.contract import score, shape, value
from maxmargin.core.kernel import direct, inlined, kernel
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
    n, m = np.diff(batch.start), np.diff(batch.t.start)
    cut = np.concatenate([[0], np.cumsum(n * m)])
    out = np.zeros(cut[-1])
    over_ranges(
        lambda lo, hi: direct(marginals_range, batch, lo, hi, w, cut, out),
        batch.start,
        n_jobs,
    )
    return [out[cut[i] : cut[i + 1]].reshape(n[i], m[i]) for i in range(len(n))]


@kernel
def values_range(batch, lo, hi, w, labels, out):
    theta = np.empty(shape(batch), w.dtype)
    for i in range(lo, hi):
        score(batch, i, w, theta)
        y = labels[batch.start[i] : batch.start[i + 1]]
        out[i] = value(batch, i, theta, y)


@kernel
def marginals_range(batch, lo, hi, w, cut, out):
    theta = np.empty(shape(batch), w.dtype)
    for i in range(lo, hi):
        score(batch, i, w, theta)
        match, gaps = parts_of(batch, i, theta)
        table = out[cut[i] : cut[i + 1]].reshape(match.shape)
        marginals(match, gaps, table)


@inlined
def add(a, b):
    """log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@kernel
def marginals(match, gaps, out):
    """out[i, j] <- probability of the pair (i, j) under exp(score); returns log Z."""
    n, m = match.shape
    M, X = forward(match, gaps)
    after = backward(match, gaps)
    lead, tail = leading(gaps, n), trailing(gaps, n, m)
    total = float(lead[n]) + float(tail[0])  # nothing is matched
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if gaps.free_s:
                total = add(total, M[i, j] + tail[j])
            elif i == n:
                total = add(total, add(M[i, j], X[i, j]) + tail[j])
    for i in range(n):
        for j in range(m):
            out[i, j] = math.exp(M[i + 1, j + 1] + after[i + 1, j + 1] - total)
    return total


@kernel
def forward(match, gaps):
    """Tables (M, X): alignments of prefixes that end in a match, or in a run of s."""
    n, m = match.shape
    M = np.full((n + 1, m + 1), -np.inf)
    X = np.full((n + 1, m + 1), -np.inf)
    Y = np.full((n + 1, m + 1), -np.inf)
    lead = leading(gaps, n)
    if not gaps.free_t:
        M[0, 0] = 0.0
        total = float(gaps.at_s[0]) + (float(gaps.open_t[0]) if m > 0 else 0.0)
        for j in range(m):
            total += float(gaps.extend_t[j])
            Y[0, j + 1] = total
        for i in range(1, n + 1):
            X[i, 0] = lead[i]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            h = add(add(M[i - 1, j - 1], X[i - 1, j - 1]), Y[i - 1, j - 1])
            if gaps.free_t:
                h = add(h, float(lead[i - 1]))
            M[i, j] = match[i - 1, j - 1] + h
            opened = M[i - 1, j] + (gaps.open_s[i - 1] + gaps.at_t[j])
            X[i, j] = gaps.extend_s[i - 1] + add(X[i - 1, j], opened)
        for j in range(1, m + 1):
            opened = add(M[i, j - 1], X[i, j - 1])
            opened += gaps.open_t[j - 1] + gaps.at_s[i]
            Y[i, j] = gaps.extend_t[j - 1] + add(Y[i, j - 1], opened)
    return M, X


@kernel
def backward(match, gaps):
    """M[i, j]: completions after the match (i - 1, j - 1), all ends included."""
    n, m = match.shape
    M = np.full((n + 1, m + 1), -np.inf)
    X = np.full((n + 1, m + 1), -np.inf)
    Y = np.full((n + 1, m + 1), -np.inf)
    tail = trailing(gaps, n, m)
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            ending = -np.inf  # a run of t at the end is in tail[], not in Y
            if gaps.free_s or i == n:
                ending = float(tail[j])
            follow = -np.inf
            if i < n and j < m:
                follow = match[i, j] + M[i + 1, j + 1]
            run_t = -np.inf
            if j < m:
                run_t = gaps.extend_t[j] + Y[i, j + 1]
            Y[i, j] = add(follow, run_t)
            if j < m:
                run_t += gaps.open_t[j] + gaps.at_s[i]
            after = add(follow, run_t)
            run_s = -np.inf
            if i < n:
                run_s = gaps.extend_s[i] + X[i + 1, j]
            X[i, j] = add(after, run_s)
            if not gaps.free_s:  # else a run of s at the end is free, and none of X
                X[i, j] = add(X[i, j], ending)
            if i < n:
                run_s += gaps.open_s[i] + gaps.at_t[j]
            M[i, j] = add(add(after, run_s), ending)
    return M
