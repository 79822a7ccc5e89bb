"""The best labelling of a binary submodular field by a minimum cut.

The table of an edge, with rows (a, b) and (c, d), is in one way

    a + g_u y_u + g_v y_v - (k / 2) |y_u - y_v|          k = a + d - b - c
    g_u = c - a + k / 2,   g_v = b - a + k / 2

Where k >= 0 on every edge the field is *submodular*: neighbours gain by agreeing, and the
best labelling is the minimum cut of a network with capacities k / 2 both ways (Greig,
Porteous & Seheult 1989; Kolmogorov & Zabih 2004).

What is impossible counts as a large loss instead, more than all other scores together can
make good. A state that no neighbour's state goes with is a loss of its node, so an edge is
not submodular only where single pairs are impossible that would agree.
"""

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.core.max_flow import minimum_cut
from maxmargin.graphs.field import field_score, states_of

ROUNDING = 1e-6  # of the numbers in a table: so far below zero, k is taken for zero


@inner
def barrier(field, theta):
    """A loss that outweighs all finite differences of scores in the field."""
    total = 1.0
    for v in range(len(field.node_at) - 1):
        total += spread_of(theta, field.node_at[v], states_of(field, v))
    for e in range(len(field.ends)):
        u, v = field.ends[e, 0], field.ends[e, 1]
        cells = states_of(field, u) * states_of(field, v)
        total += spread_of(theta, field.edge_at[e], cells)
    return 4.0 * total


@inlined
def spread_of(theta, first, count):
    low, high = np.inf, -np.inf
    for p in range(first, first + count):
        x = float(theta[p])
        if x > -np.inf:
            low, high = min(low, x), max(high, x)
    return max(0.0, high - low)


@inlined
def node_form(zero, one, loss):
    """The gain of label 1 over label 0, given their scores."""
    if one == -np.inf:
        return 0.0 if zero == -np.inf else -loss
    return loss if zero == -np.inf else one - zero


@inlined
def pair_form(a, b, c, d, loss):
    """(g_u, g_v, k) of a table with rows (a, b) and (c, d)."""
    gu, gv, never = 0.0, 0.0, -np.inf
    if a == never and b == never:
        gu, a, b = loss, c, d
    elif c == never and d == never:
        gu, c, d = -loss, a, b
    if a == never and c == never:
        gv, a, c = loss, b, d
    elif b == never and d == never:
        gv, b, d = -loss, a, c
    a, b, c, d = max(a, -loss), max(b, -loss), max(c, -loss), max(d, -loss)
    k = (a + d) - (b + c)
    # halves that cancel where tables are symmetric, so that no flow is made of them
    return gu + 0.5 * ((c - b) + (d - a)), gv + 0.5 * ((b - c) + (d - a)), k


@inlined
def table_form(field, theta, e, loss):
    """(g_u, g_v, k) of edge e, whose nodes have one state or two."""
    u, v = field.ends[e, 0], field.ends[e, 1]
    rows, columns, at = states_of(field, u), states_of(field, v), field.edge_at[e]
    a, b, c, d = float(theta[at]), -np.inf, -np.inf, -np.inf
    if columns > 1:
        b = float(theta[at + 1])
    if rows > 1:
        c = float(theta[at + columns])
    if rows > 1 and columns > 1:
        d = float(theta[at + 3])
    return pair_form(a, b, c, d, loss)


@inlined
def add_nodes(field, theta, loss, excess):
    """excess[v] <- the gain of state 1 of every node, as far as its own scores go."""
    for v in range(len(field.node_at) - 1):
        at = field.node_at[v]
        one = float(theta[at + 1]) if states_of(field, v) > 1 else -np.inf
        excess[v] = node_form(float(theta[at]), one, loss)


@inner
def graph_cut(field, theta, y):
    """y <- the best labelling of a submodular field; returns its score.

    Of equal ones, the one with the fewest ones. Where k < 0 it is taken for zero, so the
    answer is the best one only if the field is submodular.
    """
    n, m = len(field.node_at) - 1, len(field.ends)
    loss = barrier(field, theta)
    excess, capacity = np.empty(n), np.empty(2 * m)
    add_nodes(field, theta, loss, excess)
    for e in range(m):
        gu, gv, k = table_form(field, theta, e, loss)
        excess[field.ends[e, 0]] += gu
        excess[field.ends[e, 1]] += gv
        capacity[2 * e] = capacity[2 * e + 1] = 0.5 * max(k, 0.0)
    minimum_cut(field.ends, field.arc_start, field.arcs, capacity, excess, y)
    return field_score(field, theta, y)


@inner
def cut_with_bound(field, theta, y):
    """:func:`graph_cut`; returns by how much its answer may be below the best one.

    With edge weights that are not negative every field is submodular. Steps of a solver
    may leave them negative for a while (``Signs`` of solvers); then such edges are left out
    of the cut. To leave out edge e makes labellings that disagree there worse by |k_e| / 2,
    so that

        max <= value of the cut + sum over e with k_e < 0 of |k_e| / 2 [y_u = y_v]
    """
    graph_cut(field, theta, y)
    loss, short = barrier(field, theta), 0.0
    for e in range(len(field.ends)):
        if y[field.ends[e, 0]] == y[field.ends[e, 1]]:
            short += max(-0.5 * table_form(field, theta, e, loss)[2], 0.0)
    return short
