"""One training problem whose examples lie in shards, here or on other machines.

A shard is some of the examples with their dual variables (``solvers/shard.py``). Their
number depends on the data alone, and what they answer is added up in their order: so a fit
is the same for any number of threads, and on a cluster. A :class:`Sharded` objective asks
a *crew* (``engine/crew.py``) where others ask their batch, and gets totals:

    primal(w) = 1/2 |w|^2 + sum over shards of their risk at w
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.cutting import can_cut, deal, owned
from maxmargin.core.objective import Objective, Sweep, as_returned
from maxmargin.core.vectors import sum_of_squares

SHARD_SLOTS = 100_000  # of one shard, about
MOST_SHARDS = 64


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


class Elsewhere:
    """In place of a batch: examples that only a crew's shards see."""

    def __init__(self, crew):
        self.crew = crew

    def fingerprint(self) -> list[str]:
        return self.crew.ask("fingerprint")


class Held(NamedTuple):
    """Examples in memory, as the source of a shard."""

    batch: Any

    def load(self) -> Any:
        return self.batch

    def __reduce__(self):
        return Held, (owned(self.batch),)  # of tables of all shards, only what it needs


class Scattered:
    """In place of a batch: pieces that are loaded one at a time, say from disk.

    Each has ``n`` examples, ``n_slots`` slots and ``load()``, which gives its batch.
    """

    def __init__(self, pieces: list):
        self.pieces = pieces
        self.n = sum(piece.n for piece in pieces)
        self.n_slots = sum(piece.n_slots for piece in pieces)

    def fingerprint(self) -> list[str]:
        """What the examples are, for checkpoints."""
        from maxmargin.solvers.fingerprint import fingerprint

        return [fingerprint(piece.load()) for piece in self.pieces]


def shard_count(slots: int, n: int) -> int:
    """Into how many shards data are cut: a matter of the data alone."""
    return int(np.clip(slots // SHARD_SLOTS, min(2, n), MOST_SHARDS))


def sources_of(batch: Any) -> list[tuple[Any, np.ndarray]]:
    """(source of a shard, the numbers of its examples), of every shard."""
    if isinstance(batch, Scattered):
        ends = np.cumsum([0, *(piece.n for piece in batch.pieces)]).tolist()
        numbers = [np.arange(lo, hi) for lo, hi in pairwise(ends)]
        return list(zip(batch.pieces, numbers, strict=True))
    n = len(batch.start) - 1
    if not can_cut(batch):
        raise ValueError(
            f"{type(batch).__name__} cannot be cut into shards: leave engine out, or say "
            "how its fields are cut, by a class attribute `cuts` (docs/add-a-structure.md)."
        )
    dealt = deal(batch, shard_count(int(batch.start[-1]), n))
    return [(Held(piece), examples) for piece, examples in dealt]


class Sharded(Objective):
    """Answers of a crew's shards, added up."""

    answer = Totals
    apart = True

    def __init__(self, whole: Objective, crew, n: int, slots: int):
        self.__dict__.update(whole.__dict__)
        self._exact, self._slots, self._in_python = whole.exact, slots, whole.in_python
        self.batch, self.crew, self.n = Elsewhere(crew), crew, n

    @property
    def exact(self) -> bool:
        return self._exact

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def in_python(self) -> bool:
        return self._in_python

    def prepare(self) -> None:
        self.crew.ask("prepare")

    def come_home(self) -> None:
        self.crew = self.crew.at_home()
        self.crew.ask("prepare")

    def sweep(self, w, multiple=1.0) -> Totals:
        replies = self.crew.ask("totals", w, multiple)
        risk, pull, left_open, obeying, calls = zip(*replies, strict=True)
        self.oracle_calls += sum(calls)
        return Totals(sum(risk), sum(pull), sum(left_open), max(obeying), sum(calls))

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

    def check_maxima(self, w, sweep) -> None:
        if self.in_python:
            self.crew.ask("check_maxima", w)

    def explore(self, w, looks: int) -> bool:
        return self.in_python and any(self.crew.ask("explore", w, looks))

    def met(self, w, sweep) -> float:
        risk = sweep.risk - sweep.left_open
        if self.in_python:
            risk = sum(self.crew.ask("known_risk", w))
        return 0.5 * sum_of_squares(w) + risk


class ShardedLog(Sharded):
    """The same with log-losses, and their gradient for L-BFGS."""

    convex = True
    first = None

    @property
    def scalable(self) -> bool:
        return self.l1 == 0

    def prepare_gradient(self) -> None:
        self.crew.ask("prepare")

    def primal(self, w, multiple=1.0):
        from maxmargin.solvers.log_objective import norm1

        primal, multiple, totals = super().primal(w, multiple)
        return primal + self.l1 * abs(multiple) * norm1(w), multiple, totals

    def value_and_gradient(self, w):
        """(objective without l1, its gradient)."""
        risk, total = 0.0, w.astype(np.float64)
        for reply in self.crew.replies("gradient", w):
            risk += reply[0]
            total += reply[1]
        self.oracle_calls += self.n
        return 0.5 * sum_of_squares(w) + risk, total
