"""Bases that grow by training points: ``method="training-points"``, the thesis's CPSP(tr).

Each new point is the best of 59 for what the basis still lacks, which needs no gradient:
any kernel, any input.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular

from maxmargin.kernel_svm.linear import signed, solve
from maxmargin.kernel_svm.pursuit import Stage, first_pulls
from maxmargin.kernels.basis import DEPENDENT, Basis
from maxmargin.kernels.inputs import count as samples
from maxmargin.kernels.inputs import take
from maxmargin.solvers.clock import Clock

ENOUGH = 3000  # examples that a direction is read from
CANDIDATES = 59  # the best of so many is among the best 5% with probability 0.95


def grow_points(
    kernel, X, y, cost, mass, sizes, rng, limits, clock: Clock | None = None
) -> Iterator[Stage]:
    """Stages of training points, each the best of a few for what is still missing.

    After the first stage, time that is over ends them.
    """
    clock = clock or Clock()
    chosen = np.zeros(0, np.int64)
    stage = None
    for size in sizes:
        if stage is not None and clock.over():
            return
        pulls, alpha = first_pulls(y, cost, mass), None
        if stage is not None:
            alpha = stage.alpha
            pulls = signed(alpha, y, mass)
        basis = stage.basis if stage else None
        new = best_of(kernel, X, pulls, basis, size - len(chosen), rng)
        chosen = np.concatenate([chosen, np.setdiff1d(new, chosen)])
        basis = Basis(kernel, take(X, chosen))
        Z = basis.transform(X)
        stage = Stage(basis, solve(Z, y, cost, mass, clock.within(limits), alpha))
        yield stage


def best_of(kernel, X, coefficients, basis, count: int, rng) -> np.ndarray:
    """Numbers of training points for the basis: each the best of 59 at random.

    How much of r a new point explains beside a basis B and the new points before it is
    <r - P r, phi(x)>^2 / |phi(x) - P phi(x)|^2, summed over the columns of r, P the
    projection onto the span of these. Points in the span are not chosen.
    """
    n, m = samples(X), coefficients.shape[1]
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
