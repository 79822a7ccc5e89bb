"""Basis points that move: gradient steps on points and coefficients together.

For f(x) = sum_j beta_j k(b_j, x) with coefficients beta_j per class, the objective

    P(b, beta) = 1/2 |f|^2 + sum_i C_i max_k [cost(y_i, k) + f_k(x_i) - f_(y_i)(x_i)]

is an upper bound of the exact kernel machine's optimum for any points b. With a_ik the
derivative of the risk by the score f_k(x_i), the gradients are

    dP/dbeta_j = sum_i a_i k(x_i, b_j) + sum_l k(b_j, b_l) beta_l
    dP/db_j    = sum_i (a_i.beta_j) k'(x_i, b_j) + sum_l (beta_l.beta_j) k'(b_l, b_j).

They are what the preimage problem of cutting-plane subspace pursuit asks for (Yu's thesis,
section 6.4: the point whose image is the best next direction), followed for many points at
once. Steps are stochastic: most examples are far from the margin and have a_i = 0, so
three quarters of a sample come from those that are not. Points take Adam's steps,
coefficients plain ones in the coordinates of ``kernels/basis.py``, which are well scaled
(of beta itself, some directions hardly matter and others very much).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from maxmargin.engine.threads import ALONE, Team
from maxmargin.kernel_svm.descent_pair import Pair
from maxmargin.kernel_svm.devices import Device
from maxmargin.kernels.basis import ROWS
from maxmargin.solvers.clock import Clock

SPREAD_ROWS = 2000  # from which the deviation of a column is read
FAR_SHARE = 0.25  # of a sample: examples beyond the margin, which may come back
NEAR = 0.5  # how far beyond the margin an example still counts as near it
ROUND = 800  # steps until coordinates and near examples are found anew
POINT_STEP = 0.1  # of the deviation of a column ...
WIDTH_STEP = 0.15  # ... and at most this share of a Gaussian's width in a direction
WEIGHT_STEP = 0.005  # of the length of the weights
NORM_EVERY = 20  # steps for which the gradient of |f|^2 is kept: it moves slowly
LEAST_EXPONENT = -80.0  # below it, exp() gives subnormal numbers, which are slow
FOR_TWO = 200  # steps that are worth a second thread
COMPARED = 2 * NORM_EVERY  # steps after which it is known whether two are faster
PAYS = 0.95  # share of its time in which they must do the same
RIDGE = 1e-4  # keeps coefficients small that cancel each other: points will move


@dataclass
class Examples:
    """Training data on a device: rows, classes, costs by class, masses C_i."""

    X: Any
    y: Any
    cost: Any
    mass: Any
    norms: Any
    device: Device
    numbers: Any  # 0, 1, .. for all examples and for a sample of them
    fixed_columns: int = 0  # last columns in which points do not move

    @classmethod
    def on(cls, device: Device, X, y, cost, mass, fixed_columns=0) -> Examples:
        X = device.put(X, np.float32)
        return cls(
            X,
            device.put(y, np.int64),
            device.put(cost, np.float32),
            device.put(mass, np.float32),
            (X * X).sum(1),
            device,
            device.put(np.arange(max(len(y), device.sample)), np.int64),
            fixed_columns,
        )


@dataclass
class Terms:
    """Points, their coefficients (points, classes), and scores of what does not move."""

    points: Any
    beta: Any
    others: tuple[Any, Any] | None = None  # points and coefficients
    scores: Any = None  # (n, classes), of the others


class Gaussians:
    """Blocks of exp(-gamma |x - b|^2) and their gradients, which share the block."""

    def __init__(self, gamma: float):
        self.gamma = gamma

    def block(self, x, norms, b):
        K = x @ (2 * self.gamma * b).T
        K -= self.gamma * norms[:, None]
        K -= self.gamma * (b * b).sum(1)
        if isinstance(K, np.ndarray):
            np.clip(K, LEAST_EXPONENT, 0, out=K)
            return np.exp(K, out=K)
        return K.clamp_(LEAST_EXPONENT, 0).exp_()

    def step(self, deviation: float, columns: int) -> float:
        """How far a point moves in a column, at first."""
        width = (2 * self.gamma * columns) ** -0.5
        return min(POINT_STEP * deviation, WIDTH_STEP * width)

    def pull(self, x, b, K, coefficients):
        coefficients *= K
        out = coefficients.T @ x
        out -= coefficients.sum(0)[:, None] * b
        out *= 2 * self.gamma
        return out


class Smooth:
    """The same of any differentiable kernel."""

    def __init__(self, kernel):
        self.kernel = kernel

    def block(self, x, norms, b):
        return self.kernel(x, b)

    def step(self, deviation: float, columns: int) -> float:
        return POINT_STEP * deviation

    def pull(self, x, b, K, coefficients):
        return self.kernel.gradient(x, b, coefficients)


def margins(examples: Examples, scores):
    """(margin over the most violating class, that class) of every example."""
    device, y = examples.device, examples.y
    rows = examples.numbers[: len(y)]
    truth = scores[rows, y]
    augmented = scores + examples.cost[y]
    augmented[rows, y] = -np.inf
    value, worst = device.largest(augmented)
    return truth - value, worst


def all_scores(shape, examples: Examples, points, beta):
    """f of every example, a block of rows at a time."""
    n = len(examples.y)
    zeros = np.zeros((n, beta.shape[1]), np.float32)
    out = examples.device.put(zeros, np.float32)
    for lo in range(0, n, ROWS):
        part = slice(lo, lo + ROWS)
        out[part] = shape.block(examples.X[part], examples.norms[part], points) @ beta
    return out


@dataclass
class Weights:
    """Weights in coordinates in which kernels of points are orthonormal."""

    V: Any
    momentum: Any
    drift: Any  # mean square of the gradient by them
    inverse: Any  # coefficients are inverse' V


def descend(
    shape,
    examples: Examples,
    terms: Terms,
    steps: int,
    rng,
    clock: Clock | None = None,
    team: Team = ALONE,
) -> Terms:
    """Move points and coefficients by so many steps, of sizes that fall to zero.

    When the clock says that time is over, it ends after a round. With several threads, two
    share the steps of a Gaussian kernel: the same, but for rounding.
    """
    device = examples.device
    B, beta = (device.put(a, np.float32) for a in (terms.points, terms.beta))
    B = B + 0
    deviation = float(device.get(examples.X[:SPREAD_ROWS]).std(axis=0).mean())
    step = shape.step(deviation, B.shape[1])
    adam = device.zeros_like(B), device.zeros_like(B)
    pair = _pair(team, shape, examples, terms, steps, B, adam)
    drift, length, t = 0.0, None, 0
    while t < steps and not (clock is not None and t and clock.over()):
        scores = all_scores(shape, examples, B, beta)
        if terms.scores is not None:
            scores += terms.scores
        margin = device.get(margins(examples, scores)[0])
        inverse, factor = coordinates(device.get(shape.block(B, (B * B).sum(1), B)))
        inverse = device.put(inverse, np.float32)
        V = device.put(factor.T, np.float32) @ beta
        length = length or max(float((V * V).sum()) ** 0.5, 1e-6)
        weights = Weights(V, device.zeros_like(V), drift, inverse)
        samples, masses = _draw(examples, margin, min(ROUND, steps - t), rng)

        def alone(lo, hi, t=t, draw=(samples, masses), weights=weights, length=length):
            rates = step, length, t + lo, steps
            own = samples_of(draw, lo, hi)
            _steps(shape, examples, terms, B, adam, weights, own, rates)

        def both(lo, hi, t=t, draw=(samples, masses), weights=weights, length=length):
            rates = step, WEIGHT_STEP * length, t + lo, steps
            norm_of = functools.partial(_norm_gradient, shape, terms, B)
            own = samples_of(draw, lo, hi)
            pair.round(weights, own, norm_of, NORM_EVERY, rates)

        _take(len(samples), alone, both if pair else None)
        drift, t = weights.drift, t + len(samples)
        beta = inverse.T @ weights.V
    return Terms(B, beta, terms.others, terms.scores)


def samples_of(draw, lo: int, hi: int) -> tuple:
    return draw[0][lo:hi], draw[1]


def _take(count: int, alone: Callable, both: Callable | None) -> None:
    """So many steps, by two threads where they are faster: some of each are compared.

    They are not where another program keeps one of two cores busy.
    """
    done, by = 0, alone
    if both is not None and count > 2 * COMPARED:
        seconds = []
        for way in (alone, both):
            began = time.perf_counter()
            way(done, done + COMPARED)
            seconds.append(time.perf_counter() - began)
            done += COMPARED
        by = both if seconds[1] <= PAYS * seconds[0] else alone
    if done < count:
        by(done, count)


def _steps(shape, examples: Examples, terms: Terms, B, adam, weights, draw, rates):
    """Steps with these samples: B, adam and the weights change."""
    (samples, masses), (step, length, t, steps) = draw, rates
    inverse, V = weights.inverse, weights.V
    for s in range(len(samples)):
        t += 1
        beta = inverse.T @ V
        by_beta, by_point = _risk_gradient(
            shape, examples, terms, samples[s], masses, B, beta
        )
        if s % NORM_EVERY == 0:
            norm = _norm_gradient(shape, terms, B, beta)
        by_beta += norm[0]
        by_point += norm[1]
        fall = 1 - t / (steps + 1)
        by_weight = inverse @ by_beta
        weights.momentum *= 0.9
        weights.momentum += 0.1 * by_weight
        weights.drift = 0.99 * weights.drift + 0.01 * (by_weight * by_weight).sum()
        size = (weights.drift / (1 - 0.99**t)) ** 0.5 + 1e-30
        V -= (fall * WEIGHT_STEP * length / size) * weights.momentum
        if examples.fixed_columns:
            by_point[:, -examples.fixed_columns :] = 0
        B -= fall * step * _adam(adam, by_point, t)


def _pair(team: Team, shape, examples: Examples, terms: Terms, steps: int, B, adam):
    """Two threads for the steps, where they can take them and there are many."""
    if team.size < 2 or steps < FOR_TWO or len(B) < 2:
        return None
    if examples.device.name != "cpu" or not isinstance(shape, Gaussians):
        return None
    return Pair(team, examples, terms.scores, shape.gamma, B, adam)


def coordinates(gram) -> tuple[np.ndarray, np.ndarray]:
    """(L^-1, L), the Cholesky factor of a Gram matrix with a ridge."""
    gram = np.asarray(gram, np.float64)
    ridge = RIDGE * max(float(np.diag(gram).mean()), 1e-30)
    while True:
        try:
            factor = cholesky(gram + ridge * np.eye(len(gram)), lower=True)
            break
        except np.linalg.LinAlgError:  # values of single precision are rounded coarsely
            ridge *= 10
    return solve_triangular(factor, np.eye(len(gram)), lower=True), factor


def _draw(examples: Examples, margin, count: int, rng):
    """Rows of so many samples, and by what their terms count so that the mean is right."""
    near, far = np.flatnonzero(margin < NEAR), np.flatnonzero(margin >= NEAR)
    sample = examples.device.sample
    away = int(sample * FAR_SHARE) if len(near) else sample
    away = away if len(far) else 0
    picks, weights = [], []
    for group, size in ((near, sample - away), (far, away)):
        if size:
            picks.append(group[rng.integers(0, len(group), (count, size))])
            weights.append(np.full(size, len(group) / size, np.float32))
    rows = examples.device.put(np.hstack(picks), np.int64)
    return rows, examples.device.put(np.concatenate(weights), np.float32)


def _risk_gradient(shape, examples: Examples, terms: Terms, rows, weights, B, beta):
    device, y = examples.device, examples.y[rows]
    x, norms = examples.X[rows], examples.norms[rows]
    K = shape.block(x, norms, B)
    scores = K @ beta
    if terms.scores is not None:
        scores += terms.scores[rows]
    at = examples.numbers[: len(y)]
    truth = scores[at, y]
    value, worst = device.largest(scores + examples.cost[y])
    # where the truth itself is worst, value = truth
    weights = weights * examples.mass[rows] * (value > truth)
    a = device.zeros_like(scores)
    a[at, worst] += weights
    a[at, y] -= weights
    return K.T @ a, shape.pull(x, B, K, a @ beta.T)


def _norm_gradient(shape, terms: Terms, B, beta):
    K = shape.block(B, (B * B).sum(1), B)
    by_beta, by_point = K @ beta, shape.pull(B, B, K, beta @ beta.T)
    if terms.others is not None:
        points, coefficients = terms.others
        K = shape.block(points, (points * points).sum(1), B)
        by_beta += K.T @ coefficients
        by_point += shape.pull(points, B, K, coefficients @ beta.T)
    return by_beta, by_point


def _adam(moments, gradient, t: int):
    first, second = moments
    first *= 0.9
    first += 0.1 * gradient
    second *= 0.99
    second += 0.01 * gradient * gradient
    return first / (1 - 0.9**t) / ((second / (1 - 0.99**t)) ** 0.5 + 1e-30)
