"""Block-coordinate ascent in shards: all at once, then one exact search over all moves.

In a round every shard takes steps on its own blocks against a copy of w (``shard.py``) and
answers with its move: by how much w changes, and what the dual gains. How much of each is
kept is a small quadratic program, one variable per shard,

    max over 0 <= s_k <= 1   sum_k s_k (rise_k - w.change_k) - 1/2 sum_k s_k^2 bend_k
                             - 1/2 |sum_k s_k change_k|^2

solved exactly, so that the dual never falls. Where the shards hinder each other, shares
below one say so, and the next moves are made shorter (``stretch``), which is better than
to take back half of long ones. A round is a pass: to hear of each other more often saves
shards no passes, if each of them is like the whole (``cutting.deal``).

The price of parallel steps is more passes than one process needs, and it grows with the
number of shards (``benchmarks/scaling.py`` prints it). One reduction per round; nothing
depends on how many threads or machines do the work.
(Jaggi et al. 2014 and Ma et al. 2015 average or add the moves; the search is ours.)
"""

from __future__ import annotations

import math
import time

import numpy as np

from maxmargin.core.kernel import kernel
from maxmargin.core.mirrors import Followed
from maxmargin.core.sharded import Sharded
from maxmargin.core.state import require
from maxmargin.core.vectors import Listed, blend_into, sum_of_squares
from maxmargin.solvers.block_coordinate import NEWEST
from maxmargin.solvers.handover import Handover
from maxmargin.solvers.one_slack import Cut, OneSlack
from maxmargin.solvers.proofs import compare_weights
from maxmargin.solvers.proximal_bundle import ProximalBundle
from maxmargin.solvers.schedule import Average
from maxmargin.solvers.shard import Move
from maxmargin.solvers.signs import Signs
from maxmargin.solvers.simplex import ascend_simplex
from maxmargin.solvers.solver import Solver

CROWDED, FREE = 0.9, 0.98  # mean shares at which moves become shorter, or longer
SHORTER, LONGER = 1.3, 0.9
FIRST_STRETCH = 0.25  # between 1, at 0, and the number of shards, at 1
MAX_TURNS = 1000  # of the search over shares
SOLVED = 1e-6
CAREFUL = 1.1  # times the hindrance that was seen
EVERYONE = 2  # passes: in every second one, no block may wait


class _Spread(Solver):
    """A solver whose shards have a state too."""

    def state(self) -> dict:
        crew = self.objective.crew
        shards = crew.ask("state")
        # w still has what shards had that began anew, perhaps during this very question
        return super().state() | {"shards": shards, "anew": sorted(crew.restarted)}

    falls = True  # a shard that began anew has nothing

    def restore(self, state: dict) -> None:
        super().restore(state)
        crew, shards, anew = self.objective.crew, state["shards"], state["anew"]
        good = type(shards) is list and len(shards) == crew.shards
        require(good, "shards", "not complete")
        good = type(anew) is list and all(k in range(crew.shards) for k in anew)
        require(good, "anew", "no list of shards")
        crew.ask("restore", each=[(shard,) for shard in shards])
        crew.restarted |= set(anew)


