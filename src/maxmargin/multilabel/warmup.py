"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def multilabel():
    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0]]
    return maxmargin.MultilabelSVM().fit(X, [{0}, {1}, {0, 1}, set()]), X
