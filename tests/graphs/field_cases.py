"""Random small fields and their scores."""

import itertools

import numpy as np
from enumerated_fields import positions

from maxmargin.graphs.field import Field, extent, make_field


def random_field(rng, n=None, most_states=3, tree=False, binary=False, shared=None):
    """A field with ragged states, isolated nodes, shared tables, now and then empty.

    With ``tree`` it is a forest. ``shared`` says whether edges may share tables; unless
    given, they do every other time.
    """
    n = int(rng.integers(0, 7)) if n is None else n
    if binary:
        states = np.full(n, 2)
    elif rng.random() < 0.3:
        states = np.full(n, rng.integers(1, most_states + 1))
    else:
        states = rng.integers(1, most_states + 1, size=n)
    if tree:
        order = rng.permutation(n)
        pairs = [(order[rng.integers(k)], order[k]) for k in range(1, n)]
        pairs = [p for p in pairs if rng.random() < 0.85]
    else:
        density = rng.random()
        pairs = [
            p for p in itertools.combinations(range(n), 2) if rng.random() < density
        ]
    edges = [(a, b) if rng.random() < 0.5 else (b, a) for a, b in pairs]
    edges = [edges[k] for k in rng.permutation(len(edges))]
    shared = rng.random() < 0.5 if shared is None else shared
    return make_field(states, edges, random_tables(rng, states, edges, shared))


def random_tables(rng, states, edges, shared):
    """A table for every edge, numbered without gaps; edges of one shape may share."""
    keys = [(states[u], states[v], rng.integers(2)) for u, v in edges]
    if not shared:
        keys = list(range(len(edges)))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.int64)


def random_theta(rng, field, impossible=None, whole=False, dtype=np.float64):
    """Random scores: of whole numbers there are ties, and a part may be impossible.

    Unless ``impossible`` (a probability) is given, it is zero every other time.
    """
    size = extent(field)
    theta = rng.integers(-2, 3, size) if whole else rng.normal(size=size) * 2
    theta = theta.astype(dtype)
    if impossible is None:
        impossible = 0.25 * (rng.random() < 0.5)
    states = np.diff(field.node_at)
    kept = positions(field, rng.integers(states)) if len(states) else []
    lost = rng.random(size) < impossible
    lost[kept] = False
    theta[lost] = -np.inf
    return theta


def submodular_theta(rng, field, theta):
    """theta, changed so that a binary field is submodular: agreeing is no worse."""
    theta = theta.copy()
    for at in np.unique(field.edge_at):
        a, b, c, d = theta[at : at + 4]
        less = max(0.0, (b + c) - (a + d)) + 0.1 * rng.random()
        if np.isfinite([a, d]).all() and np.isfinite(less):
            theta[at] += less
        elif np.isnan(less) or less == np.inf:
            theta[at], theta[at + 3] = rng.normal(size=2)
    return theta


def grid_field(rows, columns, states, tables=None) -> Field:
    """A grid with four neighbours; ``tables`` 0 makes all edges share one."""
    at = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], 1)
    edges = np.concatenate([across, down])
    shared = None if tables is None else np.zeros(len(edges), np.int64)
    return make_field(np.full(rows * columns, states), edges, shared)


def potts_theta(rng, field, strength=1.0):
    """Random scores of nodes; an edge of equal states, all of one number, gains."""
    states = int(field.node_at[1])
    theta = np.zeros(extent(field))
    theta[: field.node_at[-1]] = rng.normal(size=field.node_at[-1])
    for at in np.unique(field.edge_at):
        table = np.eye(states) * strength
        theta[at : at + states * states] = table.ravel()
    return theta
