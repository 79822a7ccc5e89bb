"""Weights in memory: vectors as long as w, or listed as (index, values), and rows.

A row of w has one number per label, and lies in one piece; features that occur often have
neighbouring rows. What is copied is copied in loops, for a slice assignment takes numba
seconds to compile.

In compiled code, float(x) is x where x is of single precision: np.float64(x) widens it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.compile.atomics import atomic_add
from maxmargin.core.kernel import inlined, kernel
from maxmargin.core.tables.arrays import check_columns, writable
from maxmargin.engine.threads import Team, over_vector


class Buffers(NamedTuple):
    """Memory of one worker, allocated once."""

    theta: np.ndarray
    y: np.ndarray
    index: np.ndarray
    values: np.ndarray
    keys: np.ndarray  # for squared_norm()
    sums: np.ndarray


SPARSE = 1 / 3  # share of entries that are not zero up to which they are listed


class SparseVector(NamedTuple):
    """A vector as long as w: entries that are not zero, or (no index) all of them."""

    index: np.ndarray | None
    values: np.ndarray

    @classmethod
    def of(cls, vector: np.ndarray) -> SparseVector:
        return cls.difference(vector, np.zeros(1, vector.dtype))

    @classmethod
    def difference(cls, new: np.ndarray, old: np.ndarray) -> SparseVector:
        """new - old, where old is as long as new, or one number."""
        most = int(SPARSE * len(new))
        index, values = np.empty(most, np.int32), np.empty(most, new.dtype)
        count = list_changes(new, old, index, values)
        if count < 0:
            return cls(None, new - old)
        return cls(index[:count].copy(), values[:count].copy())

    def dense(self, length: int) -> np.ndarray:
        """All entries, of which there are so many."""
        if self.index is None:
            return self.values
        vector = np.zeros(length, self.values.dtype)
        vector[self.index] = self.values
        return vector

    def along(self, dense: np.ndarray) -> float:
        """The product with a vector, in double precision."""
        there = dense if self.index is None else dense[self.index]
        return float(there.astype(np.float64) @ self.values.astype(np.float64))

    def times(self, other: SparseVector) -> float:
        """The product of both, in double precision."""
        if self.index is None:
            return other.along(self.values)
        if other.index is None:
            return self.along(other.values)
        return common_product(*map(writable, (*self, *other)))

    def add_to(self, dense: np.ndarray, share: float = 1.0) -> None:
        where = slice(None) if self.index is None else self.index
        dense[where] += dense.dtype.type(share) * self.values

    def plus(self, share: float, other: SparseVector, theirs: float) -> SparseVector:
        """A share of it and a share of another."""
        if self.index is None or other.index is None:
            total = np.zeros(max(len(self.values), len(other.values)))
            total = total.astype(self.values.dtype)
            self.add_to(total, share)
            other.add_to(total, theirs)
            return SparseVector(None, total)
        most = len(self.index) + len(other.index)
        index, values = np.empty(most, np.int32), np.empty(most, self.values.dtype)
        both = map(writable, (*self, *other))
        count = merge_lists(*both, float(share), float(theirs), index, values)
        return SparseVector(index[:count], values[:count])


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
def list_changes(new, old, index, values):
    """new - old where that is not zero; returns how many, -1 if there is no room."""
    count, single = 0, len(old) == 1
    for j in range(len(new)):
        x = new[j] - old[0 if single else j]
        if x != 0:
            if count == len(index):
                return -1
            index[count] = j
            values[count] = x
            count += 1
    return count


@kernel
def common_product(index, values, others, their_values):
    """The product of two listed vectors, whose indices rise."""
    total, k = 0.0, 0
    for j in range(len(index)):
        while k < len(others) and others[k] < index[j]:
            k += 1
        if k < len(others) and others[k] == index[j]:
            total += np.float64(values[j]) * np.float64(their_values[k])
    return total


@kernel
def merge_lists(index, values, others, their_values, share, theirs, to, sums):
    """The sum of shares of two such vectors; returns how many entries it has."""
    j = k = count = 0
    s, t = values.dtype.type(share), values.dtype.type(theirs)
    while j < len(index) or k < len(others):
        if k == len(others) or (j < len(index) and index[j] < others[k]):
            to[count] = index[j]
            sums[count] = s * values[j]
            j += 1
        elif j == len(index) or others[k] < index[j]:
            to[count] = others[k]
            sums[count] = t * their_values[k]
            k += 1
        else:
            to[count] = index[j]
            sums[count] = s * values[j] + t * their_values[k]
            j, k = j + 1, k + 1
        count += 1
    return count


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


# rows: how weights lie in memory ------------------------------------------------------


LARGE_TABLE = 1 << 18  # weights: about what the second level of cache holds


def padded_width(n_labels: int) -> int:
    """Row width for ``n_labels`` labels: whole SIMD registers once there are many.

    Measured on CoNLL-2000 (22 labels): rows of 24 are scored in 28 ms a pass, rows of
    22 in 42 ms.
    """
    return n_labels if n_labels < 6 else -(-n_labels // 8) * 8


def by_frequency(tokens, n_labels: int, n_jobs: int = 1):
    """(tokens with features renumbered from frequent to rare, old number of each).

    Rows of w that are used often then lie together and stay in the processor's cache
    (CoNLL-2000: 7% off the time of training). Small tables stay as they are: (tokens,
    None).
    """
    n_weights = tokens.n_features * padded_width(n_labels)
    if n_weights < LARGE_TABLE:
        return tokens, None
    check_columns(tokens.indices, tokens.n_features, n_weights)
    counts = np.zeros(tokens.n_features, np.int64)
    tally(tokens.indices, counts)
    order, number = frequency_order(counts)
    indices = np.empty_like(tokens.indices)
    team = Team(n_jobs)
    with team.at_work():
        over_vector(
            team,
            lambda _, a: look_up(number, tokens.indices[a], indices[a]),
            len(indices),
        )
    return tokens._replace(indices=indices), order


def frequency_order(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(features from frequent to rare, place of each feature there)."""
    order = np.argsort(-counts, kind="stable")
    number = np.empty(len(counts), np.int32)
    number[order] = np.arange(len(counts), dtype=np.int32)
    return order, number


@kernel
def tally(numbers, counts):
    """Count how often every number occurs; negative ones are none."""
    for k in numbers:
        if k >= 0:
            counts[k] += 1


@kernel
def look_up(table, places, values):
    """values <- table[places]"""
    for j in range(len(places)):
        values[j] = table[places[j]]


@inlined
def copy_into(target, at, source, size):
    """target[at : at + size] <- source[:size]"""
    for k in range(size):
        target[at + k] = source[k]


@inlined
def add_rows(indices, values, first, last, rows, row):
    """row <- sum_j values[j] * rows[indices[j]]: the scores of all labels of one item.

    In double precision, four features at a time, so that the sums stay in registers.
    """
    for k in range(len(row)):
        row[k] = 0
    whole = first + (last - first) // 4 * 4
    for j in range(first, whole, 4):
        a, b = np.float64(values[j]), np.float64(values[j + 1])
        c, d = np.float64(values[j + 2]), np.float64(values[j + 3])
        ra, rb = rows[indices[j]], rows[indices[j + 1]]
        rc, rd = rows[indices[j + 2]], rows[indices[j + 3]]
        for k in range(len(row)):
            row[k] += (a * ra[k] + b * rb[k]) + (c * rc[k] + d * rd[k])
    for j in range(whole, last):
        a = np.float64(values[j])
        ra = rows[indices[j]]
        for k in range(len(row)):
            row[k] += a * ra[k]
