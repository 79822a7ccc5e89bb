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

import numpy as np

from maxmargin.core.kernel import inlined, inner

FREE, SOURCE, SINK = 0, 1, 2  # trees
ROOT, NONE, ORPHAN = -1, -2, -3  # instead of the arc to a parent
FAR = 1 << 30
ACTIVE_AT, ACTIVE, ORPHANS_AT, ORPHANS = range(4)  # marks: where rings begin, how many


@inner
def minimum_cut(ends, arc_start, arcs, capacity, excess, side):
    """side[v] <- 1 for the nodes that the source still reaches, else 0; returns the flow.

    ``capacity`` (of arcs) and ``excess`` (of nodes) are float64, and are left as what is
    left of them. Of all minimum cuts, the one with the fewest ones.
    """
    head = ends.ravel()  # arc a leaves head[a] and ends at head[a ^ 1]
    tree = np.zeros(len(excess), np.int8)
    flow = push_across(head, capacity, excess)
    flow += grow(head, arc_start, arcs, capacity, excess, tree)
    for v in range(len(excess)):
        side[v] = 1 if tree[v] == SOURCE else 0
    return flow


@inlined
def push_across(head, capacity, excess):
    """Push what goes through a single arc, which needs no trees; returns how much."""
    flow = 0.0
    for a in range(len(capacity)):
        v, w = head[a], head[a ^ 1]
        if excess[v] > 0.0 and excess[w] < 0.0:
            amount = min(min(excess[v], -excess[w]), capacity[a])
            excess[v] -= amount
            excess[w] += amount
            capacity[a] -= amount
            capacity[a ^ 1] += amount
            flow += amount
    return flow


@inner
def grow(head, arc_start, arcs, capacity, excess, tree):
    """Grow both trees until they cannot meet; returns the flow.

    ``up`` is the arc from a node to its parent, ``distance`` that from its root, and
    ``stamp`` when that was right. Arrays are passed one by one: to take them out of a
    tuple in the loops would count references there.
    """
    n, flow, time = len(excess), 0.0, 0
    up, orphans = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    stamp, distance = np.zeros(n, np.int32), np.empty(n, np.int32)
    place = np.zeros(n, np.int32)  # among its arcs, where a node last found a parent
    active, waiting = np.empty(n + 1, np.int32), np.empty(n, np.int8)
    marks = np.zeros(4, np.int64)
    for v in range(n):
        up[v], distance[v], waiting[v] = NONE, 1, tree[v] != FREE
        if excess[v] != 0.0:
            tree[v] = SOURCE if excess[v] > 0.0 else SINK
            up[v] = ROOT
            activate(v, active, waiting, marks)
    while marks[ACTIVE] > 0:
        v = active[marks[ACTIVE_AT]]
        waiting[v] = False  # it comes again if a neighbour is released
        marks[ACTIVE_AT] = following(marks[ACTIVE_AT], active)
        marks[ACTIVE] -= 1
        mine, p = tree[v], arc_start[v]
        while p < arc_start[v + 1] and mine != FREE and tree[v] == mine:
            a = arcs[p]
            outward = a if mine == SOURCE else a ^ 1
            w = head[a ^ 1]
            if capacity[outward] <= 0.0:
                p += 1
            elif tree[w] == FREE or tree[w] == mine:
                p += 1
                if tree[w] == FREE:
                    tree[w] = mine
                    activate(w, active, waiting, marks)
                elif distance[w] <= distance[v] or stamp[w] > stamp[v]:
                    continue  # it is no nearer to the root this way
                up[w], stamp[w], distance[w] = a ^ 1, stamp[v], distance[v] + 1
            else:  # the trees meet; the same arc may be one more way afterwards
                time += 1
                flow += augment(outward, head, capacity, excess, up, orphans, marks)
                while marks[ORPHANS] > 0:
                    w = orphans[marks[ORPHANS_AT]]
                    marks[ORPHANS_AT] = following(marks[ORPHANS_AT], orphans)
                    marks[ORPHANS] -= 1
                    adopt(
                        w,
                        head,
                        arc_start,
                        arcs,
                        capacity,
                        tree,
                        up,
                        stamp,
                        distance,
                        place,
                        time,
                    )
                    if up[w] == NONE:
                        release(
                            w,
                            head,
                            arc_start,
                            arcs,
                            capacity,
                            tree,
                            up,
                            orphans,
                            active,
                            waiting,
                            marks,
                        )
    return flow


