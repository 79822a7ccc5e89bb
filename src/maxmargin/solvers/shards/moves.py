"""What shards answer, and how two answers become one, wherever they meet.

Answers as long as w are merged in pairs on the way (``engine/tree.py``), so that no process
receives those of all shards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.vectors import SparseVector

MAX_TURNS = 1000  # of the search over shares
SOLVED = 1e-6


class Part(NamedTuple):
    """A number and a vector that are summed over shards."""

    value: float
    vector: SparseVector
    seconds: float  # that the slowest took

    def merge(self, other: Part, w: np.ndarray | None) -> Part:
        total = self.vector.plus(1.0, other.vector, 1.0)
        seconds = max(self.seconds, other.seconds)
        return Part(self.value + other.value, total, seconds)


class Move(NamedTuple):
    """What steps of some shards do to the whole: at a share s of them, the dual gains

    s (rise - w.change) - 1/2 s^2 bend - 1/2 |s change|^2

    Where it was made does not matter: one that comes late is judged at the w of today.
    """

    change: SparseVector
    rise: float
    bend: float
    risk: float  # of the examples, as they were met
    calls: int
    epoch: int  # it belongs to the dual point that had this number
    seconds: float  # that the slowest took
    shares: dict[int, float]  # of the steps of whom

    def merge(self, other: Move, w: np.ndarray) -> Move:
        """Of both as much as is best for the dual."""
        if self.epoch != other.epoch:  # the older one is void
            return max(self, other, key=lambda move: move.epoch)
        both = self, other
        gram = np.diag([move.squared() + move.bend for move in both])
        gram[0, 1] = gram[1, 0] = self.change.times(other.change)
        a, b = best_shares(gram, np.array([move.slope(w) for move in both])).tolist()
        return Move(
            self.change.plus(a, other.change, b),
            a * self.rise + b * other.rise,
            a**2 * self.bend + b**2 * other.bend,
            self.risk + other.risk,
            self.calls + other.calls,
            self.epoch,
            max(self.seconds, other.seconds),
            {k: s * a for k, s in self.shares.items()}
            | {k: s * b for k, s in other.shares.items()},
        )

    def squared(self) -> float:
        values = self.change.values.astype(np.float64)
        return float(values @ values)

    def slope(self, w: np.ndarray) -> float:
        """Of the dual along the move, where it begins."""
        return self.rise - self.change.along(w)

    def best(self, w: np.ndarray) -> tuple[float, float]:
        """(the best share of it all, what the dual gains)."""
        slope, bend = self.slope(w), self.squared() + self.bend
        share = best_shares(np.array([[bend]]), np.array([slope])).item()
        return share, share * slope - 0.5 * share**2 * bend


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
