"""By how much the best set with a label beats the best one without it."""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import argmax, score, shape, value
from maxmargin.core.decode import over_ranges
from maxmargin.core.kernel import kernel, run


def label_margins(batch, w, n_labels: int, n_jobs: int = 1) -> np.ndarray:
    """float64[samples, labels]; above zero where the best set has the label."""
    out = np.zeros((len(batch.start) - 1, n_labels))

    def part(lo, hi):
        run(margins_range, batch, lo, hi, w, out)

    over_ranges(part, batch.start, n_jobs)
    return out


@kernel
def margins_range(batch, lo, hi, w, out):
    n = out.shape[1]
    theta = np.empty(shape(batch))
    best, other = np.zeros(n, np.int32), np.zeros(n, np.int32)
    for i in range(lo, hi):
        score(batch, i, w, theta)
        argmax(batch, i, theta, 0.0, best)
        most = value(batch, i, theta, best)
        for k in range(n):
            place = 2 * k + best[k]
            kept = theta[0, place]
            theta[0, place] = -np.inf
            argmax(batch, i, theta, 0.0, other)
            lead = max(most - value(batch, i, theta, other), 0.0)
            theta[0, place] = kept
            out[i, k] = lead if best[k] else -lead
