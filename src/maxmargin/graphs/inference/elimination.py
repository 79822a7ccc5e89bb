"""Exact inference by elimination: the best labelling, the k best, sums over all.

``elimination_plan.py`` says in which order nodes go; trees and forests are the plans whose
scopes have at most one node, and then this is the usual dynamic program. What a step says
of its node v, given states of its scope, is a *row*: a score for each state of v, with the
best that the nodes eliminated before can add. Once the scope is labelled, v is decided by
its row alone, so labellings are read off in reverse order. (Koller & Friedman, chapters 9
and 10; k best: Lawler 1972, Nilsson 1998.)
"""

from heapq import heappop, heappush

import numpy as np

from maxmargin.core.kernel import inlined, inner, kernel
from maxmargin.graphs.field import states_of
from maxmargin.graphs.inference.elimination_plan import (
    CLIQUE,
    EDGES,
    OWN,
    SCOPE,
    STRIDES,
    TABLE,
    TABLES,
)

# one step ----------------------------------------------------------------------------


@inlined
def begin(field, plan, theta, tables, k, own, offsets):
    """own <- the scores that depend on v alone; offsets <- where other parts begin."""
    v = plan.order[k]
    for s in range(states_of(field, v)):
        own[s] = theta[field.node_at[v] + s]
    for p in range(plan.at[k, OWN], plan.at[k + 1, OWN]):
        first = plan.at[plan.own[p], TABLE]
        for s in range(states_of(field, v)):
            own[s] += tables[first + s]
    m = 0
    for p in range(plan.at[k, EDGES], plan.at[k + 1, EDGES]):
        offsets[m] = field.edge_at[plan.edges[p]]
        m += 1
    edges = m
    for p in range(plan.at[k, TABLES], plan.at[k + 1, TABLES]):
        offsets[m] = plan.at[plan.tables[p], TABLE]
        m += 1
    return states_of(field, v), edges, m


@inlined
def fill_row(plan, theta, tables, k, count, edges, parts, own, offsets, row):
    """row <- scores of the states of v, where the scope is as the offsets say."""
    for s in range(count):
        row[s] = own[s]
    width = plan.at[k + 1, SCOPE] - plan.at[k, SCOPE] + 1
    at = plan.at[k, STRIDES]
    for m in range(parts):
        stride, first = plan.strides[at + m * width], offsets[m]
        if m < edges:
            for s in range(count):
                row[s] += theta[first + s * stride]
        else:
            for s in range(count):
                row[s] += tables[first + s * stride]


@inlined
def advance(field, plan, k, parts, digits, offsets):
    """The next states of the scope, its last node first."""
    first, at = plan.at[k, SCOPE], plan.at[k, STRIDES] + 1
    width = plan.at[k + 1, SCOPE] - first
    for axis in range(width - 1, -1, -1):
        digits[axis] += 1
        step = np.int64(1)
        wraps = digits[axis] == states_of(field, plan.scope[first + axis])
        if wraps:
            step -= digits[axis]
            digits[axis] = 0
        for m in range(parts):
            offsets[m] += step * plan.strides[at + m * (width + 1) + axis]
        if not wraps:
            break


@inlined
def locate(plan, k, parts, y, offsets):
    """Offsets for the states that y gives to the scope."""
    first, at = plan.at[k, SCOPE], plan.at[k, STRIDES] + 1
    width = plan.at[k + 1, SCOPE] - first
    for axis in range(width):
        s = y[plan.scope[first + axis]]
        for m in range(parts):
            offsets[m] += s * plan.strides[at + m * (width + 1) + axis]


@inlined
def rooms(field, plan):
    """Work memory of a step: own, row, digits, offsets."""
    states, width, parts = 0, 0, 0
    for k in range(len(plan.order)):
        states = max(states, states_of(field, plan.order[k]))
        width = max(width, plan.at[k + 1, SCOPE] - plan.at[k, SCOPE])
        edges = plan.at[k + 1, EDGES] - plan.at[k, EDGES]
        parts = max(parts, edges + plan.at[k + 1, TABLES] - plan.at[k, TABLES])
    digits, offsets = np.zeros(width, np.int64), np.empty(parts, np.int64)
    return np.empty(states), np.empty(states), digits, offsets


