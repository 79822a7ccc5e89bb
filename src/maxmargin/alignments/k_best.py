"""The k best alignments of a pair, best first.

The recurrences of ``dp.py`` with a sorted list of k scores in every state. Runs
have one order, so that different ways through the tables are different alignments, and
no alignment comes twice. Each score remembers which one it continues:

    link = state * k + rank,   or -1 where an alignment begins
"""

from __future__ import annotations

import numpy as np

from maxmargin.alignments.dp import leading, trailing
from maxmargin.alignments.pair_alignments import parts_of
from maxmargin.core.contract import score, shape
from maxmargin.core.kernel import direct, inlined, inner, kernel
from maxmargin.engine.threads import over_ranges

M, X, Y = 0, 1, 2


def k_best(batch, w, k: int, n_jobs: int = 1):
    """(labellings (k, slots), scores (k, examples)); -inf where there are fewer."""
    labels = np.full((k, len(batch.y)), -1, np.int32)
    scores = np.full((k, len(batch.start) - 1), -np.inf)

    def part(lo, hi):
        direct(k_best_range, batch, lo, hi, w, labels, scores)

    over_ranges(part, batch.start, n_jobs)
    return labels, scores


@kernel
def k_best_range(batch, lo, hi, w, labels, scores):
    theta = np.empty(shape(batch))
    for i in range(lo, hi):
        score(batch, i, w, theta)
        match, gaps = parts_of(batch, i, theta)
        first, last = batch.start[i], batch.start[i + 1]
        best_alignments(match, gaps, labels[:, first:last], scores[:, i])


@inlined
def offer(values, links, new, link):
    """Put a score into a sorted list; False if it is not good enough."""
    k = len(values)
    if not new > values[k - 1]:
        return False
    p = k - 1
    while p > 0 and new > values[p - 1]:
        values[p], links[p] = values[p - 1], links[p - 1]
        p -= 1
    values[p], links[p] = new, link
    return True


@inlined
def offer_all(values, links, source, state, added):
    """Offer every score of a sorted list, with something added."""
    for rank in range(len(source)):
        if not offer(values, links, source[rank] + added, state * len(source) + rank):
            break


@inner
def best_alignments(match, gaps, labels, scores):
    """Fill the rows of ``labels`` and ``scores`` with the best alignments."""
    n, m = match.shape
    k = len(scores)
    V = np.full((3, n + 1, m + 1, k), -np.inf)
    L = np.full((3, n + 1, m + 1, k), -1, np.int32)
    lead, tail = leading(gaps, n), trailing(gaps, n, m)
    if not gaps.free_t:
        V[M, 0, 0, 0] = 0.0
        total = float(gaps.at_s[0]) + (float(gaps.open_t[0]) if m > 0 else 0.0)
        for j in range(m):
            total += float(gaps.extend_t[j])
            V[Y, 0, j + 1, 0] = total
        for i in range(1, n + 1):
            V[X, i, 0, 0] = lead[i]
    room = (
        3 * k
    )  # links of a cell; an end is (cell, link) in one number, 0 where none is
    ends = np.zeros(k, np.int64)
    offer(scores, ends, float(lead[n]) + float(tail[0]), 0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            values, links = V[M, i, j], L[M, i, j]
            pair = float(match[i - 1, j - 1])
            for state in range(3):
                offer_all(values, links, V[state, i - 1, j - 1], state, pair)
            if gaps.free_t:
                offer(values, links, pair + lead[i - 1], -1)
            values, links = V[X, i, j], L[X, i, j]
            e = float(gaps.extend_s[i - 1])
            offer_all(values, links, V[X, i - 1, j], X, e)
            e += gaps.open_s[i - 1] + gaps.at_t[j]
            offer_all(values, links, V[M, i - 1, j], M, e)
        for j in range(1, m + 1):
            values, links = V[Y, i, j], L[Y, i, j]
            e = float(gaps.extend_t[j - 1])
            offer_all(values, links, V[Y, i, j - 1], Y, e)
            e += gaps.open_t[j - 1] + gaps.at_s[i]
            offer_all(values, links, V[M, i, j - 1], M, e)
            offer_all(values, links, V[X, i, j - 1], X, e)
        for j in range(1, m + 1):
            if not gaps.free_s and i < n:
                continue
            for state in range(1 if gaps.free_s else 2):
                for rank in range(k):
                    total = V[state, i, j, rank] + tail[j]
                    end = (i * (m + 1) + j) * room + state * k + rank
                    if not offer(scores, ends, total, end):
                        break
    for rank in range(k):
        if scores[rank] > -np.inf:
            follow(L, ends[rank], labels[rank])


@inner
def follow(L, end, y):
    """y <- the alignment that ends here."""
    k = L.shape[3]
    y[:] = -1
    cell, link = end // (3 * k), end % (3 * k)
    i, j = cell // L.shape[2], cell % L.shape[2]
    while link >= 0 and i > 0 and j > 0:
        state, rank = link // k, link % k
        link = L[state, i, j, rank]
        if state == M:
            i -= 1
            j -= 1
            y[i] = j
        elif state == X:
            i -= 1
        else:
            j -= 1