@inlined
def following(place, ring):
    return place + 1 if place + 1 < len(ring) else 0


@inlined
def put(v, ring, first, count):
    """One more at the end of a ring."""
    place = first + count
    ring[place if place < len(ring) else place - len(ring)] = v


@inlined
def activate(v, active, waiting, marks):
    """v may have neighbours to grow to: one more in the queue, unless it waits there."""
    if not waiting[v]:
        waiting[v] = True
        put(v, active, marks[ACTIVE_AT], marks[ACTIVE])
        marks[ACTIVE] += 1


@inlined
def cut_off(v, up, orphans, marks):
    """v is an orphan, the first to be looked at: nearer to the root than the others."""
    up[v] = ORPHAN
    first = marks[ORPHANS_AT]
    marks[ORPHANS_AT] = first - 1 if first > 0 else len(orphans) - 1
    orphans[marks[ORPHANS_AT]] = v
    marks[ORPHANS] += 1


@inlined
def augment(middle, head, capacity, excess, up, orphans, marks):
    """Push what fits through the path over the middle arc; returns how much."""
    amount = capacity[middle]
    for back in range(2):  # 0: from its tail towards the source, 1: on to the sink
        v = head[middle ^ back]
        while up[v] != ROOT:
            a = up[v]
            amount = min(amount, capacity[a ^ 1 ^ back])
            v = head[a ^ 1]
        amount = min(amount, abs(excess[v]))
    capacity[middle] -= amount
    capacity[middle ^ 1] += amount
    for back in range(2):
        v = head[middle ^ back]
        while up[v] != ROOT:
            a = up[v]
            capacity[a ^ back] += amount
            capacity[a ^ 1 ^ back] -= amount
            if capacity[a ^ 1 ^ back] <= 0.0:
                cut_off(v, up, orphans, marks)
            v = head[a ^ 1]
        excess[v] -= amount if back == 0 else -amount
        if excess[v] == 0.0:
            cut_off(v, up, orphans, marks)
    return amount


@inlined
def adopt(v, head, arc_start, arcs, capacity, tree, up, stamp, distance, place, time):
    """up[v] <- an arc to a near node with a root that v can be a child of, or NONE.

    The nearest, or the first that is as near as the parent was. The search begins behind
    the arc to that one: a hub would else look at all that its leaves have used up.
    """
    nearest, parent, back = FAR, np.int64(NONE), 0 if tree[v] == SOURCE else 1
    first, count = arc_start[v], arc_start[v + 1] - arc_start[v]
    for step in range(count):
        p = place[v] + step
        p = p if p < count else p - count
        a = arcs[first + p]
        w = head[a ^ 1]
        if capacity[a ^ 1 ^ back] > 0.0 and tree[w] == tree[v]:
            steps = to_root(w, head, up, stamp, distance, time)
            if steps < nearest:
                nearest, parent = steps, a
                place[v] = p
                if steps < distance[v]:
                    break
    up[v], stamp[v], distance[v] = parent, time, nearest + 1


@inlined
def release(
    v, head, arc_start, arcs, capacity, tree, up, orphans, active, waiting, marks
):
    """v is free: its neighbours may grow to it again, its children are orphans."""
    back, mine = 0 if tree[v] == SOURCE else 1, tree[v]
    tree[v] = FREE
    for p in range(arc_start[v], arc_start[v + 1]):
        a = arcs[p]
        w = head[a ^ 1]
        if tree[w] == mine:
            if capacity[a ^ 1 ^ back] > 0.0:
                activate(w, active, waiting, marks)
            if up[w] == a ^ 1:
                up[w] = ORPHAN
                put(w, orphans, marks[ORPHANS_AT], marks[ORPHANS])
                marks[ORPHANS] += 1


@inlined
def to_root(w, head, up, stamp, distance, time):
    """The distance of w from its root, FAR if an orphan is above it.

    What was measured since the last push (by its stamp) is not measured again.
    """
    steps, v = 0, w
    while stamp[v] != time and up[v] >= 0:
        steps += 1
        v = head[up[v] ^ 1]
    steps += distance[v] if stamp[v] == time else 1
    if up[v] == ORPHAN:
        steps = FAR
    left, last = steps, v
    v = w if steps < FAR else last
    while v != last:
        stamp[v], distance[v] = time, left
        left -= 1
        v = head[up[v] ^ 1]
    if steps < FAR:
        stamp[v], distance[v] = time, left
    return steps
