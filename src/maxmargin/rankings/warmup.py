"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def rank():
    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0]]
    y, qid = [0, 1, 0, 1], [1, 1, 2, 2]
    maxmargin.TopKRanker(k=1, loss="precision").fit(X, y, qid)
    return maxmargin.TopKRanker().fit(X, y, qid), X
