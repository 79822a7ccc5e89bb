"""In which order nodes are eliminated, and what that needs: a junction tree, flat.

To eliminate node v is to replace all that speaks of it by one table over its *scope*, the
nodes left that it has in common with them:

    table_v(scope) = (+) over states of v of  theta_v + edges of v + tables that have v

where (+) is max or log-sum-exp. v and its scope are a clique; its size is the work. The
order matters: the next node is the one with the smallest clique, or, in small graphs where
that is not a forest, the one that adds the fewest edges, if the cliques are smaller so.
"""

from __future__ import annotations

import heapq
from itertools import chain
from math import log2, prod
from typing import NamedTuple

import numpy as np

from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import inlined
from maxmargin.core.tables.arrays import runs
from maxmargin.graphs.field import Field

LIMIT = 1 << 20  # states of a clique, by default
CLIQUES = 64  # so many cliques of that size in all,
TIMES = 32  # or, if that is more, so many times the cells of all edges (up to LIMIT)
BIT = 1 << 40  # of the logarithms of states, which are whole numbers
FILL_NODES = 300  # beyond, counting the edges to add takes longer than it saves

# columns of Elimination.at
SCOPE, TABLE, OWN, EDGES, TABLES, STRIDES, CLIQUE = range(7)


class Elimination(NamedTuple):
    """A plan: at step k, node order[k] is eliminated. It depends on the graph alone.

    Step k has the entries ``at[k, c] .. at[k + 1, c]`` of what column c numbers: nodes of
    its scope, cells of its table, tables over v alone, edges, other tables, strides, cells
    of its clique. A table's axes are its scope, the node that is eliminated first last.
    """

    order: np.ndarray  # int64[n]
    at: np.ndarray  # int64[n + 1, 7]
    scope: np.ndarray  # int64: nodes
    own: np.ndarray  # int64: steps whose tables are over v alone
    edges: np.ndarray  # int64: edges between v and its scope
    tables: np.ndarray  # int64: steps whose tables have v and others
    strides: np.ndarray  # int64: of v and the scope, for each of edges, then of tables


def plan(field: Field, limit: int = LIMIT) -> Elimination | None:
    """A plan, or None where the cliques have more than ``limit`` joint states.

    A forest always has one: its cliques are its edges.
    """
    states = np.diff(field.node_at).tolist()
    ends = field.ends.tolist()
    neighbours: list[set[int]] = [set() for _ in states]
    for u, v in ends:
        neighbours[u].add(v)
        neighbours[v].add(u)
    steps = eliminate(neighbours, states, limit, _by_weight)
    forest = steps is not None and all(len(scope) < 2 for _, scope in steps)
    if not forest and len(states) <= FILL_NODES:
        other = eliminate(neighbours, states, limit, _by_fill)
        found = [s for s in (steps, other) if s is not None]
        steps = min(found, key=lambda s: _work(s, states), default=None)
    return None if steps is None else _flatten(field, steps, states, ends)


def plans(fields: list[Field], limit: int = LIMIT) -> tuple[list[Elimination], int]:
    """(a plan for every field, -1), or ([], a field that has none).

    Equal graphs share one. The field with the most edges comes first: if that is too
    wide, one look at it saves planning all the others.
    """
    known: dict = {}
    keys = [(field.node_at.tobytes(), field.ends.tobytes()) for field in fields]
    for i in sorted(range(len(fields)), key=lambda i: -len(fields[i].ends)):
        if keys[i] not in known:
            found = plan(fields[i], limit)
            if found is None:
                return [], i
            known[keys[i]] = found
    return [known[key] for key in keys], -1


# the order ---------------------------------------------------------------------------


def _by_weight(left, weight, v):
    return weight[v], 0


def _by_fill(left, weight, v):
    around = left[v]
    present = sum(len(left[u] & around) for u in around)
    return len(around) * (len(around) - 1) - present, weight[v]


