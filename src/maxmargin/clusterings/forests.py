"""Clusters as the trees of a latent forest of links (Yu & Joachims 2009).

A document has n mentions; every mention is a slot of the labelling and holds its *parent*,
or itself at the root of a tree. The clusters are the trees; the links h are not known. Of
a tree only its links matter, so its root is its first mention, and every forest is written
in one way. Scores and loss are sums over links:

    Psi(x, h)       = sum over links of phi(a, b)                   features of pairs
    Delta(y, h')    = n - k(y) - sum over links of h' of l(y, link)
    l               = 1 between mentions of one true cluster, else -r

where y has k(y) clusters. n - k(y) links of the first kind make Delta zero, so r = 1 counts
links that are missing or wrong; a small r makes wrong links cheap, which suits scores that
punish missing ones (thesis, 5.3.2).

Prim's algorithm finds all: the best forest is a spanning tree with an artificial root that
links to every mention at score 0; a search with loss lowers links inside true clusters by
1 and raises the others by r; a completion is a spanning tree of every true cluster,
whatever its scores. O(n^2), which is the number of pairs.

With a window (``pairs.py``), only mentions that are near each other can be linked. A true
cluster with a wider gap is then two, for no forest can join them: that is the truth that
training sees, with a loss of zero.

Where clusters of mentions are not known (``core/partial.py``), these mentions join the
clusters, or each other, as the best forest links them: a spanning tree again, in which all
known clusters and the artificial root are one node. That is the best completion in which
the mentions of a known cluster are linked among themselves; one that links two of them by
an unknown mention only may be better, but is hard to find (a Steiner tree). In the clusters
found, links are the best ones of all.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.clusterings.pairs import (
    PairTable,
    emit_patterns,
    no_weights,
    of_pairs,
    pair_index,
    weigh_pair,
)
from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.partial import with_known


@of_pairs
class LinkBatch(NamedTuple):
    """Documents, their pairs, and the first mention of the cluster of each mention."""

    cuts = cut_by(start="example", y="start", gold="start", pairs="example")

    start: np.ndarray
    y: np.ndarray
    gold: np.ndarray
    pairs: PairTable
    r: float


def roots(start, parents) -> np.ndarray:
    """The root of every mention's tree, counted from the first mention of all."""
    found = parents + np.repeat(start[:-1], np.diff(start))
    while True:  # doubles the height that is seen
        above = found[found]
        if (above == found).all():
            return found
        found = above


def completed(batch, y):
    """The batch with other truths: their trees are the clusters now."""
    first = np.repeat(batch.start[:-1], np.diff(batch.start))
    gold = roots(batch.start, y) - first
    return batch._replace(y=y, gold=gold.astype(np.int32))


PartialLinkBatch = of_pairs(with_known(LinkBatch, completed))


def make_batch(start, gold, pairs: PairTable, r: float) -> LinkBatch:
    """``gold`` has first mentions. Truths begin as chains in the order of the document."""
    y = np.empty(len(gold), np.int32)
    near = gold.copy()  # clusters without gaps wider than the window
    for first, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        last: dict[int, int] = {}
        for v, cluster in enumerate(gold[first:end].tolist()):
            before = last.get(cluster, v)
            linked = before < v <= before + pairs.window
            y[first + v] = before if linked else v
            near[first + v] = near[first + before] if linked else v
            last[cluster] = v
    return LinkBatch(start, y, near, pairs, r)


def known_part(batch: LinkBatch, known) -> LinkBatch:
    """The documents without the mentions whose clusters are not known."""
    sizes, codes, gold = [], [], []
    for i, (first, end) in enumerate(pairwise(batch.start.tolist())):
        kept = known[first:end]
        a, b = np.triu_indices(end - first, 1)
        here = slice(*batch.pairs.pair_start[i : i + 2])
        codes.append(batch.pairs.codes[here][kept[a] & kept[b]])
        clusters = batch.gold[first:end][kept]
        gold.append([clusters.tolist().index(c) for c in clusters])
        sizes.append(len(clusters))
    start, pair_start = (np.cumsum([0, *n]) for n in (sizes, map(len, codes)))
    pairs = batch.pairs._replace(pair_start=pair_start, codes=np.concatenate(codes))
    return make_batch(start, np.concatenate(gold).astype(np.int32), pairs, batch.r)


@implements(contract.value, LinkBatch)
def value(batch, i, theta, y):
    n, total = batch.start[i + 1] - batch.start[i], 0.0
    for v in range(n):
        if y[v] != v:
            total += theta[0, pair_index(n, batch.pairs.window, v, y[v])]
    return total


@implements(contract.parts, LinkBatch)
def parts(batch, i, y, coefficient, mu):
    n = batch.start[i + 1] - batch.start[i]
    for v in range(n):
        if y[v] != v:
            mu[0, pair_index(n, batch.pairs.window, v, y[v])] += coefficient


