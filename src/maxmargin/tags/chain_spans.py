"""The span loss of a chain: spans missed plus spans invented.

    loss(y) = true spans + predicted spans - 2 * spans that are right

A span is right when its beginning, end and type are. That is no sum over tokens, but one
bit more per state makes it one over steps: whether the span in progress has matched a true
span so far. Decoding is Viterbi over (label, bit), twice the first-order cost.

``tables.begins[j, k]`` says that label k after label j (row K: at the start) begins a span,
``tables.inside[k]`` that k belongs to one. Spans are read as conlleval reads them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.tags.schemes import LabelTable, read_spans


class SpanTables(NamedTuple):
    begins: np.ndarray  # int8 (labels + 1, labels)
    inside: np.ndarray  # int8 (labels,)
    types: np.ndarray  # int32 (labels,): number of the type, -1 outside


class Costs(NamedTuple):
    """In place of the tables: the loss is a sum of cost[true, predicted]."""

    counted: int  # 1: it counts wrong labels, so it can be an index of a table


class ZeroOne(NamedTuple):
    """In place of the tables: the loss is 1 for any wrong sequence."""

    loss: int


def span_tables(labels) -> SpanTables:
    """Tables for labels in a span scheme; labels that are none give empty tables."""
    table = LabelTable("auto")
    k = len(labels)
    begins = np.zeros((k + 1, k), np.int8)
    inside = np.zeros(k, np.int8)
    types = np.full(k, -1, np.int32)
    names: dict = {}
    for b, label in enumerate(labels):
        for _, _, name in read_spans([label], table):
            inside[b] = 1
            types[b] = names.setdefault(name, len(names))
        begins[k, b] = inside[b]
        for a, before in enumerate(labels):
            spans = read_spans([before, label], table)
            begins[a, b] = inside[b] and any(begin == 1 for begin, _, _ in spans)
    return SpanTables(begins, inside, types)


@inlined
def begins_at(tables, y, t):
    before = y[t - 1] if t > 0 else tables.begins.shape[1]
    return tables.begins[before, y[t]] != 0


@inlined
def same_type(tables, truth, t, label):
    return tables.types[truth[t]] == tables.types[label]


@inlined
def ends_at(tables, y, t, length):
    """Whether a span of y ends with token t."""
    if tables.inside[y[t]] == 0:
        return False
    if t == length - 1:
        return True
    return tables.inside[y[t + 1]] == 0 or tables.begins[y[t], y[t + 1]] != 0


@inner
def span_loss(tables, truth, y, length):
    total, open_match = 0.0, False
    for t in range(length):
        true_begin = begins_at(tables, truth, t)
        begin = begins_at(tables, y, t)
        if true_begin:
            total += 1.0
        if begin:
            total += 1.0
        if begin:
            open_match = true_begin and same_type(tables, truth, t, y[t])
        elif tables.inside[y[t]] != 0:
            # goes on: the true span must go on too
            same = same_type(tables, truth, t, y[t])
            open_match = open_match and not true_begin and same
        else:
            open_match = False
        ends = ends_at(tables, y, t, length)
        if open_match and ends and ends_at(tables, truth, t, length):
            total -= 2.0
        if ends:
            open_match = False
    return total


@inner
def argmax_spans(tables, n, theta, truth, length, scale, y):
    """y <- argmax of score + scale * span loss, over (label, bit of a match so far)."""
    best = np.empty((length, 2, n))
    from_label = np.empty((length, 2, n), np.int32)
    from_bit = np.empty((length, 2, n), np.int8)
    for t in range(length):
        true_begin = begins_at(tables, truth, t)
        ended = t > 0 and ends_at(tables, truth, t - 1, length)
        for k in range(n):
            for bit in range(2):
                best[t, bit, k] = -np.inf
                from_label[t, bit, k], from_bit[t, bit, k] = 0, 0
            emission = float(theta[n + 2 + t, k])
            same = same_type(tables, truth, t, k)
            if t == 0:
                begin = tables.begins[n, k] != 0
                bit = 1 if begin and same else 0  # then the truth begins one too
                best[0, bit, k] = theta[n, k] + emission + (scale if begin else 0.0)
                continue
            for j in range(n):
                begin = tables.begins[j, k] != 0
                goes_on = tables.inside[k] != 0 and not begin
                step = float(theta[j, k]) + emission + (scale if begin else 0.0)
                for bit in range(2):
                    v = best[t - 1, bit, j] + step
                    if bit == 1 and not goes_on and ended:
                        v -= 2.0 * scale  # a true span was closed at its end
                    if begin:
                        new = 1 if true_begin and same else 0
                    elif goes_on:
                        # where a true span begins, the one before has ended
                        whole = bit == 1 and same and not ended
                        new = 1 if whole else 0
                    else:
                        new = 0
                    if v > best[t, new, k]:
                        best[t, new, k] = v
                        from_label[t, new, k] = j
                        from_bit[t, new, k] = bit
    top, label, bit = -np.inf, 0, 0
    complete = ends_at(tables, truth, length - 1, length)
    for k in range(n):
        for b in range(2):
            v = best[length - 1, b, k] + float(theta[n + 1, k])
            if b == 1 and complete:
                v -= 2.0 * scale
            if v > top:
                top, label, bit = v, k, b
    for t in range(length - 1, -1, -1):
        y[t] = label
        label, bit = from_label[t, bit, label], from_bit[t, bit, label]
