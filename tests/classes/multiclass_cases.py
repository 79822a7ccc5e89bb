"""Samples of a few classes, and what a machine of them minimises."""

import numpy as np

from maxmargin import MulticlassSVM

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]
COST = np.array([[0.0, 1.0, 2.0], [1.5, 0.0, 0.5], [3.0, 1.0, 0.0]])


def blobs(n=30, d=5, k=3, distance=1.5, seed=0):
    """n points around k corners; overlapping unless the distance is large."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + distance * np.eye(k, d)[y], y


def tight(**params):
    return MulticlassSVM(**{"C": 1.0, "tol": 1e-7, "max_iter": 20_000, **params})


def hinges(W, X, y, cost, rescaling="margin", penalty="linear"):
    """H_i of the formula in the documentation, class by class."""
    c = np.sqrt(cost[y]) if penalty == "quadratic" else cost[y]
    r = c if rescaling == "slack" else np.ones_like(c)
    scores = X @ W.T
    truth = np.take_along_axis(scores, y[:, None], axis=1)
    return (c - r * (truth - scores)).max(axis=1)


def objective(W, X, y, C=1.0, cost=None, weights=None, form=("margin", "linear")):
    """1/2 |W|^2 + C sum_i s_i phi(H_i) in plain numpy."""
    cost = 1.0 - np.eye(len(W)) if cost is None else cost
    weights = np.ones(len(y)) if weights is None else weights
    h = hinges(W, X, y, cost, *form)
    phi = 0.5 * h**2 if form[1] == "quadratic" else h
    return 0.5 * np.sum(W**2) + C * weights @ phi


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def all_weights(model):
    return np.column_stack([model.coef_, model.intercept_])
