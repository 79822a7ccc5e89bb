"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def graph():
    from maxmargin import GraphLabeler

    X = [([[1.0], [0.5], [-1.0]], [(0, 1), (1, 2)]), ([[1.0]], [])]
    return GraphLabeler().fit(X, [[0, 0, 1], [1]]), X
