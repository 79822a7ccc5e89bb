"""Expected parts of every example of a batch, and where they lie in one flat array."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from maxmargin.core.contract import extent, score, shape, sums, sums_room
from maxmargin.core.kernel import inlined, kernel, run
from maxmargin.engine.threads import over_ranges


def expectations(batch, w, n_jobs: int = 1) -> tuple[list[np.ndarray], np.ndarray]:
    """(E[parts] under exp(score) / Z of each example, row by row, log Z of each)."""
    place = places(batch)
    flat, total = np.zeros(place[-1]), np.zeros(len(place) - 1)

    def part(lo, hi):
        run(expectations_range, batch, lo, hi, w, place, flat, total)

    over_ranges(part, batch.start, n_jobs)
    return [flat[a:b] for a, b in pairwise(place.tolist())], total


def places(batch) -> np.ndarray:
    """Where the parts of every example begin if all lie one after the other."""
    sizes = np.zeros(len(batch.start), np.int64)
    run(measure, batch, sizes[1:])
    return np.cumsum(sizes)


@kernel
def measure(batch, sizes):
    for i in range(len(sizes)):
        sizes[i] = extent(batch, i)


@kernel
def working_memory(batch):
    """(theta, mu, work): what sums() needs."""
    rows, columns = shape(batch)
    theta, mu = np.zeros((rows, columns)), np.zeros((rows, columns))
    return theta, mu, np.zeros(sums_room(batch))


@kernel
def expectations_range(batch, lo, hi, w, place, flat, total):
    theta, mu, work = working_memory(batch)
    for i in range(lo, hi):
        if batch.start[i] == batch.start[i + 1]:
            continue
        score(batch, i, w, theta)
        total[i] = sums(batch, i, theta, mu, work)
        copy_into(flat[place[i] : place[i + 1]], mu.ravel())


@inlined
def copy_into(target, source):
    for k in range(len(target)):
        target[k] = source[k]
