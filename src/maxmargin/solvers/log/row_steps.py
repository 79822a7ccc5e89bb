"""Threads that add whole rows to one w: who may, and what each of them needs.

Of a structure that lists rows (``contract.spread_rows``), and where a fit has several
threads; one thread adds as it always did.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import most_rows, shape, slot_rows, spread, spread_rows
from maxmargin.core.kernel import implemented, inlined, kernel, run
from maxmargin.core.row_changes import RowChange, add_changed_rows, row_locks
from maxmargin.engine.threads import over_ranges

LEAST = 5000  # slots: a pass over fewer is not worth a second thread


class RowSteps:
    """Slots of the rows of all examples, locks of the rows of w, memory of threads."""

    def __init__(self, objective):
        self.team, self.dtype = objective.team, objective.dtype
        self.slots = self.locks = np.zeros(0, np.int32)
        self.size = 0, 0  # of a table
        self._changes: list[RowChange] = []
        batch = objective.batch
        many = self.team.size > 1 and int(batch.start[-1]) >= LEAST
        self.shared = many and implemented(spread_rows, type(batch))
        if self.shared:
            most, entries, width = run(sizes_of_rows, batch)
            self.size, self.slots = (most, width), np.empty(entries, np.int32)
            over_ranges(
                lambda lo, hi: run(number_rows, batch, lo, hi, self.slots),
                batch.start,
                self.team,
            )
            self.locks = row_locks()

    def change(self, dtype) -> RowChange:
        """Memory for one thread and weights of this precision."""
        table = np.zeros(self.size, dtype)
        return RowChange(self.slots, np.zeros(len(table), np.int32), table)

    def change_of(self, worker: int) -> RowChange:
        while len(self._changes) <= worker:
            self._changes.append(self.change(self.dtype))
        return self._changes[worker]

    def over_ranges(self, function, start) -> list:
        """``function(lo, hi)`` of ranges of examples, or of all where nothing is shared."""
        if not self.shared:
            return [function(0, len(start) - 1)]
        return over_ranges(function, start, self.team)


@kernel
def sizes_of_rows(batch):
    most, entries = most_rows(batch)
    return most, entries, shape(batch)[1]


@kernel
def number_rows(batch, lo, hi, slots):
    slot_rows(batch, lo, hi, slots)


@inlined
def spread_into(batch, i, coefficient, mu, w, change, locks):
    """w += coefficient * F_x^T mu, by rows where threads share w."""
    if len(locks) > 0:
        count = spread_rows(batch, i, mu, change)
        add_changed_rows(change, count, coefficient, w, 0.0, w, locks)
    else:
        spread(batch, i, coefficient, mu, w)
