"""The best tree, projective or not: the maximum spanning arborescence with one root.

Chu & Liu (1965) and Edmonds (1967): every node takes its best head; a cycle becomes one
node, whose arcs from outside count what they gain over the arc of the cycle that they
replace; at the end, cycles are opened where an arc enters them. Tables are dense: O(n^2)
in all for the search, as a contraction touches the rows of its cycle alone (Tarjan 1977).

That only one word has the root as its head is brought about by a cost of arcs from the
root that outweighs all else (Zmigrod, Vieira & Cotterell 2020 discuss it).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined


@inlined
def best_arborescence(arcs, heads):
    """heads[1 .. n] <- the best tree under arcs[h, m], with one modifier of node 0."""
    n = len(arcs) - 1
    size = 2 * n + 1  # nodes, and as many cycles at most
    score = np.empty((size, size))
    head_of = np.empty((size, size), np.int32)  # the arc that stands behind a score
    modifier_of = np.empty((size, size), np.int32)
    set_scores(arcs, score, head_of, modifier_of)
    above = minus_ones(size)  # the cycle that a node is in
    taken = minus_ones(size)  # the best head among the nodes that are left
    state = np.zeros(size, np.int8)  # 1: on the present way, 2: done
    way = np.empty(size, np.int64)
    count = n + 1
    state[0] = 2
    for start in range(1, n + 1):
        if above[start] >= 0 or state[start] == 2:
            continue
        length, v = 0, start
        while True:
            way[length], state[v] = v, 1
            length += 1
            u = best_head(score, above, count, v)
            taken[v] = u
            if state[u] == 2:
                break
            if state[u] == 0:
                v = u
                continue
            first = length - 1
            while way[first] != u:
                first -= 1
            contract(
                score, head_of, modifier_of, above, taken, way[first:length], count
            )
            length, v = first, count
            count += 1
        for k in range(length):
            state[way[k]] = 2
    open_cycles(head_of, modifier_of, above, taken, count, n, heads)


@inlined
def set_scores(arcs, score, head_of, modifier_of):
    n = len(arcs) - 1
    low, high = np.inf, -np.inf
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and arcs[h, m] > -np.inf:
                low, high = min(low, arcs[h, m]), max(high, arcs[h, m])
    cost = n * (high - low) + 1.0 if high >= low else 1.0
    for h in range(n + 1):
        for m in range(n + 1):
            x = arcs[h, m] if arcs[h, m] > -np.inf else low - 2.0 * n * cost
            score[h, m] = x - cost if h == 0 else x
            head_of[h, m], modifier_of[h, m] = h, m


@inlined
def best_head(score, above, count, v):
    best, found = -np.inf, -1
    for u in range(count):
        if above[u] < 0 and u != v and (found < 0 or score[u, v] > best):
            best, found = score[u, v], u
    return found


@inlined
def contract(score, head_of, modifier_of, above, taken, cycle, c):
    """Node c <- the cycle, whose best arcs from and to each other node it takes over."""
    for v in cycle:
        above[v] = c
    for u in range(c):
        if above[u] >= 0:
            continue
        score[u, c], score[c, u] = -np.inf, -np.inf
        for v in cycle:
            into = score[u, v] - score[taken[v], v]
            if into > score[u, c]:
                score[u, c] = into
                head_of[u, c], modifier_of[u, c] = head_of[u, v], modifier_of[u, v]
            if score[v, u] > score[c, u]:
                score[c, u] = score[v, u]
                head_of[c, u], modifier_of[c, u] = head_of[v, u], modifier_of[v, u]


@inlined
def open_cycles(head_of, modifier_of, above, taken, count, n, heads):
    """From the last cycle to the first: the arc that enters it replaces one of its own."""
    head, modifier = np.empty(count, np.int32), np.empty(count, np.int32)
    for v in range(1, count):
        head[v] = head_of[taken[v], v]
        modifier[v] = modifier_of[taken[v], v]
    for c in range(count - 1, n, -1):
        v = modifier[c]
        while above[v] != c:
            v = above[v]
        head[v], modifier[v] = head[c], modifier[c]
    for m in range(1, n + 1):
        heads[m] = head[m]


@inlined
def minus_ones(size):
    found = np.empty(size, np.int32)
    for k in range(size):
        found[k] = -1
    return found
