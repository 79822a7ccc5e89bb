"""All labellings of a field, in plain Python: for tiny fields, and to test the others."""

from __future__ import annotations

import numpy as np

from maxmargin.graphs.field import Field, extent


def labellings(field: Field) -> np.ndarray:
    """int32[count, n]: every labelling, in lexicographic order."""
    states = np.diff(field.node_at)
    grid = np.indices(tuple(states), np.int32)
    return np.ascontiguousarray(grid.reshape(len(states), int(np.prod(states))).T)


def positions(field: Field, y) -> np.ndarray:
    """int64[..., n + m]: where in theta the scores of the parts of labellings are."""
    u, v = field.ends.T
    states = np.diff(field.node_at)
    pairs = field.edge_at + y[..., u].astype(np.int64) * states[v] + y[..., v]
    return np.concatenate([field.node_at[:-1] + y, pairs], axis=-1)


def scores(field: Field, theta, y) -> np.ndarray:
    """The score of every labelling given."""
    return theta[positions(field, y)].astype(float).sum(axis=-1)


def best(field: Field, theta) -> tuple[float, np.ndarray]:
    """(score, labelling): of equals, the first in lexicographic order."""
    y = labellings(field)
    found = scores(field, theta, y)
    k = int(np.argmax(found))
    return float(found[k]), y[k]


def k_best(field: Field, theta, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(scores, labellings) of the k best possible ones, in order."""
    y = labellings(field)
    found = scores(field, theta, y)
    order = np.argsort(-found, kind="stable")[:k]
    order = order[found[order] > -np.inf]
    return found[order], y[order]


def log_sums(field: Field, theta) -> tuple[float, np.ndarray]:
    """(log Z, mu): mu is in the layout of theta, where edges that share a table add up."""
    y = labellings(field)
    found = scores(field, theta, y)
    top = found.max()
    weights = np.exp(found - top)
    total = weights.sum()
    mu = np.zeros(extent(field))
    where = positions(field, y)
    np.add.at(mu, where.ravel(), np.repeat(weights / total, where.shape[1]))
    return float(top + np.log(total)), mu
