"""Arcs of a sentence: their scores, their features, and labels within them.

A sentence has words 1 .. n and the root 0. An output has a *code* in the slot of every
word, head * n_labels + label. Its score is the sum over its arcs of

    arc[h, m] + as_modifier[m, d, l] + as_head[h, d, l] + tags[tag h, tag m, l]

where d is the direction; without labels (n_labels = 1) the first term is all. Given the
arc, the best label is found within it, so that searches for trees see one score per arc.
These four tables, one behind the other, are the first row of theta.

    loss = words with a wrong head + words with a wrong label
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined
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

# arrays of a batch, of which all classes have the first, and how they are cut
FIELDS = {"start": "example", "y": "start", "sentences": "example"}


# layout of theta ------------------------------------------------------------------------


@inlined
def n_words(batch, i):
    return batch.start[i + 1] - batch.start[i]


@inlined
def modifier_place(batch, n, m, h):
    """Where the labels of m as a modifier begin."""
    return (n + 1) * n + ((m - 1) * 2 + (m > h)) * batch.n_labels


@inlined
def head_place(batch, n, m, h):
    return (n + 1) * n + (2 * n + h * 2 + (m > h)) * batch.n_labels


@inlined
def tags_place(batch, i, n, m, h):
    first, k = batch.sentences.first[i], batch.sentences.n_kinds[i]
    pair = np.int64(batch.sentences.kinds[first + h]) * k
    pair += batch.sentences.kinds[first + m]
    return (n + 1) * n + (4 * n + 2 + pair) * batch.n_labels


@inlined
def n_parts(batch, i):
    """How many numbers arcs and labels of a sentence take."""
    n, k = n_words(batch, i), np.int64(batch.sentences.n_kinds[i])
    if n == 0:
        return 0
    return (n + 1) * n + (batch.n_labels > 1) * batch.n_labels * (4 * n + 2 + k * k)


def extent(batch, i):
    return n_parts(batch, i)


def shape(batch):
    most = 1
    for i in range(len(batch.start) - 1):
        most = max(most, n_parts(batch, i))
    return 1, most


# scores ---------------------------------------------------------------------------------


@inlined
def arc_weight(batch, w, keys, alone, seen, n_seen, h, m):
    """The score of an arc; ``seen`` are tokens with all the tags between, each once."""
    mask, slot = batch.arc_rows - 1, slot_of(h, m)
    any_ = (slot & 8) + ANY
    total = (
        alone[0, h, slot] + alone[0, h, any_] + alone[1, m, slot] + alone[1, m, any_]
    )
    for j in range(N_PAIRS):
        row = ((keys[h, j] ^ keys[m, MODIFIER + j]) & mask) * WIDTH
        total += np.float64(w[row + slot]) + np.float64(w[row + any_])
    around = keys[h, HEAD_AROUND] ^ keys[m, MODIFIER_AROUND]
    for j in range(n_seen):
        row = ((around ^ keys[seen[j], BETWEEN]) & mask) * WIDTH
        total += np.float64(w[row + slot]) + np.float64(w[row + any_])
    return total


@inlined
def sums_alone(batch, w, keys):
    """By role and token, the sum of the rows of features of one token."""
    alone, mask = np.zeros((2, len(keys), WIDTH)), batch.arc_rows - 1
    for t in range(len(keys)):
        for j in range(N_VIEWS):
            for role in range(2):
                place = HEAD_ALONE + j if role == 0 else MODIFIER_ALONE + j
                row = (keys[t, place] & mask) * WIDTH
                for k in range(WIDTH):
                    alone[role, t, k] += np.float64(w[row + k])
    return alone


def score(batch, i, w, theta):
    """Arcs from every token outwards, so that the tags between grow one by one."""
    n, sentences = n_words(batch, i), batch.sentences
    if n == 0:
        return
    keys = keys_of(sentences, i)
    alone = sums_alone(batch, w, keys)
    first = sentences.first[i]
    seen = np.empty(sentences.n_kinds[i], np.int64)
    when = np.zeros(sentences.n_kinds[i], np.int64)
    out = theta[0]
    for h in range(n + 1):
        for step in (-1, 1):
            n_seen, mark = 0, 2 * h + 1 + (step > 0)
            m = h + step
            while 1 <= m <= n:
                out[h * n + m - 1] = arc_weight(
                    batch, w, keys, alone, seen, n_seen, h, m
                )
                kind = sentences.kinds[first + m]
                if when[kind] != mark:
                    when[kind], seen[n_seen] = mark, m
                    n_seen += 1
                m += step
        if h > 0:
            out[h * n + h - 1] = 0.0
    if batch.n_labels > 1:
        score_labels(batch, i, w, keys, out)


def score_planes(batch, i, w, labellings, count, theta):
    """Only the arcs of the labellings, truth first; those like the truth are there."""
    n, first = n_words(batch, i), batch.sentences.first[i]
    if n == 0:
        return
    keys = keys_of(batch.sentences, i)
    alone = sums_alone(batch, w, keys)
    seen = np.empty(batch.sentences.n_kinds[i], np.int64)
    for p in range(count):
        for t in range(n):
            code, m = labellings[p * n + t], t + 1
            if p > 0 and code == labellings[t]:
                continue
            h, n_seen = code // batch.n_labels, 0
            low, high = min(h, m) + 1, max(h, m)
            for b in range(low, high):
                if not repeated(batch.sentences.kinds, first + low, first + b):
                    seen[n_seen] = b
                    n_seen += 1
            theta[0, h * n + t] = arc_weight(batch, w, keys, alone, seen, n_seen, h, m)
            if batch.n_labels > 1:
                score_one_label(
                    batch, i, w, keys, h, m, code % batch.n_labels, theta[0]
                )


@inlined
def score_one_label(batch, i, w, keys, h, m, label, out):
    n, d = n_words(batch, i), 1 if m > h else 0
    modifier, head = 0.0, 0.0
    for j in range(N_VIEWS):
        row = label_row(batch, keys[m, LABEL_MODIFIER + 2 * j + d])
        modifier += np.float64(w[row + label])
        row = label_row(batch, keys[h, LABEL_HEAD + 2 * j + d])
        head += np.float64(w[row + label])
    out[modifier_place(batch, n, m, h) + label] = modifier
    out[head_place(batch, n, m, h) + label] = head
    row = label_row(batch, keys[h, LABEL_HEAD_TAG] ^ keys[m, LABEL_MODIFIER_TAG])
    out[tags_place(batch, i, n, m, h) + label] = np.float64(w[row + label])


@inlined
def score_labels(batch, i, w, keys, out):
    n, labels, k = n_words(batch, i), batch.n_labels, batch.sentences.n_kinds[i]
    first = batch.sentences.first[i]
    at = (n + 1) * n
    for t in range(1, n + 1):
        for d in range(2):
            add_rows(batch, w, keys[t], LABEL_MODIFIER + d, out[at : at + labels])
            at += labels
    for t in range(n + 1):
        for d in range(2):
            add_rows(batch, w, keys[t], LABEL_HEAD + d, out[at : at + labels])
            at += labels
    token = np.empty(k, np.int64)  # with this tag
    for t in range(n, -1, -1):
        token[batch.sentences.kinds[first + t]] = t
    for a in range(k):
        for b in range(k):
            key = keys[token[a], LABEL_HEAD_TAG] ^ keys[token[b], LABEL_MODIFIER_TAG]
            row = label_row(batch, key)
            for label in range(labels):
                out[at + label] = np.float64(w[row + label])
            at += labels


@inlined
def label_row(batch, key):
    """Where the weights of all labels for a feature begin."""
    return batch.arc_rows * WIDTH + (key & (batch.label_rows - 1)) * batch.width


@inlined
def add_rows(batch, w, keys, place, out):
    """out <- the sum of the rows of all views, from this place on."""
    for label in range(len(out)):
        out[label] = 0.0
    for j in range(N_VIEWS):
        row = label_row(batch, keys[place + 2 * j])
        for label in range(len(out)):
            out[label] += np.float64(w[row + label])


# outputs --------------------------------------------------------------------------------


@inlined
def slot_value(batch, i, theta, h, m, label):
    """The score of one labelled arc."""
    n = n_words(batch, i)
    total = float(theta[0, h * n + m - 1])
    if batch.n_labels > 1:
        total += float(theta[0, modifier_place(batch, n, m, h) + label])
        total += float(theta[0, head_place(batch, n, m, h) + label])
        total += float(theta[0, tags_place(batch, i, n, m, h) + label])
    return total


def value(batch, i, theta, y):
    total = 0.0
    for t in range(n_words(batch, i)):
        h, label = y[t] // batch.n_labels, y[t] % batch.n_labels
        total += slot_value(batch, i, theta, h, t + 1, label)
    return total


def loss(batch, i, y):
    first, labels, total = batch.start[i], batch.n_labels, 0
    for t in range(n_words(batch, i)):
        truth = batch.y[first + t]
        total += truth // labels != y[t] // labels
        total += truth % labels != y[t] % labels
    return float(total)


def least_loss(batch):
    return 1.0


# features -------------------------------------------------------------------------------


def capacity(batch):
    words, kinds = 0, 0
    for i in range(len(batch.start) - 1):
        words = max(words, n_words(batch, i))
        kinds = max(kinds, np.int64(batch.sentences.n_kinds[i]))
    each = 2 * (N_PAIRS + 2 * N_VIEWS + kinds) + 2 * N_VIEWS + 1
    return max(words * each, 1)


@inlined
def emit_arc(batch, i, keys, code, m, c, index, values, k):
    """The features of one labelled arc times c, from place k on; returns the end."""
    h, label = code // batch.n_labels, code % batch.n_labels
    mask, slot = batch.arc_rows - 1, slot_of(h, m)
    any_ = (slot & 8) + ANY
    for j in range(N_PAIRS):
        row = ((keys[h, j] ^ keys[m, MODIFIER + j]) & mask) * WIDTH
        k = put_two(index, values, k, row + slot, row + any_, c)
    for j in range(N_VIEWS):
        row = (keys[h, HEAD_ALONE + j] & mask) * WIDTH
        k = put_two(index, values, k, row + slot, row + any_, c)
        row = (keys[m, MODIFIER_ALONE + j] & mask) * WIDTH
        k = put_two(index, values, k, row + slot, row + any_, c)
    around = keys[h, HEAD_AROUND] ^ keys[m, MODIFIER_AROUND]
    first = batch.sentences.first[i]
    low, high = min(h, m) + 1, max(h, m)
    for t in range(low, high):
        if not repeated(batch.sentences.kinds, first + low, first + t):
            row = ((around ^ keys[t, BETWEEN]) & mask) * WIDTH
            k = put_two(index, values, k, row + slot, row + any_, c)
    if batch.n_labels > 1:
        d = 1 if m > h else 0
        for j in range(N_VIEWS):
            row = label_row(batch, keys[m, LABEL_MODIFIER + 2 * j + d])
            index[k], values[k] = row + label, c
            row = label_row(batch, keys[h, LABEL_HEAD + 2 * j + d])
            index[k + 1], values[k + 1] = row + label, c
            k += 2
        row = label_row(batch, keys[h, LABEL_HEAD_TAG] ^ keys[m, LABEL_MODIFIER_TAG])
        index[k], values[k] = row + label, c
        k += 1
    return k


@inlined
def put_two(index, values, k, a, b, c):
    index[k], values[k] = a, c
    index[k + 1], values[k + 1] = b, c
    return k + 2


@inlined
def repeated(kinds, low, t):
    """Whether the tag of token t stands before it, from token ``low`` on."""
    before = False
    for other in range(low, t):
        before |= kinds[other] == kinds[t]
    return before


def emit(batch, i, y, coefficient, index, values, m):
    if n_words(batch, i) == 0:
        return m
    keys = keys_of(batch.sentences, i)
    for t in range(n_words(batch, i)):
        m = emit_arc(batch, i, keys, y[t], t + 1, coefficient, index, values, m)
    return m


def difference(batch, i, s, rs, a, ra, index, values):
    """Only where an output is not the truth, and once where both are the same."""
    if n_words(batch, i) == 0:
        return 0
    keys, first, k = keys_of(batch.sentences, i), batch.start[i], 0
    for t in range(n_words(batch, i)):
        truth, m = batch.y[first + t], t + 1
        cs = rs if s[t] != truth else 0.0
        ca = ra if a[t] != truth else 0.0
        if cs != ca:
            k = emit_arc(batch, i, keys, truth, m, cs - ca, index, values, k)
        if s[t] == a[t]:
            cs, ca = cs - ca, 0.0
        if cs != 0.0:
            k = emit_arc(batch, i, keys, s[t], m, -cs, index, values, k)
        if ca != 0.0:
            k = emit_arc(batch, i, keys, a[t], m, ca, index, values, k)
    return k


# what all classes of batches share ------------------------------------------------------


def of_arcs(batch_class: type) -> type:
    """Class decorator: the functions that do not depend on which trees there are."""
    for function, body in (
        (contract.shape, shape),
        (contract.extent, extent),
        (contract.score, score),
        (contract.score_planes, score_planes),
        (contract.value, value),
        (contract.loss, loss),
        (contract.least_loss, least_loss),
        (contract.capacity, capacity),
        (contract.emit, emit),
        (contract.difference, difference),
    ):
        implements(function, batch_class)(body)
    return batch_class
