"""Cutting-plane subspace pursuit: a small basis, found while training.

Algorithm 6.3 of Yu's thesis grows a basis along with the cuts: solve within the span,
look at what the next cut wants and the span cannot give, add the point whose image is
nearest to that, solve again. Here a stage adds many points at once (the basis doubles or
so), starts them at violated examples, and lets points and coefficients follow the gradient
of the objective (``descent.py``), which gave far better bases than preimages of the cut
itself (``preimages.py``). Solving within the span is the linear machine on coordinates
(``linear.py``), from the last dual point.

``method="training-points"`` (the thesis's CPSP(tr)) adds training points, each the best of
59, which need no gradient: any kernel, any input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.kernel_svm import preimages
from maxmargin.kernel_svm.clock import INTERRUPTED, Clock
from maxmargin.kernel_svm.descent import (
    Examples,
    Gaussians,
    Smooth,
    Terms,
    all_scores,
    descend,
    margins,
)
from maxmargin.kernel_svm.device_solver import solve_on
from maxmargin.kernel_svm.devices import Cpu
from maxmargin.kernel_svm.isometry import find_isometry
from maxmargin.kernel_svm.linear import Solved, signed, solve
from maxmargin.kernels.basis import ROWS, Basis
from maxmargin.kernels.inputs import take
from maxmargin.solvers.result import Limits

FIRST = 10  # points of the first stage
TOGETHER = 200  # up to so many points, all move; later, only new ones
STEPS = 40, 500, 8_000  # of a stage where all move: for each point, at least, at most
LATER_STEPS = 6_000  # of a stage where only new ones do
EPOCHS = 100  # times that a stage sees as many examples as there are, at most
EASY = 1e-3, 1e4  # sizes of numbers that single precision does justice to
MOST = 1e18  # ... and whose squares it can hold
SHARPEST = 1e12  # gamma: points apart have no kernel between them anyway
LOOSE = 0.1  # tolerance where a descent follows
ROUGH = 10_000  # examples of a training that a descent follows ...
ROUGH_PASSES = 30  # ... and its passes


@dataclass
class Stage:
    """A basis, its machine and the dual point, which the next stage begins with."""

    basis: Basis
    solved: Solved
    coordinates: np.ndarray | None = None  # of single precision, until the next stage


def stages(n_components: int, wanted=()) -> list[int]:
    """Sizes on the way: about doubling, and all that the caller wants to see."""
    sizes, size = set(wanted), FIRST
    while size < n_components:
        sizes.add(size)
        size = int(size * 2.5) if str(size)[0] == "2" else size * 2
    return sorted({min(s, n_components) for s in sizes} | {n_components})


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
            alpha = stage.solved.alpha
            pulls = signed(alpha, y, mass)
        basis = stage.basis if stage else None
        new = preimages.best_of(kernel, X, pulls, basis, size - len(chosen), rng)
        chosen = np.concatenate([chosen, np.setdiff1d(new, chosen)])
        basis = Basis(kernel, take(X, chosen))
        Z = basis.transform(X)
        stage = Stage(basis, solve(Z, y, cost, mass, clock.within(limits), alpha))
        yield stage


def pursue(
    kernel,
    X,
    y,
    cost,
    mass,
    sizes,
    rng,
    limits,
    device: Cpu | None = None,
    preimage="gradient",
    clock: Clock | None = None,
) -> Iterator[Stage]:
    """Stages of points that lie anywhere; X is a dense table, the kernel smooth.

    After the first stage, time that is over ends them; one that has begun is left undone.

    With preimage="gradient", points start at violated examples and follow the gradient of
    the objective; with "fixed-point" they stay at the preimages (``preimages.py``).
    """
    device, clock = device or Cpu(), clock or Clock()
    X = np.ascontiguousarray(X)
    rows, shape, decode, fixed = search_space(kernel, X, rng)
    examples = Examples.on(device, rows, y, cost, mass, fixed)
    B = np.zeros((0, rows.shape[1]), np.float32)
    beta, stage = np.zeros((0, len(cost)), np.float32), None
    for size in sizes:
        starts = _starts(
            shape,
            kernel,
            rows,
            examples,
            B,
            beta,
            y,
            mass,
            size - len(B),
            fixed,
            rng,
            preimage,
        )
        everyone = np.concatenate([B, starts])
        weights = _rough(shape, examples, everyone, y, cost, mass, rng)
        if size <= TOGETHER or len(B) == 0:
            terms = Terms(everyone, weights)
        else:
            still = device.put(B), device.put(weights[: len(B)])
            scores = all_scores(shape, examples, *still)
            terms = Terms(starts, weights[len(B) :], still, scores)
        each, least, most = STEPS
        steps = int(np.clip(each * size, least, most))
        if terms.others is not None:
            steps = LATER_STEPS
        steps = int(device.steps * min(steps, EPOCHS * len(y) / Cpu.sample))
        if preimage == "fixed-point":
            steps = 0
        if steps:
            terms = descend(shape, examples, terms, steps, rng, clock)
        if stage is not None and clock.over():
            return
        moved = device.get(terms.points)
        B = moved if terms.others is None else np.concatenate([B, moved])
        basis = Basis(kernel, decode(B))
        B = B[basis.kept]
        Z = _transform(shape, examples, B, basis.inverse)
        alpha = stage.solved.alpha if stage else None
        solved = solve_on(device, Z, y, cost, mass, clock.within(limits), alpha)
        single = device.name == "cpu" and X.dtype == np.float32
        stage = Stage(basis, solved, Z if single else None)
        del Z  # before the caller makes its own
        beta = basis.coefficients(stage.solved.weights).astype(np.float32)
        yield stage
        stage.coordinates = None


def search_space(kernel, X, rng) -> tuple[np.ndarray, Any, Callable, int]:
    """(rows to search in, kernel blocks there, the way back, columns that are fixed).

    The search is in single precision. Where only distances count, data that it would not
    do justice to are measured from their mean, in a unit of their own, a power of two.
    """
    from maxmargin.kernels.distances import Gaussian

    if not isinstance(kernel, Gaussian):
        return _single(X), Smooth(kernel), lambda points: points.astype(X.dtype), 0
    single, origin, unit = _measured(X)
    gamma = float(kernel.gamma) * unit * unit
    shape = Gaussians(min(max(gamma, 1 / SHARPEST), SHARPEST))

    def back(points):
        if origin is not None:
            points = points.astype(np.float64) * unit + origin
        return points.astype(X.dtype)

    isometry = find_isometry(single, rng)
    if isometry is not None:
        return isometry.encode(single), shape, lambda b: back(isometry.decode(b)), 1
    mean = single.mean(axis=0)  # distances are sharper around the mean
    return single - mean, shape, lambda points: back(points + mean), 0


def _measured(X) -> tuple[np.ndarray, Any, float]:
    """(X - origin) / unit in single precision, the origin (None: zero) and the unit."""
    largest = float(np.abs(X).max(initial=0.0))
    if largest == 0 or EASY[0] < largest < EASY[1]:
        return _single(X), None, 1.0
    origin = X.mean(axis=0)
    moved = X - origin
    unit = 2.0 ** np.floor(np.log2(np.abs(moved).max() or 1.0))
    return _single(moved / unit), origin, float(unit)


def _single(X) -> np.ndarray:
    largest = float(np.abs(X).max(initial=0.0))
    if largest > MOST:
        raise ValueError(
            'method="subspace-pursuit" moves points in single precision, and X holds '
            f"values up to {largest:.3g}, whose squares that cannot hold: scale the "
            "features."
        )
    return np.ascontiguousarray(X, np.float32)


def first_pulls(y, cost, mass) -> np.ndarray:
    """What f = 0 is pulled towards: the truth, and away from the dearest class."""
    worst = np.where(np.eye(len(cost), dtype=bool), -np.inf, cost).argmax(axis=1)
    pulls = np.zeros((len(y), len(cost)))
    rows = np.arange(len(y))
    pulls[rows, y] += mass
    pulls[rows, worst[y]] -= mass
    return pulls


def _starts(
    shape, kernel, rows, examples, B, beta, y, mass, new, fixed, rng, preimage
) -> np.ndarray:
    """New points: violated examples, or preimages of what those of a class pull towards."""
    from maxmargin.kernels.distances import Gaussian

    device = examples.device
    scores = all_scores(shape, examples, device.put(B), device.put(beta))
    margin, worst = (device.get(values) for values in margins(examples, scores))
    live = np.flatnonzero((margin < 0) & (mass > 0))
    if len(live) < new:
        live = np.arange(len(y))
    seeds = rng.choice(live, new, replace=len(live) < new)
    starts = rows[seeds]
    if preimage == "fixed-point":
        sample = rng.choice(live, min(len(live), preimages.ENOUGH), replace=False)
        # examples of the start's class pull, those that are taken for it push
        pull = (y[sample][:, None] == y[seeds]) * 1.0
        pull -= worst[sample][:, None] == y[seeds]
        pull *= mass[sample][:, None]
        x = rows[sample]
        towards = preimages.ascend
        if isinstance(kernel, Gaussian):
            towards, kernel = preimages.fixed_points, Gaussian(shape.gamma)
        starts = towards(kernel, x, pull.astype(np.float32), starts)
    if fixed:
        starts[:, -fixed:] = 0
    return starts.astype(np.float32)


def _rough(shape, examples: Examples, points, y, cost, mass, rng) -> np.ndarray:
    """Coefficients to begin with: the machine on a sample of the examples."""
    from maxmargin.kernel_svm.descent import coordinates

    device, n = examples.device, len(y)
    rows = np.sort(rng.choice(n, ROUGH, replace=False)) if n > ROUGH else np.arange(n)
    at, b = device.index(rows), device.put(points)
    inverse, _ = coordinates(device.get(shape.block(b, (b * b).sum(1), b)))
    block = shape.block(examples.X[at], examples.norms[at], b)
    Z = device.get(block @ device.put(inverse.T))
    scaled = mass[rows] * (n / len(rows))
    solved = solve(Z, y[rows], cost, scaled, Limits(LOOSE, ROUGH_PASSES))
    if solved.solution.status == INTERRUPTED:  # nothing that anybody would keep
        raise KeyboardInterrupt
    return (inverse.T @ solved.weights).astype(np.float32)


def _transform(shape, examples: Examples, points, inverse) -> np.ndarray:
    """The coordinates of all examples, whose rows here have the same kernel values."""
    device, n = examples.device, len(examples.y)
    b, scale = device.put(points), device.put(inverse.T)
    if device.name != "cpu":  # stays there
        return shape.block(examples.X, examples.norms, b) @ scale
    Z = np.empty((n, len(inverse)), np.float32)
    for lo in range(0, n, ROWS):
        part = slice(lo, lo + ROWS)
        block = shape.block(examples.X[part], examples.norms[part], b)
        Z[part] = block @ scale
    return Z
