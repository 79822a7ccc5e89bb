"""Batches that kernels were run on lately, ready to be run on again.

A walk over the fields of a batch, for its type and its words (``packed.py``), takes longer
than many a kernel on a small batch. It is done once: a batch cannot change, as long as it
has the same fields. These are known by their addresses, until the first array of them
goes: there are weak references to the arrays, so that none is kept alive here.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core.entries import Handle
from maxmargin.core.packed import type_of, words_of

_MOST = 64
_recent: dict[int, Recent] = {}  # by the id of a batch


def recent(batch: Any) -> Recent:
    """What is known of a batch; it is looked at if it is new."""
    found = _recent.get(id(batch))
    if found is None or not (found.alive and found.fields.are_of(batch)):
        if len(_recent) >= _MOST:
            _recent.clear()
        found = _recent[id(batch)] = Recent(batch)
    return found


class Recent:
    """The type of a batch, and its words with the table of addresses that they name."""

    def __init__(self, batch: Any):
        self.type = type_of(batch)
        self.alive, self._leaves = True, []
        self.fields = Fields(batch, self._keep)
        self.plain = (  # start and y go into a handle as they are
            np.require(batch.start, np.int64, "CW") is batch.start
            and np.require(batch.y, np.int32, "CW") is batch.y
        )
        self._made: tuple | None = (
            None  # at once, for other threads: table, words, where
        )

    def _keep(self, leaf: Any) -> None:
        """Its address is that of no other as long as this is alive."""
        if isinstance(leaf, np.ndarray):
            leaf = weakref.ref(leaf, self._end)
        self._leaves.append(leaf)

    def _end(self, _) -> None:
        self.alive = False

    def handle(self, batch: Any, table: np.ndarray) -> tuple[Handle, np.ndarray]:
        """(the handle, the words that it points to, which must stay alive)."""
        made = self._made
        if made is None or made[0] is not table:
            words = words_of(batch, table)
            made = self._made = table, words, words.ctypes.data
        start, y = batch.start, batch.y
        if not (self.plain and start.flags.writeable and y.flags.writeable):
            # copies, made each time: what they are of may change
            start = np.require(start, np.int64, "CW")
            y = np.require(y, np.int32, "CW")
        return Handle(start, y, made[2]), made[1]


class Fields:
    """The addresses of the fields of a batch, and of those of the tuples in it."""

    def __init__(self, batch: tuple, keep: Callable[[Any], None]):
        self.kind, self.addresses = type(batch), tuple(map(id, batch))
        self.inner: list[
            tuple
        ] = []  # number of the tuple it is in, place, kind, addresses
        tuples = [batch]
        for number, outer in enumerate(tuples):  # it grows
            for k, value in enumerate(outer):
                if isinstance(value, tuple):
                    tuples.append(value)
                    addresses = tuple(map(id, value))
                    self.inner.append((number, k, type(value), addresses))
                else:
                    keep(value)

    def are_of(self, batch: tuple) -> bool:
        if type(batch) is not self.kind or tuple(map(id, batch)) != self.addresses:
            return False
        tuples = [batch]
        for number, k, kind, addresses in self.inner:
            value = tuples[number][k]
            if type(value) is not kind or tuple(map(id, value)) != addresses:
                return False
            tuples.append(value)
        return True
