"""The span loss of chains and its search, against sets of spans and enumeration."""

import itertools

import numpy as np
import pytest

from maxmargin.tags.chain_spans import argmax_spans, span_loss, span_tables
from maxmargin.tags.schemes import LabelTable, read_spans

LABELS = [
    ["O", "B-X", "I-X"],
    ["O", "B-X", "I-X", "B-Y", "I-Y"],
    ["O", "I-X", "I-Y"],  # neighbours of one type are one span
    ["O", "B-X", "I-X", "E-X", "S-X"],
]


def by_sets(labels, truth, y):
    table = LabelTable("auto")
    a, b = (set(read_spans([labels[k] for k in row], table)) for row in (truth, y))
    return len(a ^ b)


@pytest.mark.parametrize("labels", LABELS)
def test_the_loss_counts_spans_that_only_one_has(labels):
    tables = span_tables(labels)
    loss = span_loss.py_func
    for length in (1, 2, 3):
        rows = list(itertools.product(range(len(labels)), repeat=length))
        for truth in rows:
            for y in rows:
                a, b = np.array(truth, np.int32), np.array(y, np.int32)
                assert loss(tables, a, b, length) == by_sets(labels, truth, y)


@pytest.mark.parametrize("labels", LABELS[:3])
def test_the_search_finds_the_largest_sum_of_score_and_loss(labels):
    rng = np.random.default_rng(0)
    n, tables = len(labels), span_tables(labels)
    for length in (1, 2, 3, 4):
        outputs = np.array(list(itertools.product(range(n), repeat=length)), np.int32)
        for truth in outputs[rng.integers(len(outputs), size=12)]:
            loss = np.array([by_sets(labels, truth, y) for y in outputs])
            for scale in (0.3, 1.0, 3.0):
                theta = rng.normal(size=(n + 2 + length, n))
                steps = theta[outputs[:, :-1], outputs[:, 1:]].sum(axis=1)
                ends = theta[n, outputs[:, 0]] + theta[n + 1, outputs[:, -1]]
                emissions = theta[n + 2 + np.arange(length), outputs].sum(axis=1)
                total = steps + ends + emissions + scale * loss
                y = np.zeros(length, np.int32)
                argmax_spans.py_func(tables, n, theta, truth, length, scale, y)
                (at,) = np.flatnonzero((outputs == y).all(axis=1))
                assert total[at] == pytest.approx(total.max())