@implements(contract.possible, LinkBatch)
def possible(batch, i, y):
    """Parents among the mentions of the window, and every way up ends at a root."""
    n = batch.start[i + 1] - batch.start[i]
    for v in range(n):
        if not 0 <= y[v] < n or abs(y[v] - v) > batch.pairs.window:
            return False
    for v in range(n):
        at, steps = v, 0
        while y[at] != at:
            at, steps = y[at], steps + 1
            if steps > n:
                return False
    return True


@implements(contract.loss, LinkBatch)
def loss(batch, i, y):
    first = batch.start[i]
    missing, wrong = 0, 0
    for v in range(batch.start[i + 1] - first):
        missing += batch.gold[first + v] != v
        if y[v] != v:
            if batch.gold[first + y[v]] == batch.gold[first + v]:
                missing -= 1
            else:
                wrong += 1
    return missing + batch.r * wrong


@implements(contract.capacity, LinkBatch)
def capacity(batch):
    most = 0
    for i in range(len(batch.start) - 1):
        most = max(most, batch.start[i + 1] - batch.start[i])
    return min(most * batch.pairs.longest, batch.pairs.most_entries)


@implements(contract.emit, LinkBatch)
def emit(batch, i, y, coefficient, index, values, m):
    weight = no_weights(batch, i)
    weigh_links(batch, i, y, coefficient, weight)
    return emit_patterns(batch, i, weight, index, values, m)


@implements(contract.difference, LinkBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    weight = no_weights(batch, i)
    weigh_links(batch, i, batch.y[batch.start[i] : batch.start[i + 1]], rs - ra, weight)
    weigh_links(batch, i, s, -rs, weight)
    weigh_links(batch, i, a, ra, weight)
    return emit_patterns(batch, i, weight, index, values, 0)


@inlined
def weigh_links(batch, i, y, c, weight):
    n = batch.start[i + 1] - batch.start[i]
    if c != 0.0:
        for v in range(n):
            if y[v] != v:
                place = pair_index(n, batch.pairs.window, v, y[v])
                weigh_pair(batch, i, place, c, weight)


@implements(contract.argmax, LinkBatch)
def argmax(batch, i, theta, scale, y):
    gold = batch.gold[batch.start[i] : batch.start[i + 1]]
    grow(theta, batch.pairs.window, gold, -scale, scale * batch.r, 0.0, y)


@implements(contract.complete, LinkBatch)
def complete(batch, i, theta, y):
    gold = batch.gold[batch.start[i] : batch.start[i + 1]]
    grow(theta, batch.pairs.window, gold, 0.0, -np.inf, -np.inf, y)


@implements(contract.complete, PartialLinkBatch)
def complete_clusters(batch, i, theta, y):
    found = joined(batch, i, theta)
    grow(theta, batch.pairs.window, found, 0.0, -np.inf, -np.inf, y)


@inlined
def joined(batch, i, theta):
    """Clusters: the known ones, with the unknown mentions that join them, and others.

    All pairs are there: documents that exceed the window have no unknown mentions.
    """
    first = batch.start[i]
    n = batch.start[i + 1] - first
    cluster = np.empty(n, np.int32)
    best, done = np.zeros(n), np.zeros(n, np.bool_)
    for v in range(n):
        known = batch.known[first + v]
        cluster[v] = batch.gold[first + v] if known else n + v
        best[v] = np.inf if known else 0.0
    for _ in range(n):
        v = -1
        for u in range(n):
            if not done[u] and (v < 0 or best[u] > best[v]):
                v = u
        done[v] = True
        for u in range(n):
            s = 0.0
            if u != v:
                s = float(theta[0, pair_index(n, batch.pairs.window, u, v)])
            if not done[u] and s > best[u]:
                best[u], cluster[u] = s, cluster[v]
    return cluster


@inlined
def grow(theta, window, gold, inside, across, floor, y):
    """Prim's algorithm: y <- the best forest, where a root counts ``floor``.

    ``inside`` and ``across`` are added to links inside and between true clusters. Trees
    begin at the first mention left over, so that a forest is written in one way. On
    ties, there is no link, or that to the mention that joined first.
    """
    n = len(gold)
    best, start = np.empty(n), np.empty(n, np.int64)
    rest = np.empty(n, np.int64)  # mentions left over, in their order
    for v in range(n):
        y[v], best[v], rest[v] = v, floor, v
        start[v] = pair_index(n, window, v, v + 1) - v - 1
    left, v = n, 0
    while left > 0:
        kept, following = 0, -1
        for k in range(left):
            u = rest[k]
            if u == v:
                continue
            rest[kept] = u
            kept += 1
            if abs(u - v) <= window:
                s = inside if gold[u] == gold[v] else across
                s += float(theta[0, start[min(u, v)] + max(u, v)])
                if s > best[u]:
                    best[u] = s
                    y[u] = v
            if following < 0 or best[u] > best[following]:
                following = u
        left, v = kept, following
