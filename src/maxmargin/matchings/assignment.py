"""Bipartite matching of largest weight in which every node takes part a few times.

Links (i, j) with weights; node i takes at most source_room[i] of them, node j at most
target_room[j], and no link is taken twice. Nodes may stay alone at no cost, so a link
that is not positive is never taken. One-to-one matching is the case of rooms of 1.

The matching grows by the best augmenting path until none gains: a flow of least cost by
successive shortest paths, with Dijkstra's algorithm on reduced costs (Edmonds & Karp
1972). Gains never rise from one path to the next, so the first that is not positive ends
the search at the optimum. Cost: links taken * (n + m)^2.
"""

import numpy as np

from maxmargin.core.kernel import inner


@inner
def best_links(weight, source_room, target_room, taken):
    """taken <- the links of the best matching, as a table of booleans."""
    n, m = weight.shape
    taken[:, :] = False
    source_left, target_left = source_room.copy(), target_room.copy()
    # Prices keep price_i - price_j - weight_ij >= 0 on links that are free, <= 0 on links
    # that are taken. With these as lengths, a path from i to j costs its length
    # + price_j - price_i; rounding may make a length of zero negative, hence max() below.
    source_price = np.zeros(n)
    target_price = np.full(m, -np.inf)
    for i in range(n):
        for j in range(m):
            if weight[i, j] > 0:
                target_price[j] = max(target_price[j], weight[i, j])
    target_price = -target_price  # +inf: nothing leads there
    end_price = target_price.min() if m > 0 else 0.0  # where every path ends
    source_dist, target_dist = np.empty(n), np.empty(m)
    source_done, target_done = np.empty(n, np.bool_), np.empty(m, np.bool_)
    source_from, target_from = np.empty(n, np.int64), np.empty(m, np.int64)
    while True:
        # Paths start at any source with room left, at a cost of 0.
        for i in range(n):
            source_done[i] = False
            source_from[i] = -1
            source_dist[i] = -source_price[i] if source_left[i] > 0 else np.inf
        for j in range(m):
            target_done[j] = False
            target_dist[j] = np.inf
        end, end_dist = -1, np.inf
        while True:
            at, side, near = -1, 0, np.inf
            for i in range(n):
                if not source_done[i] and source_dist[i] < near:
                    at, side, near = i, 0, source_dist[i]
            for j in range(m):
                if not target_done[j] and target_dist[j] < near:
                    at, side, near = j, 1, target_dist[j]
            if near >= end_dist or at < 0:
                break
            if side == 0:
                source_done[at] = True
                for j in range(m):
                    if taken[at, j] or target_done[j] or not weight[at, j] > 0:
                        continue
                    step = source_price[at] - target_price[j] - weight[at, j]
                    if near + max(step, 0.0) < target_dist[j]:
                        target_dist[j] = near + max(step, 0.0)
                        target_from[j] = at
            else:
                target_done[at] = True
                step = max(target_price[at] - end_price, 0.0)
                if target_left[at] > 0 and near + step < end_dist:
                    end, end_dist = at, near + step
                for i in range(n):
                    if not taken[i, at] or source_done[i]:
                        continue
                    step = target_price[at] - source_price[i] + weight[i, at]
                    if near + max(step, 0.0) < source_dist[i]:
                        source_dist[i] = near + max(step, 0.0)
                        source_from[i] = at
        if end < 0 or end_dist + end_price >= 0:  # what the path costs
            return
        for i in range(n):
            source_price[i] += min(source_dist[i], end_dist)
        for j in range(m):
            target_price[j] += min(target_dist[j], end_dist)
        end_price += end_dist
        j = end
        target_left[j] -= 1
        while True:
            i = target_from[j]
            taken[i, j] = True
            if source_from[i] < 0:
                source_left[i] -= 1
                break
            j = source_from[i]
            taken[i, j] = False