class ParallelAscent(_Spread):
    """See the module."""

    kept = (*Solver.kept, "shares", "risks", "stretch", "average", "passes", "epoch")

    def __init__(self, objective: Sharded, planes=None):
        super().__init__(objective)
        self.crew = objective.crew
        self.shares: list[float | None] = [None] * self.crew.shards
        self.risks = np.zeros(self.crew.shards)
        self.spread: np.ndarray = self.w[:0]  # or zeros, for products of changes
        self.stretch = 1.0 + FIRST_STRETCH * (self.crew.shards - 1)
        self.average = Average(self.w, NEWEST)
        self.passes = 0
        # where w has changed since the shards have seen it; None: anywhere
        self.news: list[np.ndarray] | None = None
        self.epoch = 0  # of the dual point: moves from one before a rebuild are void

    def prepare(self) -> None:
        blend_into(self.w[:0], self.w[:0], 0.0)
        nothing = Listed(np.zeros(0, np.int32), self.w[:0])
        gram_of([nothing], self.spread)
        nothing.add_to(self.w)

    def check_restored(self) -> None:
        super().check_restored()
        require(len(self.shares) == self.crew.shards, "shares", "not complete")
        for share in self.shares:
            good = share is None or (type(share) is float and 0 <= share <= 1)
            require(good, "shares", "out of range")
        require(np.isfinite(self.risks).all(), "risks", "infinite")
        most = max(float(self.crew.shards), 1.0)
        require(1 <= self.stretch <= most, "stretch", "out of range")

    def restore(self, state: dict) -> None:
        super().restore(state)
        if self.crew.restarted:  # w and dual have what is lost, until the next step
            self.dual = -math.inf

    def proved(self) -> float:
        saved, whole = self.w.copy(), not self.crew.restarted
        self._rebuild()
        if whole:
            compare_weights(saved, self.w)
        return self.dual

    def step(self) -> None:
        self._round()
        began = time.perf_counter()
        self.passes += 1
        squared = self.average.take(self.w, self.passes)
        self.estimate = self._estimate(squared)
        self.update_seconds += time.perf_counter() - began

    @property
    def selective(self) -> bool:
        """Whether blocks with small gaps may wait in this pass."""
        return self.passes % EVERYONE != 0

    def _round(self) -> None:
        left = min(self.objective.deadline - time.perf_counter(), 1e9)
        common = self.epoch, self.stretch, self.selective, max(left, 0.0)
        told = [(share,) for share in self.shares]
        followed = Followed(self.w, self.news)
        moves = self.crew.ask("ascend", followed, *common, each=told, optional=True)
        self.news = []
        if self.crew.restarted:
            self._recover()
            return
        began = time.perf_counter()
        self.dual += self._combine(moves)
        self.update_seconds += time.perf_counter() - began

    def _change(self, change: Listed, share: float) -> None:
        change.add_to(self.w, share)
        if change.index is None:
            self.news = None
        elif self.news is not None:
            self.news.append(change.index)

    def _combine(self, moves: list[Move | None]) -> float:
        """Keep of every move what is best for all; returns the gain."""
        came = [k for k, m in enumerate(moves) if m and m.epoch == self.epoch]
        # one that is late was told its share, and hears no other until it answers
        self.shares = [None] * len(moves)
        if not came:
            return 0.0
        present = [moves[k] for k in came]
        if len(self.spread) == 0:
            self.spread = self.objective.weights()
        gram = gram_of([move.change for move in present], self.spread)
        gram[np.diag_indices(len(came))] += [move.bend for move in present]
        slopes = np.array([move.rise - move.change.dot(self.w) for move in present])
        shares = self._choose(gram, slopes)
        for k, share, move in zip(came, shares.tolist(), present, strict=True):
            self.shares[k] = share
            self._change(move.change, share)
            self.risks[k] = move.risk
            self.objective.oracle_calls += move.calls
        return float(shares @ slopes - 0.5 * shares @ gram @ shares)

    def _estimate(self, squared: float) -> float:
        return 0.5 * squared + float(self.risks.sum())

    def _choose(self, gram, slopes) -> np.ndarray:
        """How much of each move is kept; and how long the next ones shall be."""
        shares = best_shares(gram, slopes)
        mean = float(shares.mean())
        if mean < CROWDED:
            self.stretch = min(SHORTER * self.stretch, float(len(self.shares)))
        elif mean > FREE:
            self.stretch = max(LONGER * self.stretch, 1.0)
        return shares

    def _recover(self) -> None:
        """Some shards began anew: what the others have is still a dual point."""
        self.crew.restarted.clear()
        self.shares = [None] * self.crew.shards  # the moves of this round are not used
        self._rebuild()

    def exact_point(self) -> tuple[np.ndarray, float]:
        return self._rebuild()

    def _rebuild(self) -> tuple[np.ndarray, float]:
        """w and dual anew from what the shards say, in double precision.

        Returns w and the rest of the dual.
        """
        told = [(share,) for share in self.shares]
        self.shares = [None] * len(told)
        self.epoch += 1
        total, rest = np.zeros(len(self.w)), 0.0
        for change, value in self.crew.replies("contribution", each=told):
            change.add_to(total)
            rest += value
        self.crew.restarted.clear()
        self.w[:], self.news = total, None
        self.dual = rest - 0.5 * sum_of_squares(total)
        return total, rest

    def candidates(self) -> list:
        if self.crew is self.objective.crew:
            self._rebuild()
        else:  # it was lost, with the dual point: the weights are what is left
            self.dual = 0.0
        return [self.average.w, self.w]


