"""Steps of two examples at once between two classes, chosen by what they gain.

Where K has one large eigenvalue (points that are near each other) a step of one example
alone changes the scores of all others, and sweeps undo each other's work. A step that
raises one example and lowers another does not. Here, for the classes s and p between which
one example gains most, mass moves from p to s: by d_i of the example i that gains most
alone, and by d_j (which may be negative) of the one with which it gains most together,

    d_i g_i + d_j g_j - c / 2 (d_i^2 K_ii + 2 d_i d_j K_ij + d_j^2 K_jj),

g = v_s - v_p, within 0 <= alpha. For two classes that is the SMO of Fan, Chen & Lin (2005,
second-order working sets) without an intercept, as in Steinwart, Hush & Scovel (2011).

Loops over examples have no branches, so that the compiler makes vector instructions of
them; what divides by zero is not chosen.
"""

import numpy as np

from maxmargin.core.kernel import inlined, inner, kernel

RUN = 0.1  # of the gain that the first step alone would have: then look at all classes
LOOK = 16  # steps after which gaps are summed up
TIE = 1 + 1e-9  # the first of equal gains: last bits of kernel values decide nothing
SINGULAR = 1e-9  # of K_ii K_jj: two examples that are one
FLAT = 1e-300  # a curve of less is none


@kernel
def ascend_pairs(table, classes, v, alpha, target, steps):
    """Move dual variables (classes, examples) until their gaps sum up to ``target``.

    ``v`` are scores plus costs, of the same shape: both change in place.
    """
    left, scratch = steps, np.empty((4, v.shape[1]))
    while left > 0:
        total, s, p = worst_pair(table, classes, v, alpha)
        if total <= target or s < 0:
            break
        taken = run_pair(table, classes, v, alpha, s, p, target, left, scratch)
        if taken == 0:
            break
        left -= taken


@inlined
def worst_pair(table, classes, v, alpha):
    """(sum of gaps, class to raise, class to lower) where one example gains most."""
    m, q = v.shape
    total, best, up, down = 0.0, 0.0, -1, -1
    for i in range(q):
        s, mean, mass = 0, 0.0, 0.0
        for k in range(m):
            mean += alpha[k, i] * v[k, i]
            mass += alpha[k, i]
            if v[k, i] > v[s, i]:
                s = k
        gap = mass * v[s, i] - mean
        total += max(gap, 0.0)
        if gap <= best:  # it is the most that steps of this example gain
            continue
        for p in range(m):
            lead = v[s, i] - v[p, i]
            if alpha[p, i] > 0.0 and lead > 0.0:
                curve = classes[s, s] + classes[p, p] - 2.0 * classes[s, p]
                step = alpha[p, i]
                if curve * table[i, i] * step > lead:
                    step = lead / (curve * table[i, i])
                gain = step * (lead - 0.5 * step * curve * table[i, i])
                if gain > TIE * best:
                    best, up, down = gain, s, p
    return total, up, down


@inlined
def run_pair(table, classes, v, alpha, s, p, target, steps, scratch):
    """So many steps between two classes, while they pay; how many were taken."""
    m, q = v.shape
    c = classes[s, s] + classes[p, p] - 2.0 * classes[s, p]
    g, curve, inverse, gains = scratch[0], scratch[1], scratch[2], scratch[3]
    more, less = alpha[s], alpha[p]
    for k in range(q):
        g[k] = v[s, k] - v[p, k]
        curve[k] = c * table[k, k]
        inverse[k] = 1.0 / curve[k] if curve[k] > FLAT else 1.0 / FLAT
    first, taken = 0.0, steps
    for t in range(steps):
        alone(g, curve, inverse, more, less, gains)
        i = first_largest(gains)
        if i < 0:
            taken = t
            break
        first = max(first, gains[i])
        done = m > 2 and gains[i] < RUN * first
        if m == 2 and t % LOOK == 0:
            done = gap_sum(g, more, less) <= target
        if done:
            taken = t
            break
        d = between(g[i] * inverse[i], -more[i], less[i])
        gains_with(c, table[i], g, curve, inverse, more, less, i, gains)
        j, e = first_largest(gains), 0.0
        if j >= 0:
            d, e = together(c, table[i, j], g, curve, inverse, more, less, i, j)
            move(more, less, j, e)
        move(more, less, i, d)
        a, b = c * d, c * e
        one, other = table[i], table[max(j, 0)]
        for k in range(q):
            g[k] -= a * one[k] + b * other[k]
    for h in range(q):
        step = (v[s, h] - v[p, h] - g[h]) / c if c > 0.0 else 0.0
        for k in range(m):
            v[k, h] -= (classes[k, s] - classes[k, p]) * step
    return taken


def without_branches(function):
    return inner(function, forceinline=True, error_model="numpy")


@without_branches
def between(step, low, high):
    step = step if step < high else high
    return step if step > low else low


@without_branches
def alone(g, curve, inverse, more, less, gains):
    """What the best step of every example gains."""
    for k in range(len(g)):
        step = between(g[k] * inverse[k], -more[k], less[k])
        gains[k] = step * (g[k] - 0.5 * step * curve[k])


@without_branches
def gains_with(c, row, g, curve, inverse, more, less, i, gains):
    """What the best step of every example gains beside that of i."""
    gi, hi, inverse_i, low, high = g[i], curve[i], inverse[i], -more[i], less[i]
    step = between(gi * inverse_i, low, high)
    least = TIE * step * (gi - 0.5 * step * hi)
    for k in range(len(g)):
        cross, h = c * row[k], curve[k]
        det = hi * h - cross * cross
        d = between((gi * h - g[k] * cross) / det, low, high)
        e = between((g[k] - cross * d) * inverse[k], -more[k], less[k])
        d = between((gi - cross * e) * inverse_i, low, high)
        gain = d * (gi - 0.5 * d * hi) + e * (g[k] - 0.5 * e * h) - d * e * cross
        good = (det > SINGULAR * hi * h) & (gain > least)
        gains[k] = gain if good else 0.0


@without_branches
def together(c, value, g, curve, inverse, more, less, i, j):
    """The steps of i and j."""
    cross = c * value
    det = curve[i] * curve[j] - cross * cross
    d = between((g[i] * curve[j] - g[j] * cross) / det, -more[i], less[i])
    e = between((g[j] - cross * d) * inverse[j], -more[j], less[j])
    return between((g[i] - cross * e) * inverse[i], -more[i], less[i]), e


@inlined
def first_largest(gains):
    """The first of the largest gains; -1 where there is none."""
    best, i = 0.0, -1
    for k in range(len(gains)):
        if gains[k] > best:
            best, i = TIE * gains[k], k
    return i


@inlined
def gap_sum(g, more, less):
    total = 0.0
    for k in range(len(g)):
        total += less[k] * g[k] if g[k] > 0.0 else -more[k] * g[k]
    return total


@inlined
def move(more, less, i, d):
    """Mass d to the first class. Each for itself: small ones keep their digits."""
    more[i] = max(more[i] + d, 0.0)
    less[i] = max(less[i] - d, 0.0)
