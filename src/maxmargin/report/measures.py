"""Numbers with bootstrap intervals, and paired differences of two models.

A measure is a function of column sums over a table with a row per example: an accuracy is
(right, all), an F1 (true, predicted, right). Examples are drawn with replacement (Efron &
Tibshirani 1993, chapter 13); both models of a difference get the same draws. Of more than
``BLOCKS`` examples, random groups of them are drawn, which estimates the same variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.metrics.bootstrap import Interval

BLOCKS, DRAWS, LEVEL = 2000, 1000, 0.95


class Measure(NamedTuple):
    """A number made of column sums of ``table``, which has a row per example."""

    name: str
    table: np.ndarray
    value: Callable[[np.ndarray], np.ndarray]  # of sums (..., columns)
    smaller: bool = False  # is smaller better?
    about: str = ""
    plain: bool = False  # is it no share, for per cent?

    def interval(self) -> Interval:
        """The value and the ends of its 95% interval."""
        return _ends(self.value(_draws(self.table)), self.value(self.table.sum(0)))

    def difference(self, other: Measure) -> Interval:
        """The other value minus this one, over the same draws of examples."""
        both = np.concatenate([self.table, other.table], axis=1)
        k = self.table.shape[1]

        def apart(sums: np.ndarray) -> np.ndarray:
            return other.value(sums[..., k:]) - self.value(sums[..., :k])

        return _ends(apart(_draws(both)), apart(both.sum(0)))


def share(name: str, part: Any, whole: Any = None, **more: Any) -> Measure:
    """sum of ``part`` / sum of ``whole``, or a mean; 1 if there is nothing."""
    part = np.asarray(part, float)
    whole = np.ones(len(part)) if whole is None else np.asarray(whole, float)
    there = ~np.isnan(part)
    columns = np.where(there, part, 0.0), np.where(there, whole, 0.0)
    return Measure(name, np.stack(columns, axis=1), _quotient, **more)


def f1(name: str, counts: Any, **more: Any) -> Measure:
    """2 right / (true + predicted) of rows (true, predicted, right); 1 of nothing."""
    return Measure(name, rows_of(counts, 3), f1_of, **more)


def rows_of(rows: Sequence, columns: int) -> np.ndarray:
    """Rows of numbers as a table, also if there is none."""
    return np.asarray(rows, float).reshape(-1, columns)


def f1_of(sums: np.ndarray) -> np.ndarray:
    """F1 of sums (true, predicted, right)."""
    both = sums[..., 0] + sums[..., 1]
    return np.where(both > 0, 2 * sums[..., 2] / np.where(both > 0, both, 1.0), 1.0)


def _quotient(sums: np.ndarray) -> np.ndarray:
    whole = sums[..., 1]
    return np.where(whole > 0, sums[..., 0] / np.where(whole > 0, whole, 1.0), 1.0)


def _draws(table: np.ndarray, seed: int = 0) -> np.ndarray:
    """Column sums of ``DRAWS`` tables, drawn from the rows of this one."""
    rng = np.random.default_rng(seed)
    if len(table) > BLOCKS:
        order = rng.permutation(len(table))
        table = np.stack([table[part].sum(0) for part in np.array_split(order, BLOCKS)])
    n = len(table)
    if not n:
        return np.zeros((DRAWS, table.shape[1]))
    return rng.multinomial(n, np.full(n, 1 / n), DRAWS) @ table


def _ends(values: np.ndarray, value: Any) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(value), float(low), float(high))
