"""What the workers of a cluster are worth, from what their rounds take and gain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from statistics import median

AFTER = 5  # rounds, of which the first compile and warm up
LONG = 10.0  # seconds of rounds before anything is said: short fits are nobody's worry
CLEARLY = 1.1  # times as fast as now is worth a word
LEAST = 1e-3  # efficiency, at an optimum where nothing is gained any more


class Worth:
    """Rounds of so many workers, one shard each.

    A round of shards that step at once is worth less than a pass of a single process: by
    its *efficiency*. With fewer shards that loss is smaller, in proportion. So many shards
    take ``passes`` over their examples in a round.
    """

    def __init__(self, workers: int, passes: Callable[[int], int] = lambda workers: 1):
        self.workers, self.passes = workers, passes
        self.rounds: list[tuple[float, float, float]] = []
        self.told = False

    def see(self, efficiency: float, computing: float, spent: float) -> None:
        """A round of ``spent`` seconds, in which the slowest worker computed so long."""
        self.rounds.append((efficiency, computing, spent))
        if self.told or len(self.rounds) <= AFTER:
            return
        if sum(spent for *_, spent in self.rounds) < LONG:
            return
        self.told = True
        best = max(range(1, self.workers + 1), key=self.speed)
        times = self.speed(best) / self.speed(self.workers)
        if times < CLEARLY:
            return
        who = "this process alone (engine=None)" if best == 1 else f"{best} workers"
        warnings.warn(
            f"On these data {who} would be about {times:.1f} times as fast as the "
            f"{self.workers} workers of the cluster, by what {len(self.rounds)} rounds "
            "took and gained.",
            UserWarning,
            stacklevel=2,
        )

    def speed(self, workers: int) -> float:
        """Passes of one process that so many workers are worth, per second."""
        efficiency, computing, spent = map(median, zip(*self.rounds[1:], strict=True))
        efficiency = max(efficiency, LEAST)
        # seconds of a pass of one process
        whole = computing * self.workers / self.passes(self.workers)
        if workers == 1:
            return 1.0 / whole
        loss = (1.0 / efficiency - 1.0) * (workers - 1) / max(self.workers - 1, 1)
        messages = max(spent - computing, 0.0)
        return 1.0 / (1.0 + loss) / (whole * self.passes(workers) / workers + messages)
