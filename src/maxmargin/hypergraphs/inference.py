"""Weighted hypergraphs: the best, the k best, the sum over all, samples.

A node is an item of a chart, an edge builds its head from its tails. A *derivation* of
a node is an edge into it and a derivation of each tail of that edge; its value is the
sum of the scores of its edges. So with s the scores and (+) max or log-sum-exp,

    inside(v) = (+) over edges e into v of  s(e) + sum of inside(u) over tails u of e

Nodes are in topological order, so one pass from the first node to the root does it. An
edge without tails is where derivations end; a node without edges has none, inside -inf.

All kernels take scores of *edges* (:func:`score_edges` makes them from those of parts)
and true minus infinities: a forbidden part is an edit of scores, not another algorithm. So
is every other question: with scores 1 the best derivation is the longest, with minus
the costs it is the cheapest. (Goodman 1999, semiring parsing; Huang 2008, forests.)
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, kernel


class Graph(NamedTuple):
    """One hypergraph; edges are sorted by head, and tails come before heads."""

    in_ptr: np.ndarray  # int64: the edges into node v are in_ptr[v] .. in_ptr[v + 1]
    tail_ptr: np.ndarray  # int64: the tails of edge e are tail_ptr[e] .. [e + 1]
    tail: np.ndarray  # int32
    part: np.ndarray  # int32: the part of each edge, or -1
    root: int


@kernel
def score_edges(graph, theta, scores):
    """scores[e] <- theta[part[e]], and 0 for edges without a part."""
    for e in range(len(graph.part)):
        p = graph.part[e]
        scores[e] = theta[p] if p >= 0 else 0.0


@inlined
def edge_value(graph, scores, inside, e):
    """The score of an edge and all that is below it."""
    total = scores[e]
    for t in range(graph.tail_ptr[e], graph.tail_ptr[e + 1]):
        total += inside[graph.tail[t]]
    return total


# the best derivation -----------------------------------------------------------------


@kernel
def inside_max(graph, scores, inside, choice):
    """inside[v] <- the best value, choice[v] <- its edge: the lowest, -1 for none."""
    for v in range(graph.root + 1):
        best, winner = -np.inf, -1
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            total = edge_value(graph, scores, inside, e)
            if total > best:
                best, winner = total, e
        inside[v] = best
        choice[v] = winner


@kernel
def inside_required(graph, scores, wanted, inside, uses, choice):
    """The same among the derivations with the largest sum of ``wanted``, in ``uses``.

    A second criterion before the first, rather than a large bonus, which would round.
    """
    for v in range(graph.root + 1):
        best, most, winner = -np.inf, np.int64(0), -1
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            total = edge_value(graph, scores, inside, e)
            count = wanted[e]
            for t in range(graph.tail_ptr[e], graph.tail_ptr[e + 1]):
                count += uses[graph.tail[t]]
            better = winner < 0 or count > most or (count == most and total > best)
            if total > -np.inf and better:
                best, most, winner = total, count, e
        inside[v] = best
        uses[v] = most
        choice[v] = winner


@kernel
def backtrace(graph, choice, edges):
    """edges <- the edges of the chosen derivation, ascending; returns their number."""
    count = 0
    if choice[graph.root] < 0:
        return count
    stack = [graph.root]
    while len(stack) > 0:
        e = choice[stack.pop()]
        edges[count] = e
        count += 1
        for t in range(graph.tail_ptr[e], graph.tail_ptr[e + 1]):
            stack.append(np.int64(graph.tail[t]))
    edges[:count].sort()
    return count


# sums over all derivations -----------------------------------------------------------


@kernel
def inside_logsum(graph, scores, inside):
    """inside[v] <- log of the sum of exp(value) over the derivations of v."""
    for v in range(graph.root + 1):
        top = -np.inf
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            top = max(top, edge_value(graph, scores, inside, e))
        inside[v] = top
        if top > -np.inf:
            total = 0.0
            for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
                total += np.exp(edge_value(graph, scores, inside, e) - top)
            inside[v] = top + np.log(total)


@kernel
def expected_uses(graph, scores, inside, uses):
    """uses[e] <- expected number of uses of edge e under exp(value) / Z.

    ``inside`` is from :func:`inside_logsum`. What flows into a node from above leaves it
    through its edges in proportion to their sums, so no outside scores are needed; this
    is the gradient of inside(root), written by hand.
    """
    flow = np.zeros(graph.root + 1)
    flow[graph.root] = 1.0
    for e in range(len(uses)):
        uses[e] = 0.0
    for v in range(graph.root, -1, -1):
        if flow[v] == 0.0 or inside[v] == -np.inf:
            continue
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            share = np.exp(edge_value(graph, scores, inside, e) - inside[v])
            uses[e] = flow[v] * share
            for t in range(graph.tail_ptr[e], graph.tail_ptr[e + 1]):
                flow[graph.tail[t]] += uses[e]


@kernel
def draw(graph, scores, inside, uniforms, edges):
    """edges <- a derivation drawn from exp(value) / Z, ascending; returns their number.

    ``inside`` is from :func:`inside_logsum`; every choice uses up one of ``uniforms``.
    """
    count = 0
    if inside[graph.root] == -np.inf:
        return count
    stack = [graph.root]
    while len(stack) > 0:
        v = stack.pop()
        left, winner = uniforms[count], -1
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            share = np.exp(edge_value(graph, scores, inside, e) - inside[v])
            if share > 0.0:  # also where rounding leaves some of the last one
                winner = e
                left -= share
                if left < 0.0:
                    break
        edges[count] = winner
        count += 1
        for t in range(graph.tail_ptr[winner], graph.tail_ptr[winner + 1]):
            stack.append(np.int64(graph.tail[t]))
    edges[:count].sort()
    return count


# the k best --------------------------------------------------------------------------


@kernel
def k_best(graph, scores, inside, edges, values):
    """Rows of ``edges`` <- the best derivations in order, filled up with -1.

    Returns how many there are, at most one per row. ``inside`` is from
    :func:`inside_max`.

    Best-first search over derivations that are cut from the root downwards: a partial
    one is a list of edges and the nodes still open. inside_max tells exactly what the
    open nodes will add, so partial derivations leave the heap in the order of the whole
    ones they lead to: at most k times their length are ever looked at, whatever the
    size of the graph. (A* with a perfect estimate: Pauls & Klein 2009.)
    """
    room = len(values)
    found = 0
    if inside[graph.root] == -np.inf:
        return found
    # Open nodes are linked cells, shared between partial derivations; cell 0 is the end.
    node, following = [np.int64(-1), graph.root], [0, 0]
    parent, chosen, still_open = [-1], [-1], [1]
    heap = [(-inside[graph.root], 0, 0)]  # (-value, -age, number): the newest of equals
    while len(heap) > 0 and found < room:
        minus, _, state = heappop(heap)
        cell = still_open[state]
        if chosen[state] >= 0:
            e = chosen[state]
            for t in range(graph.tail_ptr[e + 1] - 1, graph.tail_ptr[e] - 1, -1):
                node.append(np.int64(graph.tail[t]))
                following.append(cell)
                cell = len(node) - 1
        if cell == 0:
            count = 0
            while state > 0:
                edges[found, count] = chosen[state]
                state = parent[state]
                count += 1
            edges[found, :count].sort()
            edges[found, count:] = -1
            values[found] = -minus
            found += 1
            continue
        v = node[cell]
        # the lowest edge goes last, so that among equals it is the first to come back
        for e in range(graph.in_ptr[v + 1] - 1, graph.in_ptr[v] - 1, -1):
            less = edge_value(graph, scores, inside, e) - inside[v]  # 0 for the best
            if less > -np.inf:
                number = len(parent)
                parent.append(state)
                chosen.append(e)
                still_open.append(following[cell])
                heappush(heap, (minus - less, -number, number))
    return found
