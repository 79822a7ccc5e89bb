"""L-BFGS over shards, from the average of what every shard finds alone.

Gradients are summed over shards, so that rounds do not grow with their number. A shard that
counts its examples for all of them (C times the number of shards) has a problem like the
whole, which a few passes of exponentiated gradient all but solve without any message; the
average of the solutions is a start from which L-BFGS needs far fewer rounds than from zero.
(Zinkevich, Weimer, Li & Smola 2010 average such solutions.)
"""

from __future__ import annotations

from maxmargin.core.pieces.sharded import ShardedLog
from maxmargin.solvers.log.smooth import LBFGS

PASSES = 6  # of a shard alone


class AveragedStart(LBFGS):
    """See the module."""

    kept = (*LBFGS.kept, "begun")

    def __init__(self, objective: ShardedLog, planes=None):
        super().__init__(objective)
        self.begun = False

    def step(self) -> None:
        if not self.begun:
            executor = self.objective.executor
            found = executor.reduce("alone", executor.shards, PASSES)
            self.w[:] = found.vector.dense(len(self.w))
            self.objective.oracle_calls += PASSES * self.objective.n
            self.begun = True
        super().step()
