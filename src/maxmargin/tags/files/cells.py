"""The cells of a large text, found and numbered by compiled loops, in threads.

This module imports numba, so others import it inside functions. What it gives is what
splitting the text and numbering its cells in Python would give, in a tenth of the time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from maxmargin.core.kernel import kernel
from maxmargin.engine.threads import over_ranges

_FIRST_CAPACITY = 2**15
_PRIME = 1099511628211


@kernel
def find_cells(text, lo, hi, at, begins, ends):
    """Where the cells of text[lo:hi] begin and end; the first one is cell `at`.

    Spaces, tabs and line ends are between them, and around text[lo:hi].
    """
    inside = False
    for i in range(lo, hi):
        c = text[i]
        gap = c == 32 or c == 9 or c == 10
        if gap and inside:
            ends[at] = i
            at += 1
        elif not gap and not inside:
            begins[at] = i
        inside = not gap
    if inside:
        ends[at] = hi


@kernel
def number_cells(text, begins, ends, slots, first, ids):
    """ids[t] = number of cell t, in the order first seen; returns how many there are.

    `first` gets the first cell of every number and `slots` finds it: open addressing in a
    power of two of empty (-1) slots. Returns -1 if `first` is too short.
    """
    mask = len(slots) - 1
    count = 0
    for t in range(len(ids)):
        a, size = begins[t], ends[t] - begins[t]
        code = size
        for i in range(a, a + size):
            code = (code ^ np.int64(text[i])) * _PRIME
        slot = (code ^ (code >> 32)) & mask
        k = slots[slot]
        while k >= 0:
            b = begins[first[k]]
            if ends[first[k]] - b == size:
                i = 0
                while i < size and text[a + i] == text[b + i]:
                    i += 1
                if i == size:
                    break
            slot = (slot + 1) & mask
            k = slots[slot]
        if k < 0:
            if count == len(first):
                return -1
            k = np.int32(count)
            slots[slot] = k
            first[count] = t
            count += 1
        ids[t] = k
    return count


def numbered_columns(
    text: bytes, edges: np.ndarray, before: np.ndarray, width: int, kept, n_jobs: int
) -> list[tuple[np.ndarray, list[bytes]]]:
    """(numbers, distinct cells) of the columns that are kept, of `width` cells a token.

    `edges` cuts the text at line ends, `before` counts the tokens before every cut.
    """
    a, n = np.frombuffer(text, np.uint8), int(before[-1])
    begins, ends = np.empty((2, n * width), np.int64)

    def find(lo, hi):
        find_cells(a, edges[lo], edges[hi], before[lo] * width, begins, ends)

    over_ranges(find, edges, n_jobs)
    begins, ends = (each.reshape(n, width) for each in (begins, ends))

    def number(k):
        ids, first = _numbered(a, begins[:, k], ends[:, k])
        where = zip(begins[first, k].tolist(), ends[first, k].tolist(), strict=True)
        return ids, [text[b:e] for b, e in where]

    if n_jobs == 1:
        return list(map(number, kept))
    with ThreadPoolExecutor(min(n_jobs, len(kept))) as pool:
        return list(pool.map(number, kept))


def _numbered(text, begins, ends) -> tuple[np.ndarray, np.ndarray]:
    """(the number of every cell, the first cell of every number)."""
    ids, capacity = np.empty(len(begins), np.int32), _FIRST_CAPACITY
    while True:
        slots, first = np.full(2 * capacity, -1, np.int32), np.empty(capacity, np.int64)
        count = number_cells(text, begins, ends, slots, first, ids)
        if count >= 0:
            return ids, first[:count].copy()
        capacity *= 4
