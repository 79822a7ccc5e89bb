"""Minimum cuts by maximum flow, with two search trees (Boykov & Kolmogorov 2004).

The network has the nodes and edges of a field, a source and a sink. Edge e is two arcs: arc
2 e + side leaves ends[e, side], its sister has the other number of the pair, and both have
capacities. A node's *excess* is what the source can send it, or, if negative, what it can
send to the sink. One tree grows from the source along arcs with capacity left, one towards
the sink against them. Where they meet, flow is pushed; nodes cut off from their parents are
*orphans* and look for others, so that the trees are kept rather than built again. On grids
and the like that is quicker than methods with better bounds.

Every push leaves some arc with exactly no capacity, in rounded numbers too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, inner, kernel

FREE, SOURCE, SINK = 0, 1, 2  # trees
ROOT, NONE, ORPHAN = -1, -2, -3  # instead of the arc to a parent
FAR = 1 << 30
# numbers in Search.marks
FIRST, COUNT, TIME = 0, 1, 2


class Search(NamedTuple):
    """The network and the two trees."""

    head: np.ndarray  # int32[2 m]: the arc a ends at head[a ^ 1]
    arc_start: np.ndarray
    arcs: np.ndarray
    capacity: np.ndarray  # what is left of it
    excess: np.ndarray
    tree: np.ndarray  # int8[n]
    up: np.ndarray  # int32[n]: the arc from a node to its parent
    stamp: np.ndarray  # int32[n]: when its distance was right
    distance: np.ndarray  # int32[n]: from the root
    orphans: np.ndarray  # int32: a ring
    marks: np.ndarray  # int64: first and number of orphans, time


@kernel
def minimum_cut(ends, arc_start, arcs, capacity, excess, side):
    """side[v] <- 1 for the nodes that the source still reaches, else 0; returns the flow.

    ``capacity`` (of arcs) and ``excess`` (of nodes) are float64, and are left as what is
    left of them. Of all minimum cuts, the one with the fewest ones.
    """
    n = len(excess)
    search = Search(
        ends.ravel(),
        arc_start,
        arcs,
        capacity,
        excess,
        np.zeros(n, np.int8),
        np.full(n, NONE, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.empty(n + 1, np.int32),
        np.zeros(3, np.int64),
    )
    flow = push_across(search)
    flow += grow(search)
    for v in range(n):
        side[v] = 1 if search.tree[v] == SOURCE else 0
    return flow


@inlined
def push_across(search):
    """Push what goes through a single arc, which needs no trees; returns how much."""
    flow = 0.0
    for a in range(len(search.capacity)):
        v, w = search.head[a], search.head[a ^ 1]
        if search.excess[v] > 0.0 and search.excess[w] < 0.0:
            most = min(search.excess[v], -search.excess[w])
            amount = min(most, search.capacity[a])
            search.excess[v] -= amount
            search.excess[w] += amount
            search.capacity[a] -= amount
            search.capacity[a ^ 1] += amount
            flow += amount
    return flow


@inner
def grow(search):
    """Grow both trees until they cannot meet; returns the flow."""
    n, flow, time = len(search.excess), 0.0, 0
    active, waiting = np.empty(n + 1, np.int32), np.zeros(n, np.bool_)
    first, count = 0, 0
    for v in range(n):
        if search.excess[v] != 0.0:
            search.tree[v] = SOURCE if search.excess[v] > 0.0 else SINK
            search.up[v] = ROOT
            search.distance[v] = 1
            active[count] = v
            count += 1
            waiting[v] = True
    while count > 0:
        v = active[first]
        if search.tree[v] != FREE:
            middle, w = np.int64(-1), 0
            for p in range(search.arc_start[v], search.arc_start[v + 1]):
                a = search.arcs[p]
                tree = search.tree[v]
                outward = a if tree == SOURCE else a ^ 1
                if search.capacity[outward] <= 0.0:
                    continue
                w = search.head[a ^ 1]
                if search.tree[w] == FREE:
                    search.tree[w] = tree
                    attach(search, w, a ^ 1, search.stamp[v], search.distance[v] + 1)
                    if not waiting[w]:
                        waiting[w] = True
                        active[(first + count) % (n + 1)] = w
                        count += 1
                elif search.tree[w] != tree:
                    middle = outward
                    break
                elif (
                    search.distance[w] > search.distance[v]
                    and search.stamp[w] <= search.stamp[v]
                ):  # nearer to the root this way
                    attach(search, w, a ^ 1, search.stamp[v], search.distance[v] + 1)
            if middle >= 0:
                time += 1
                search.marks[TIME] = time
                flow += augment(search, middle)
                count = adopt(search, active, waiting, first, count)
                continue  # v may meet the other tree again
        waiting[v] = False
        first = (first + 1) % (n + 1)
        count -= 1
    return flow


@inlined
def attach(search, v, arc, stamp, distance):
    search.up[v] = arc
    search.stamp[v] = stamp
    search.distance[v] = distance


@inlined
def augment(search, middle):
    """Push what fits through the path over the middle arc; returns how much."""
    amount = search.capacity[middle]
    for back in range(2):  # 0: from its tail towards the source, 1: on to the sink
        v = search.head[middle ^ back]
        while search.up[v] != ROOT:
            a = search.up[v]
            amount = min(amount, search.capacity[a ^ 1 ^ back])
            v = search.head[a ^ 1]
        amount = min(amount, abs(search.excess[v]))
    search.capacity[middle] -= amount
    search.capacity[middle ^ 1] += amount
    for back in range(2):
        v = search.head[middle ^ back]
        while search.up[v] != ROOT:
            a = search.up[v]
            search.capacity[a ^ back] += amount
            search.capacity[a ^ 1 ^ back] -= amount
            if search.capacity[a ^ 1 ^ back] <= 0.0:
                orphan(search, v, True)
            v = search.head[a ^ 1]
        search.excess[v] -= amount if back == 0 else -amount
        if search.excess[v] == 0.0:
            orphan(search, v, True)
    return amount


@inlined
def orphan(search, v, in_front):
    """One more orphan: in front for those near the root, whose children it may save."""
    search.up[v] = ORPHAN
    size = len(search.orphans)
    if in_front:
        search.marks[FIRST] = (search.marks[FIRST] + size - 1) % size
        search.orphans[search.marks[FIRST]] = v
    else:
        last = (search.marks[FIRST] + search.marks[COUNT]) % size
        search.orphans[last] = v
    search.marks[COUNT] += 1


@inner
def adopt(search, active, waiting, first, count):
    """A new parent for every orphan, or freedom; returns the number of active nodes."""
    while search.marks[COUNT] > 0:
        v = search.orphans[search.marks[FIRST]]
        search.marks[FIRST] = (search.marks[FIRST] + 1) % len(search.orphans)
        search.marks[COUNT] -= 1
        tree, nearest, parent = search.tree[v], FAR, np.int64(NONE)
        back = 0 if tree == SOURCE else 1
        for p in range(search.arc_start[v], search.arc_start[v + 1]):
            a = search.arcs[p]
            w = search.head[a ^ 1]
            if search.capacity[a ^ 1 ^ back] > 0.0 and search.tree[w] == tree:
                distance = to_root(search, w)
                if distance < nearest:
                    nearest, parent = distance, a
        if parent != NONE:
            attach(search, v, parent, search.marks[TIME], nearest + 1)
            continue
        search.tree[v], search.up[v] = FREE, NONE
        for p in range(search.arc_start[v], search.arc_start[v + 1]):
            a = search.arcs[p]
            w = search.head[a ^ 1]
            if search.tree[w] == tree:
                if search.capacity[a ^ 1 ^ back] > 0.0 and not waiting[w]:
                    waiting[w] = True
                    active[(first + count) % len(active)] = w
                    count += 1
                if search.up[w] == a ^ 1:
                    orphan(search, w, False)
    return count


@inlined
def to_root(search, w):
    """The distance of w from its root, FAR if an orphan is above it.

    What was measured since the last push (by its stamp) is not measured again.
    """
    time, steps, v = search.marks[TIME], 0, w
    while search.stamp[v] != time and search.up[v] >= 0:
        steps += 1
        v = search.head[search.up[v] ^ 1]
    if search.up[v] == ORPHAN:
        return FAR
    distance = steps + (search.distance[v] if search.stamp[v] == time else 1)
    v, left = w, distance
    while search.stamp[v] != time:
        search.stamp[v], search.distance[v] = time, left
        if search.up[v] < 0:
            break
        left -= 1
        v = search.head[search.up[v] ^ 1]
    return distance
