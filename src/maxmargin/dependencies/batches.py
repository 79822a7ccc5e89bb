"""Batches of sentences: projective trees, or any trees with one root."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known
from maxmargin.dependencies import spreading
from maxmargin.dependencies.arborescence import best_arborescence
from maxmargin.dependencies.arcs import n_parts, n_words, of_arcs
from maxmargin.dependencies.eisner import best_projective
from maxmargin.dependencies.features import Sentences
from maxmargin.dependencies.inside_outside import projective_sums
from maxmargin.dependencies.matrix_tree import tree_sums
from maxmargin.dependencies.within import (
    best_arcs,
    clamp_known,
    expect_labels,
    sum_arcs,
    with_costs,
    write_codes,
)

CUTS = cut_by(start="example", y="start", sentences="example")


@of_arcs
class ProjectiveBatch(NamedTuple):
    """Trees in which no arcs cross."""

    cuts = CUTS

    start: np.ndarray
    y: np.ndarray  # head * n_labels + label
    sentences: Sentences
    n_labels: int  # 1: none
    arc_rows: int  # rows of arc features, a power of two
    label_rows: int
    width: int  # of a row of label features


@of_arcs
class TreeBatch(NamedTuple):
    """All trees with one root."""

    cuts = CUTS

    start: np.ndarray
    y: np.ndarray
    sentences: Sentences
    n_labels: int
    arc_rows: int
    label_rows: int
    width: int


PartialProjectiveBatch = of_arcs(with_known(ProjectiveBatch))
PartialTreeBatch = of_arcs(with_known(TreeBatch))


# search ---------------------------------------------------------------------------------


@implements(contract.argmax, ProjectiveBatch)
def argmax_projective(batch, i, theta, scale, y):
    if n_words(batch, i) == 0:
        return
    costed = with_costs(batch, i, theta, scale)
    heads = np.zeros(n_words(batch, i) + 1, np.int64)
    best_projective(best_arcs(batch, i, theta, costed), heads)
    write_codes(batch, i, theta, costed, heads, y)


@implements(contract.argmax, TreeBatch)
def argmax_tree(batch, i, theta, scale, y):
    if n_words(batch, i) == 0:
        return
    costed = with_costs(batch, i, theta, scale)
    heads = np.zeros(n_words(batch, i) + 1, np.int64)
    best_arborescence(best_arcs(batch, i, theta, costed), heads)
    write_codes(batch, i, theta, costed, heads, y)


# sums -----------------------------------------------------------------------------------


@implements(contract.sums, ProjectiveBatch)
def sums_projective(batch, i, theta, mu, work):
    arcs = sum_arcs(batch, i, theta, work)
    chances = np.empty(arcs.shape)
    total = projective_sums(arcs, chances)
    expect_labels(batch, i, theta, work, chances, mu)
    return total


@implements(contract.sums, TreeBatch)
def sums_tree(batch, i, theta, mu, work):
    arcs = sum_arcs(batch, i, theta, work)
    chances = np.empty(arcs.shape)
    total = tree_sums(arcs, chances)
    expect_labels(batch, i, theta, work, chances, mu)
    return total


def sums_room(batch):
    most = 1
    for i in range(len(batch.start) - 1):
        most = max(most, n_parts(batch, i))
    return most


def clamp(batch, i, theta):
    return clamp_known(batch, i, theta)


for _class in (ProjectiveBatch, TreeBatch):
    implements(contract.sums_room, _class)(sums_room)
    implements(contract.parts, _class)(spreading.parts)
    implements(contract.spread, _class)(spreading.spread)
for _class in (PartialProjectiveBatch, PartialTreeBatch):
    implements(contract.clamp, _class)(clamp)


# what a file may hold -------------------------------------------------------------------


@implements(contract.possible, TreeBatch)
def possible_tree(batch, i, y):
    return is_tree(batch, i, y)


@implements(contract.possible, ProjectiveBatch)
def possible_projective(batch, i, y):
    if not is_tree(batch, i, y):
        return False
    n = n_words(batch, i)
    for m in range(1, n + 1):
        for other in range(1, n + 1):
            if crosses(
                y[m - 1] // batch.n_labels, m, y[other - 1] // batch.n_labels, other
            ):
                return False
    return True


@inlined
def is_tree(batch, i, y):
    """One root, and every way up ends there."""
    n, labels, roots = n_words(batch, i), batch.n_labels, 0
    for t in range(n):
        h = y[t] // labels
        if y[t] < 0 or h > n or h == t + 1:
            return False
        roots += h == 0
    for t in range(n):
        at, steps = t + 1, 0
        while at != 0 and steps <= n:
            at, steps = y[at - 1] // labels, steps + 1
        if at != 0:
            return False
    return roots == 1


@inlined
def crosses(h, m, g, k):
    """Whether the second arc begins within the first and ends outside; the root is 0."""
    a, b = min(h, m), max(h, m)
    c, d = min(g, k), max(g, k)
    return a < c < b < d
