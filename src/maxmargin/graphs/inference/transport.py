"""The best table with given sums of rows and columns: a transport problem in whole units.

    maximise    sum of gain(x, z) * table(x, z)
    subject to  sums over z = rows[x],  sums over x = columns[z],  table >= 0 and whole

by shortest augmenting paths: rows send what they have, one after the other, to columns
with room, along the cheapest way, which may take back what others have sent. Potentials
keep the costs of all ways that are open at zero or more, so Dijkstra's search finds it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, inner


class Freight(NamedTuple):
    """Memory for problems of up to k rows and columns; only those in use are listed."""

    row: np.ndarray  # int64[k]: the states that have units
    column: np.ndarray
    room: np.ndarray  # int64[k]: what each column still takes
    cost: np.ndarray  # float64[k, k]: minus the gains
    flow: np.ndarray  # int64[k, k]
    up: np.ndarray  # float64[k]: potentials of rows
    down: np.ndarray  # and of columns
    far: np.ndarray  # float64[k]: the way to each column
    near: np.ndarray  # float64[k]: the way to each row in the tree, else inf
    via_row: np.ndarray  # int64[k]: where the way to a column comes from
    via_column: np.ndarray
    closed: np.ndarray  # bool[k]: columns whose way is final


@inner
def make_freight(k):
    return Freight(
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty((k, k)),
        np.empty((k, k), np.int64),
        np.empty(k),
        np.empty(k),
        np.empty(k),
        np.empty(k),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.bool_),
    )


@inlined
def in_use(units, first, k, places):
    count = 0
    for x in range(k):
        if units[first + x] > 0:
            places[count] = x
            count += 1
    return count


@inner
def transport(theta, table, mu, rows, k, columns, other, into, freight):
    """mu[into :] <- the best k x other table with sums mu[rows :] and mu[columns :].

    Returns its value, in units times gains: -inf where every table has impossible parts;
    then mu is not written.
    """
    f = freight
    m, n = in_use(mu, rows, k, f.row), in_use(mu, columns, other, f.column)
    for c in range(n):
        f.room[c], f.down[c] = mu[columns + f.column[c]], 0.0
    for r in range(m):
        least = np.inf
        for c in range(n):
            f.cost[r, c] = -theta[table + f.row[r] * other + f.column[c]]
            f.flow[r, c] = 0
            least = min(least, f.cost[r, c])
        f.up[r] = least
        if least == np.inf:
            return -np.inf
    for r in range(m):
        left = np.int64(mu[rows + f.row[r]])
        while left > 0:
            target = nearest(f, m, n, r)
            if target < 0:
                return -np.inf
            left -= augment(f, r, target, left)
    for j in range(k * other):
        mu[into + j] = 0
    value = 0.0
    for r in range(m):
        for c in range(n):
            if f.flow[r, c] > 0:
                value -= f.cost[r, c] * f.flow[r, c]
                mu[into + f.row[r] * other + f.column[c]] = f.flow[r, c]
    return value


@inner
def nearest(f, m, n, start):
    """The nearest column with room, or -1; the potentials move along."""
    for c in range(n):
        f.far[c], f.closed[c] = np.inf, False
    for r in range(m):
        f.near[r] = np.inf
    reach(f, n, start, 0.0)
    while True:
        best, way = -1, np.inf
        for c in range(n):
            if not f.closed[c] and f.far[c] < way:
                best, way = c, f.far[c]
        if best < 0:
            return best
        f.closed[best] = True
        if f.room[best] > 0:
            for r in range(m):
                if f.near[r] < np.inf:
                    f.up[r] += way - f.near[r]
            for c in range(n):
                if f.closed[c]:
                    f.down[c] -= way - f.far[c]
            return best
        for r in range(m):
            if f.flow[r, best] > 0 and f.near[r] == np.inf:
                f.via_column[r] = best
                reach(f, n, r, way)


@inlined
def reach(f, n, r, way):
    """Row r is in the tree: look at the columns beyond."""
    f.near[r] = way
    for c in range(n):
        beyond = way + max(
            f.cost[r, c] - f.up[r] - f.down[c], 0.0
        )  # not less by rounding
        if not f.closed[c] and beyond < f.far[c]:
            f.far[c], f.via_row[c] = beyond, r


@inlined
def augment(f, start, target, left):
    """Send as much as the way allows; returns it."""
    amount = min(left, f.room[target])
    c = target
    while f.via_row[c] != start:
        r = f.via_row[c]
        c = f.via_column[r]
        amount = min(amount, f.flow[r, c])
    f.room[target] -= amount
    c = target
    while True:
        r = f.via_row[c]
        f.flow[r, c] += amount
        if r == start:
            return amount
        c = f.via_column[r]
        f.flow[r, c] -= amount
