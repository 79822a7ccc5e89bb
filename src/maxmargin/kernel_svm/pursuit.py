"""Cutting-plane subspace pursuit: a small basis, found while training.

Algorithm 6.3 of Yu's thesis grows a basis along with the cuts: solve within the span,
look at what the next cut wants and the span cannot give, add the point whose image is
nearest to that, solve again. Here a stage adds many points at once (the basis doubles or
so), starts them at violated examples, and lets points and coefficients follow the gradient
of the objective (``descent.py``), which gave far better bases than preimages of the cut
itself. Solving within the span is the linear machine on coordinates (``linear.py``), from
the last dual point. ``training_points.py`` grows a basis without gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.engine.threads import ALONE, Team
from maxmargin.kernel_svm.descent import (
    Examples,
    Gaussians,
    Smooth,
    Terms,
    all_scores,
    coordinates,
    descend,
    margins,
)
from maxmargin.kernel_svm.devices import Cpu, Device
from maxmargin.kernel_svm.linear import Solved, solve, solve_on
from maxmargin.kernels.basis import ROWS, Basis
from maxmargin.kernels.distances import Gaussian
from maxmargin.solvers.clock import Clock
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
    """A basis, and the machine on it, where one was trained to find it.

    ``wanted`` is the number of points asked for, if time or Ctrl-C ended the search before.
    """

    basis: Basis
    solved: Solved | None = None
    coordinates: np.ndarray | None = None  # of single precision, until the next stage
    wanted: int | None = None

    @property
    def alpha(self) -> np.ndarray | None:
        """The dual point, which the next stage begins with."""
        return None if self.solved is None else self.solved.alpha


def stages(n_components: int, wanted=()) -> list[int]:
    """Sizes on the way: about doubling, and all that the caller wants to see."""
    sizes, size = set(wanted), FIRST
    while size < n_components:
        sizes.add(size)
        size = int(size * 2.5) if str(size)[0] == "2" else size * 2
    return sorted({min(s, n_components) for s in sizes} | {n_components})


def pursue(
    kernel,
    X,
    y,
    cost,
    mass,
    sizes,
    rng,
    limits,
    device: Device | None = None,
    clock: Clock | None = None,
    team: Team = ALONE,
) -> Iterator[Stage]:
    """Stages of points that lie anywhere; X is a dense table, the kernel smooth.

    After the first stage, time that is over ends them; one that has begun is left undone.
    """
    device, clock = device or Cpu(), clock or Clock()
    X = np.ascontiguousarray(X)
    rows, shape, decode, fixed = search_space(kernel, X, rng)
    examples = Examples.on(device, rows, y, cost, mass, fixed)
    B = np.zeros((0, rows.shape[1]), np.float32)
    beta, stage = np.zeros((0, len(cost)), np.float32), None
    for size in sizes:
        starts = _starts(shape, rows, examples, B, beta, mass, size - len(B), rng)
        everyone = np.concatenate([B, starts])
        weights = _rough(shape, examples, everyone, y, cost, mass, rng)
        if size <= TOGETHER or len(B) == 0:
            terms = Terms(everyone, weights)
        else:
            still = _put(device, B, weights[: len(B)])
            scores = all_scores(shape, examples, *still)
            terms = Terms(starts, weights[len(B) :], still, scores)
        each, least, most = STEPS
        steps = int(np.clip(each * size, least, most))
        if terms.others is not None:
            steps = LATER_STEPS
        steps = int(device.steps * min(steps, EPOCHS * len(y) / Cpu.sample))
        if steps:
            terms = descend(shape, examples, terms, steps, rng, clock, team)
        if stage is not None and clock.over():
            return
        moved = device.get(terms.points)
        B = moved if terms.others is None else np.concatenate([B, moved])
        basis = Basis(kernel, decode(B))
        B = B[basis.kept]
        Z = _transform(shape, examples, B, basis.inverse)
        alpha = stage.alpha if stage else None
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


def _put(device, *arrays) -> list:
    """The arrays on the device, in single precision."""
    return [device.put(array, np.float32) for array in arrays]


def _starts(shape, rows, examples: Examples, B, beta, mass, new, rng) -> np.ndarray:
    """New points: violated examples."""
    device, fixed = examples.device, examples.fixed_columns
    scores = all_scores(shape, examples, *_put(device, B, beta))
    margin = device.get(margins(examples, scores)[0])
    live = np.flatnonzero((margin < 0) & (mass > 0))
    if len(live) < new:
        live = np.arange(len(margin))
    starts = rows[rng.choice(live, new, replace=len(live) < new)]
    if fixed:
        starts[:, -fixed:] = 0
    return starts


def _rough(shape, examples: Examples, points, y, cost, mass, rng) -> np.ndarray:
    """Coefficients to begin with: the machine on a sample of the examples."""
    device, n = examples.device, len(y)
    rows = np.sort(rng.choice(n, ROUGH, replace=False)) if n > ROUGH else np.arange(n)
    at, (b,) = device.put(rows, np.int64), _put(device, points)
    inverse, _ = coordinates(device.get(shape.block(b, (b * b).sum(1), b)))
    block = shape.block(examples.X[at], examples.norms[at], b)
    Z = device.get(block @ device.put(inverse.T, np.float32))
    scaled = mass[rows] * (n / len(rows))
    solved = solve(Z, y[rows], cost, scaled, Limits(LOOSE, ROUGH_PASSES))
    if solved.solution.status == INTERRUPTED:  # nothing that anybody would keep
        raise KeyboardInterrupt
    return (inverse.T @ solved.weights).astype(np.float32)


def _transform(shape, examples: Examples, points, inverse) -> np.ndarray:
    """The coordinates of all examples, whose rows here have the same kernel values."""
    device, n = examples.device, len(examples.y)
    b, scale = _put(device, points, inverse.T)
    if device.name != "cpu":  # stays there
        return shape.block(examples.X, examples.norms, b) @ scale
    Z = np.empty((n, len(inverse)), np.float32)
    for lo in range(0, n, ROWS):
        part = slice(lo, lo + ROWS)
        block = shape.block(examples.X[part], examples.norms[part], b)
        Z[part] = block @ scale
    return Z


# fewer columns for the same distances -------------------------------------------------


# Share of the variance that the axes keep: as many as are cheap for the first, others only
# as far as the second.
VARIANCE, ENOUGH = 0.97, 0.9
CHEAP = 100
SAMPLE = 10_000  # rows from which they are read
NOTHING = 1e-12  # of an axis of length 1
MANY = 400  # columns; fewer are searched as they are
CONCENTRATED = 0.35  # share of columns that may hold the first share of the variance


class Isometry:
    """Fewer columns for the same distances: a rotation, and one column for the rest.

    A basis point may lie anywhere, and good ones lie near averages of data, that is in the
    span of the first principal components. With these as axes around the mean, and the
    length of what is left of x as one more column, |x - b|^2 is exact for every b in that
    span:

        |x - b|^2 = |U'(x - mean) - U'(b - mean)|^2 + |rest of x|^2.

    So the search for basis points of a kernel of distances works on r + 1 columns instead
    of d, with the same kernel values (images of 784 pixels: about 100). That costs nothing
    where neighbouring columns are alike, as of pixels. Where rare columns matter, points
    that cannot have them are bad ones (w8a: 97.6% instead of 98.7), so the variance must
    lie in few axes.

    ``encode`` gives the columns, ``decode`` the points whose last column is 0.
    """

    def __init__(self, mean: np.ndarray, axes: np.ndarray):
        self.mean, self.axes = mean, axes

    def encode(self, X: np.ndarray) -> np.ndarray:
        centred = X - self.mean
        out = np.empty((len(X), self.axes.shape[1] + 1), X.dtype)
        along = np.matmul(centred, self.axes, out=out[:, :-1])
        rest = np.einsum("ij,ij->i", centred, centred)
        rest -= np.einsum("ij,ij->i", along, along)
        out[:, -1] = np.sqrt(np.maximum(rest, 0))
        return out

    def decode(self, points: np.ndarray) -> np.ndarray:
        return points[:, :-1] @ self.axes.T + self.mean


def find_isometry(X: np.ndarray, rng: np.random.Generator) -> Isometry | None:
    """The rotation for X, or None where it would not save much."""
    n, d = X.shape
    if d < MANY or n < 2:
        return None
    sample = X if n <= SAMPLE else X[rng.choice(n, SAMPLE, replace=False)]
    mean = sample.mean(axis=0)
    centred = sample - mean
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    total = values.sum()
    if total <= 0:
        return None
    kept = np.searchsorted(np.cumsum(values), [ENOUGH * total, VARIANCE * total]) + 1
    r = max(int(kept[0]), min(CHEAP, int(kept[1])))
    if kept[1] > CONCENTRATED * d:  # rare columns matter too, as in sparse tables
        return None
    axes = vectors[:, :r]
    # A pixel that is always 0 gets weights such as 1e-20, whose products are subnormal
    # numbers, and these are several times slower in every later product.
    axes = np.where(np.abs(axes) < NOTHING, 0.0, axes)
    return Isometry(mean, np.ascontiguousarray(axes, X.dtype))
