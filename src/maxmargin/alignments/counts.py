"""The best alignment for every value of a loss that counts: slack rescaling, exactly.

The recurrences of ``dp.py`` with one more index: layer c holds alignments whose
loss is c units so far, where all of the reference counts as missed at the start (layer
``base``) and every matched pair adds its step, -1, 0 or +1. With the best score of each
loss at hand, any function of loss and score can be maximised. Costs n m (layers).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.alignments.dp import leading, trailing
from maxmargin.core.kernel import inlined, inner


class CountTables(NamedTuple):
    """M, X and Y over (i, j, layer), and where the best alignment of a layer ends."""

    M: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    lead: np.ndarray
    best: np.ndarray  # [layers], -inf where there is none
    end: np.ndarray  # (layers, 2)
    base: int


@inlined
def layers_of(n, m, total, hamming):
    """Layers for a reference with ``total`` pairs that count."""
    return total + 1 + (min(n, m) if hamming else 0)


@inner
def count_tables(match, gaps, step, base, layers):
    n, m = match.shape
    shape = (n + 1, m + 1, layers)
    M = np.full(shape, -np.inf, match.dtype)
    X = np.full(shape, -np.inf, match.dtype)
    Y = np.full(shape, -np.inf, match.dtype)
    lead, tail = leading(gaps, n), trailing(gaps, n, m)
    if not gaps.free_t:
        M[0, 0, base] = 0
        total = float(gaps.at_s[0]) + (float(gaps.open_t[0]) if m > 0 else 0.0)
        for j in range(m):
            total += float(gaps.extend_t[j])
            Y[0, j + 1, base] = total
        for i in range(1, n + 1):
            X[i, 0, base] = lead[i]
    best = np.full(layers, -np.inf)
    end = np.zeros((layers, 2), np.int64)
    best[base] = lead[n] + tail[0]
    for i in range(1, n + 1):
        e = gaps.extend_s[i - 1]
        for j in range(1, m + 1):
            shift = step[i - 1, j - 1]
            for c in range(layers):
                opened = M[i - 1, j, c] + (gaps.open_s[i - 1] + gaps.at_t[j])
                X[i, j, c] = e + max(X[i - 1, j, c], opened)
                opened = max(M[i, j - 1, c], X[i, j - 1, c])
                opened += gaps.open_t[j - 1] + gaps.at_s[i]
                Y[i, j, c] = gaps.extend_t[j - 1] + max(Y[i, j - 1, c], opened)
                before = c - shift
                if before < 0 or before >= layers:
                    continue
                h = max(M[i - 1, j - 1, before], X[i - 1, j - 1, before])
                h = max(h, Y[i - 1, j - 1, before])
                if gaps.free_t and before == base:
                    h = max(h, lead[i - 1])
                M[i, j, c] = match[i - 1, j - 1] + h
            if gaps.free_s or i == n:
                for c in range(layers):
                    last = M[i, j, c]
                    if not gaps.free_s:
                        last = max(last, X[i, j, c])
                    if last + tail[j] > best[c]:
                        best[c] = last + tail[j]
                        end[c, 0], end[c, 1] = i, j
    return CountTables(M, X, Y, lead, best, end, base)


@inner
def trace_layer(tables, gaps, step, layer, y):
    """y <- the best alignment of a layer."""
    M, X, Y = tables.M, tables.X, tables.Y
    y[: len(M) - 1] = -1
    i, j = tables.end[layer]
    c = layer
    state = 0
    if not gaps.free_s and X[i, j, c] > M[i, j, c]:
        state = 1
    while i > 0 and j > 0:
        if state == 0:
            i -= 1
            j -= 1
            y[i] = j
            c -= step[i, j]
            p = max(M[i, j, c], X[i, j, c])
            h = max(p, Y[i, j, c])
            if gaps.free_t and c == tables.base and tables.lead[i] >= h:
                break
            if Y[i, j, c] > p:
                state = 2
            elif X[i, j, c] > M[i, j, c]:
                state = 1
        elif state == 1:
            i -= 1
            if M[i, j, c] + (gaps.open_s[i] + gaps.at_t[j]) >= X[i, j, c]:
                state = 0
        else:
            j -= 1
            p = max(M[i, j, c], X[i, j, c])
            if p + (gaps.open_t[j] + gaps.at_s[i]) >= Y[i, j, c]:
                state = 1 if X[i, j, c] > M[i, j, c] else 0
