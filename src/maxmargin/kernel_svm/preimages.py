"""Points whose images lie in a wanted direction: starts of new basis points.

The direction is r = sum_i c_i phi(x_i), what a dual point pulls towards. For a Gaussian
kernel, a point b that maximises <r, phi(b)> is a fixed point of

    b <- sum_i c_i k(x_i, b) x_i / sum_i c_i k(x_i, b)

(Schoelkopf & Smola; Yu's thesis, section 6.4.2). A step that would leave the data (a
denominator near zero, or one that does not raise <r, phi(b)>) is not taken.
"""

from __future__ import annotations

import numpy as np

from maxmargin.kernels.basis import DEPENDENT

ITERATIONS = 10
ENOUGH = 3000  # examples that a direction is read from
CANDIDATES = 59  # the best of so many is among the best 5% with probability 0.95


def fixed_points(kernel, X, coefficients, starts, iterations=ITERATIONS) -> np.ndarray:
    """From each start towards the maximum of <r_j, phi(b)>; coefficients (n, starts)."""
    points = starts.copy()
    K = kernel(X, points) * coefficients
    value = K.sum(axis=0)
    farthest = float(np.abs(X).max(initial=0.0))
    for _ in range(iterations):
        small = np.abs(value) < 1e-8 * np.abs(K).sum(axis=0)
        total = np.where(small, 1.0, value)
        moved = (K.T @ X) / total[:, None]
        moved[small] = points[small]
        blocks = kernel(X, moved) * coefficients
        reached = blocks.sum(axis=0)
        better = (np.abs(moved) <= farthest).all(axis=1) & (reached > value)
        if not better.any():
            break
        points[better] = moved[better]
        K[:, better] = blocks[:, better]
        value = np.where(better, reached, value)
    return points


def ascend(kernel, X, coefficients, starts, iterations=ITERATIONS) -> np.ndarray:
    """The same by gradient steps with halving, for any differentiable kernel."""
    points = starts.copy()

    def worth(b):
        return (kernel(X, b) * coefficients).sum(axis=0)

    value = worth(points)
    spread = float(X.std()) or 1.0
    step = np.full(len(points), spread)
    for _ in range(iterations):
        slope = kernel.gradient(X, points, coefficients)
        length = np.linalg.norm(slope, axis=1)
        move = slope / np.maximum(length, 1e-30)[:, None]
        moved = points + step[:, None] * move
        reached = worth(moved)
        better = np.isfinite(reached) & (reached > value)
        points[better] = moved[better]
        value = np.where(better, reached, value)
        step = np.where(better, step * 1.5, step / 2)
    return points


def best_of(kernel, X, coefficients, basis, count: int, rng) -> np.ndarray:
    """Numbers of training points for the basis: each the best of 59 at random.

    How much of r a new point explains beside a basis B and the new points before it is
    <r - P r, phi(x)>^2 / |phi(x) - P phi(x)|^2, summed over the columns of r, P the
    projection onto the span of these. Points in the span are not chosen.
    """
    from scipy.linalg import solve_triangular

    from maxmargin.kernels.inputs import count as size
    from maxmargin.kernels.inputs import take

    n, m = size(X), coefficients.shape[1]
    live = np.flatnonzero(np.abs(coefficients).max(axis=1) > 0)
    if len(live) > ENOUGH:
        live = rng.choice(live, ENOUGH, replace=False)
    if len(live) == 0:
        return rng.choice(n, min(count, n), replace=False)
    pool = rng.permutation(n)[: CANDIDATES * count]
    at, support = take(X, pool), take(X, live)
    c = coefficients[live]
    along = np.asarray(kernel(at, support), np.float64) @ c
    scale = np.asarray(kernel.diagonal(at), np.float64)
    z = np.zeros((len(pool), 0))
    if basis is not None:
        z = basis.transform(at, np.float64)
        along -= z @ (basis.transform(support, np.float64).T @ c)
    room = scale - np.einsum("ij,ij->i", z, z)
    chosen: list[int] = []
    factor, explained = np.zeros((count, count)), np.zeros((count, m))
    for group in np.array_split(np.arange(len(pool)), min(count, len(pool))):
        j = len(chosen)
        block = np.zeros((0, len(group)))  # coordinates among the points chosen so far
        if j:
            block = np.asarray(kernel(take(at, chosen), take(at, group)), np.float64)
            block -= z[chosen] @ z[group].T
            block = solve_triangular(factor[:j, :j], block, lower=True)
        rest = room[group] - np.einsum("ij,ij->j", block, block)
        wanted = along[group] - block.T @ explained[:j]
        free = rest > DEPENDENT * scale[group]
        if not free.any():
            continue
        gain = np.where(free, (wanted**2).sum(axis=1) / np.where(free, rest, 1.0), -1.0)
        best = int(np.argmax(gain))
        factor[j, :j], factor[j, j] = block[:, best], np.sqrt(rest[best])
        explained[j] = wanted[best] / factor[j, j]
        chosen.append(int(group[best]))
    return pool[chosen] if chosen or basis is not None else pool[:1]
