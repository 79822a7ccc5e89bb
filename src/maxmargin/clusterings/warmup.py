"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def cluster():
    X = [[[1.0], [-1.0], [-1.0]], [[-1.0], [-1.0], [1.0]]]
    y = [[0, 0, 1], [0, 1, 1]]
    maxmargin.LinkClusterer(method="correlation").fit(X, y)
    return maxmargin.LinkClusterer().fit(X, y), X
