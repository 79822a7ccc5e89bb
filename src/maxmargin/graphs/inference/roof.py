"""Roof duality: the local relaxation of a binary field of any signs, solved exactly.

The relaxation of a binary field has a solution in which every node is 0, 1 or one half.
It is a minimum cut of a network with two nodes for each one, y_u and its opposite (Hammer,
Hansen & Simeone 1984; Boros & Hammer 2002). In the terms of ``graph_cut.py``, an edge with
k < 0 is one with k > 0 between y_u and the opposite of y_v, since for labels

    |y_u - y_v| = 1 - |y_u - (1 - y_v)|

A node that is not one half has that label in some best labelling. If none is one half, the
labelling is the best one. In submodular fields that is so: there it is an ordinary cut.
"""

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.core.max_flow import minimum_cut
from maxmargin.graphs.field import states_of
from maxmargin.graphs.inference.graph_cut import add_nodes, barrier, table_form


@inner
def roof(field, theta, twice):
    """twice[v] <- 0, 1 or 2: twice the share of state 1; returns the relaxation's value.

    No labelling has a higher score than that.
    """
    n, m = len(field.node_at) - 1, len(field.ends)
    loss = barrier(field, theta)
    gain, weight, signs = np.empty(n), np.empty(m), False
    add_nodes(field, theta, loss, gain)
    for e in range(m):
        gu, gv, weight[e] = table_form(field, theta, e, loss)
        gain[field.ends[e, 0]] += gu
        gain[field.ends[e, 1]] += gv
        signs |= weight[e] < 0.0
    choice = np.empty(n, np.int8)  # as expansions have it: compiled once for both
    relaxation(field, gain, weight, signs, choice)
    for v in range(n):
        twice[v] = choice[v]
    return relaxed_value(field, theta, twice)


@inner
def relaxation(field, gain, weight, signs, twice):
    """twice <- a solution with gains g and weights k; ``signs``: whether some k < 0.

    Without, it is a labelling, that of a cut. The gains are overwritten.
    """
    if signs:
        half_integral(field.ends, gain, weight, twice)
        return
    n, m = len(gain), len(weight)
    capacity, side = np.empty(2 * m), np.empty(n, np.int8)
    for e in range(m):
        capacity[2 * e] = capacity[2 * e + 1] = 0.5 * max(weight[e], 0.0)
    minimum_cut(field.ends, field.arc_start, field.arcs, capacity, gain, side)
    for v in range(n):
        twice[v] = 2 * side[v]


@inner
def half_integral(ends, gain, weight, twice):
    """twice <- a solution of the relaxation with gains g and weights k.

    Where it is not one half, any labelling can take its labels and be no worse for it.
    """
    n, m = len(gain), len(weight)
    doubled, capacity = np.empty((2 * m, 2), np.int32), np.empty(4 * m)
    for e in range(m):
        u, v = ends[e, 0], ends[e, 1]
        opposite = 0 if weight[e] >= 0.0 else n
        doubled[2 * e, 0], doubled[2 * e, 1] = u, v + opposite
        doubled[2 * e + 1, 0], doubled[2 * e + 1, 1] = u + n, v + n - opposite
        for a in range(4 * e, 4 * e + 4):
            capacity[a] = 0.5 * abs(weight[e])
    excess = np.empty(2 * n)
    for v in range(n):
        excess[v], excess[n + v] = gain[v], -gain[v]
    arc_start, arcs = adjacency(doubled, 2 * n)
    side = np.empty(2 * n, np.int8)
    minimum_cut(doubled, arc_start, arcs, capacity, excess, side)
    for v in range(n):
        twice[v] = side[v] + 1 - side[n + v]


@inlined
def adjacency(ends, n):
    """(arc_start, arcs), as a field has them."""
    flat = ends.ravel()
    arc_start, arcs = np.zeros(n + 1, np.int64), np.empty(len(flat), np.int64)
    for a in range(len(flat)):
        arc_start[flat[a] + 1] += 1
    for v in range(n):
        arc_start[v + 1] += arc_start[v]
    place = np.empty(n, np.int64)
    for v in range(n):
        place[v] = arc_start[v]
    for a in range(len(flat)):
        arcs[place[flat[a]]] = a
        place[flat[a]] += 1
    return arc_start, arcs


@inlined
def pair_shares(field, theta, e, twice, shares):
    """shares <- twice the best shares of the pairs of states of edge e: 00, 01, 10, 11."""
    x, z = twice[field.ends[e, 0]], twice[field.ends[e, 1]]
    both = min(x, z)
    if x == 1 and z == 1:  # else there is no choice
        at = field.edge_at[e]
        agree = float(theta[at]) + float(theta[at + 3])
        if agree < float(theta[at + 1]) + float(theta[at + 2]):
            both = 0
    shares[0], shares[1], shares[2], shares[3] = (
        2 - x - z + both,
        z - both,
        x - both,
        both,
    )


@inlined
def relaxed_value(field, theta, twice):
    """The value of the relaxation at these shares, at the best shares of pairs."""
    total, shares = 0.0, np.empty(4, np.int64)
    for v in range(len(field.node_at) - 1):
        for s in range(states_of(field, v)):
            share = twice[v] if s == 1 else 2 - twice[v]
            if share > 0:
                total += share * float(theta[field.node_at[v] + s])
    for e in range(len(field.ends)):
        pair_shares(field, theta, e, twice, shares)
        columns = states_of(field, field.ends[e, 1])
        for p in range(4):
            if shares[p] > 0:
                at = field.edge_at[e] + (p // 2) * columns + p % 2
                total += shares[p] * float(theta[at])
    return 0.5 * total


@inner
def roof_marginals(field, theta, twice, unit, mu):
    """mu <- the point of the relaxation with these shares, in units of 1 / unit (even).

    Layout: the states of every node, then the whole table of every edge, never shared.
    """
    half, at = unit // 2, 0
    for v in range(len(field.node_at) - 1):
        for s in range(states_of(field, v)):
            mu[at] = half * (twice[v] if s == 1 else 2 - twice[v])
            at += 1
    shares = np.empty(4, np.int64)
    for e in range(len(field.ends)):
        pair_shares(field, theta, e, twice, shares)
        for a in range(states_of(field, field.ends[e, 0])):
            for b in range(states_of(field, field.ends[e, 1])):
                mu[at] = half * shares[2 * a + b]
                at += 1
