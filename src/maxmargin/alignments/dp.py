"""Pairwise alignment by dynamic programming: best alignment, best score, value.

Sequences s (n positions) and t (m positions). An alignment is an increasing set of
matched pairs (i, j), kept as one slot per position of s that holds j or -1. Between two
matches, and before the first and after the last, the unmatched positions form at most
one run of s followed by one run of t (in this order, so that every alignment has exactly
one score):

    score = sum over matches of match[i, j]
          + for a run of s that begins at s_i after j positions of t
                open_s[i] + at_t[j] + sum of extend_s over the run
          + for a run of t that begins at t_j after i positions of s
                open_t[j] + at_s[i] + sum of extend_t over the run

All numbers are scores, of any sign. With ``free_s`` the runs of s at the two ends are
free, with ``free_t`` those of t; both together is local alignment, and then the empty
alignment scores 0.

The recurrences (Gotoh 1982, with position-specific scores) fill three tables over
prefixes: M ends in a match, X in a run of s, Y in a run of t.

    M(i, j) = match + max(M, X, Y)(i-1, j-1)
    X(i, j) = extend_s + max(X(i-1, j), M(i-1, j) + open)
    Y(i, j) = extend_t + max(Y(i, j-1), max(M, X)(i, j-1) + open)

M and X need the row above only, so whole rows are computed in SIMD lanes. Y depends on
its left neighbour; with prefix sums c of extend_t, Y(i, j) - c_j is a running maximum,
one instruction per cell. Short loops of their own, with few arrays each, are what lets
LLVM vectorise them (``benchmarks/alignment.py`` has the speed, in single and in double
precision). Anti-diagonals of skewed scores were as fast in single precision only, and
have the scores to skew first. No trace bits are kept: the way back compares values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, inner


class Gaps(NamedTuple):
    """Scores of unmatched runs; see the module."""

    open_s: np.ndarray  # [n]
    at_t: np.ndarray  # [m + 1]
    extend_s: np.ndarray  # [n]
    open_t: np.ndarray  # [m]
    at_s: np.ndarray  # [n + 1]
    extend_t: np.ndarray  # [m]
    free_s: int
    free_t: int


@inner
def constant_gaps(n, m, opening, extension, free_s, free_t, like):
    """Affine gaps, equal everywhere, in the number type of the array ``like``."""
    a, e = like.dtype.type(opening), like.dtype.type(extension)
    zero = like.dtype.type(0)
    return Gaps(
        np.full(n, a),
        np.full(m + 1, zero),
        np.full(n, e),
        np.full(m, a),
        np.full(n + 1, zero),
        np.full(m, e),
        free_s,
        free_t,
    )


@inner
def best_alignment(match, gaps, bonus, y):
    """y <- the best alignment, its pairs (i, j) scored match[i, j] + bonus[i].

    Returns its score. On ties, shorter unmatched runs win over longer ones.
    """
    n, m = match.shape
    M = np.empty((n + 1, m + 1), match.dtype)
    X = np.empty((n + 1, m + 1), match.dtype)
    Y = np.empty((n + 1, m + 1), match.dtype)
    lead = leading(gaps, n)
    best, end = fill(match, gaps, bonus, lead, M, X, Y)
    trace(gaps, lead, M, X, Y, end, y)
    return best


@inner
def best_score(match, gaps, bonus):
    """The score of the best alignment, in memory for two rows."""
    n, m = match.shape
    M = np.empty((2, m + 1), match.dtype)
    X = np.empty((2, m + 1), match.dtype)
    Y = np.empty((2, m + 1), match.dtype)
    return fill(match, gaps, bonus, leading(gaps, n), M, X, Y)[0]


@inner
def alignment_value(match, gaps, y):
    """The score of alignment y, summed in double precision."""
    n, m = match.shape
    total = 0.0
    i0, j0 = 0, 0  # consumed so far
    matches = 0
    for i in range(n + 1):
        if i < n and y[i] < 0:
            continue
        j = y[i] if i < n else m
        outside = matches == 0 or i == n
        if i > i0 and not (gaps.free_s and outside):
            total += run_of_s(gaps, i0, i, j0)
        if j > j0 and not (gaps.free_t and outside):
            total += run_of_t(gaps, j0, j, i)
        if i < n:
            total += float(match[i, j])
            matches += 1
            i0, j0 = i + 1, j + 1
    return total


@inlined
def run_of_s(gaps, first, last, j):
    """Score of the unmatched run s[first:last] after j positions of t."""
    total = float(gaps.open_s[first]) + float(gaps.at_t[j])
    for i in range(first, last):
        total += float(gaps.extend_s[i])
    return total


@inlined
def run_of_t(gaps, first, last, i):
    """Score of the unmatched run t[first:last] after i positions of s."""
    total = float(gaps.open_t[first]) + float(gaps.at_s[i])
    for j in range(first, last):
        total += float(gaps.extend_t[j])
    return total


@inner
def leading(gaps, n):
    """lead[i]: score of the run of s before the first match, if that leaves i out."""
    lead = np.zeros(n + 1, gaps.extend_s.dtype)
    if not gaps.free_s and n > 0:
        total = float(gaps.open_s[0]) + float(gaps.at_t[0])
        for i in range(n):
            total += float(gaps.extend_s[i])
            lead[i + 1] = total
    return lead


@inner
def trailing(gaps, n, m):
    """tail[j]: score of the run of t after the last match, if that leaves t[j:] out."""
    tail = np.zeros(m + 1, gaps.extend_t.dtype)
    if not gaps.free_t:
        total = float(gaps.at_s[n])
        for j in range(m - 1, -1, -1):
            total += float(gaps.extend_t[j])
            tail[j] = total + float(gaps.open_t[j])
    return tail


@inner
def fill(match, gaps, bonus, lead, M, X, Y):
    """Fill the tables; returns (best score, number of the column where it ends).

    Row i of a table is kept at i modulo the number of its rows. Column j is where the
    last match (``free_s``), or a run of s that ends s, is; a run of t may follow.
    """
    n, m = match.shape
    rows = len(M)
    kind = match.dtype
    never = kind.type(-np.inf)
    H = np.empty(m + 1, kind)  # max(M, X, Y) of the row above
    P = np.empty(m + 1, kind)  # max(M, X) of this row
    Q = np.empty(m + 1, kind)  # where a run of t opens, less c
    c = np.zeros(m + 1, kind)
    opening = np.empty(m, kind)
    for j in range(m):
        opening[j] = gaps.open_t[j] - c[j]
        c[j + 1] = c[j] + gaps.extend_t[j]
    # Where runs of t at the ends are free, a match may follow lead[] in any column, and
    # no charged run may stand at the beginning instead.
    M[0, :] = never
    X[0, :] = never
    Y[0, :] = never
    if not gaps.free_t:
        M[0, 0] = 0
        for j in range(m):
            Y[0, j + 1] = gaps.open_t[0] + gaps.at_s[0] + c[j + 1]
    top = np.empty(m + 1, kind)
    for j in range(m + 1):
        H[j], top[j] = Y[0, j], never
    H[0] = M[0, 0]
    for i in range(1, n + 1):
        now, before = i % rows, (i - 1) % rows
        e = gaps.extend_s[i - 1]
        fresh = lead[i - 1] if gaps.free_t else never
        extend_rows(X[now], X[before], M[before], e, gaps.open_s[i - 1] + e, gaps.at_t)
        X[now, 0] = never if gaps.free_t else lead[i]
        M[now, 0] = never
        match_row(M[now, 1:], match[i - 1], bonus[i - 1], H, fresh)
        open_row(P, Q, M[now], X[now], gaps.at_s[i], opening)
        running_maximum(Y[now], Q, never)
        finish_row(Y[now], c, P, H)
        if gaps.free_s:
            keep_larger(top, M[now])
    tail = trailing(gaps, n, m)
    best, end = lead[n] + tail[0], 0
    for j in range(1, m + 1):
        if gaps.free_s:
            last = top[j]
        else:
            last = max(M[n % rows, j], X[n % rows, j])
        if last + tail[j] > best:
            best, end = last + tail[j], j
    return best, end


# One row each. Slices start at 0 and loops are short on arrays, so that they vectorise.


@inlined
def extend_rows(X, above, M_above, extension, opening, at_t):
    for j in range(len(X)):
        X[j] = max(above[j] + extension, M_above[j] + (opening + at_t[j]))


@inlined
def match_row(M, scores, bonus, H, fresh):
    for j in range(len(M)):
        M[j] = (scores[j] + bonus) + max(H[j], fresh)


@inlined
def open_row(P, Q, M, X, at, opening):
    for j in range(len(opening)):
        p = max(M[j], X[j])
        P[j] = p
        Q[j] = p + (at + opening[j])
    P[-1] = max(M[-1], X[-1])


@inlined
def running_maximum(Y, Q, never):
    top = never
    Y[0] = never
    for j in range(len(Y) - 1):
        top = max(top, Q[j])
        Y[j + 1] = top


@inlined
def finish_row(Y, c, P, H):
    for j in range(len(H)):
        y = Y[j] + c[j]
        Y[j] = y
        H[j] = max(P[j], y)


@inlined
def keep_larger(top, M):
    for j in range(len(top)):
        top[j] = max(top[j], M[j])


@inner
def trace(gaps, lead, M, X, Y, end, y):
    """y <- the alignment that ends in column ``end``: compare values on the way back."""
    n = len(lead) - 1
    y[:n] = -1
    i, j = n, end
    state = 0  # 0: M, 1: X, 2: Y
    if gaps.free_s:
        for k in range(1, n + 1):
            if M[k, j] > M[i, j]:
                i = k
    elif X[i, j] > M[i, j]:
        state = 1
    while i > 0 and j > 0:  # else nothing but a run at the beginning is left
        if state == 0:
            i -= 1
            j -= 1
            y[i] = j
            p = max(M[i, j], X[i, j])
            if gaps.free_t and lead[i] >= max(p, Y[i, j]):
                break
            if Y[i, j] > p:
                state = 2
            elif X[i, j] > M[i, j]:
                state = 1
        elif state == 1:
            e = gaps.extend_s[i - 1]
            i -= 1
            opened = M[i, j] + (gaps.open_s[i] + e + gaps.at_t[j])
            if opened >= X[i, j] + e:
                state = 0
        else:
            j -= 1
            p = max(M[i, j], X[i, j])
            if p + (gaps.at_s[i] + gaps.open_t[j]) >= Y[i, j]:
                state = 1 if X[i, j] > M[i, j] else 0
