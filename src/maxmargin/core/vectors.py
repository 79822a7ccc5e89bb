"""Vectors as long as w, and vectors listed as (index, values): sums, norms, averages.

In compiled code, float(x) is x where x is of single precision: np.float64(x) widens it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.atomic_add import atomic_add
from maxmargin.core.kernel import inlined, kernel


class Buffers(NamedTuple):
    """Memory of one worker, allocated once."""

    theta: np.ndarray
    y: np.ndarray
    index: np.ndarray
    values: np.ndarray
    keys: np.ndarray  # for squared_norm()
    sums: np.ndarray
    pages: np.ndarray = np.zeros(0, np.uint8)  # of w, to mark (``mirrors.py``)


EVERYWHERE = np.zeros(0, np.int32)  # for kernels: in place of an index, all of a vector
SPARSE = 1 / 3  # share of entries that are not zero up to which they are listed


class Listed(NamedTuple):
    """A vector as long as w: entries that are not zero, or (no index) all of them."""

    index: np.ndarray | None
    values: np.ndarray

    @classmethod
    def of(cls, vector: np.ndarray) -> Listed:
        if np.count_nonzero(vector) > SPARSE * len(vector):
            return cls(None, vector)
        index = np.flatnonzero(vector)
        return cls(index.astype(np.int32), vector[index])

    @property
    def places(self) -> np.ndarray:
        """The index as kernels want it."""
        return EVERYWHERE if self.index is None else self.index

    def dot(self, dense: np.ndarray) -> float:
        """The product with a vector, in double precision."""
        return product(dense, self.places, self.values)

    def add_to(self, dense: np.ndarray, share: float = 1.0) -> None:
        add_share(dense, self.places, self.values, dense.dtype.type(share))


@inlined
def squared_norm(index, values, m, keys, sums):
    """|v|^2 of a listed vector whose indices may repeat.

    Repeated indices are added up in place where w is short (no keys), else in a small
    hash table (keys are -1 where free, and left so), which stays in the cache where an
    array as long as w would not. A quarter full at most, so that hardly any two collide.
    """
    total = 0.0
    if len(keys) == 0:
        for j in range(m):
            sums[index[j]] += np.float64(values[j])
        for j in range(m):
            total += np.float64(values[j]) * sums[index[j]]
        for j in range(m):
            sums[index[j]] = 0.0
        return total
    mask = 15
    while mask < 4 * m:
        mask = 2 * mask + 1
    for j in range(m):
        key = index[j]
        h = (key * 0x9E3779B1 >> 7) & mask
        while keys[h] != key and keys[h] >= 0:
            h = (h + 1) & mask
        x = np.float64(values[j])
        if keys[h] < 0:
            keys[h] = key
            sums[h] = 0.0
        # (s + x)^2 - s^2
        total += x * (2.0 * sums[h] + x)
        sums[h] += x
    for h in range(mask + 1):
        keys[h] = -1
    return total


@inlined
def add_listed(w, step, index, values, m):
    s = w.dtype.type(step)
    for j in range(m):
        atomic_add(w, index[j], s * values[j])


@kernel
def product(dense, index, values):
    """dense[index] . values in double precision; without an index, of all of both.

    In eight lanes, so that long ones take as long as reading them.
    """
    lanes = np.zeros(8)
    whole = len(values) // 8 * 8
    listed = len(index) > 0
    if listed:
        for j in range(0, whole, 8):
            for k in range(8):
                lanes[k] += np.float64(dense[index[j + k]]) * np.float64(values[j + k])
    else:
        for j in range(0, whole, 8):
            for k in range(8):
                lanes[k] += np.float64(dense[j + k]) * np.float64(values[j + k])
    total = 0.0
    for k in range(8):
        total += lanes[k]
    for j in range(whole, len(values)):
        total += np.float64(dense[index[j] if listed else j]) * np.float64(values[j])
    return total


@kernel
def add_share(dense, index, values, share):
    """dense[index] += share * values; without an index, to all of it."""
    if len(index) == 0:
        for j in range(len(values)):
            dense[j] += share * values[j]
        return
    for j in range(len(index)):
        dense[index[j]] += share * values[j]


@kernel
def sum_of_squares(w):
    """|w|^2 in double precision, in eight lanes so that it runs at memory speed."""
    lanes = np.zeros(8)
    n = len(w) // 8 * 8
    for j in range(0, n, 8):
        for k in range(8):
            x = np.float64(w[j + k])
            lanes[k] += x * x
    total = 0.0
    for k in range(8):
        total += lanes[k]
    for j in range(n, len(w)):
        total += np.float64(w[j]) * np.float64(w[j])
    return total


@kernel
def blend_into(average, w, weight):
    """average += weight * (w - average); returns |w|^2, for which w is read anyway."""
    lanes = np.zeros(8)
    a = average.dtype.type(weight)
    whole = len(w) // 8 * 8
    for j in range(0, whole, 8):
        for k in range(8):
            x = w[j + k]
            average[j + k] += a * (x - average[j + k])
            lanes[k] += np.float64(x) * np.float64(x)
    total = 0.0
    for k in range(8):
        total += lanes[k]
    for j in range(whole, len(w)):
        average[j] += a * (w[j] - average[j])
        total += np.float64(w[j]) * np.float64(w[j])
    return total
