"""Block-coordinate ascent in shards: all at once, then an exact search over their moves.

In a round every shard takes passes over its own blocks against a copy of w (``shard.py``)
and answers with its move: by how much w changes, and what the dual gains. Two moves become
one by the best shares of both,

    max over 0 <= s, t <= 1   s slope_1 + t slope_2 - 1/2 |s change_1 + t change_2|^2 - ...

so that moves are merged in pairs, wherever they meet (``moves.py``), and the dual never
falls. Where the shards hinder each other, shares below one say so, and the next moves are
made shorter (``stretch``), which is better than to take back half of long ones. The more
shards there are, the more passes are worth a round.

The price of parallel steps is more passes than one process needs, and it grows with the
number of shards (``benchmarks/scaling.py`` prints it), so that there is one shard for every
worker, whose threads step on one w. One reduction per round.
(Jaggi et al. 2014 and Ma et al. 2015 average or add the moves; the search is ours.)
"""

from __future__ import annotations

import math
import time

import numpy as np

from maxmargin.core.pieces.sharded import Sharded
from maxmargin.core.state import require
from maxmargin.core.vectors import blend_into, sum_of_squares
from maxmargin.engine.worth import Worth
from maxmargin.solvers.block_coordinate import Signs
from maxmargin.solvers.checkpoints.proofs import compare_weights
from maxmargin.solvers.schedule import Average
from maxmargin.solvers.shards.moves import Move
from maxmargin.solvers.solver import Solver

CROWDED, FREE = 0.9, 0.98  # mean shares at which moves become shorter, or longer
SHORTER, LONGER = 1.3, 0.9
FIRST_STRETCH = 0.25  # between 1, at 0, and the number of shards, at 1
EVERYONE = 2  # rounds: in every second one, no block may wait
NEWEST = 0.1  # share of the newest weights in their average, at least
# of a pass of one process, at most, that a round is worth: two shards need 1.25 to 1.45
# times as many (``scaling.py --parts rounds``), even where all of their moves is kept
TOGETHER = 0.75


def passes_of(shards: int) -> int:
    """In a round, over the examples of every shard: 1 of 2 shards, 4 of 16."""
    return max(1, round(math.log2(shards)))


class ParallelAscent(Solver):
    """See the module."""

    kept = (*Solver.kept, "shares", "risk", "stretch", "average", "rounds", "epoch")
    kept = (*kept, "signs")
    finite = (*Solver.finite, "risk")
    falls = True  # a shard that began anew has nothing
    looks = 20, 1.25  # none sees what its steps do to the others

    def __init__(self, objective: Sharded, planes=None):
        super().__init__(objective)
        self.executor = objective.executor
        self.shares: list[float | None] = [None] * self.executor.shards
        self.risk = 0.0
        self.stretch = 1.0 + FIRST_STRETCH * (self.executor.shards - 1)
        self.passes = passes_of(self.executor.shards)
        self.average = Average(self.w, NEWEST)
        self.signs = Signs(objective)
        self.rounds = 0
        self.epoch = 0  # of the dual point: moves from one before a rebuild are void
        self.worth = Worth(self.executor.shards, passes_of)

    def prepare(self) -> None:
        blend_into(self.w[:0], self.w[:0], 0.0)

    def state(self) -> dict:
        shards = self.executor.ask("state")
        # w still has what shards had that began anew, perhaps during this very question
        anew = sorted(self.executor.restarted)
        return super().state() | {"shards": shards, "anew": anew}

    def restore(self, state: dict) -> None:
        super().restore(state)
        executor, shards, anew = self.executor, state["shards"], state["anew"]
        good = type(shards) is list and len(shards) == executor.shards
        require(good, "shards", "not complete")
        good = type(anew) is list and all(k in range(executor.shards) for k in anew)
        require(good, "anew", "no list of shards")
        executor.ask("restore", each=[(shard,) for shard in shards])
        executor.restarted |= set(anew)
        if executor.restarted:  # w and dual have what is lost, until the next step
            self.dual = -math.inf

    def check_restored(self) -> None:
        super().check_restored()
        require(len(self.shares) == self.executor.shards, "shares", "not complete")
        for share in self.shares:
            good = share is None or (type(share) is float and 0 <= share <= 1)
            require(good, "shares", "out of range")
        most = max(float(self.executor.shards), 1.0)
        require(1 <= self.stretch <= most, "stretch", "out of range")
        require((self.signs.push >= 0).all(), "push", "negative")

    def proved(self) -> float:
        saved, whole = self.w.copy(), not self.executor.restarted
        self._rebuild()
        if whole:
            compare_weights(saved, self.w)
        return self.dual

    def step(self) -> None:
        began = time.perf_counter()
        seconds = self._round()
        spent = time.perf_counter() - began
        self.rounds += 1
        squared = self.average.take(self.w, self.rounds)
        self.estimate = 0.5 * squared + self.risk
        self.update_seconds += max(spent - seconds, 0.0)
        told = [share for share in self.shares if share is not None]
        if told:
            most = TOGETHER if len(self.shares) > 1 else 1.0
            self.worth.see(min(np.mean(told) / self.stretch, most), seconds, spent)

    def _round(self) -> float:
        """One round; returns the seconds that the slowest shard took."""
        left = min(self.objective.deadline - time.perf_counter(), 1e9)
        selective = self.rounds % EVERYONE != 0
        common = self.epoch, self.stretch, self.passes, selective, max(left, 0.0)
        told = [(share,) for share in self.shares]
        # one that is late was told its share, and hears no other until it answers
        self.shares = [None] * self.executor.shards
        move = self.executor.reduce("ascend", self.w, *common, each=told, optional=True)
        if self.executor.restarted:  # what the others have is still a dual point
            self._rebuild()
        elif move is not None and move.epoch == self.epoch:
            self._take(move)
        return 0.0 if move is None else move.seconds

    def _take(self, move: Move) -> None:
        share, gain = move.best(self.w)
        for k, own in move.shares.items():
            self.shares[k] = share * own
        move.change.add_to(self.w, share)
        self.dual += gain + self.signs.hold(self.w)
        self.objective.oracle_calls += move.calls
        if len(move.shares) == self.executor.shards:
            self.risk = move.risk
        mean = share * sum(move.shares.values()) / len(move.shares)
        if mean < CROWDED:
            self.stretch = min(SHORTER * self.stretch, float(self.executor.shards))
        elif mean > FREE:
            self.stretch = max(LONGER * self.stretch, 1.0)

    def exact_point(self) -> tuple[np.ndarray, float]:
        return self._rebuild()

    def _rebuild(self) -> tuple[np.ndarray, float]:
        """w and dual anew from what the shards say, in double precision.

        Returns w and the rest of the dual.
        """
        told = [(share,) for share in self.shares]
        self.shares = [None] * len(told)
        self.epoch += 1
        found = self.executor.reduce("contribution", each=told)
        self.executor.restarted.clear()
        total = found.vector.dense(len(self.w)).copy()
        self.signs.restart(total)
        self.w[:] = total
        self.dual = found.value - 0.5 * sum_of_squares(total)
        return total, found.value

    def candidates(self) -> list:
        if self.executor is self.objective.executor:
            self._rebuild()
        else:  # it was lost, with the dual point: the weights are what is left
            self.dual = 0.0
        return [self.average.w, self.w]
