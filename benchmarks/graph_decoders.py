"""Every way to decode a grid in ``graphs.py``: ours and those of others."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

PASSES = 200
TOL = 1e-6  # of the scale of scores


def decode_grid(method: str, field, theta) -> tuple[float, float | None]:
    """(score of the labelling found, upper bound or None)."""
    name = method.replace("-", "_").replace("'", "").replace(" ", "_").lower()
    return globals()[f"by_{name}"](field, theta)


def _score(field, theta, y) -> float:
    from maxmargin.graphs.field import field_score

    return float(field_score(field, theta, np.asarray(y, np.int32)))


def _labelling(field) -> np.ndarray:
    return np.zeros(len(field.node_at) - 1, np.int32)


def by_graph_cut(field, theta):
    from maxmargin.graphs.inference.graph_cut import graph_cut

    score = float(graph_cut(field, theta, _labelling(field)))
    return score, score  # the best there is


def by_roof(field, theta):
    """Where roof duality leaves a node open, expansions choose."""
    from maxmargin.graphs.inference.expansion import improve
    from maxmargin.graphs.inference.roof import roof

    twice = _labelling(field)
    bound = float(roof(field, theta, twice))
    score, _ = improve(field, theta, np.where(twice == 2, 1, 0))
    return float(score), bound


def by_expansion(field, theta):
    from maxmargin.graphs.inference.expansion import improve

    return float(improve(field, theta)[0]), None


def by_swap(field, theta):
    from maxmargin.graphs.inference.expansion import improve

    return float(improve(field, theta, moves="swap")[0]), None


def by_dual_ascent(field, theta):
    from maxmargin.graphs.inference.dual_ascent import ascend
    from maxmargin.graphs.inference.messages import no_messages

    tol = TOL * float(np.abs(theta).max())
    messages, y = no_messages(field), _labelling(field)
    bound, value = ascend(field, theta, messages, PASSES, tol, y)
    return float(value), float(bound)


def by_predict(field, theta):
    """As a relaxed model predicts: ascent and, where it is open, the others too."""
    from maxmargin.graphs.inference.rounding import good_labelling

    y = _labelling(field)
    short = good_labelling(field, theta, y)
    score = _score(field, theta, y)
    return score, score + float(short)


def by_relaxed(field, theta):
    """As training does it: a point of the local polytope, and its bound."""
    from maxmargin.graphs.inference.fractional import mu_room, relax
    from maxmargin.graphs.inference.messages import no_messages

    y, mu = _labelling(field), np.zeros(mu_room(field), np.int32)
    tol = 1e-4 * len(y)
    bound, _ = relax(field, theta, no_messages(field), 300, tol, y, mu)
    return _score(field, theta, y), float(bound)


def by_max_product(field, theta):
    from maxmargin.graphs.inference.max_product import max_product
    from maxmargin.graphs.inference.messages import no_messages

    y = _labelling(field)
    return float(
        max_product(field, theta, no_messages(field), 50, 0.5, 1e-6, y)[0]
    ), None


# others ----------------------------------------------------------------------


def by_highs(field, theta):
    """The relaxation by scipy's HiGHS; every node takes its largest share."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "graphs"))
    from linear_program import solve

    bound, mu = solve(field, theta)
    shares = mu[: field.node_at[-1]].reshape(len(field.node_at) - 1, -1)
    return _score(field, theta, shares.argmax(1)), float(bound)


def _network(field, theta):
    """(gain of state 1, capacity of every edge) of a Potts field with two labels."""
    n, m = len(field.node_at) - 1, len(field.ends)
    nodes = theta[: 2 * n].reshape(n, 2)
    tables = theta[field.edge_at[:, None] + np.arange(4)].reshape(m, 4)
    return nodes[:, 1] - nodes[:, 0], tables[:, 0] - tables[:, 1]


def by_scipys_maximum_flow(field, theta):
    """With capacities in whole numbers, as it wants them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    gain, weight = _network(field, theta)
    n, unit = len(gain), 1e6
    u, v = field.ends.T
    ones = np.flatnonzero(gain > 0)
    zeros = np.flatnonzero(gain <= 0)
    starts = np.concatenate([u, v, np.full(len(ones), n), zeros])
    ends = np.concatenate([v, u, ones, np.full(len(zeros), n + 1)])
    sizes = np.concatenate([weight, weight, gain[ones], -gain[zeros]])
    whole = np.round(unit * sizes).astype(np.int32)
    network = csr_array((whole, (starts, ends)), shape=(n + 2, n + 2))
    found = maximum_flow(network, n, n + 1)
    left = network - found.flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    reached = breadth_first_order(left, n, return_predecessors=False)
    y = np.zeros(n + 2, np.int32)
    y[reached] = 1
    return _score(field, theta, y[:n]), None


def by_pymaxflow(field, theta):
    import maxflow

    gain, weight = _network(field, theta)
    graph = maxflow.Graph[float](len(gain), len(weight))
    nodes = graph.add_nodes(len(gain))
    u, v = field.ends.T
    graph.add_edges(nodes[u], nodes[v], weight, weight)
    graph.add_grid_tedges(nodes, np.maximum(gain, 0), np.maximum(-gain, 0))
    graph.maxflow()
    y = ~graph.get_grid_segments(nodes)
    return _score(field, theta, y), None
