"""One training problem whose examples lie in shards, one for every worker of a cluster.

A shard is some of the examples with their dual variables (``solvers/shards/shard.py``). A
:class:`Sharded` objective asks an *executor* (``engine/executor.py``) where others ask
their batch, and gets totals over all shards (``totals.py``).
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.cutting import can_cut, deal, owned
from maxmargin.core.objective import Objective
from maxmargin.core.pieces.totals import Scattered, Totalled, TotalledLog, Totals
from maxmargin.core.vectors import sum_of_squares
from maxmargin.engine.worth import Worth


class RemoteBatch:
    """In place of a batch: examples that only an executor's shards see."""

    def __init__(self, executor):
        self.executor = executor

    def fingerprint(self) -> list[str]:
        return self.executor.ask("fingerprint")


class InMemory(NamedTuple):
    """Examples in memory, as the source of a shard."""

    batch: Any

    def load(self) -> Any:
        return self.batch

    def __reduce__(self):
        return InMemory, (
            owned(self.batch),
        )  # of tables of all shards, only what it needs


def sources_of(batch: Any, shards: int) -> list[tuple[Any, np.ndarray]]:
    """(source of a shard, the numbers of its examples), of about so many shards."""
    if isinstance(batch, Scattered):
        ends = np.cumsum([0, *(piece.n for piece in batch.pieces)])
        slots = np.cumsum([0, *(piece.n_slots for piece in batch.pieces)])
        inner = np.linspace(0, batch.n_slots, shards + 1)[1:-1]
        cuts = np.unique([0, *np.searchsorted(slots, inner), len(batch.pieces)])
        return [
            (batch.joined(batch.pieces[lo:hi]), np.arange(ends[lo], ends[hi]))
            for lo, hi in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        ]
    if not can_cut(batch):
        raise ValueError(
            f"{type(batch).__name__} cannot be cut into shards: leave engine out, or say "
            "how its fields are cut, by a class attribute `cuts` (docs/add-a-structure.md)."
        )
    shards = max(min(shards, len(batch.start) - 1), 1)
    return [(InMemory(piece), examples) for piece, examples in deal(batch, shards)]


class Sharded(Totalled):
    """Answers of an executor's shards, added up."""

    def __init__(self, whole: Objective, executor, n: int, slots: int):
        self.__dict__.update(whole.__dict__)
        self._slots, self._in_python = slots, whole.in_python
        self.batch, self.executor, self.n = RemoteBatch(executor), executor, n

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def in_python(self) -> bool:
        return self._in_python

    def prepare(self) -> None:
        self.executor.ask("prepare")

    def come_home(self) -> None:
        self.executor = self.executor.at_home()
        self.executor.ask("prepare")

    def sweep(self, w, multiple=1.0) -> Totals:
        totals = Totals.sum(self.executor.ask("totals", w, multiple))
        self.oracle_calls += totals.calls
        return totals

    def check_maxima(self, w, sweep) -> None:
        if self.in_python:
            self.executor.ask("check_maxima", w)

    def explore(self, w, looks: int) -> bool:
        return self.in_python and any(self.executor.ask("explore", w, looks))

    def met(self, w, sweep) -> float:
        risk = sweep.risk - sweep.left_open
        if self.in_python:
            risk = sum(self.executor.ask("known_risk", w))
        return 0.5 * sum_of_squares(w) + risk


class ShardedLog(TotalledLog, Sharded):
    """The same with log-losses, and their gradient for L-BFGS."""

    def __init__(self, whole: Objective, executor, n: int, slots: int):
        super().__init__(whole, executor, n, slots)
        self.worth = Worth(executor.shards)

    def prepare_gradient(self) -> None:
        """Shards prepare theirs."""

    def value_and_gradient(self, w):
        """(objective without l1, its gradient)."""
        began = time.perf_counter()
        found = self.executor.reduce("gradient", w)
        self.worth.see(1.0, found.seconds, time.perf_counter() - began)
        self.oracle_calls += self.n
        value = 0.5 * sum_of_squares(w) + found.value
        return value, found.vector.dense(len(w)) + w
