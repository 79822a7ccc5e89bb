"""Expected parts of every example of a batch, and where they lie in one flat array."""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import extent, score, shape, sums, sums_room
from maxmargin.core.kernel import kernel, run
from maxmargin.engine.threads import over_ranges


def expectations(batch, w, n_jobs: int = 1) -> tuple[list[np.ndarray], np.ndarray]:
    """(E[parts] under exp(score) / Z as a table per example, log Z of each)."""
    place, columns = places(batch)
    flat, total = np.zeros(place[-1]), np.zeros(len(columns))

    def part(lo, hi):
        run(expectations_range, batch, lo, hi, w, place, flat, total)

    over_ranges(part, batch.start, n_jobs)
    tables = [
        flat[place[i] : place[i + 1]].reshape(-1, max(width, 1))
        for i, width in enumerate(columns.tolist())
    ]
    return tables, total


def places(batch) -> tuple[np.ndarray, np.ndarray]:
    """(where the parts of every example begin if all lie one after the other, columns)."""
    n = len(batch.start) - 1
    sizes, columns = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
    run(measure, batch, sizes[1:], columns)
    return np.cumsum(sizes), columns


@kernel
def measure(batch, sizes, columns):
    for i in range(len(sizes)):
        rows, columns[i] = extent(batch, i)
        sizes[i] = rows * columns[i]


@kernel
def working_memory(batch, like):
    """(theta in the type of ``like``, mu, work): what sums() needs."""
    rows, columns = shape(batch)
    theta = np.zeros((rows, columns), like.dtype)
    return theta, np.zeros((rows, columns)), np.zeros(sums_room(batch))


@kernel
def expectations_range(batch, lo, hi, w, place, flat, total):
    theta, mu, work = working_memory(batch, w)
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1]:
            continue
        score(batch, i, w, theta)
        total[i] = sums(batch, i, theta, mu, work)
        keep(batch, i, mu, place, flat)


@kernel
def keep(batch, i, mu, place, flat):
    """Write the extent of a table to its place."""
    rows, columns = extent(batch, i)
    at = place[i]
    for row in range(rows):
        source, target = mu[row], flat[at + row * columns :]
        for k in range(columns):
            target[k] = source[k]
