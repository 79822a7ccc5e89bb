"""Compiled loops of the column encoder, and the table that numbers keys.

This module imports numba, so others import it inside functions. All integers are int64
except word numbers and feature numbers, which are int32: one signature per kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, kernel

_DIRECT = 2**20  # key spaces up to this size need no hashing: the key is the slot
_FIRST_CAPACITY = 2**14
_TOKENS = 64  # that are gathered at a time
_SPREAD = -7046029254386353131  # odd, its bits look random: neighbours go far apart


@kernel
def combine(keys, ids, table, start, row, left, right, radix):
    """keys[t] = keys[t] * radix + (number of the word `row` tokens from t).

    `table` takes word numbers to numbers below `radix`, or to -1. Outside the sentence
    the number is left, left + 1, ... going left and right, right + 1, ... going right,
    or -1 if left is negative. A key that meets a -1 is -1 from then on.
    """
    for i in range(len(start) - 1):
        a, b = start[i], start[i + 1]
        for t in range(a, b):
            p = t + row
            if p < a:
                d = left + (a - p - 1) if left >= 0 else -1
            elif p >= b:
                d = right + (p - b) if left >= 0 else -1
            else:
                d = np.int64(table[ids[p]])
            if d < 0 or keys[t] < 0:
                keys[t] = -1
            else:
                keys[t] = keys[t] * radix + d


@inlined
def slot_of(key, slots, direct, known):
    """Where the number of a key is in the slots, or would be."""
    if direct:
        return key
    mask = len(slots) - 1
    slot = key * _SPREAD
    slot = (slot ^ (slot >> 32)) & mask
    while slots[slot] >= 0 and known[slots[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def number(keys, begin, slots, direct, known, count, learn, out):
    """out[t] = number of keys[t], from token `begin` on; -1 if unknown.

    `known[:count]` are the keys by number and `slots` finds them: a table of numbers by
    key if `direct`, else open addressing in a power of two of slots. A new key gets the
    next number if `learn`; when `known` is full, it stops. Returns the token reached and
    the count.
    """
    for t in range(begin, len(keys)):
        key = keys[t]
        if key < 0:
            out[t] = -1
            continue
        slot = slot_of(key, slots, direct, known)
        k = slots[slot]
        if k < 0 and learn:
            if count == len(known):
                return t, count
            k = np.int32(count)
            slots[slot] = k
            known[count] = key
            count += 1
        out[t] = k
    return len(keys), count


@kernel
def place(known, count, slots, direct):
    """Put the keys known[:count] into empty slots; the first that is there twice, or -1."""
    for k in range(count):
        slot = slot_of(known[k], slots, direct, known)
        if slots[slot] >= 0:
            return k
        slots[slot] = k
    return -1


@kernel
def count_found(numbers, base, renumber, lo, hi, indptr):
    """indptr[t + 1] += the lines that have a feature at token t, for lo <= t < hi.

    Numbers are base[line] + numbers[line, t], -1 for none, and become renumber[number],
    unless `renumber` is empty.
    """
    for line in range(len(numbers)):
        for t in range(lo, hi):
            k = numbers[line, t]
            if k >= 0 and (len(renumber) == 0 or renumber[base[line] + k] >= 0):
                indptr[t + 1] += 1


@kernel
def gather(numbers, base, renumber, lo, hi, indptr, indices):
    """Put what `count_found` counted side by side, token by token.

    For a few tokens at a time line by line: 20 times as fast as for one token after the
    other, which would look into all lines at once.
    """
    to = np.empty(_TOKENS, np.int64)
    for first in range(lo, hi, _TOKENS):
        size = min(_TOKENS, hi - first)
        for i in range(size):
            to[i] = indptr[first + i]
        for line in range(len(numbers)):
            for i in range(size):
                k = np.int64(numbers[line, first + i])
                if k >= 0:
                    k += base[line]
                    if len(renumber) > 0:
                        k = np.int64(renumber[k])
                if k >= 0:
                    indices[to[i]] = k
                    to[i] += 1


@kernel
def append_block(indptr, indices, values, rows, vectors, base):
    """Give token t also the features base, base + 1, ... with values vectors[rows[t]]."""
    n, width = len(rows), vectors.shape[1]
    total = indptr[n]
    for t in range(n):
        if rows[t] >= 0:
            total += width
    new_indptr = np.zeros(n + 1, np.int64)
    new_indices = np.empty(total, np.int32)
    new_values = np.empty(total, np.float32)
    to = 0
    for t in range(n):
        for j in range(indptr[t], indptr[t + 1]):
            new_indices[to] = indices[j]
            new_values[to] = values[j]
            to += 1
        if rows[t] >= 0:
            for k in range(width):
                new_indices[to] = base + k
                new_values[to] = vectors[rows[t], k]
                to += 1
        new_indptr[t + 1] = to
    return new_indptr, new_indices, new_values


class Table:
    """Numbers for keys in 0 .. space - 1, in the order first seen."""

    def __init__(self, space: int, keys: np.ndarray | None = None):
        self.space = space
        self._direct = space <= _DIRECT
        self._known = np.empty(0, np.int64) if keys is None else keys
        self._count = len(self._known)
        self._slots = None

    def __len__(self):
        return self._count

    @property
    def keys(self) -> np.ndarray:
        """The keys by number."""
        return self._known[: self._count]

    def assign(self, keys, learn, out) -> None:
        """out = number of every key, or -1 for keys unknown."""
        if self._slots is None:
            self.build()
        reached = 0
        while True:
            reached, self._count = number(
                keys,
                reached,
                self._slots,
                self._direct,
                self._known,
                self._count,
                learn,
                out,
            )
            if reached == len(keys):
                return
            grown = np.empty(max(_FIRST_CAPACITY, 2 * self._count), np.int64)
            grown[: self._count] = self._known
            self._known = grown
            if not self._direct:
                self.build()

    def trim(self, keep: np.ndarray | None = None) -> None:
        """Forget the keys that are not to be kept, and the memory for more."""
        keys = self.keys if keep is None else self.keys[keep]
        self._known, self._count, self._slots = keys.copy(), len(keys), None

    def build(self) -> int:
        """Make the slots; the number of a key that is there twice, or -1."""
        size = self.space
        if not self._direct:
            size = _FIRST_CAPACITY
            while size < 2 * len(self._known):
                size *= 2
        self._slots = np.full(size, -1, np.int32)
        return place(self._known, self._count, self._slots, self._direct)


class Joined(NamedTuple):
    """Tables in one array, for kernels that look up keys of many."""

    slots: np.ndarray
    known: np.ndarray
    places: np.ndarray  # per table: slots from, to, whether direct, known from, to


def join(tables: list[Table]) -> Joined:
    """Put tables side by side; they become views, so that nothing is there twice."""
    for table in tables:
        if table._slots is None:
            table.build()
    slots = [table._slots for table in tables]
    known = [table.keys for table in tables]
    a = np.cumsum([0, *map(len, slots)])
    b = np.cumsum([0, *map(len, known)])
    direct = [table._direct for table in tables]
    places = np.stack([a[:-1], a[1:], direct, b[:-1], b[1:]], axis=1).astype(np.int64)
    joined = Joined(np.concatenate(slots), np.concatenate(known), places)
    for table, (first, last, _, k, m) in zip(tables, places.tolist(), strict=True):
        table._known, table._slots = joined.known[k:m], joined.slots[first:last]
    return joined


@kernel
def features_of_one(ids, table, parts, lines, slots, known, indices, indptr):
    """CSR arrays of the features of one sentence.

    What ``combine``, ``number`` and ``gather`` do for many sentences, line by line of the
    template, is done token by token. ``table`` has the value numbers of the words
    ``ids[column, t]``. A part is (row, column, place in the table, left and right as in
    ``combine``, radix), a line (parts from, to, first number of its features, and where
    its keys are: ``Joined.places``).
    """
    n = ids.shape[1]
    to = 0
    for t in range(n):
        for line in range(len(lines)):
            key = np.int64(0)
            for p in range(lines[line, 0], lines[line, 1]):
                place, left = t + parts[p, 0], parts[p, 3]
                if 0 <= place < n:
                    d = np.int64(table[ids[parts[p, 1], place], parts[p, 2]])
                elif left < 0:
                    d = np.int64(-1)
                elif place < 0:
                    d = left - 1 - place
                else:
                    d = parts[p, 4] + place - n
                if d < 0:
                    key = np.int64(-1)
                    break
                key = key * parts[p, 5] + d
            if key >= 0:
                own = slots[lines[line, 3] : lines[line, 4]]
                keys = known[lines[line, 6] : lines[line, 7]]
                k = own[slot_of(key, own, lines[line, 5] != 0, keys)]
                if k >= 0:
                    indices[to] = lines[line, 2] + k
                    to += 1
        indptr[t + 1] = to
