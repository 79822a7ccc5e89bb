"""Steps of two examples at once between two classes, chosen by what they gain.

Where K has one large eigenvalue (points that are near each other) a step of one example
alone changes the scores of all others, and sweeps undo each other's work. A step that
raises one example and lowers another does not. Here, for the classes s and p between which
one example gains most, mass moves from p to s: by d_i of the example i that gains most
alone, and by d_j (which may be negative) of the one with which it gains most together,

    d_i g_i + d_j g_j - c / 2 (d_i^2 K_ii + 2 d_i d_j K_ij + d_j^2 K_jj),

g = v_s - v_p, within 0 <= alpha. For two classes that is the SMO of Fan, Chen & Lin (2005,
second-order working sets) without an intercept, as in Steinwart, Hush & Scovel (2011).
"""

from __future__ import annotations

from maxmargin.core.kernel import inlined, kernel

RUN = 0.1  # of the gain that the first step alone would have: then look at all classes
TIE = (
    1 + 1e-9
)  # the first of equal gains: the last bit of a kernel value decides nothing
SINGULAR = 1e-9  # of K_ii K_jj: two examples that are one


@kernel
def ascend_pairs(table, classes, v, alpha, target, steps):
    """Move dual variables (classes, examples) until their gaps sum up to ``target``.

    ``v`` are scores plus costs, of the same shape: both change in place.
    """
    left = steps
    while left > 0:
        total, s, p = worst_pair(table, classes, v, alpha)
        if total <= target or s < 0:
            break
        taken = run_pair(table, classes, v, alpha, s, p, target, left)
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
                gain = gain_of(lead, curve * table[i, i], 0.0, alpha[p, i])
                if gain > TIE * best:
                    best, up, down = gain, s, p
    return total, up, down


@inlined
def clipped(slope, curve, low, high):
    """The best step within bounds."""
    if slope > curve * high:
        return high
    if slope < curve * low:
        return low
    return slope / curve if curve > 0.0 else 0.0


@inlined
def gain_of(slope, curve, low, high):
    step = clipped(slope, curve, low, high)
    return step * (slope - 0.5 * step * curve)


@inlined
def run_pair(table, classes, v, alpha, s, p, target, steps):
    """So many steps between two classes, while they pay; how many were taken."""
    m, q = v.shape
    c = classes[s, s] + classes[p, p] - 2.0 * classes[s, p]
    first = 0.0
    for t in range(steps):
        best, i, total = 0.0, -1, 0.0
        for k in range(q):
            g = v[s, k] - v[p, k]
            gain = gain_of(g, c * table[k, k], -alpha[s, k], alpha[p, k])
            total += alpha[p, k] * g if g > 0.0 else -alpha[s, k] * g
            if gain > TIE * best:
                best, i = gain, k
        first = max(first, best)
        if i < 0 or (m == 2 and total <= target) or (m > 2 and best < RUN * first):
            return t
        j, d, e = partner(table, c, v[s], v[p], alpha[s], alpha[p], i)
        move(alpha, s, p, i, d)
        if j >= 0:
            move(alpha, s, p, j, e)
        for k in range(m):
            factor = classes[k, s] - classes[k, p]
            if factor != 0.0:
                a, b = factor * d, factor * e
                for h in range(q):
                    v[k, h] -= a * table[i, h]
                if j >= 0:
                    for h in range(q):
                        v[k, h] -= b * table[j, h]
    return steps


@inlined
def partner(table, c, up, down, more, less, i):
    """(example, step of i, its own step): -1 where i alone is best."""
    gi, hi, lowest, highest = up[i] - down[i], c * table[i, i], -more[i], less[i]
    alone = clipped(gi, hi, lowest, highest)
    best, j, step, other = alone * (gi - 0.5 * alone * hi), -1, alone, 0.0
    for k in range(len(up)):
        hk, cross = c * table[k, k], c * table[i, k]
        det = hi * hk - cross * cross
        if k == i or det <= SINGULAR * hi * hk:
            continue
        g = up[k] - down[k]
        d = min(max((gi * hk - g * cross) / det, lowest), highest)
        e = min(max((g - cross * d) / hk, -more[k]), less[k])
        d = min(max((gi - cross * e) / hi, lowest), highest)
        gain = d * (gi - 0.5 * d * hi) + e * (g - 0.5 * e * hk) - d * e * cross
        if gain > TIE * best:
            best, j, step, other = gain, k, d, e
    return j, step, other


@inlined
def move(alpha, s, p, i, d):
    """Mass d from class p to s. Each for itself: small ones keep their digits."""
    alpha[s, i] = max(alpha[s, i] + d, 0.0)
    alpha[p, i] = max(alpha[p, i] - d, 0.0)
