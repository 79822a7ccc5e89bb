"""max a.offset - 1/2 a'Ga over the simplex, the small program of cutting planes.

Pairwise steps are exact and cheap, but where C |g|^2 is large they zigzag. An active set
then goes on from where they are: with P the cuts that carry mass and the best other one,

    [G_P 1] [a]   [offset_P]
    [1'  0] [l] = [   1    ]

is the maximum on P without signs. The step there ends where the first a_p is used up, which
leaves P; at the maximum itself, the next best cut joins. No step lowers the value.
(Goldfarb & Idnani 1983 is the dual form; Nocedal & Wright 2006, section 16.5.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import kernel

PAIRWISE = 20  # steps per cut before the active set takes over
MAX_CHANGES = 3  # of the active set, per cut
RIDGE = 1e-14  # share of the largest diagonal entry: cuts may depend on each other


def solve_simplex(gram, offsets, alpha, tolerance) -> None:
    """Raise ``alpha`` in place until the gap of the program is below ``tolerance``."""
    if ascend_simplex(gram, offsets, alpha, tolerance, PAIRWISE * len(alpha)):
        return
    for _ in range(MAX_CHANGES * len(alpha)):
        gradient = offsets - gram @ alpha
        best = int(np.argmax(gradient))
        if gradient[best] - alpha @ gradient <= tolerance:
            return
        chosen = alpha > 0
        chosen[best] = True
        if not _move(gram, offsets, alpha, np.flatnonzero(chosen)):
            break
    ascend_simplex(gram, offsets, alpha, tolerance, PAIRWISE * len(alpha))


def _move(gram, offsets, alpha, active) -> bool:
    """To the maximum on these cuts, whose mass stays positive; False if that is vain."""
    before = alpha.copy()
    value = alpha @ offsets - 0.5 * alpha @ gram @ alpha
    while len(active) > 1:
        goal = _maximum(gram[np.ix_(active, active)], offsets[active])
        if goal is None:
            break
        change = goal - alpha[active]
        falls = change < 0
        if not ((alpha[active] <= 0) & falls).any():
            with np.errstate(divide="ignore", invalid="ignore"):
                limits = np.where(falls, -alpha[active] / change, np.inf)
            t = min(1.0, float(limits.min()))
            alpha[active] = np.maximum(alpha[active] + t * change, 0.0)
            if t == 1.0:
                break
            alpha[active[limits <= t]] = 0.0
        # cuts whose mass is used up, or that would get less than none, stay out
        active = active[(alpha[active] > 0) | ((alpha[active] == 0) & ~falls)]
    alpha /= alpha.sum()
    if alpha @ offsets - 0.5 * alpha @ gram @ alpha > value:
        return True
    alpha[:] = before
    return False


def _maximum(gram, offsets):
    """a with sum 1 that solves the system of the module; None if it cannot be solved."""
    size = len(gram)
    scale = float(np.abs(np.diag(gram)).max())
    if not scale > 0:
        return None
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = gram / scale
    system[np.arange(size), np.arange(size)] += RIDGE
    system[:size, size] = system[size, :size] = 1.0
    try:
        goal = np.linalg.solve(system, np.append(offsets / scale, 1.0))[:size]
    except np.linalg.LinAlgError:
        return None
    return goal if np.isfinite(goal).all() else None


@kernel
def ascend_simplex(gram, offsets, alpha, tolerance, max_steps):
    """Pairwise steps, until the gap is small; whether it is."""
    gradient = offsets - gram @ alpha
    for _ in range(max_steps):
        s, a, mean = 0, -1, 0.0
        for p in range(len(alpha)):
            if gradient[p] > gradient[s]:
                s = p
            if alpha[p] > 0.0 and (a < 0 or gradient[p] < gradient[a]):
                a = p
            mean += alpha[p] * gradient[p]
        if gradient[s] - mean <= tolerance:
            return True
        curvature = gram[s, s] + gram[a, a] - 2.0 * gram[s, a]
        step = alpha[a]
        if curvature > 0.0:
            step = min(step, (gradient[s] - gradient[a]) / curvature)
        if step >= alpha[a]:
            alpha[a] = 0.0
        else:
            alpha[a] -= step
        alpha[s] += step
        for p in range(len(alpha)):
            gradient[p] -= step * (gram[p, s] - gram[p, a])
    return False
