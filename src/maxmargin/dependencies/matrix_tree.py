"""Sums over all trees with one root, projective or not: the matrix-tree theorem.

Tutte's theorem says that the sum over trees is a determinant, and the probability of an
arc follows from an inverse; with exactly one word below the root, one row changes (Koo,
Globerson, Carreras & Collins 2007). Where words prefer heads that form cycles, that
determinant is a small difference of large numbers, and floating point loses all of it. So
words are eliminated one by one without a subtraction (Grassmann, Taksar & Heyman 1985):

    word k, which has heads j with weights a_kj, s_k = sum_j a_kj, is taken out:
    a_ij += a_ik a_kj / s_k for all others,  Z = s_k Z(others)

All numbers are sums of positive terms, precise to the last digits (heads that are worse
than the best one of a word by a factor of exp(700) or more count as if by this). Since
exactly one word has the root, the weight of the root is infinitesimal: it is left out of
s_k, and the word that is left over last takes it. If all others are gone, the weights of
the heads of the last word m are, in the original graph,

    P(h -> m)  ~  a_mh q_h,   q_h = (a_h0 + sum_(j != m) a_hj q_j) / s_h

from the last word eliminated back to the first. Every word has to be the last one once:
halves of the words are eliminated in turn, again and again, which makes O(n^3) in all.

If a word is known to be the root's, the others are in a tree below this word, which takes
the place of the root; any number of words may then have it as their head.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.core.kernel import inlined

FARTHEST = 700.0  # exp of more is no number


@inlined
def tree_sums(arcs, chances):
    """log Z under arcs[h, m]; chances[h, m] <- the probability of each arc."""
    n = len(arcs) - 1
    for h in range(n + 1):
        for m in range(n + 1):
            chances[h, m] = 0.0
    a, shift = np.zeros((n + 1, n + 1)), 0.0  # a[m, h]: words in rows
    root = 0
    for m in range(1, n + 1):
        shift += take_heads(arcs, a, m)
        if only_root(arcs, m):
            root = m
    if shift == -np.inf:
        return shift
    if n == 1:
        chances[0, 1] = 1.0
        return shift
    if root == 0:
        return shift + eliminate_all(a, chances, n, 0)
    # the word takes the place of the root, and the last one the place of the word
    chances[0, root] = 1.0
    order, b = np.empty(n, np.int64), np.zeros((n, n))
    order[0] = root
    for k in range(1, n):
        order[k] = k if k < root else k + 1
    for k in range(1, n):
        for j in range(n):
            b[k, j] = a[order[k], order[j]] if j != k else 0.0
    found = np.zeros((n, n))
    total = eliminate_all(b, found, n - 1, 1)
    for k in range(1, n):
        for j in range(n):
            chances[order[j], order[k]] = found[j, k]
    return shift + total


@inlined
def take_heads(arcs, a, m):
    """a[m] <- exp of the scores of all heads of m, the largest of which is 1."""
    top = -np.inf
    for h in range(len(arcs)):
        if h != m:
            top = max(top, arcs[h, m])
    for h in range(len(arcs)):
        if h != m and arcs[h, m] > -np.inf:
            a[m, h] = math.exp(max(arcs[h, m] - top, -FARTHEST))
    return top


@inlined
def only_root(arcs, m):
    others = 0
    for h in range(1, len(arcs)):
        others += h != m and arcs[h, m] > -np.inf
    return others == 0


@inlined
def eliminate_all(a, chances, n, many):
    """log Z; ``many``: any number of words, not exactly one, has the root as its head."""
    depth = 2
    while 1 << depth < 2 * n:
        depth += 1
    tables = np.empty((depth + 1, n + 1, n + 1))
    for m in range(1, n + 1):
        for h in range(n + 1):
            tables[0, m, h] = a[m, h]
    rows, pivots = np.empty((n + 1, n + 1)), np.ones(n + 1)
    order, q = np.empty(n, np.int64), np.empty(n + 1)
    todo = np.empty(
        (2 * depth + 4, 5), np.int64
    )  # words, those of the parent, its depth
    push_half(todo, 0, 1, n + 1, 1, n + 1, 0)
    size, log_z = 1, np.nan
    while size > 0:
        size -= 1
        lo, hi, low, high, level = todo[size]
        done = n - (high - low)
        if lo != low or hi != high:
            copy_words(tables, level, low, high)
            for k in range(low, high):
                if not lo <= k < hi:
                    eliminate(
                        tables[level + 1], k, low, high, lo, hi, many, rows, pivots
                    )
                    order[done] = k
                    done += 1
            level += 1
        if hi - lo > 1:
            middle = (lo + hi) // 2
            push_half(todo, size, middle, hi, lo, hi, level)
            push_half(todo, size + 1, lo, middle, lo, hi, level)
            size += 2
            continue
        total = heads_of_last(a, order, rows, pivots, lo, n, many, q, chances)
        if math.isnan(log_z):
            log_z = log_of(total)
            for k in range(n - 1):
                log_z += log_of(pivots[order[k]])
    return log_z


@inlined
def push_half(todo, size, lo, hi, low, high, level):
    todo[size, 0], todo[size, 1] = lo, hi
    todo[size, 2], todo[size, 3], todo[size, 4] = low, high, level


@inlined
def copy_words(tables, level, low, high):
    for m in range(low, high):
        tables[level + 1, m, 0] = tables[level, m, 0]
        for h in range(low, high):
            tables[level + 1, m, h] = tables[level, m, h]


@inlined
def eliminate(a, k, low, high, lo, hi, many, rows, pivots):
    """Take word k out; those before it outside lo .. hi are out already."""
    total = a[k, 0] if many else 0.0
    rows[k, 0] = a[k, 0]
    for j in range(low, high):
        there = j != k and (j > k or lo <= j < hi)
        rows[k, j] = a[k, j] if there else 0.0
        total += rows[k, j]
    pivots[k] = total
    for i in range(low, high):
        if i == k or not (i > k or lo <= i < hi) or a[i, k] == 0.0:
            continue
        share = a[i, k] / total if total > 0.0 else 0.0
        a[i, 0] += share * rows[k, 0]
        for j in range(low, high):
            if j != i:
                a[i, j] += share * rows[k, j]


@inlined
def heads_of_last(a, order, rows, pivots, m, n, many, q, chances):
    """chances[:, m]; returns the weight of all heads of word m, when it is the last."""
    for k in range(n + 1):
        q[k] = 0.0
    for k in range(n - 2, -1, -1):
        word = order[k]
        total = rows[word, 0]
        for later in range(k + 1, n - 1):
            total += rows[word, order[later]] * q[order[later]]
        q[word] = total / pivots[word] if pivots[word] > 0.0 else 0.0
    q[0], q[m] = 1.0, 0.0
    total = 0.0
    for h in range(n + 1):
        total += a[m, h] * q[h]
    for h in range(n + 1):
        chances[h, m] = a[m, h] * q[h] / total if total > 0.0 else 0.0
    return total


@inlined
def log_of(x):
    return math.log(x) if x > 0.0 else -np.inf
