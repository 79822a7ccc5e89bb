"""Prediction: the best output of every example, in threads."""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import argmax, score, shape
from maxmargin.core.kernel import kernel, run
from maxmargin.engine.threads import over_ranges


def decode(batch, w, n_jobs: int = 1) -> np.ndarray:
    """Labellings of all examples, laid out as ``batch.y``."""
    outputs = np.zeros(len(batch.y), np.int32)
    w = np.ascontiguousarray(w)

    def part(lo, hi):
        run(decode_range, batch, lo, hi, w, outputs)

    over_ranges(part, batch.start, n_jobs)
    return outputs


@kernel
def decode_range(batch, lo, hi, w, outputs):
    theta = np.empty(shape(batch))
    for i in range(lo, hi):
        score(batch, i, w, theta)
        argmax(batch, i, theta, 0.0, outputs[batch.start[i] : batch.start[i + 1]])
