"""The local polytope as a linear program, by HiGHS: the reference for ``fractional.py``.

maximise    <theta, mu>
subject to  sum over x of mu_v(x) = 1                       every node
            sum over z of mu_uv(x, z) = mu_u(x), and vice versa    every edge
            mu >= 0, and mu = 0 where theta is -inf
"""

from __future__ import annotations

import numpy as np

from maxmargin.graphs.field import Field


def local_polytope(field: Field):
    """(A, b): the points mu of the local polytope are those with A mu = b, mu >= 0.

    mu has all states of all nodes, then a table for every edge, also where tables of
    scores are shared.
    """
    from scipy import sparse

    states = np.diff(field.node_at)
    n, at = len(states), field.node_at[-1]
    rows, columns, values = [np.repeat(np.arange(n), states)], [np.arange(at)], []
    values.append(np.ones(at))
    row = n
    for u, v in field.ends.tolist():
        cells = at + np.arange(states[u] * states[v]).reshape(states[u], states[v])
        for node, table in ((u, cells), (v, cells.T)):
            k = states[node]
            rows += [np.repeat(row + np.arange(k), table.shape[1]), row + np.arange(k)]
            columns += [table.ravel(), field.node_at[node] + np.arange(k)]
            values += [np.ones(table.size), -np.ones(k)]
            row += k
        at += cells.size
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    right = np.zeros(row)
    right[:n] = 1.0
    return sparse.csr_array(entries, shape=(row, at)), right


def unshared(field: Field, theta) -> np.ndarray:
    """Scores in the layout of mu: those of nodes, then a table for every edge."""
    states = np.diff(field.node_at)
    sizes = states[field.ends[:, 0]] * states[field.ends[:, 1]]
    tables = [theta[a : a + k] for a, k in zip(field.edge_at, sizes, strict=True)]
    return np.concatenate([theta[: field.node_at[-1]], *tables]).astype(float)


def solve(field: Field, theta) -> tuple[float, np.ndarray]:
    """(value, mu): the largest <theta, mu> over the local polytope."""
    from scipy.optimize import linprog

    scores = unshared(field, theta)
    if len(scores) == 0:
        return 0.0, scores
    possible = np.isfinite(scores)
    matrix, right = local_polytope(field)
    limits = np.stack([np.zeros(len(scores)), np.where(possible, 1.0, 0.0)], 1)
    gains = np.where(possible, scores, 0.0)
    found = linprog(-gains, A_eq=matrix, b_eq=right, bounds=limits, method="highs")
    if found.status != 0:
        raise ValueError(f"HiGHS did not solve the relaxation: {found.message}")
    return float(-found.fun), found.x
