"""Bipartite matchings of two word sequences: Psi(x, y) adds up the features of its links.

    score(y) = sum_(i, j) in y  w . x_ij

Source word i takes part in at most ``source_most`` links, target word j in at most
``target_most`` (their fertility). The loss is linear in links, too:

    loss(y) = cost_extra * |y outside possible| + cost_missing * |sure outside y|

so that loss augmentation only edits scores, and one search serves all uses: see
``assignment.py``. (Taskar, Lacoste-Julien & Klein 2005, with fertility as in
Lacoste-Julien, Taskar, Klein & Jordan 2006, but as a hard bound.)

A labelling has ``source_most`` slots per source word. They hold its target words, counted
from 1 and in order, and then zeros.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import partly_known, with_known
from maxmargin.matchings.assignment import best_links

EXTRA, POSSIBLE, SURE = 0, 1, 2  # kinds of links


class MatchingBatch(NamedTuple):
    """Sentence pairs; the cells (i, j) of each lie row by row, source word first."""

    cuts = cut_by(
        start="example",
        y="start",
        cells="example",
        x="cells",
        kind="cells",
        n_sure="example",
        n_target="example",
    )

    start: np.ndarray  # int64: slots, source_most per source word
    y: np.ndarray
    cells: np.ndarray  # int64: example i owns the cells cells[i] .. cells[i + 1]
    x: np.ndarray  # (cells, features)
    kind: np.ndarray  # int8 per cell: EXTRA, POSSIBLE or SURE
    n_sure: np.ndarray  # SURE cells of each example
    n_target: np.ndarray  # words
    source_most: int
    target_most: int
    cost_extra: float
    cost_missing: float
    longest_source: int
    longest_target: int


def completed(batch, y):
    """The batch with other truths: links that were not known are sure now."""
    slots = np.flatnonzero(y)
    links = first_cells(batch)[slots // batch.source_most] + y[slots] - 1
    kind = batch.kind.copy()
    kind[batch.unknown] = EXTRA
    kind[links[batch.unknown[links]]] = SURE
    return batch._replace(y=y, kind=kind, n_sure=count_sure(kind, batch.cells))


def first_cells(batch) -> np.ndarray:
    """The first cell of every source word of all examples."""
    rows = np.repeat(batch.n_target, np.diff(batch.start) // batch.source_most)
    return np.cumsum(rows) - rows


def count_sure(kind, cells) -> np.ndarray:
    """SURE cells of each example."""
    sure = np.concatenate([[0], np.cumsum(kind == SURE)])
    return sure[cells[1:]] - sure[cells[:-1]]


PartialMatchingBatch = with_known(MatchingBatch, completed, also={"unknown": "cells"})


def partly_linked(batch: MatchingBatch, unknown) -> PartialMatchingBatch:
    """The batch; whether there is a link is not known of the cells ``unknown``."""
    sure = np.logical_and.reduceat(~unknown, first_cells(batch))
    return partly_known(batch, np.repeat(sure, batch.source_most), unknown=unknown)


def make_batch(tables, kinds, links, source_most, target_most, costs):
    """Encode examples.

    Parameters
    ----------
    tables : list of arrays (source words, target words, features)
    kinds : list of int8 arrays (source words, target words), or None for prediction
    links : list of sorted lists of pairs (i, j), the true matchings, or None
    costs : (cost_extra, cost_missing)
    """
    sizes = np.array([t.shape[:2] for t in tables], np.int64).reshape(-1, 2)
    d = tables[0].shape[2] if len(tables) else 0
    longest_source, longest_target = sizes.max(axis=0, initial=1).tolist()
    source_most = min(source_most, longest_target)
    cells = np.concatenate([[0], np.cumsum(sizes.prod(axis=1))])
    start = np.concatenate([[0], np.cumsum(sizes[:, 0] * source_most)])
    x = np.empty((cells[-1], d))
    for i, table in enumerate(tables):
        x[cells[i] : cells[i + 1]] = table.reshape(-1, d)
    kind = np.zeros(cells[-1], np.int8)
    if kinds is not None:
        kind[:] = np.concatenate([k.ravel() for k in kinds])
    y = np.zeros(start[-1], np.int32)
    for i, pairs in enumerate(links or ()):
        y[start[i] : start[i + 1]] = to_labelling(pairs, sizes[i, 0], source_most)
    return MatchingBatch(
        start=start,
        y=y,
        cells=cells,
        x=x,
        kind=kind,
        n_sure=count_sure(kind, cells),
        n_target=sizes[:, 1].copy(),
        source_most=source_most,
        target_most=min(target_most, longest_source),
        cost_extra=float(costs[0]),
        cost_missing=float(costs[1]),
        longest_source=longest_source,
        longest_target=longest_target,
    )


def to_labelling(links, n_source: int, source_most: int) -> np.ndarray:
    """Sorted pairs (i, j) as a labelling."""
    y = np.zeros((n_source, source_most), np.int32)
    used = np.zeros(n_source, np.int64)
    for i, j in links:
        y[i, used[i]] = j + 1
        used[i] += 1
    return y.ravel()


def to_links(labelling, source_most: int) -> list[tuple[int, int]]:
    """A labelling as sorted pairs (i, j)."""
    at = np.flatnonzero(labelling)
    rows = (at // source_most).tolist()
    return list(zip(rows, (labelling[at] - 1).tolist(), strict=True))


@implements(contract.shape, MatchingBatch)
def shape(batch):
    return batch.longest_source, batch.longest_target


@implements(contract.capacity, MatchingBatch)
def capacity(batch):
    return batch.x.shape[1]


@inlined
def size(batch, i):
    """Words of both sides."""
    m = batch.n_target[i]
    return (batch.cells[i + 1] - batch.cells[i]) // m, m


@implements(contract.score, MatchingBatch)
def score(batch, i, w, theta):
    n, m = size(batch, i)
    scores = np.dot(batch.x[batch.cells[i] : batch.cells[i + 1]], w)
    for s in range(n):
        for t in range(m):
            theta[s, t] = scores[s * m + t]


@implements(contract.clamp, PartialMatchingBatch)
def clamp(batch, i, theta):
    n, m = size(batch, i)
    bonus = 1.0
    for s in range(n):
        for t in range(m):
            bonus += 2.0 * abs(float(theta[s, t]))
    total = 0.0
    for s in range(n):
        cell, slot = batch.cells[i] + s * m, batch.start[i] + s * batch.source_most
        for t in range(m):
            if not batch.unknown[cell + t]:
                theta[s, t] = -np.inf
        for k in range(slot, slot + batch.source_most):
            t = batch.y[k] - 1
            if t >= 0 and not batch.unknown[cell + t]:
                theta[s, t] = bonus  # its score is the same for all
                total += bonus
    return total


@implements(contract.argmax, MatchingBatch)
def argmax(batch, i, theta, scale, y):
    n, m = size(batch, i)
    weight = np.empty((n, m))
    for s in range(n):
        for t in range(m):
            weight[s, t] = theta[s, t]
            if scale != 0.0:
                kind = batch.kind[batch.cells[i] + s * m + t]
                if kind == EXTRA:
                    weight[s, t] += scale * batch.cost_extra
                elif kind == SURE:
                    weight[s, t] -= scale * batch.cost_missing
    taken = np.empty((n, m), np.bool_)
    best_links(
        weight,
        np.full(n, batch.source_most, np.int64),
        np.full(m, batch.target_most, np.int64),
        taken,
    )
    for s in range(n):
        slot = s * batch.source_most
        for t in range(m):
            if taken[s, t]:
                y[slot] = t + 1
                slot += 1
        y[slot : (s + 1) * batch.source_most] = 0


@implements(contract.extent, MatchingBatch)
def extent(batch, i):
    return size(batch, i)[0] * batch.longest_target


@implements(contract.parts, MatchingBatch)
def parts(batch, i, y, coefficient, mu):
    for slot in range(batch.start[i + 1] - batch.start[i]):
        if y[slot] > 0:
            mu[slot // batch.source_most, y[slot] - 1] += coefficient


@implements(contract.value, MatchingBatch)
def value(batch, i, theta, y):
    total = 0.0
    for slot in range(batch.start[i + 1] - batch.start[i]):
        if y[slot] > 0:
            total += theta[slot // batch.source_most, y[slot] - 1]
    return total


@implements(contract.possible, MatchingBatch)
def possible(batch, i, y):
    """Target words in order and then zeros, none of them in too many links."""
    used = np.zeros(batch.n_target[i] + 1, np.int64)
    for t in range(batch.start[i + 1] - batch.start[i]):
        if not 0 <= y[t] <= batch.n_target[i]:
            return False
        later = t % batch.source_most > 0 and y[t] > 0
        if later and (y[t - 1] == 0 or y[t - 1] >= y[t]):
            return False
        used[y[t]] += 1
        if y[t] > 0 and used[y[t]] > batch.target_most:
            return False
    return True


@implements(contract.loss, MatchingBatch)
def loss(batch, i, y):
    m = batch.n_target[i]
    extra, missing = 0, batch.n_sure[i]
    for slot in range(batch.start[i + 1] - batch.start[i]):
        if y[slot] > 0:
            cell = batch.cells[i] + slot // batch.source_most * m + y[slot] - 1
            extra += batch.kind[cell] == EXTRA
            missing -= batch.kind[cell] == SURE
    return batch.cost_extra * extra + batch.cost_missing * missing


@implements(contract.least_loss, MatchingBatch)
def least_loss(batch):
    if batch.cost_extra == 0.0:
        return batch.cost_missing
    if batch.cost_missing == 0.0:
        return batch.cost_extra
    return min(batch.cost_extra, batch.cost_missing)


@inlined
def add_features(batch, i, y, coefficient, values):
    """values += coefficient * Psi(x_i, y)."""
    if coefficient == 0.0:
        return
    m = batch.n_target[i]
    for slot in range(batch.start[i + 1] - batch.start[i]):
        if y[slot] > 0:
            x = batch.x[batch.cells[i] + slot // batch.source_most * m + y[slot] - 1]
            for k in range(len(x)):
                values[k] += coefficient * x[k]


@implements(contract.emit, MatchingBatch)
def emit(batch, i, y, coefficient, index, values, m):
    d = batch.x.shape[1]
    for k in range(d):
        index[m + k] = k
        values[m + k] = 0.0
    add_features(batch, i, y, coefficient, values[m : m + d])
    return m + d


@implements(contract.difference, MatchingBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    d = batch.x.shape[1]
    for k in range(d):
        index[k] = k
        values[k] = 0.0
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    add_features(batch, i, truth, rs - ra, values)
    add_features(batch, i, s, -rs, values)
    add_features(batch, i, a, ra, values)
    return d
