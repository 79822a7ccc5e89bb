"""Data to train on, and as many that are held out."""

import numpy as np


def noisy(n: int = 300, seed: int = 0):
    """Vectors of three classes, of which a fifth is wrong; the second half is held out."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 12))
    X[np.arange(n), y] += 1.5
    y = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), y)
    return (X[: n // 2], y[: n // 2]), (X[n // 2 :], y[n // 2 :])


TRAIN, DEV = noisy()
