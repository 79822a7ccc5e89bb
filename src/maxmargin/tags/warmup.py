"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import numpy as np

import maxmargin


def tag():
    X = [[["a"], ["b", "c"]], [["b"], ["a"], ["c"]]]
    return maxmargin.SequenceTagger().fit(X, [["x", "y"], ["y", "x", "y"]]), X


def tag_arrays():
    """Pixels and the like: the same in double precision."""
    X = [np.linspace(0.0, 1.0, 6).reshape(3, 2), np.linspace(1.0, 0.1, 4).reshape(2, 2)]
    return maxmargin.SequenceTagger().fit(X, [[0, 1, 1], [1, 0]]), X