# the best ----------------------------------------------------------------------------


@inlined
def through_edge(plan, theta, k, count, own, first, tables):
    """The table of a step with one edge only, as all have in a forest."""
    here, there = (
        plan.strides[plan.at[k, STRIDES]],
        plan.strides[plan.at[k, STRIDES] + 1],
    )
    begin, end = plan.at[k, TABLE], plan.at[k + 1, TABLE]
    if there == 1:
        for c in range(begin, end):
            tables[c] = own[0] + theta[first + c - begin]
        for s in range(1, count):
            row = first + s * here - begin
            for c in range(begin, end):
                tables[c] = max(tables[c], own[s] + theta[row + c])
    else:
        for c in range(begin, end):
            top = own[0] + theta[first]
            for s in range(1, count):
                top = max(top, own[s] + theta[first + s])
            tables[c] = top
            first += there


@inner
def inward(field, plan, theta, tables):
    """tables <- the best that eliminated nodes can add; returns the best score."""
    own, row, digits, offsets = rooms(field, plan)
    total = 0.0
    for k in range(len(plan.order)):
        count, edges, parts = begin(field, plan, theta, tables, k, own, offsets)
        if edges == 1 and parts == 1:
            through_edge(plan, theta, k, count, own, offsets[0], tables)
            continue
        for c in range(plan.at[k, TABLE], plan.at[k + 1, TABLE]):
            fill_row(plan, theta, tables, k, count, edges, parts, own, offsets, row)
            top = row[0]
            for s in range(1, count):
                top = max(top, row[s])
            tables[c] = top
            advance(field, plan, k, parts, digits, offsets)
        if plan.at[k, SCOPE] == plan.at[k + 1, SCOPE]:
            total += tables[plan.at[k, TABLE]]
    return total


@inlined
def choose(field, plan, theta, tables, k, y, own, offsets, row):
    """row <- scores of the states of v where its scope is labelled; returns the best."""
    count, edges, parts = begin(field, plan, theta, tables, k, own, offsets)
    locate(plan, k, parts, y, offsets)
    fill_row(plan, theta, tables, k, count, edges, parts, own, offsets, row)
    winner = 0
    for s in range(1, count):
        if row[s] > row[winner]:
            winner = s
    return winner


@inner
def best(field, plan, theta, y):
    """y <- a labelling of the highest score, which is returned.

    Of equal states the lowest is taken, node by node in reverse order of elimination.
    """
    n = len(plan.order)
    tables = np.empty(plan.at[n, TABLE])
    total = inward(field, plan, theta, tables)
    own, row, _, offsets = rooms(field, plan)
    for k in range(n - 1, -1, -1):
        v = plan.order[k]
        y[v] = choose(field, plan, theta, tables, k, y, own, offsets, row)
    return total


@kernel
def k_best(field, plan, theta, labellings, scores):
    """Rows of labellings <- the best possible ones in order; returns how many there are.

    At most one per row. A labelling differs from the best in what its rows lose, and a
    deviation at one step leaves the steps after it (which are eliminated before it) free
    to be best given that. So the second best of what is left is always the best one under
    a deviation from a labelling found already, and a heap knows the deviations.
    """
    n = len(plan.order)
    tables = np.empty(plan.at[n, TABLE])
    top = inward(field, plan, theta, tables)
    own, row, _, offsets = rooms(field, plan)
    found, age = 0, 0
    lost, like, step, state = 0.0, 0, n, 0  # the deviation that is followed
    heap = [(lost, age, like, step, state)]
    while len(heap) > 0 and found < len(scores):
        lost, _, like, step, state = heappop(heap)
        y = labellings[found]
        for v in range(n):
            y[v] = labellings[like, v]
        if step < n:
            y[plan.order[step]] = state
        for k in range(step - 1, -1, -1):
            v = plan.order[k]
            winner = choose(field, plan, theta, tables, k, y, own, offsets, row)
            y[v] = winner
            for s in range(states_of(field, v)):
                if s != winner and row[s] > -np.inf:
                    age += 1
                    heappush(heap, (lost + row[winner] - row[s], age, found, k, s))
        scores[found] = top - lost
        found += 1
    return found


