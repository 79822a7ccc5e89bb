"""Counting keys in bounded memory: a table that is spilled to sorted runs on disk.

Keys are numbered as they come, in a hash table. When that is full, its keys go to disk
in order, with their counts and the places at which they were first seen; the runs are
merged at the end, a range of keys at a time. What is kept has the order in which it was
first seen, as if all of it had been in memory.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from maxmargin.core.vectors import tally
from maxmargin.tags.features.kernels import Table

TABLE_KEYS = 1 << 22  # of a table in memory: about 150 MB


class Run(NamedTuple):
    """Keys in rising order, how often each was seen, and when first."""

    keys: np.ndarray
    counts: np.ndarray
    first: np.ndarray


class KeyCounter:
    """Counts of keys in 0 .. space - 1; `folder` is for what does not fit."""

    def __init__(self, space: int, folder: str, limit: int = TABLE_KEYS):
        self._make = lambda: Table(space)
        self._folder, self._limit = folder, limit
        self._table, self._counts = self._make(), np.zeros(0, np.int64)
        self._runs: list[str] = []
        self._seen = 0  # keys in earlier runs

    def add(self, keys: np.ndarray) -> None:
        """Count these keys; negative ones are none."""
        out = np.empty(len(keys), np.int32)
        self._table.assign(keys, True, out)
        if len(self._table) > len(self._counts):
            grown = np.zeros(max(2 * len(self._counts), len(self._table)), np.int64)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        tally(out, self._counts)
        if len(self._table) > self._limit:
            self._spill()

    def finish(self, min_count: int) -> np.ndarray:
        """The keys seen at least so often, in the order first seen."""
        if not self._runs:
            keys = self._table.keys
            return keys[self._counts[: len(keys)] >= min_count].copy()
        self._spill()
        self._table = None
        runs = [np.load(name, mmap_mode="r") for name in self._runs]
        kept = list(merged([Run(*run) for run in runs], min_count, self._limit))
        keys, first = (np.concatenate(each) for each in zip(*kept, strict=True))
        del runs
        for name in self._runs:
            os.unlink(name)
        return keys[np.argsort(first, kind="stable")]

    def _spill(self) -> None:
        keys = self._table.keys
        order = np.argsort(keys)
        name = os.path.join(self._folder, f"run{len(self._runs)}.npy")
        counts = self._counts[: len(keys)]
        np.save(name, np.stack([keys[order], counts[order], order + self._seen]))
        self._runs.append(name)
        self._seen += len(keys)
        self._table, self._counts = self._make(), np.zeros(0, np.int64)


def merged(runs: list[Run], min_count: int, limit: int):
    """(keys, when first seen) of runs, in ranges of keys with about `limit` entries.

    A key is in many runs at most once each, so a range has at most as many entries of
    one key as there are runs.
    """
    total = sum(len(run.keys) for run in runs)
    step = max(1, limit // (8 * len(runs)))
    samples = np.sort(np.concatenate([run.keys[::step] for run in runs]))
    parts = -(-total // limit)
    pivots = np.unique(samples[len(samples) * np.arange(1, parts) // parts])
    edges = [np.searchsorted(run.keys, pivots) for run in runs]
    edges = [
        np.concatenate([[0], e, [len(run.keys)]])
        for e, run in zip(edges, runs, strict=True)
    ]
    for k in range(len(pivots) + 1):
        keys, counts, first = (
            np.concatenate(
                [a[e[k] : e[k + 1]] for a, e in zip(column, edges, strict=True)]
            )
            for column in zip(*runs, strict=True)
        )
        if not len(keys):
            continue
        # a stable sort: of equal keys, that of the earliest run comes first
        order = np.argsort(keys, kind="stable")
        keys, counts, first = keys[order], counts[order], first[order]
        heads = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        keep = heads[np.add.reduceat(counts, heads) >= min_count]
        yield keys[keep], first[keep]
