"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def motif():
    X = ["ACGTTTACGT", "CCGTTTAGGA", "ACACACGCGC", "GGCACAGCGC"]
    return maxmargin.MotifFinder(width=4, order=1).fit(X, [1, 1, 0, 0]), X
