"""The k best matchings, by the partition of Murty (1968) and Lawler (1972).

A *subset* of all matchings has links that are fixed, to be in or out. Its best matching y
leaves the rest of it to be searched: for every free link in turn, the subset where that
link is not as in y and the ones before it are. These subsets are disjoint and, with y,
all there is, so the next best matching overall is the best of some subset.
"""

from __future__ import annotations

import heapq
import itertools

import numpy as np

from maxmargin.core.structure import check_k
from maxmargin.matchings.assignment import best_links

FREE, IN, OUT = 0, 1, 2


def k_best(weight, source_most: int, target_most: int, k: int):
    """[(sorted links, score)] of the k best matchings, best first; fewer if there are.

    Matchings are as in ``assignment.py``, but with links of any sign. Cost: at most
    n * m searches per matching; a subset that cannot reach the k best is not searched.
    """
    k = check_k(k)
    weight = np.asarray(weight, np.float64)
    n, m = weight.shape
    rooms = np.full(n, source_most, np.int64), np.full(m, target_most, np.int64)
    order = itertools.count()  # ties: first come, first served
    first = _best(weight, rooms, np.zeros((n, m), np.int8))
    heap = [(-first[0], next(order), *first)]
    values = [first[0]]  # the k largest ever seen, as a heap: what newcomers must beat
    out = []
    while heap and len(out) < k:
        _, _, value, taken, fixed = heapq.heappop(heap)
        out.append(([tuple(link) for link in np.argwhere(taken).tolist()], value))
        fixed = fixed.copy()
        for cell in zip(*np.nonzero(fixed == FREE), strict=True):
            bound = value if taken[cell] else value + weight[cell]
            if len(values) < k or bound > values[0]:
                fixed[cell] = OUT if taken[cell] else IN
                found = _best(weight, rooms, fixed)
                if found is not None:
                    heapq.heappush(heap, (-found[0], next(order), *found))
                    heapq.heappush(values, found[0])
                    if len(values) > k:
                        heapq.heappop(values)
            fixed[cell] = IN if taken[cell] else OUT
    return out


def _best(weight, rooms, fixed):
    """(score, links, fixed) of the best matching of a subset, or None if it is empty."""
    inside = fixed == IN
    left = rooms[0] - inside.sum(axis=1), rooms[1] - inside.sum(axis=0)
    if min(left[0].min(), left[1].min()) < 0:
        return None
    taken = np.zeros(weight.shape, bool)
    best_links(np.where(fixed == FREE, weight, -np.inf), *left, taken)
    taken |= inside
    return float(weight[taken].sum()), taken, fixed.copy()