# sums over all -----------------------------------------------------------------------


@inlined
def normalise(row, count, share, first):
    """share <- the distribution exp(row) / Z over the states of v; returns log Z."""
    top = -np.inf
    for s in range(count):
        top = max(top, row[s])
        share[first + s] = 0.0
    if top == -np.inf:
        return top
    total = 0.0
    for s in range(count):
        share[first + s] = np.exp(row[s] - top)
        total += share[first + s]
    for s in range(count):
        share[first + s] /= total
    return top + np.log(total)


@inner
def log_sums(field, plan, theta, mu):
    """mu <- the probability of every part under exp(score) / Z; returns log Z.

    mu has the layout of theta, where edges that share a table add up. On the way in, every
    clique keeps the distribution of v given its scope; on the way out, that of the scope is
    known, and their product is spread over the parts of the clique.
    """
    n = len(plan.order)
    tables, share = np.empty(plan.at[n, TABLE]), np.empty(plan.at[n, CLIQUE])
    own, row, digits, offsets = rooms(field, plan)
    log_z = 0.0
    for k in range(n):
        count, edges, parts = begin(field, plan, theta, tables, k, own, offsets)
        first = plan.at[k, CLIQUE]
        for c in range(plan.at[k, TABLE], plan.at[k + 1, TABLE]):
            fill_row(plan, theta, tables, k, count, edges, parts, own, offsets, row)
            tables[c] = normalise(row, count, share, first)
            first += count
            advance(field, plan, k, parts, digits, offsets)
        if plan.at[k, SCOPE] == plan.at[k + 1, SCOPE]:
            log_z += tables[plan.at[k, TABLE]]
    outward(field, plan, theta, tables, share, own, digits, offsets, mu)
    return log_z


@inner
def outward(field, plan, theta, tables, share, own, digits, offsets, mu):
    """mu <- marginals; tables <- those of the scopes, from the shares of every clique."""
    n = len(plan.order)
    clear(field, mu)
    for c in range(len(tables)):
        tables[c] = 0.0
    for k in range(n - 1, -1, -1):
        count, edges, parts = begin(field, plan, theta, tables, k, own, offsets)
        if plan.at[k, SCOPE] == plan.at[k + 1, SCOPE]:
            tables[plan.at[k, TABLE]] = 1.0
        width = plan.at[k + 1, SCOPE] - plan.at[k, SCOPE] + 1
        at, first = plan.at[k, STRIDES], plan.at[k, CLIQUE]
        for s in range(count):
            own[s] = 0.0
        for c in range(plan.at[k, TABLE], plan.at[k + 1, TABLE]):
            for s in range(count):
                share[first + s] *= tables[c]
                own[s] += share[first + s]
            for m in range(parts):
                stride = plan.strides[at + m * width]
                into = mu if m < edges else tables
                for s in range(count):
                    into[offsets[m] + s * stride] += share[first + s]
            first += count
            advance(field, plan, k, parts, digits, offsets)
        here = field.node_at[plan.order[k]]
        for s in range(count):
            mu[here + s] = own[s]
        for p in range(plan.at[k, OWN], plan.at[k + 1, OWN]):
            below = plan.at[plan.own[p], TABLE]
            for s in range(count):
                tables[below + s] = own[s]


@inlined
def clear(field, mu):
    """Zeros for the parts of edges; those of nodes are written whole."""
    for e in range(len(field.ends)):
        size = states_of(field, field.ends[e, 0]) * states_of(field, field.ends[e, 1])
        for p in range(size):
            mu[field.edge_at[e] + p] = 0.0
