"""Probabilities beside what came true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Reliability(NamedTuple):
    """Of every bin: how many, their mean probability, the share that is right."""

    counts: np.ndarray
    said: np.ndarray
    right: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance of said and right."""
        total = self.counts.sum()
        return float((self.counts * np.abs(self.said - self.right)).sum() / total)


def reliability(chances: Any, right: Any, bins: int = 10) -> Reliability:
    """Probabilities beside what came true, in bins of equal width."""
    chances = np.clip(np.asarray(chances, float), 0.0, 1.0)
    place = np.minimum((bins * chances).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    there = np.maximum(counts, 1)
    said = np.bincount(place, chances, bins) / there
    share = np.bincount(place, np.asarray(right, float), bins) / there
    return Reliability(counts, said, share)
