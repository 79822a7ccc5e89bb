"""The best closed set of nodes: with every node, all its parents.

    max  sum of weight[v] over v in S      over sets S closed under parents, also empty

In a tree that is one pass up and one down. In other graphs without cycles it is a minimum
cut (Picard 1976): positive nodes are sources of flow, negative ones take it up, flow runs
from child to parent without bound, and S is what is still reachable from a source that
has flow left (``core/max_flow.py``).

Nodes are numbered with parents before children. Ties go to the smaller set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import generic, implements, kernel
from maxmargin.core.max_flow import minimum_cut
from maxmargin.core.tables.arrays import offsets


class Tree(NamedTuple):
    """The parents of nodes, of which each has at most one."""

    parent_ptr: np.ndarray  # int64: the edges up from node v are parent_ptr[v] ...
    parent: np.ndarray  # int32, by edge


class Dag(NamedTuple):
    """The same where some have several, and the arcs of a network of flow."""

    parent_ptr: np.ndarray
    parent: np.ndarray
    ends: np.ndarray  # int32[edges, 2]: child and parent
    arc_start: np.ndarray  # int64: the arcs of node v are arc_start[v] ...
    arcs: np.ndarray  # int64: arc 2 e leads up edge e, arc 2 e + 1 down


def make_network(parents) -> Tree | Dag:
    """From a list of lists of parents, each smaller than its child."""
    sizes = [len(above) for above in parents]
    parent = np.array([p for above in parents for p in above], np.int32)
    if max(sizes, default=0) < 2:
        return Tree(offsets(sizes), parent)
    lower = np.repeat(np.arange(len(parents), dtype=np.int32), sizes)
    ends = np.stack([lower, parent], axis=1)
    arc_start = offsets(np.bincount(ends.ravel(), minlength=len(parents)))
    arcs = np.argsort(ends.ravel(), kind="stable")
    return Dag(offsets(sizes), parent, ends, arc_start, arcs)


@generic
def best_closure(network, weight, chosen):
    """chosen[v] <- 1 for the nodes of the best closed set, else 0. Destroys weight."""
    # weight[v] becomes that of the best set below v that holds v
    n = len(weight)
    for v in range(n - 1, -1, -1):
        for e in range(network.parent_ptr[v], network.parent_ptr[v + 1]):
            weight[network.parent[e]] += max(weight[v], 0.0)
    for v in range(n):
        chosen[v] = 1 if weight[v] > 0.0 else 0
        for e in range(network.parent_ptr[v], network.parent_ptr[v + 1]):
            chosen[v] *= chosen[network.parent[e]]


@implements(best_closure, Dag)
def cut_closure(network, weight, chosen):
    capacity = np.zeros(2 * len(network.parent))
    for e in range(len(network.parent)):
        capacity[2 * e] = np.inf  # from child to parent
    ends, arc_start, arcs = network.ends, network.arc_start, network.arcs
    minimum_cut(ends, arc_start, arcs, capacity, weight, chosen)


@kernel
def best_closures(network, scores, chosen):
    """The best closed set under every row of scores."""
    for i in range(len(scores)):
        best_closure(network, scores[i].copy(), chosen[i])
