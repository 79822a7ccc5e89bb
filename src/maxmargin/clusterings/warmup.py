"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def cluster():
    from maxmargin import LinkClusterer

    X = [[[1.0], [-1.0], [-1.0]], [[-1.0], [-1.0], [1.0]]]
    y = [[0, 0, 1], [0, 1, 1]]
    LinkClusterer(method="correlation").fit(X, y)
    return LinkClusterer().fit(X, y), X
