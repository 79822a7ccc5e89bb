"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def kernel():
    from maxmargin import KernelSVM

    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0], [0.1, 0.8], [0.8, 0.2]]
    return KernelSVM(n_components=2).fit(X, [0, 1, 0, 1, 0, 1]), X
