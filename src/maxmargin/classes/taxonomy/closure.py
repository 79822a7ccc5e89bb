"""The best closed set of nodes: with every node, all its parents.

    max  sum of weight[v] over v in S      over sets S closed under parents, also empty

In a tree that is one pass up and one down. In other graphs without cycles it is a minimum
cut (Picard 1976): positive nodes are sources of flow, negative ones take it up, flow runs
from child to parent without bound, and S is what is still reachable from a source that
has flow left. Flow is sent along shortest ways (Edmonds & Karp 1972), whose number does
not depend on the weights, so sums of floats cannot keep it from ending.

Nodes are numbered with parents before children. Ties go to the smaller set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inner, kernel


class Network(NamedTuple):
    """Parents and children of nodes in flat arrays; edge e leads from a child up."""

    parent_ptr: np.ndarray  # int64: the edges of node v are parent_ptr[v] ...
    parent: np.ndarray  # int32, by edge
    child_ptr: np.ndarray  # int64
    child: np.ndarray  # int32
    child_edge: np.ndarray  # int32: the edge that leads up from that child
    tree: int  # 1 if no node has two parents


def make_network(parents) -> Network:
    """From a list of lists of parents, each smaller than its child."""
    n = len(parents)
    sizes = [len(above) for above in parents]
    parent = np.array([p for above in parents for p in above], np.int32)
    lower = np.repeat(np.arange(n, dtype=np.int32), sizes)
    edges = np.argsort(parent, kind="stable").astype(np.int32)
    counts = np.bincount(parent, minlength=n) if len(parent) else np.zeros(n, int)
    return Network(
        parent_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        parent=parent,
        child_ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        child=lower[edges],
        child_edge=edges,
        tree=int(max(sizes, default=0) < 2),
    )


@inner
def best_closure(network, weight, chosen):
    """chosen[v] <- 1 for the nodes of the best closed set, else 0. Destroys weight."""
    if network.tree:
        tree_closure(network, weight, chosen)
    else:
        cut_closure(network, weight, chosen)


@kernel
def best_closures(network, scores, chosen):
    """The best closed set under every row of scores."""
    for i in range(len(scores)):
        best_closure(network, scores[i].copy(), chosen[i])


@inner
def tree_closure(network, weight, chosen):
    # weight[v] becomes that of the best set below v that holds v
    n = len(weight)
    for v in range(n - 1, -1, -1):
        for e in range(network.parent_ptr[v], network.parent_ptr[v + 1]):
            weight[network.parent[e]] += max(weight[v], 0.0)
    for v in range(n):
        chosen[v] = 1 if weight[v] > 0.0 else 0
        for e in range(network.parent_ptr[v], network.parent_ptr[v + 1]):
            chosen[v] *= chosen[network.parent[e]]


@inner
def cut_closure(network, weight, chosen):
    n = len(weight)
    flow = np.zeros(len(network.parent))
    came_by = np.empty(n, np.int64)  # the edge over which a way reached a node
    queue = np.empty(n, np.int64)
    up = len(network.parent)  # edges from here on are their twins, against the flow
    while True:
        # the shortest ways from all nodes with something left
        head, tail = 0, 0
        for v in range(n):
            chosen[v] = 0
            if weight[v] > 0.0:
                chosen[v] = 1
                came_by[v] = -1
                queue[tail] = v
                tail += 1
        found = -1
        while head < tail and found < 0:
            v = queue[head]
            head += 1
            for e in range(network.parent_ptr[v], network.parent_ptr[v + 1]):
                p = network.parent[e]
                if chosen[p] == 0:
                    chosen[p] = 1
                    came_by[p] = e
                    queue[tail] = p
                    tail += 1
                    if weight[p] < 0.0:
                        found = p
                        break
            if found >= 0:
                break
            for q in range(network.child_ptr[v], network.child_ptr[v + 1]):
                c = network.child[q]
                if chosen[c] == 0 and flow[network.child_edge[q]] > 0.0:
                    chosen[c] = 1
                    came_by[c] = up + network.child_edge[q]
                    queue[tail] = c
                    tail += 1
                    if weight[c] < 0.0:
                        found = c
                        break
        if found < 0:
            return  # what was reached is the set
        send(network, weight, flow, came_by, found)


@inner
def send(network, weight, flow, came_by, target):
    """As much as possible along one way; it uses something up exactly."""
    edges = len(network.parent)
    amount = -weight[target]
    v = target
    while came_by[v] >= 0:
        e = came_by[v]
        if e < edges:
            v = lower_end(network, e)
        else:
            amount = min(amount, flow[e - edges])
            v = network.parent[e - edges]
    amount = min(amount, weight[v])
    weight[v] -= amount
    weight[target] += amount
    v = target
    while came_by[v] >= 0:
        e = came_by[v]
        if e < edges:
            flow[e] += amount
            v = lower_end(network, e)
        else:
            flow[e - edges] -= amount
            v = network.parent[e - edges]


@inner
def lower_end(network, e):
    """The node whose edge this is."""
    return np.searchsorted(network.parent_ptr, e, side="right") - 1
