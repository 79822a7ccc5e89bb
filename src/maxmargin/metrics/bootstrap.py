"""Bootstrap intervals of F1 over sentences (Efron & Tibshirani 1993, chapter 13).

A *table* has one row per sentence: how many things there are in truth, were predicted, and
are the same in both. F1 of a sample is 2 correct / (truth + predicted), summed over rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.checks import whole


class Interval(NamedTuple):
    """A value and the ends of its bootstrap interval; ``str()`` is in per cent."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        value, low, high = (100 * number for number in self)
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def f1_interval(
    table: np.ndarray, n: int = 1000, seed: int = 0, level: float = 0.95
) -> Interval:
    """F1 with a percentile interval over ``n`` draws of rows with replacement."""
    return _interval(_f1(_draw(len(table), n, seed) @ table), _f1(table.sum(0)), level)


def f1_difference(
    first: np.ndarray,
    second: np.ndarray,
    n: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """F1 of the second table minus F1 of the first, over the same draws of rows."""
    drawn = _draw(len(first), n, seed)
    values = _f1(drawn @ second) - _f1(drawn @ first)
    return _interval(values, _f1(second.sum(0)) - _f1(first.sum(0)), level)


def mean_interval(
    table: np.ndarray, n: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of the mean of every column, over draws of rows."""
    means = _draw(len(table), n, seed) @ table / len(table)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def _draw(size: int, n: int, seed: int) -> np.ndarray:
    """How often each of n draws takes each row."""
    whole("n", n)
    if not size:
        raise ValueError("there are no sentences to draw from.")
    return np.random.default_rng(seed).multinomial(
        size, np.full(size, 1 / size), int(n)
    )


def _f1(sums: np.ndarray) -> np.ndarray:
    both = sums[..., 0] + sums[..., 1]
    return 2 * sums[..., 2] / np.where(both > 0, both, 1.0)


def _interval(values: np.ndarray, value, level: float) -> Interval:
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is not possible: it lies between 0 and 1.")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(value), float(low), float(high))
