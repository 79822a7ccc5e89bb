"""Filling in what is hidden: the true outputs of a batch, completed at one w.

Compiled batches complete example by example (``contract.complete``); a Python batch has
methods of these names. *Truths* are the completed true outputs of all examples: a copy of
``batch.y`` for a compiled batch, a list of (y, h) for a Python one.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import complete, extent, score, shape
from maxmargin.core.kernel import kernel, run
from maxmargin.engine.threads import over_ranges

CHUNK = 100  # examples whose random scores are drawn at once


def complete_all(batch, w, n_jobs: int = 1):
    """The best completions under w."""
    if not isinstance(batch, tuple):
        return batch.complete_all(w)
    truths, w = batch.y.copy(), np.ascontiguousarray(w)

    def part(lo, hi):
        run(complete_range, batch, lo, hi, w, truths)

    over_ranges(part, batch.start, n_jobs)
    return truths


def complete_randomly(batch, n_weights: int, rng):
    """Completions under random part scores: each is possible, none is preferred."""
    if not isinstance(batch, tuple):
        return batch.complete_all(rng.normal(size=n_weights), trusted=False)
    truths = batch.y.copy()
    n = len(batch.start) - 1
    used = np.zeros(n, np.int64)
    run(extents, batch, used)
    for lo in range(0, n, CHUNK):
        hi = min(lo + CHUNK, n)
        noise = rng.normal(size=used[lo:hi].sum())
        run(complete_noisily, batch, lo, hi, used, noise, truths)
    return truths


def with_truths(batch, truths):
    """The batch with these completions in place of the present ones."""
    if not isinstance(batch, tuple):
        batch.set_truths(truths)
        return batch
    if hasattr(batch, "completed"):  # more than y depends on the truths
        return batch.completed(truths)
    return batch._replace(y=truths)


def changed(batch, truths) -> int:
    """How many examples have other completions now."""
    if not isinstance(batch, tuple):
        return batch.count_changed(truths)
    slots = np.flatnonzero(batch.y != truths)
    return len(np.unique(np.searchsorted(batch.start, slots, side="right")))


@kernel
def complete_range(batch, lo, hi, w, truths):
    theta = np.empty(shape(batch))
    for i in range(lo, hi):
        if batch.start[i] < batch.start[i + 1]:
            score(batch, i, w, theta)
            complete(batch, i, theta, truths[batch.start[i] : batch.start[i + 1]])


@kernel
def extents(batch, used):
    for i in range(len(used)):
        used[i] = extent(batch, i)


@kernel
def complete_noisily(batch, lo, hi, used, noise, truths):
    theta = np.zeros(shape(batch))
    flat, at = theta.ravel(), 0
    for i in range(lo, hi):
        for k in range(used[i]):
            flat[k] = noise[at + k]
        at += used[i]
        if batch.start[i] < batch.start[i + 1]:
            complete(batch, i, theta, truths[batch.start[i] : batch.start[i + 1]])
