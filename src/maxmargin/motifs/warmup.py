"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def motif():
    from maxmargin import MotifFinder

    X = ["ACGTTTACGT", "CCGTTTAGGA", "ACACACGCGC", "GGCACAGCGC"]
    return MotifFinder(width=4, order=1).fit(X, [1, 1, 0, 0]), X
