"""Steps of the descent by two threads: each moves half of the points.

A step of ``descent.py`` is some tens of microseconds of work, less than it takes to wake a
thread: so both stay in compiled code for many steps, and wait for each other twice in each
(``lockstep.py``), for the scores of a sample, which all points add to, and for the gradient
by coefficients, which all weights need. What is small they do both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.core.kernel import inlined, kernel, summing
from maxmargin.engine.threads import Team
from maxmargin.kernel_svm.lockstep import keep_step, leave, meet, places

LEAST = np.float32(-80.0)  # exponents below it give subnormal numbers, which are slow
ZERO, ONE, HALF = np.float32(0), np.float32(1), np.float32(0.5)
BITS_OF_E = np.float32(1.44269504088896341)  # log2(e)
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
# exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2) / 2 (Cephes)
P0, P1, P2 = (
    np.float32(c) for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3)
)
P3, P4, P5 = (
    np.float32(c) for c in (4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
)
NINE, TENTH = np.float32(0.9), np.float32(0.1)
MOST, LITTLE = np.float32(0.99), np.float32(0.01)
TINY = np.float32(1e-30)


class Pair:
    """Two threads that take the steps of a descent, and what they share."""

    def __init__(self, team: Team, examples, others, gamma: float, B, adam):
        y = np.asarray(examples.y, np.int64)
        self.team, self.gamma, self.B, self.adam = team, gamma, B, adam
        self.known = examples.X, examples.norms, y, examples.cost, examples.mass
        self.fixed = examples.fixed_columns
        none = np.zeros((0, examples.cost.shape[1]), np.float32)
        self.others = none if others is None else others

    def round(
        self, state, draw, norm_gradient: Callable, every: int, rates: tuple
    ) -> None:
        """Take steps; points and weights change in place.

        ``draw`` are rows of samples and their weights, ``norm_gradient(beta)`` the gradient
        of |f|^2, which holds for so many steps. ``rates`` are first steps of points and of
        weights, the steps taken before, and those of all rounds.
        """
        (k, m), inverse = state.V.shape, state.inverse
        samples, weights = draw
        # each thread has its own, with the same numbers
        V, momentum = (np.stack([a, a]) for a in (state.V, state.momentum))
        drift = np.full(2, state.drift, np.float64)
        transposed = np.ascontiguousarray(inverse.T)
        terms = self.B, V, momentum, drift, inverse, transposed
        shared = (
            np.zeros((2, m, samples.shape[1]), np.float32),
            np.zeros((k, m), np.float32),
        )
        edges, (points, weight, begun, steps) = np.array([0, k // 2, k]), rates
        for low in range(0, len(samples), every):
            rows = np.ascontiguousarray(samples[low : low + every], np.int64)
            norm = tuple(map(np.ascontiguousarray, norm_gradient(transposed @ V[0])))
            numbers = self.gamma, points, weight, begun + low, steps, self.fixed
            given = self.known, self.others, rows, weights, terms, self.adam, norm
            self._steps(edges, *given, shared, numbers)
        state.V[:], state.momentum[:] = V[0], momentum[0]
        state.drift = np.float32(drift[0])

    def _steps(self, *arguments) -> None:
        done = False
        while not done:
            met = places()

            def work(worker, _, met=met):
                try:
                    return steps_of_pair(worker, met, *arguments)
                except BaseException:
                    leave(met, worker)
                    raise

            done = all(self.team.run(work, [0, 1], 2))


@kernel
def steps_of_pair(
    worker, met, edges, known, others, rows, weights, terms, adam, norm, shared, rates
):
    """So many steps, as in ``descent.descend``; False, and nothing done, if alone."""
    X, norms, y, cost, mass = known
    B, V, momentum, drift, inverse, transposed = terms
    first, second = adam
    sums, gradient = shared
    gamma, point_step, weight_step, begun, steps, fixed = rates
    lo, hi = edges[worker], edges[worker + 1]
    count, q = rows.shape
    d, m, own = X.shape[1], V.shape[2], hi - lo
    V, momentum, mine = V[worker], momentum[worker], B[lo:hi]
    two, fixed_from = np.float32(2.0 * gamma), d - fixed
    x, xn = np.empty((q, d), np.float32), np.empty(q, np.float32)
    a, at = np.empty((q, m), np.float32), np.empty((m, q), np.float32)
    K, C = np.empty((own, q), np.float32), np.empty((own, q), np.float32)
    scaled, pulled = np.empty((own, d), np.float32), np.empty((own, d), np.float32)
    beta, powers = np.empty((own, m), np.float32), np.empty(q, np.int32)
    by_beta, by_weight = np.empty((own, m), np.float32), np.empty_like(V)
    if not meet(met, worker):
        return False
    for s in range(count):
        t = begun + s + 1
        gather(X, norms, rows[s], np.float32(gamma), x, xn)
        np.dot(transposed[lo:hi], V, beta)
        for j in range(own):
            for k in range(d):
                scaled[j, k] = two * mine[j, k]
        np.dot(scaled, x.T, K)
        for j in range(own):
            values(K[j], xn, np.float32(gamma) * dot(mine[j], mine[j]), powers)
        add_scores(K, beta, sums[worker])
        keep_step(met, worker, 2 * s + 1)
        pulls(sums, others, rows[s], y, cost, mass, weights, a, at)
        np.dot(K, a, by_beta)
        for j in range(own):
            for c in range(m):
                gradient[lo + j, c] = by_beta[j, c] + norm[0][lo + j, c]
            coefficients(K[j], beta[j], at, C[j])
        np.dot(C, x, pulled)
        fall = 1.0 - t / (steps + 1.0)
        size = np.float32(fall * point_step)
        shrink = np.float32(1 - 0.9**t), np.float32(1 - 0.99**t)
        for j in range(own):
            total, i = two * summed(C[j]), lo + j
            for k in range(d):
                slope = two * pulled[j, k] - total * mine[j, k] + norm[1][i, k]
                slope = slope if k < fixed_from else ZERO
                first[i, k] = NINE * first[i, k] + TENTH * slope
                second[i, k] = MOST * second[i, k] + LITTLE * slope * slope
                root = np.sqrt(second[i, k] / shrink[1]) + TINY
                mine[j, k] -= size * (first[i, k] / shrink[0] / root)
        keep_step(met, worker, 2 * s + 2)
        np.dot(inverse, gradient, by_weight)
        square = dot(by_weight.ravel(), by_weight.ravel())
        drift[worker] = 0.99 * drift[worker] + 0.01 * square
        length = (drift[worker] / (1 - 0.99**t)) ** 0.5 + 1e-30
        size = np.float32(fall * weight_step / length)
        for j in range(len(V)):
            for c in range(m):
                momentum[j, c] = NINE * momentum[j, c] + TENTH * by_weight[j, c]
                V[j, c] -= size * momentum[j, c]
    return True


@inlined
def gather(X, norms, rows, gamma, x, xn):
    for i in range(len(rows)):
        xn[i] = gamma * norms[rows[i]]
        for k in range(X.shape[1]):
            x[i, k] = X[rows[i], k]


@inlined
def values(row, xn, own, powers):
    """exp(row - xn - own) in place, without branches."""
    for i in range(len(row)):
        e = min(max(row[i] - xn[i] - own, LEAST), ZERO)
        n = np.floor(e * BITS_OF_E + HALF)
        r = e - n * LN2_HIGH - n * LN2_LOW
        p = ((((P0 * r + P1) * r + P2) * r + P3) * r + P4) * r + P5
        row[i] = p * r * r + r + ONE
        powers[i] = (np.int32(n) + np.int32(127)) << np.int32(23)
    factors = powers.view(np.float32)
    for i in range(len(row)):
        row[i] *= factors[i]


@inlined
def add_scores(K, beta, out):
    for c in range(out.shape[0]):
        row = out[c]
        for i in range(len(row)):
            row[i] = ZERO
        for j in range(len(K)):
            b, ks = beta[j, c], K[j]
            for i in range(len(row)):
                row[i] += b * ks[i]


@inlined
def pulls(sums, others, rows, y, cost, mass, weights, a, at):
    """The derivative of the risk by the scores of a sample, in two orders."""
    q, m = a.shape
    for i in range(q):
        row = rows[i]
        truth = y[row]
        worst, best, own = 0, ZERO, ZERO
        for c in range(m):
            score = sums[0, c, i] + sums[1, c, i]
            if len(others):
                score += others[row, c]
            raised = score + cost[truth, c]
            if c == 0 or raised > best:
                worst, best = c, raised
            if c == truth:
                own = score
            a[i, c] = at[c, i] = ZERO
        if best > own:
            pull = weights[i] * mass[row]
            a[i, worst] += pull
            a[i, truth] -= pull
            at[worst, i], at[truth, i] = a[i, worst], a[i, truth]


@inlined
def coefficients(ks, beta, at, out):
    for i in range(len(ks)):
        out[i] = ZERO
    for c in range(len(at)):
        b, row = beta[c], at[c]
        for i in range(len(ks)):
            out[i] += b * row[i]
    for i in range(len(ks)):
        out[i] *= ks[i]


@summing
def dot(a, b):
    total = ZERO
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@summing
def summed(a):
    total = ZERO
    for k in range(len(a)):
        total += a[k]
    return total
