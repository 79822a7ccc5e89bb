"""A restored state is believed as far as it can be proved again.

A checkpoint says what weights and dual variables a fit had, and what was proved of them.
The first is checked for sense when it is restored (``core/state.py``). Here the second is
computed anew: the weights and the dual that the dual variables stand for, and the exact
primal of the best weights. No row of the history may claim more. What differs by more than
rounding is refused; nothing is changed, so that the fit goes on to the last bit.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.core.state import require

# Steps in single precision drift until w is rebuilt for the next certificate.
ROUNDING = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-6}
ROW = ("iteration", "seconds", "primal", "dual", "gap")
ROW = (*ROW, "oracle_calls", "oracle_seconds", "update_seconds")


def compare_weights(saved: np.ndarray, found: np.ndarray) -> None:
    """The weights of a file, and those that its dual variables stand for."""
    apart = saved.astype(np.float64) - found
    size = max(float(np.abs(found).max(initial=0.0)), 1e-6)
    most = 10 * ROUNDING[saved.dtype] * size
    require(np.abs(apart).max(initial=0.0) <= most, "w", "not that of the dual point")


def compare(what: str, saved: float, found: float, scale: float, dtype) -> None:
    """Two values that should be equal but for rounding at this scale."""
    slack = ROUNDING[np.dtype(dtype)] * max(scale, abs(found)) + 1e-9
    close = saved == found or abs(saved - found) <= slack
    require(close, what, f"{saved:.6g}, but {found:.6g} is what can be proved")


def check_dual(what: str, saved: float, proved: float, scale: float, dtype) -> None:
    """A bound must not be above the one that can be proved."""
    if saved > proved:
        compare(what, saved, proved, scale, dtype)


def check_history(history: list, bounds: dict) -> None:
    """Rows count on, and what they claim grows up to these bounds."""
    primal, dual, seconds = math.inf, -math.inf, 0.0
    for number, row in enumerate(history, 1):
        require(type(row) is dict, "history", "no list of rows")
        numbers = [row.get(name) for name in ROW]
        good = all(isinstance(v, (int, float, np.number)) for v in numbers)
        require(good, "history", "not complete")
        require(row["iteration"] == number, "history", "not counted on")
        require(seconds <= row["seconds"] < math.inf, "history", "not in time")
        rises = row["primal"] <= primal and row["dual"] >= dual
        require(rises, "history", "worse than before")
        primal, dual, seconds = row["primal"], row["dual"], row["seconds"]
        gap = primal - dual
        same = row["gap"] == gap if gap == math.inf else row["gap"] == max(gap, 0.0)
        require(same, "history", "not that of its bounds")
    if history:
        same = primal == bounds["primal"] and dual == bounds["dual"]
        require(same, "history", "not that of the best weights")