def eliminate(neighbours, states, limit, cost):
    """[(node, its scope)] in the order of elimination, or None beyond the limit.

    The weight of a node is log2 of the states of its clique, in whole units of 2^-40, so
    that adding and subtracting the terms of neighbours that come and go is exact: to
    multiply anew all the states around a hub, at each of its leaves, would be quadratic.
    """
    left = [set(s) for s in neighbours]
    terms = [round(log2(k) * BIT) for k in states]
    weight = [terms[v] + sum(terms[u] for u in left[v]) for v in range(len(states))]
    price = [cost(left, weight, v) for v in range(len(states))]
    heap = [(p, v) for v, p in enumerate(price)]
    heapq.heapify(heap)
    done = [False] * len(states)
    steps, total = [], 0
    most = CLIQUES * max(
        limit, min(LIMIT, TIMES * _cells(neighbours, states) // CLIQUES)
    )
    while heap:
        p, v = heapq.heappop(heap)
        if done[v] or p != price[v]:
            continue
        done[v] = True
        scope = left[v]
        steps.append((v, scope))
        if len(scope) > 1:
            if weight[v] > (log2(limit) + 1) * BIT:
                return None  # without multiplying what may have thousands of digits
            size = states[v] * prod(states[u] for u in scope)
            total += size
            if size > limit or total > most:
                return None
        for u in scope:
            fresh = scope - left[u] - {u}
            weight[u] += sum(terms[x] for x in fresh) - terms[v]
            left[u] |= fresh
            left[u].remove(v)
        touched = set(scope)
        if cost is _by_fill:
            touched.update(*(left[u] for u in scope))
        for u in touched:
            price[u] = cost(left, weight, u)
            heapq.heappush(heap, (price[u], u))
    return steps


def _cells(neighbours, states) -> int:
    """Of the tables of all edges: what one pass of any other search looks at."""
    return sum(k * sum(states[u] for u in neighbours[v]) for v, k in enumerate(states))


def _work(steps, states) -> int:
    return sum(states[v] * prod(states[u] for u in scope) for v, scope in steps)


# the arrays --------------------------------------------------------------------------


def _flatten(field: Field, steps, states, ends) -> Elimination:
    step_of = {v: k for k, (v, _) in enumerate(steps)}
    scopes = [sorted(scope, key=step_of.get, reverse=True) for _, scope in steps]
    own, tables, edges = ([[] for _ in steps] for _ in range(3))
    for k, scope in enumerate(scopes):
        if scope:
            (own if len(scope) == 1 else tables)[step_of[scope[-1]]].append(k)
    for e, (u, v) in enumerate(ends):
        edges[min(step_of[u], step_of[v])].append(e)
    at = np.zeros((len(steps) + 1, 7), np.int64)
    strides: list[int] = []
    for k, ((v, _), scope) in enumerate(zip(steps, scopes, strict=True)):
        clique = [v, *scope]
        for e in edges[k]:
            strides += _strides(ends[e], states, clique)
        for j in tables[k]:
            strides += _strides(scopes[j], states, clique)
        cells = prod(states[u] for u in scope)
        used = len(scope), cells, len(own[k]), len(edges[k]), len(tables[k])
        at[k + 1] = *used, len(clique) * (used[3] + used[4]), cells * states[v]
    np.cumsum(at, axis=0, out=at)
    lists = (list(chain(*x)) for x in (scopes, own, edges, tables))
    order = [v for v, _ in steps]
    return Elimination(_whole(order), at, *(_whole(x) for x in lists), _whole(strides))


def _strides(axes, states, clique) -> list[int]:
    """How far one state of each node of the clique goes in a table with these axes."""
    found, size = {}, 1
    for u in reversed(axes):
        found[u] = size
        size *= states[u]
    return [found.get(u, 0) for u in clique]


def _whole(values) -> np.ndarray:
    return np.array(values, np.int64)


# many plans --------------------------------------------------------------------------


class Eliminations(NamedTuple):
    """The plans of many fields, one after the other; ``which`` numbers that of each."""

    cuts = cut_by(which="example")

    which: np.ndarray  # int64[fields]
    start: np.ndarray  # int64[plans + 1, 7]: where each array of a plan is
    order: np.ndarray
    at: np.ndarray
    scope: np.ndarray
    own: np.ndarray
    edges: np.ndarray
    tables: np.ndarray
    strides: np.ndarray

    def compact(self) -> Eliminations:
        """With the plans of its own fields alone."""
        kept, which = np.unique(self.which, return_inverse=True)
        lengths = np.diff(self.start, axis=0)[kept]
        start = np.concatenate([np.zeros((1, 7), np.int64), np.cumsum(lengths, axis=0)])
        arrays = [
            array[runs(self.start[kept, c], lengths[:, c])]
            for c, array in enumerate(self[2:])
        ]
        return Eliminations(which, start, *arrays)


def gather(planned: list[Elimination]) -> Eliminations:
    """Plans in one place, those that are the same object once."""
    number: dict[int, int] = {}
    kept = []
    for p in planned:
        if id(p) not in number:
            number[id(p)] = len(kept)
            kept.append(p)
    which = _whole([number[id(p)] for p in planned])
    lengths = np.array([[len(a) for a in p] for p in kept], np.int64).reshape(-1, 7)
    start = np.concatenate([np.zeros((1, 7), np.int64), np.cumsum(lengths, axis=0)])
    nothing = plan(Field(*(np.zeros(s, np.int64) for s in (1, (0, 2), 0, 1, 0))))
    columns = zip(nothing, *kept, strict=True)
    arrays = [np.concatenate(parts) for parts in columns]
    arrays[1] = arrays[1][1:]  # the empty plan, there for the types, has one row of it
    return Eliminations(which, start, *arrays)


@inlined
def plan_of(plans, i):
    """The plan of field i, without copies."""
    a, b = plans.start[plans.which[i]], plans.start[plans.which[i] + 1]
    return Elimination(
        plans.order[a[0] : b[0]],
        plans.at[a[1] : b[1]],
        plans.scope[a[2] : b[2]],
        plans.own[a[3] : b[3]],
        plans.edges[a[4] : b[4]],
        plans.tables[a[5] : b[5]],
        plans.strides[a[6] : b[6]],
    )
