"""What an objective answers whose examples are not in one batch: totals over pieces.

primal(w) = 1/2 |w|^2 + sum over pieces of their risk at w
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.fingerprint import fingerprint
from maxmargin.core.objective import Objective, Sweep, as_returned
from maxmargin.core.vectors import sum_of_squares


class Totals(NamedTuple):
    """What a sweep over some examples found, summed (``obeying``: the largest)."""

    risk: float
    pull: float
    left_open: float
    obeying: float
    calls: int

    @classmethod
    def of(cls, objective: Objective, sweep: Sweep, calls: int) -> Totals:
        return cls(
            objective.primal_at(0.0, sweep),
            objective.pull(sweep),
            objective.left_open(sweep),
            objective.obeying(sweep),
            calls,
        )

    @classmethod
    def sum(cls, found: Sequence[Totals]) -> Totals:
        risk, pull, left_open, obeying, calls = zip(*found, strict=True)
        return cls(sum(risk), sum(pull), sum(left_open), max(obeying), sum(calls))


class Scattered:
    """In place of a batch: pieces that are loaded one at a time, say from disk.

    Each has ``n`` examples, ``n_slots`` slots and ``load()``, which gives its batch. A
    fit may put files without names into the folder ``scratch``.
    """

    def __init__(self, pieces: list, folder: str):
        self.pieces = pieces
        self.scratch = folder if os.access(folder, os.W_OK) else None
        self.n = sum(piece.n for piece in pieces)
        self.n_slots = sum(piece.n_slots for piece in pieces)

    def fingerprint(self) -> list[str]:
        """What the examples are, for checkpoints."""
        return [fingerprint(piece.load()) for piece in self.pieces]

    def joined(self, pieces: list) -> Any:
        """Some pieces as the source of one batch: for a worker of a cluster."""
        raise ValueError(
            "These data on disk cannot be trained on a cluster: leave engine out."
        )


class Totalled(Objective):
    """An objective whose ``sweep`` gives totals."""

    answer = Totals

    def primal(self, w, multiple=1.0):
        w, scale = as_returned(w, multiple)
        totals = self.sweep(w, scale)
        return self.primal_at(scale**2 * sum_of_squares(w), totals), multiple, totals

    def primal_at(self, w_squared: float, sweep) -> float:
        return 0.5 * w_squared + sweep.risk

    def pull(self, sweep) -> float:
        return sweep.pull

    def left_open(self, sweep) -> float:
        return sweep.left_open

    def obeying(self, sweep) -> float:
        return sweep.obeying


class TotalledLog(Totalled):
    """The same with log-losses."""

    convex = True
    first = None

    @property
    def scalable(self) -> bool:
        return self.l1 == 0

    def primal(self, w, multiple=1.0):
        primal, multiple, totals = super().primal(w, multiple)
        norm = float(np.abs(w).sum(dtype=np.float64))
        return primal + self.l1 * abs(multiple) * norm, multiple, totals
