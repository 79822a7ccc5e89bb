"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def match():
    X = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
    return maxmargin.WordAligner().fit(X, ["0-0 1-1 2-2", "0-0 1-1"]), X
