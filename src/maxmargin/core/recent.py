"""Batches that kernels were run on lately, ready to be run on again.

A walk over the fields of a batch, for its type and its words (``packed.py``), takes longer
than many a kernel on a small batch. It is done once: a batch cannot change, as long as it
has the same fields. The arrays are known by weak references, so that nothing is kept alive
here, and an address that is used anew for another batch is seen.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from maxmargin.core.entries import Handle
from maxmargin.core.packed import type_of, words_of

_MOST = 64
_recent: dict[int, Recent] = {}  # by the id of a batch


def recent(batch: Any) -> Recent:
    """What is known of a batch; it is looked at if it is new."""
    found = _recent.get(id(batch))
    if found is None or not _same(found.fields, batch):
        if len(_recent) >= _MOST:
            _recent.clear()
        found = _recent[id(batch)] = Recent(batch)
    return found


class Recent:
    """The type of a batch, and its words with the table of addresses that they name."""

    def __init__(self, batch: Any):
        self.type = type_of(batch)
        self.fields = _fields(batch)
        self.plain = (  # start and y go into a handle as they are
            np.require(batch.start, np.int64, "CW") is batch.start
            and np.require(batch.y, np.int32, "CW") is batch.y
        )
        self._made: tuple | None = (
            None  # at once, for other threads: table, words, where
        )

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


def _fields(value: Any) -> Any:
    """What a field is recognised by."""
    if isinstance(value, np.ndarray):
        return weakref.ref(value)
    if isinstance(value, tuple):
        return type(value), [_fields(part) for part in value]
    return value


def _same(fields: Any, batch: Any) -> bool:
    kind, parts = fields
    if type(batch) is not kind:
        return False
    for known, value in zip(parts, batch, strict=True):
        if type(known) is weakref.ref:
            if known() is not value:
                return False
        elif type(known) is tuple:
            if not _same(known, value):
                return False
        elif type(known) is not type(value) or known != value:
            return False
    return True
