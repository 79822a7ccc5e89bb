"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import numpy as np


def kernel():
    from maxmargin import KernelSVM

    # what only two threads run begins with some hundred steps
    Z = np.random.default_rng(0).normal(size=(600, 2))
    KernelSVM(method="subspace-pursuit", n_components=2, n_jobs=2).fit(Z, Z[:, 0] > 0)
    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0], [0.1, 0.8], [0.8, 0.2]]
    return KernelSVM(n_components=2).fit(X, [0, 1, 0, 1, 0, 1]), X
