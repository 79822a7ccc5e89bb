"""What one example adds to w, row by row: gathered apart, then added at once.

Structures whose w is a table of rows list the few rows that an example reaches
(``contract.spread_rows``). The norm of the change is then known before w is touched, and
each row is added once. Threads that add to one w take the lock of a row meanwhile, so that
no addition is lost: a row is many numbers, and an atomic addition of each takes three times
as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.compile.atomics import let_others, swap, tell
from maxmargin.core.kernel import inlined, summing

LINE = 16  # locks (int32) in a line of the cache: neighbours hinder each other
LOCKS = 1 << 11  # rows share them
TRIES = 200  # to take a lock, before other threads may have the core


class RowChange(NamedTuple):
    """Rows of a table as wide as those of w."""

    slots: np.ndarray  # int32 of all examples: where the rows of an entry lie (shared)
    number: np.ndarray  # int32: which row of w each is (of one thread, as is the table)
    table: np.ndarray


NO_LOCKS = np.zeros(0, np.int32)


def row_locks() -> np.ndarray:
    return np.zeros(LOCKS * LINE, np.int32)


@inlined
def take_row(locks, number):
    """Wait until nobody adds to this row of w, and keep others waiting until it is left.

    Who has it keeps it for some nanoseconds, unless its core was given to somebody else
    meanwhile: after some tries, a thread lets others have its own.
    """
    tries = 0
    while swap(locks, LINE * (np.int64(number) & (LOCKS - 1)), np.int32(1)) != 0:
        tries += 1
        if tries == TRIES:
            let_others()
            tries = 0


@inlined
def leave_row(locks, number):
    tell(locks, LINE * (np.int64(number) & (LOCKS - 1)), np.int32(0))


@summing
def squared_rows(change, count):
    total = 0.0
    for r in range(count):
        row = change.table[r]
        for k in range(len(row)):
            total += np.float64(row[k]) * row[k]
    return total


@summing
def grown_by_rows(change, count, coefficient, v, l1, w):
    """By how much |w|^2 grows where v changes so and w is v moved towards zero by l1."""
    width = change.table.shape[1]
    shape = len(w) // width, width
    vs, ws = v.reshape(shape), w.reshape(shape)
    c, least, zero = w.dtype.type(coefficient), w.dtype.type(l1), w.dtype.type(0)
    grown = 0.0
    for r in range(count):
        j = change.number[r]
        source, row, more = vs[j], ws[j], change.table[r]
        for k in range(len(row)):
            x = source[k] + c * more[k]
            x = max(x - least, zero) + min(x + least, zero)
            grown += (float(x) - float(row[k])) * (float(x) + float(row[k]))
    return grown


@inlined
def add_changed_rows(change, count, coefficient, v, l1, w, locks):
    """v += coefficient * change, and w with it: v moved towards zero by l1."""
    width = change.table.shape[1]
    shape = len(w) // width, width
    vs, ws = v.reshape(shape), w.reshape(shape)
    c, least, zero = w.dtype.type(coefficient), w.dtype.type(l1), w.dtype.type(0)
    for r in range(count):
        j = np.int64(change.number[r])
        row, more = vs[j], change.table[r]
        if len(locks) > 0:
            take_row(locks, j)
        for k in range(len(row)):
            row[k] += c * more[k]
        if l1 > 0.0:
            out = ws[j]
            for k in range(len(row)):
                out[k] = max(row[k] - least, zero) + min(row[k] + least, zero)
        if len(locks) > 0:
            leave_row(locks, j)
