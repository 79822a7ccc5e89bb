"""What ``benchmarks/defaults.py`` compares: one file per family, described there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from common import Clock


def measured(train: Callable, score: Callable, n_test: int) -> dict:
    """Train and score one setting: CPU seconds of both, per cent, 95% interval.

    ``score(model)`` is a share of ``n_test`` independent decisions; half the width of its
    normal interval is 1.96 sqrt(p (1 - p) / n).
    """
    with Clock() as clock:
        model = train()
        share = score(model)
    interval = 196.0 * (max(share * (1.0 - share), 0.0) / n_test) ** 0.5
    return {"score": 100.0 * share, "interval": interval, "cpu": clock.cpu}


def classified(model, X, y, test_X, test_y) -> dict:
    """The same for a classifier: the share of test samples whose class is right."""
    return measured(
        lambda: model.fit(X, y),
        lambda model: float(np.mean(model.predict(test_X) == test_y)),
        len(test_y),
    )