class ParallelGibbs(ParallelAscent):
    """The same for log-losses: moves of distributions (``exponentiated.py``).

    They are kept all or none. A stretch of |sum of changes|^2 / sum of |change|^2 makes
    their sum safe; that of the last round is a good guess, the number of shards a sure one.
    """

    def prepare(self) -> None:
        super().prepare()
        self._rebuild()  # distributions that are almost sure of the truth: w is not 0
        self.average = Average(self.w, NEWEST)

    def _estimate(self, squared: float) -> float:
        return self.dual + float(self.risks.sum())

    def _choose(self, gram, slopes) -> np.ndarray:
        alone = float(np.trace(gram))
        hindrance = float(gram.sum()) / alone if alone > 0 else 1.0
        most = float(len(self.shares))
        if float(slopes.sum() - 0.5 * gram.sum()) < 0:
            self.stretch = most
            return np.zeros(len(slopes))
        self.stretch = min(max(CAREFUL * hindrance, 1.0), most)
        return np.ones(len(slopes))


class ShardedHandover(Handover):
    """Exponentiated gradient in shards, then L-BFGS where that is stuck."""

    begins = ParallelGibbs

    def __init__(self, objective: Sharded, planes=None):
        super().__init__(objective, planes)
        self.falls = True  # as that of its shards


class ShardedOneSlack(_Spread, OneSlack):
    """One-slack cutting planes whose cuts are sums over shards."""

    def __init__(self, objective: Sharded, planes=None):
        Solver.__init__(self, objective)
        self.signs = Signs(objective)
        self.start_cuts()

    def prepare(self) -> None:
        ascend_simplex(self.gram, self.offsets, self.alpha, 1.0, 1)

    def search(self) -> Cut:
        return self._sum_of_cuts(stored=False)

    def recall(self) -> Cut:
        return self._sum_of_cuts(stored=True)

    def _sum_of_cuts(self, stored: bool) -> Cut:
        g = np.zeros(self.objective.n_weights)
        offset = risk = 0.0
        replies = self.objective.crew.ask("cut", self.w, stored)
        for gradient, own_offset, own_risk, calls in replies:
            gradient.add_to(g)
            offset, risk = offset + own_offset, risk + own_risk
            self.objective.oracle_calls += calls
        return Cut(g, offset, risk)

    def learn_from(self, totals) -> None:
        """The outputs of a certificate stay where they were found."""

    def forget(self) -> None:
        """Shards have the outputs."""


class ShardedBundle(ShardedOneSlack, ProximalBundle):
    """The proximal bundle of such cuts."""

    def __init__(self, objective: Sharded, planes=None):
        super().__init__(objective, planes)
        self.start_near(self.w)


def gram_of(changes: list[Listed], spread: np.ndarray) -> np.ndarray:
    """Products of all pairs of changes; ``spread`` is as long as w, and zero."""
    count = len(changes)
    gram = np.zeros((count, count))
    for j, (index, values) in enumerate(changes):
        dense = values
        if index is not None:
            dense = spread
            scatter(spread, index, values)
        for k in range(j, count):
            gram[j, k] = gram[k, j] = changes[k].dot(dense)
        if index is not None:
            scatter(spread, index, np.zeros(len(values), spread.dtype))
    return gram


@kernel
def scatter(dense, index, values):
    """dense[index] <- values."""
    for j in range(len(index)):
        dense[index[j]] = values[j]


def best_shares(gram: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """max s.slopes - 1/2 s'Gs over 0 <= s <= 1, one coordinate after the other."""
    shares = np.ones(len(slopes))
    for _ in range(MAX_TURNS):
        moved = 0.0
        for k in range(len(shares)):
            curvature = gram[k, k]
            ahead = slopes[k] - gram[k] @ shares + curvature * shares[k]
            best = 1.0 if ahead > 0 else 0.0
            if curvature > 0:
                best = min(max(ahead / curvature, 0.0), 1.0)
            moved = max(moved, abs(best - shares[k]))
            shares[k] = best
        if moved <= SOLVED:
            break
    return shares if shares @ (slopes - 0.5 * gram @ shares) > 0 else 0.0 * shares
