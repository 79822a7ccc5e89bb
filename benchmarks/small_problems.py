"""Random small problems of four kinds as a user would write them, and an outside optimum.

The optimum comes from listing every output and solving the quadratic program by Lawson
and Hanson's non-negative least squares (``scipy.optimize.nnls``). With quadratic slacks
the primal is a least distance problem,

    min |z|^2  s.t.  G z >= h,

whose dual is one such call. Linear slacks get a quadratic term that pulls them to where
the last round left them (a proximal point method): a few rounds, each exact.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from scipy.optimize import nnls

from maxmargin import Problem


class Classes(Problem):
    """x is a vector, y a class, the loss an entry of a table."""

    def __init__(self, rng):
        k, d = int(rng.integers(3, 6)), int(rng.integers(2, 5))
        self.cost = rng.uniform(0.1, 3.0, size=(k, k))
        np.fill_diagonal(self.cost, 0.0)
        self.shape = k, d

    def sample(self, rng):
        return rng.normal(size=self.shape[1]), int(rng.integers(self.shape[0]))

    def every(self, x):
        return range(self.shape[0])

    def joint_feature(self, x, y):
        psi = np.zeros(self.shape)
        psi[y] = x
        return psi.ravel()

    def loss(self, y, y_hat):
        return self.cost[y, y_hat]


class Chains(Problem):
    """x has a row per token, y a label per token, the loss counts or weighs errors."""

    def __init__(self, rng):
        self.labels, self.width = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        self.weight = rng.choice([1.0, 0.5, 2.0], size=self.labels)

    def sample(self, rng):
        length = int(rng.integers(1, 4))
        y = tuple(rng.integers(self.labels, size=length).tolist())
        return rng.normal(size=(length, self.width)), y

    def every(self, x):
        return product(range(self.labels), repeat=len(x))

    def joint_feature(self, x, y):
        emit = np.zeros((self.labels, self.width))
        step = np.zeros((self.labels, self.labels))
        for t, label in enumerate(y):
            emit[label] += x[t]
            if t:
                step[y[t - 1], label] += 1.0
        return np.concatenate([emit.ravel(), step.ravel()])

    def loss(self, y, y_hat):
        return sum(self.weight[a] for a, b in zip(y, y_hat, strict=True) if a != b)


class Subsets(Problem):
    """x has a row per item, y is a set of items; some items cost more."""

    def __init__(self, rng):
        self.size, self.width = int(rng.integers(2, 5)), int(rng.integers(2, 5))
        self.cost = rng.uniform(0.2, 2.0, size=self.size)

    def sample(self, rng):
        y = frozenset(np.flatnonzero(rng.random(self.size) < 0.5).tolist())
        return rng.normal(size=(self.size, self.width)), y

    def every(self, x):
        for bits in product((False, True), repeat=self.size):
            yield frozenset(k for k in range(self.size) if bits[k])

    def joint_feature(self, x, y):
        return x[sorted(y)].sum(axis=0)

    def loss(self, y, y_hat):
        return float(sum(self.cost[k] for k in y ^ y_hat))


class Rankings(Problem):
    """x has a row per item, y is an order of them."""

    def __init__(self, rng):
        self.size, self.width = int(rng.integers(2, 5)), int(rng.integers(2, 4))

    def sample(self, rng):
        y = tuple(rng.permutation(self.size).tolist())
        return rng.normal(size=(self.size, self.width)), y

    def every(self, x):
        return permutations(range(self.size))

    def joint_feature(self, x, y):
        return sum(x[a] - x[b] for i, a in enumerate(y) for b in y[i + 1 :])

    def loss(self, y, y_hat):
        return float(sum(a != b for a, b in zip(y, y_hat, strict=True)))


KINDS = (Classes, Chains, Subsets, Rankings)


def violations(problem, x, y, w, rescaling, penalty):
    """(outputs, violation of each) for one example."""
    outputs = list(problem.every(x))
    psi, c = _differences(problem, x, y, outputs, penalty)
    return outputs, c - (c if rescaling == "slack" else 1.0) * (psi @ w)


def _differences(problem, x, y, outputs, penalty):
    truth = problem.joint_feature(x, y)
    psi = np.array([truth - problem.joint_feature(x, z) for z in outputs])
    losses = np.array([problem.loss(y, z) for z in outputs])
    return psi, np.sqrt(losses) if penalty == "quadratic" else losses


def _best(problem, x, y, w, rescaling, penalty):
    outputs, values = violations(problem, x, y, w, rescaling, penalty)
    return outputs[int(values.argmax())]


def through(problem, door: str):
    """The same problem with one kind of search: what a user may write."""
    methods = {
        "argmax": lambda self, x, w: max(
            self.every(x), key=lambda z: float(w @ self.joint_feature(x, z))
        ),
        "most_violated": _best,
        "loss_augmented_argmax": lambda self, x, y, w: _best(
            self, x, y, w, "margin", "linear"
        ),
    }
    methods = {name: methods[name] for name in ("argmax", door) if name in methods}
    if door == "outputs":
        methods = {"outputs": lambda self, x: self.every(x)}
    kind = type(problem)
    made = type(kind.__name__, (kind,), methods)
    wrapped = made.__new__(made)
    wrapped.__dict__.update(vars(problem))
    return wrapped


def random_problem(seed: int):
    """(problem, X, Y, C): the kinds take turns."""
    rng = np.random.default_rng(seed)
    problem = KINDS[seed % len(KINDS)](rng)
    pairs = [problem.sample(rng) for _ in range(int(rng.integers(3, 9)))]
    C = float(10.0 ** rng.uniform(-1.5, 1.5))
    return problem, [x for x, _ in pairs], [y for _, y in pairs], C


class Listed:
    """Every plane of a training problem: the quadratic program as matrices."""

    def __init__(self, problem, X, Y, C, rescaling, penalty):
        self.C, self.quadratic, self.n = C, penalty == "quadratic", len(X)
        rows, offsets, owner = [], [], []
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            psi, c = _differences(problem, x, y, list(problem.every(x)), penalty)
            rows.append(psi * (c[:, None] if rescaling == "slack" else 1.0))
            offsets.append(c)
            owner += [i] * len(c)
        self.rows, self.offsets = np.concatenate(rows), np.concatenate(offsets)
        self.owner = np.array(owner)

    def hinges(self, w):
        found = np.zeros(self.n)
        np.maximum.at(found, self.owner, self.offsets - self.rows @ w)
        return found

    def primal(self, w) -> float:
        h = self.hinges(w)
        phi = 0.5 * h**2 if self.quadratic else h
        return float(0.5 * w @ w + self.C * phi.sum())

    def optimum(self, rounds=200) -> float:
        """The smallest primal."""
        if self.quadratic:
            return self.primal(self._nearest(np.zeros(self.n), self.C)[0])
        # pull at the slacks: about as strong as the losses are
        pull = self.C / max(float(self.offsets.max()), 1e-12)
        slack = np.zeros(self.n)
        best = np.inf
        for _ in range(rounds):
            w, slack = self._nearest(slack - self.C / pull, pull)
            value = self.primal(w)
            if value > best * (1 - 1e-13):
                break
            best = value
        return best

    def _nearest(self, centre, pull):
        """argmin 1/2 |w|^2 + pull/2 |xi - centre|^2 s.t. rows w + xi_owner >= offsets.

        The truth is an output too, so that xi >= 0 is among these.
        """
        root = np.sqrt(pull)
        slacks = np.eye(self.n)[self.owner] / root
        G = np.hstack([self.rows, slacks])
        h = self.offsets - centre[self.owner]
        scale = max(float(np.abs(h).max()), 1e-12)
        E = np.vstack([G.T, h / scale])
        f = np.zeros(len(E))
        f[-1] = 1.0
        u, _ = nnls(E, f, maxiter=100 * E.shape[1])
        rest = E @ u - f
        z = -rest[:-1] / rest[-1] * scale
        d = self.rows.shape[1]
        return z[:d], z[d:] / root + centre
