"""Data to train on, and as many that are held out; what calibration must do."""

from dataclasses import replace

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


def assert_less_is_sure(model, X, y):
    """A higher temperature makes a calibrated model less sure of its predictions."""
    predicted, sure = model.predict(X), []
    for T in (0.1, 1.0, 10.0):
        model.calibration_ = replace(model.calibration_, temperature=T)
        sure.append(model._chances(X, y, predicted).said.mean())
    assert sure[0] > sure[1] > sure[2]
