"""From expected parts back to features: the adjoint of ``arcs.score``."""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined
from maxmargin.dependencies.arcs import (
    head_place,
    label_row,
    modifier_place,
    n_words,
    tags_place,
)
from maxmargin.dependencies.features import (
    ANY,
    BETWEEN,
    HEAD_ALONE,
    HEAD_AROUND,
    LABEL_HEAD,
    LABEL_HEAD_TAG,
    LABEL_MODIFIER,
    LABEL_MODIFIER_TAG,
    MODIFIER,
    MODIFIER_ALONE,
    MODIFIER_AROUND,
    N_PAIRS,
    N_VIEWS,
    WIDTH,
    keys_of,
    slot_of,
)


def parts(batch, i, y, coefficient, mu):
    """mu += coefficient * the parts of an output."""
    n = n_words(batch, i)
    for t in range(n):
        h, label = y[t] // batch.n_labels, y[t] % batch.n_labels
        mu[0, h * n + t] += coefficient
        if batch.n_labels > 1:
            mu[0, modifier_place(batch, n, t + 1, h) + label] += coefficient
            mu[0, head_place(batch, n, t + 1, h) + label] += coefficient
            mu[0, tags_place(batch, i, n, t + 1, h) + label] += coefficient


@inlined
def spread_arc(batch, w, keys, alone, seen, n_seen, h, m, c):
    """w += c times the features of an arc; of single tokens, only into ``alone``."""
    mask, slot = batch.arc_rows - 1, slot_of(h, m)
    any_ = (slot & 8) + ANY
    alone[0, h, slot] += c
    alone[0, h, any_] += c
    alone[1, m, slot] += c
    alone[1, m, any_] += c
    for j in range(N_PAIRS):
        row = ((keys[h, j] ^ keys[m, MODIFIER + j]) & mask) * WIDTH
        w[row + slot] += c
        w[row + any_] += c
    around = keys[h, HEAD_AROUND] ^ keys[m, MODIFIER_AROUND]
    for j in range(n_seen):
        row = ((around ^ keys[seen[j], BETWEEN]) & mask) * WIDTH
        w[row + slot] += c
        w[row + any_] += c


def spread(batch, i, coefficient, mu, w):
    n, sentences = n_words(batch, i), batch.sentences
    if n == 0:
        return
    keys, first = keys_of(sentences, i), sentences.first[i]
    alone = np.zeros((2, n + 1, WIDTH))
    seen = np.empty(sentences.n_kinds[i], np.int64)
    when = np.zeros(sentences.n_kinds[i], np.int64)
    for h in range(n + 1):
        for step in (-1, 1):
            n_seen, mark = 0, 2 * h + 1 + (step > 0)
            m = h + step
            while 1 <= m <= n:
                c = coefficient * mu[0, h * n + m - 1]
                if c != 0.0:
                    spread_arc(batch, w, keys, alone, seen, n_seen, h, m, c)
                kind = sentences.kinds[first + m]
                if when[kind] != mark:
                    when[kind], seen[n_seen] = mark, m
                    n_seen += 1
                m += step
    mask = batch.arc_rows - 1
    for t in range(n + 1):
        for j in range(N_VIEWS):
            for role in range(2):
                place = HEAD_ALONE + j if role == 0 else MODIFIER_ALONE + j
                row = (keys[t, place] & mask) * WIDTH
                for k in range(WIDTH):
                    w[row + k] += alone[role, t, k]
    if batch.n_labels > 1:
        spread_labels(batch, i, keys, coefficient, mu[0], w)


@inlined
def spread_labels(batch, i, keys, coefficient, mu, w):
    n, labels = n_words(batch, i), batch.n_labels
    k, first = batch.sentences.n_kinds[i], batch.sentences.first[i]
    at = (n + 1) * n
    for t in range(1, n + 1):
        for d in range(2):
            for j in range(N_VIEWS):
                row = label_row(batch, keys[t, LABEL_MODIFIER + 2 * j + d])
                add_row(w, row, coefficient, mu, at, labels)
            at += labels
    for t in range(n + 1):
        for d in range(2):
            for j in range(N_VIEWS):
                row = label_row(batch, keys[t, LABEL_HEAD + 2 * j + d])
                add_row(w, row, coefficient, mu, at, labels)
            at += labels
    token = np.empty(k, np.int64)
    for t in range(n, -1, -1):
        token[batch.sentences.kinds[first + t]] = t
    for a in range(k):
        for b in range(k):
            key = keys[token[a], LABEL_HEAD_TAG] ^ keys[token[b], LABEL_MODIFIER_TAG]
            add_row(w, label_row(batch, key), coefficient, mu, at, labels)
            at += labels


@inlined
def add_row(w, row, coefficient, mu, at, labels):
    for k in range(labels):
        w[row + k] += coefficient * mu[at + k]
