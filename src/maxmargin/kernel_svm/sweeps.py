"""Steps of one example after the other, between all of its classes.

With many classes that is the quicker way as long as it gets on: a visit costs little beside
the search for the best of all pairs (``pairs.py``).
"""

import numpy as np

from maxmargin.core.kernel import inlined, kernel
from maxmargin.kernel_svm.pairs import TIE

SWEEPS = 100  # over a working set, at most
STALLED = 0.9  # share of the gaps before that a sweep leaves where it no longer pays
SOLVED = 0.1  # share of an example's gap that its block may keep
STEPS_PER_CLASS = 4  # pairwise steps within a block, at most


@kernel
def ascend_sweeps(table, classes, v, alpha, target):
    """Move dual variables (classes, examples) until their gaps sum up to ``target``.

    ``v`` are scores plus costs, of the same shape: both change in place. Ends early where
    sweeps no longer pay.
    """
    m, q = v.shape
    own, new, change = np.empty(m), np.empty(m), np.empty(m)
    step = np.empty(m)
    before = np.inf
    for _ in range(SWEEPS):
        total = 0.0
        for i in range(q):
            mass = 0.0
            for k in range(m):
                own[k], new[k], change[k] = v[k, i], alpha[k, i], 0.0
                mass += new[k]
            gap = solve_block(own, new, change, mass, table[i, i], classes)
            if gap <= 0.0:
                continue
            total += gap
            for k in range(m):
                step[k] = 0.0
            for k in range(m):
                alpha[k, i] = new[k]
                if change[k] != 0.0:
                    for j in range(m):
                        step[j] -= change[k] * classes[k, j]
            for k in range(m):
                if step[k] != 0.0:
                    for j in range(q):
                        v[k, j] += step[k] * table[i, j]
        if total <= target or total > STALLED * before:
            break
        before = total


@inlined
def solve_block(v, new, change, mass, square, classes):
    """Steps between classes of one example; v and the dual variables change in place.

    Mass moves to the most violated class s from the partner with which the dual gains
    most. ``change`` gets what moved, with all digits where the mass of the truth is large.
    Returns the gap before, 0 if there is nothing to gain.
    """
    m = len(v)
    first = 0.0
    for t in range(STEPS_PER_CLASS * m):
        s, mean = 0, 0.0
        for k in range(m):
            if v[k] > v[s]:
                s = k
        for k in range(m):
            mean += new[k] * (v[s] - v[k])
        if t == 0:
            first = mean
        if mean <= 0.0 or mean < SOLVED * first:
            break
        partner, best, size = -1, 0.0, 0.0
        for k in range(m):
            lead = v[s] - v[k]
            if new[k] > 0.0 and lead > 0.0:
                curve = square * (classes[s, s] + classes[k, k] - 2.0 * classes[s, k])
                move = new[k]
                if curve * move > lead:
                    move = lead / curve
                gain = move * (lead - 0.5 * move * curve)
                if gain > TIE * best:
                    partner, best, size = k, gain, move
        if partner < 0:
            break
        new[s] += size
        new[partner] -= size
        change[s] += size
        change[partner] -= size
        for k in range(m):
            v[k] += size * square * (classes[k, partner] - classes[k, s])
    return first
