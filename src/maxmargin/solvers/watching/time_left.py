"""When will a fit end? Its gap's own curve, carried on to the tolerance.

The gap of a solver falls by a constant factor per second (steps with linear convergence),
or like a power of the time (1/t: Frank-Wolfe steps). So the curve is fitted twice, log gap
against t and against log t, over its later part, and the better fit is carried on. Slopes
are medians over pairs of points half a window apart, and so are not moved by a few passes
that are out of line; where their quartiles disagree about the end by more than a factor, or
the curve does not fall, or the end is far beyond the time spent so far, nobody can tell.
"""

from __future__ import annotations

import math

import numpy as np

FEWEST = 8  # points
WINDOW = 0.75  # share of the points, the last ones, that are looked at
MOST = 64  # of these, evenly chosen
AGREEMENT = 4.0  # quartiles of the time left may differ by this factor
HORIZON = 20.0  # times the time spent so far


class Curve:
    """Relative gaps of a fit over time."""

    def __init__(self, tol: float):
        self.tol = tol
        self.rows: list[tuple] = []  # (seconds, primal, proved gap, estimated gap)

    def see(self, row: dict, estimate: float = math.inf) -> None:
        dual, primal = row["dual"], row["primal"]
        self.rows.append(
            (row["seconds"], primal, _share(primal, dual), _share(estimate, dual))
        )

    def seconds_left(self, ratio: float = 1.0) -> float | None:
        """Expected seconds until the gap is below tol; None if it cannot be told."""
        if len(self.rows) < FEWEST:
            return None
        first = min(int((1 - WINDOW) * len(self.rows)), len(self.rows) - FEWEST)
        chosen = np.linspace(first, len(self.rows) - 1, MOST).astype(int)
        chosen = np.unique(chosen)
        t, primal, proved, estimated = np.array([self.rows[i] for i in chosen]).T
        # certificates are rare in large fits: between them, the solver's guess is better
        often = 2 * len(np.unique(primal)) > len(primal)
        gaps = proved if often else ratio * estimated
        if not often and np.isfinite(gaps).sum() < FEWEST:
            gaps = proved
        return expected(t, gaps, self.tol)


def _share(primal: float, dual: float) -> float:
    """The relative gap; nan where there is none."""
    good = 0 < primal < math.inf and primal > dual
    return (primal - dual) / primal if good else math.nan


def expected(t, gaps, tol: float) -> float | None:
    """Seconds from the last t until the gaps reach tol, or None."""
    good = np.isfinite(gaps) & (gaps > 0) & (t > 0)
    t, gaps = np.asarray(t)[good], np.asarray(gaps)[good]
    if len(t) < FEWEST or t[-1] <= t[0]:
        return None
    height, now = np.log(gaps), t[-1]
    exponential = _line(t, height)
    power = _line(np.log(t), height)
    slopes, level, _ = min(exponential, power, key=lambda line: line[2])
    if slopes is None:
        return None
    drop = max(level - math.log(tol), 0.0)
    if slopes[2] >= 0:  # the upper quartile: not clear that it falls
        return None
    times = -drop / slopes  # in t, or in log t
    if slopes is power[0]:
        with np.errstate(over="ignore"):
            times = now * np.expm1(times)
    soonest, middle, latest = times
    if latest > AGREEMENT * soonest or middle > HORIZON * now:
        return None
    return float(middle)


def _line(x, y):
    """(quartiles of the slope, height at the end, typical distance) of y against x."""
    half = len(x) // 2
    steps = x[half:] - x[: len(x) - half]
    if not (steps > 0).all():
        return None, 0.0, math.inf
    slopes = np.quantile((y[half:] - y[: len(y) - half]) / steps, [0.25, 0.5, 0.75])
    flat = y - slopes[1] * (x - x[-1])
    level = float(np.median(flat))
    return slopes, level, float(np.median(np.abs(flat - level)))
