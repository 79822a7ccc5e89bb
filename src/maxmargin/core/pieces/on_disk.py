"""One training problem whose examples are loaded piece by piece, say from disk.

One piece's batch is in memory at a time. What a sweep finds of it is added up
(``totals.py``), so that nothing as long as all data is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.core.pieces.totals import Scattered, Totalled, TotalledLog, Totals
from maxmargin.core.vectors import sum_of_squares


class OnDisk(Totalled):
    """The objective of all pieces; ``parts`` are those of each, without its batch."""

    in_python = False

    def __init__(self, first: Objective, data: Scattered, mass: np.ndarray):
        """``first`` is the objective of the first piece alone."""
        self.__dict__.update(first.__dict__)
        self.batch, self.mass, self.n = data, mass, len(mass)
        ends = np.cumsum([0, *(piece.n for piece in data.pieces)]).tolist()
        numbers = list(enumerate(pairwise(ends)))
        self.parts = [first.piece(k, mass[lo:hi]) for k, (lo, hi) in numbers]
        for part in self.parts:
            part.team, part.rng = self.team, self.rng

    @contextmanager
    def loaded(self, k: int) -> Iterator[Objective]:
        """The objective of a piece, with its batch as long as it is used."""
        part = self.parts[k]
        part.batch, part.deadline = self.batch.pieces[k].load(), self.deadline
        part.oracle_calls = 0
        try:
            yield part
        finally:
            self.oracle_calls += part.oracle_calls
            part.batch = None

    @property
    def slots(self) -> int:
        return self.batch.n_slots

    def prepare(self) -> None:
        with self.loaded(0) as part:
            part.prepare()

    def sweep(self, w, multiple=1.0) -> Totals:
        found = []
        for k in range(len(self.parts)):
            with self.loaded(k) as part:
                sweep = part.sweep(w, multiple)
                found.append(Totals.of(part, sweep, part.oracle_calls))
        return Totals.sum(found)


class OnDiskLog(TotalledLog, OnDisk):
    """The same with log-losses, and their gradient for L-BFGS."""

    def prepare_gradient(self) -> None:
        with self.loaded(0) as part:
            part.prepare_gradient()

    def value_and_gradient(self, w):
        """(objective without l1, its gradient), in double precision."""
        risk, total = 0.0, w.astype(np.float64)
        for k in range(len(self.parts)):
            with self.loaded(k) as part:
                losses, pull = part.losses_and_pull(w)
            risk += float(part.mass @ losses)
            total += pull
        self.oracle_calls += self.n
        return 0.5 * sum_of_squares(w) + risk, total
