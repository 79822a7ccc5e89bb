"""Small chains, by the definition: all label sequences, their features and scores."""

from itertools import product

import numpy as np
from conftest import random_chain
from scipy.special import logsumexp

from maxmargin.core.formulation import make_form
from maxmargin.solvers.driver import drive
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.result import Limits
from maxmargin.tags.chain_gradients import ChainObjective

FORM = make_form("margin", "linear", 0.01)
LENGTHS = (1, 2, 3, 4, 5)


def chain(seed, lengths=LENGTHS, n_labels=3, n_features=4, wall=0.0):
    """A random batch; ``wall`` is the share of transitions and ends that is forbidden."""
    batch, n_weights = random_chain(seed, lengths, n_labels, n_features)
    rng = np.random.default_rng(seed)
    barrier = batch.barrier
    barrier[:, :n_labels][rng.random((n_labels + 2, n_labels)) < wall] = -np.inf
    barrier[0, 0] = barrier[n_labels, 0] = barrier[n_labels + 1, 0] = (
        0.0  # a way through
    )
    for i in range(len(lengths)):
        every = labellings(batch, i)
        truth = every[rng.integers(len(every))]
        batch.y[batch.start[i] : batch.start[i + 1]] = truth
    return batch, n_weights


def labellings(batch, i):
    """The allowed labellings of example i."""
    n, wall = batch.n_labels, batch.barrier
    length = batch.start[i + 1] - batch.start[i]
    every = np.array(list(product(range(n), repeat=length)), int).reshape(-1, length)
    walls = wall[n, every[:, 0]] + wall[n + 1, every[:, -1]]
    for t in range(1, length):
        walls = walls + wall[every[:, t - 1], every[:, t]]
    return every[walls == 0]


def features(batch, i, every):
    """Psi(x_i, y) of every labelling, one row each."""
    n, d, width = batch.n_labels, batch.n_features, batch.width
    out = np.zeros((len(every), (d + n + 2) * width))
    rows = np.arange(len(every))
    first = batch.start[i]
    for t in range(every.shape[1]):
        y = every[:, t]
        for j in range(batch.indptr[first + t], batch.indptr[first + t + 1]):
            np.add.at(out, (rows, batch.indices[j] * width + y), batch.values[j])
        if t > 0:
            np.add.at(out, (rows, (d + every[:, t - 1]) * width + y), 1.0)
    np.add.at(out, (rows, (d + n) * width + every[:, 0]), 1.0)
    np.add.at(out, (rows, (d + n + 1) * width + every[:, -1]), 1.0)
    return out


class SparseVector:
    """Example i with all its labellings and their scores at w."""

    def __init__(self, batch, i, w):
        self.every = labellings(batch, i)
        self.psi = features(batch, i, self.every)
        self.scores = self.psi @ w
        self.truth = batch.y[batch.start[i] : batch.start[i + 1]]
        self.is_truth = (self.every == self.truth).all(axis=1)
        self.lead = self.scores - self.scores[self.is_truth][0]
        self.p = np.exp(self.scores - logsumexp(self.scores))
        self.log_p_truth = -logsumexp(self.lead)
        self.share = 0.5 ** len(self.truth)

    def marginals(self, n_labels):
        is_label = self.every[:, :, None] == np.arange(n_labels)
        return np.einsum("y,ytk->tk", self.p, is_label)

    def loss(self, kind):
        if kind == "log":
            return -self.log_p_truth
        if kind == "exponential":
            return self.share * np.exp(self.lead[~self.is_truth]).sum()
        return -sum(
            np.log(self.p[self.every[:, t] == k].sum())
            for t, k in enumerate(self.truth)
        )


def listed(batch, w):
    return [SparseVector(batch, i, w) for i in range(len(batch.start) - 1)]


def smooth_task(batch, n_weights, kind, C=1.0, l1=0.0):
    mass = C * np.ones(len(batch.start) - 1)
    arguments = (batch, n_weights, FORM, mass, np.float64)
    if kind == "log":
        return LogObjective(*arguments, l1=l1)
    return ChainObjective(*arguments, kind=kind, l1=l1)


def weights(batch, n_weights, seed, size=1.0):
    w = size * np.random.default_rng(seed + 1).normal(size=n_weights)
    w.reshape(-1, batch.width)[:, batch.n_labels :] = 0  # padding is not a label
    return w


def toy(seed=0, n=25, labels="ABC", words=8, longest=6):
    """Sentences of made-up words with some bearing on the labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tags = rng.integers(len(labels), size=rng.integers(1, longest + 1))
        noise = rng.integers(words, size=len(tags))
        shown = np.where(rng.random(len(tags)) < 0.6, tags, noise)
        X.append([[f"w{k}", f"odd{k % 2}"] for k in shown])
        y.append([labels[k] for k in tags])
    return X, y


def drive_on(objective, solver, tol=0.01, max_iter=100):

    solution = drive(objective, solver, Limits(tol=tol, max_iter=max_iter))
    solver.finish(solution)
    return solution
