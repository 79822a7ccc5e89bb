"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def tag():
    from maxmargin import SequenceTagger

    X = [[["a"], ["b", "c"]], [["b"], ["a"], ["c"]]]
    return SequenceTagger().fit(X, [["x", "y"], ["y", "x", "y"]]), X


def tag_arrays():
    """Pixels and the like: the same in double precision."""
    import numpy as np

    from maxmargin import SequenceTagger

    X = [np.linspace(0.0, 1.0, 6).reshape(3, 2), np.linspace(1.0, 0.1, 4).reshape(2, 2)]
    return SequenceTagger().fit(X, [[0, 1, 1], [1, 0]]), X
