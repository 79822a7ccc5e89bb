"""The k best trees with labels, exactly, whatever trees there are (Lawler 1972).

The second best output differs from the best in some first word. For every word t, one
search finds the best output that agrees with the best before t and not in t; the best of
all these is next, and its share of the outputs is divided in the same way.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.contract import score, shape
from maxmargin.core.kernel import kernel
from maxmargin.dependencies.arborescence import best_arborescence
from maxmargin.dependencies.arcs import n_words, slot_value
from maxmargin.dependencies.batches import TreeBatch
from maxmargin.dependencies.eisner import best_projective
from maxmargin.dependencies.second_order import best_with_siblings
from maxmargin.dependencies.siblings import (
    SiblingBatch,
    cube_place,
    find_siblings,
)


class Share(NamedTuple):
    """Outputs that begin with these codes, but have none of some in the next word."""

    codes: np.ndarray  # of the best of them
    fixed: int  # words at the beginning
    forbidden: tuple[int, ...]


def k_best(batch: Any, i: int, w: np.ndarray, k: int) -> list[tuple[np.ndarray, float]]:
    """Up to k labellings of example i with their scores, best first."""
    if batch.start[i + 1] == batch.start[i]:
        return [(np.zeros(0, np.int32), 0.0)]
    scores, search, more = _searched(batch, i, w)
    number = count()
    shares: list = []  # by score, then by age

    def divide(fixed: int, forbidden: tuple[int, ...], codes: np.ndarray) -> None:
        found = _best(scores, search, more, codes[:fixed], fixed + 1, forbidden)
        if found is not None:
            total, best = found
            item = -total, next(number), Share(best, fixed, forbidden)
            heapq.heappush(shares, item)

    divide(0, (), np.zeros(0, np.int32))
    ranked: list[tuple[np.ndarray, float]] = []
    while shares and len(ranked) < k:
        negative, _, share = heapq.heappop(shares)
        ranked.append((share.codes, -negative))
        if len(ranked) == k:
            break
        for t in range(share.fixed, len(share.codes)):
            before = share.forbidden if t == share.fixed else ()
            divide(t, (*before, int(share.codes[t])), share.codes)
    return ranked


def best_without(batch: Any, i: int, w: np.ndarray, y: np.ndarray) -> list:
    """For each word of example i, the best output that is not y there; or None."""
    found = [
        _best(*_searched(batch, i, w), y[:0], m, (code,))
        for m, code in enumerate(y.tolist(), 1)
    ]
    return [None if one is None else one[1] for one in found]


def _searched(batch: Any, i: int, w: np.ndarray) -> tuple[np.ndarray, Any, Any]:
    """(scores of arcs, what finds the best tree under some, what else trees score)."""
    w = np.ascontiguousarray(w)
    scores = labelled_scores(batch, i, w)
    if isinstance(batch, SiblingBatch):
        cube = sibling_scores(batch, i, w)
        return (
            scores,
            lambda arcs, heads: sibling_trees(arcs, cube, heads),
            lambda heads: sibling_total(cube, heads),
        )
    search = trees if isinstance(batch, TreeBatch) else projective_trees
    return scores, search, lambda heads: 0.0


def _best(
    scores: np.ndarray,
    search: Any,
    more: Any,
    fixed: np.ndarray,
    word: int,
    forbidden: tuple[int, ...],
):
    """(score, codes) of the best output that begins so and has not this in a word."""
    size, n_labels = scores.shape[1], scores.shape[2]
    allowed = scores
    if len(fixed) or forbidden:
        allowed = scores.copy()
        for m, code in enumerate(fixed.tolist(), 1):
            own = scores[code // n_labels, m, code % n_labels]
            allowed[:, m] = -np.inf
            allowed[code // n_labels, m, code % n_labels] = own
        for code in forbidden:
            allowed[code // n_labels, word, code % n_labels] = -np.inf
    labels = allowed.argmax(axis=2)
    heads = np.zeros(size, np.int64)
    search(allowed.max(axis=2), heads)
    words = np.arange(1, size)
    chosen = labels[heads[1:], words]
    total = float(allowed[heads[1:], words, chosen].sum()) + more(heads)
    codes = (heads[1:] * n_labels + chosen).astype(np.int32)
    one = np.count_nonzero(heads[1:] == 0) == 1  # else there is no such tree
    return (total, codes) if one and total > -np.inf else None


@kernel
def labelled_scores(batch, i, w):
    """(n + 1, n + 1, labels): the scores of all arcs, -inf where there is none."""
    n, labels = n_words(batch, i), batch.n_labels
    theta = np.empty(shape(batch))
    score(batch, i, w, theta)
    found = np.empty((n + 1, n + 1, labels))
    for h in range(n + 1):
        for m in range(n + 1):
            for label in range(labels):
                found[h, m, label] = -np.inf
                if h != m and m > 0:
                    found[h, m, label] = slot_value(batch, i, theta, h, m, label)
    return found


@kernel
def projective_trees(arcs, heads):
    best_projective(arcs, heads)


@kernel
def trees(arcs, heads):
    best_arborescence(arcs, heads)


@kernel
def sibling_trees(arcs, cube, heads):
    best_with_siblings(arcs, cube, heads)


@kernel
def sibling_scores(batch, i, w):
    """The flat cube [head, sibling, modifier]."""
    size = n_words(batch, i) + 1
    theta, cube = np.empty(shape(batch)), np.empty(size * size * size)
    score(batch, i, w, theta)
    first = cube_place(batch, i, 0, 0, 0)
    for k in range(len(cube)):
        cube[k] = theta[0, first + k]
    return cube


@kernel
def sibling_total(cube, heads):
    n, total = len(heads) - 1, 0.0
    before = np.empty(n, np.int64)
    find_siblings(heads[1:], 1, before)
    for t in range(n):
        total += cube[(heads[t + 1] * (n + 1) + before[t]) * (n + 1) + t + 1]
    return total
