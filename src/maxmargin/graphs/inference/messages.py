"""Messages along the edges of a field: what all rooms that pass them have in common.

Every edge (u, v) has a message M into either end, a number for each state there. They
are a change of variables that no labelling notices (a *reparametrisation*):

    hat_v(x)      = theta_v(x) + sum of M into v (x)
    rest_uv(x, z) = theta_uv(x, z) - M into u (x) - M into v (z)
    score(y)      = sum of hat_v(y_v) + sum of rest_uv(y_u, y_v)        for all M

The rooms differ in the share g of hat_v that goes with an edge, and in the temperature t:

    M into w (z)  <-  t log sum over x of exp((g hat_v(x) - M into v (x) + theta(x, z)) / t)

which is the largest term where t = 0. Sequential tree-reweighted search
(``dual_ascent.py``) has g = 1 / chains through v; plain max-product g = 1; tree-reweighted
sums have g = t = the probability of the edge in a random tree.

The message into ends[e, side] begins at ``at[2 e + side]``; those into one node lie one
after the other. Its largest number is 0. -inf says that a state is impossible, in theta or
by what lies behind the edge; such a state stays impossible.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.graphs.field import states_of


def maximising(function):
    """Inlined, with maxima in SIMD lanes: infinities are welcome, NaN does not occur."""
    return inner(function, forceinline=True, fastmath={"nnan", "nsz"})


@inner
def message_room(field):
    """The length of all messages together."""
    total = 0
    for v in range(len(field.node_at) - 1):
        total += states_of(field, v) * (field.arc_start[v + 1] - field.arc_start[v])
    return total


def no_messages(field) -> np.ndarray:
    """Messages to begin with: float64 zeros."""
    return np.zeros(message_room(field))


@inner
def message_places(field):
    """at: where the message into the node of each arc begins."""
    at = np.empty(len(field.arcs), np.int64)
    total = 0
    for v in range(len(field.node_at) - 1):
        for j in range(field.arc_start[v], field.arc_start[v + 1]):
            at[field.arcs[j]] = total
            total += states_of(field, v)
    return at


@inner
def most_states(field):
    most = 0
    for v in range(len(field.node_at) - 1):
        most = max(most, states_of(field, v))
    return most


@inner
def arranged(field):
    """(order, rank) of the nodes: but the first of a component, all have one before them.

    They keep their own order where it is such, as in a grid: that is how scores lie in
    memory. Otherwise each component goes breadth first from its first node.
    """
    n = len(field.node_at) - 1
    order, rank = np.empty(n, np.int64), np.empty(n, np.int64)
    alone = 0  # nodes without one before them in their own order
    for v in range(n):
        rank[v] = -1
        before = False
        for j in range(field.arc_start[v], field.arc_start[v + 1]):
            before = before or neighbour(field, field.arcs[j]) < v
        alone += not before
    found = 0
    for root in range(n):
        if rank[root] >= 0:
            continue
        alone -= 1
        rank[root], order[found] = found, root
        done, found = found, found + 1
        while done < found:
            v = order[done]
            done += 1
            for j in range(field.arc_start[v], field.arc_start[v + 1]):
                w = neighbour(field, field.arcs[j])
                if rank[w] < 0:
                    rank[w], order[found] = found, w
                    found += 1
    if alone == 0:
        for v in range(n):
            order[v], rank[v] = v, v
    return order, rank


@inlined
def neighbour(field, arc):
    """The node at the other end of an arc."""
    return field.ends[arc >> 1, 1 - (arc & 1)]


@inner
def without_infinities(messages):
    """Messages of other scores are a fair start, but what they forbid is another matter."""
    for k in range(len(messages)):
        if not np.isfinite(messages[k]):
            messages[k] = 0.0


@inner
def extrapolate(messages, before, by):
    """messages += by * (messages - before), before <- what they were."""
    for k in range(len(messages)):
        now = messages[k]
        if now > -np.inf and before[k] > -np.inf:
            messages[k] += by * (now - before[k])
        before[k] = now


@inlined
def gather(field, theta, at, messages, v, hat):
    """hat <- hat_v."""
    first, k = field.node_at[v], states_of(field, v)
    for x in range(k):
        hat[x] = theta[first + x]
    for j in range(field.arc_start[v], field.arc_start[v + 1]):
        into = at[field.arcs[j]]
        for x in range(k):
            hat[x] += messages[into + x]


@inlined
def gather_known(field, theta, at, messages, rank, v, y, hat):
    """hat <- theta_v, edges to nodes before v with their labels y, messages from behind."""
    first, k = field.node_at[v], states_of(field, v)
    for x in range(k):
        hat[x] = theta[first + x]
    for j in range(field.arc_start[v], field.arc_start[v + 1]):
        arc = field.arcs[j]
        w = neighbour(field, arc)
        if rank[w] < rank[v]:
            table, up, across = strides(field, arc)
            table += y[w] * across
            for x in range(k):
                hat[x] += theta[table + x * up]
        else:
            into = at[arc]
            for x in range(k):
                hat[x] += messages[into + x]


@inlined
def strides(field, arc):
    """(table, up, across): theta[table + x * up + z * across] for x here, z beyond."""
    table = field.edge_at[arc >> 1]
    if arc & 1 == 0:
        return table, states_of(field, neighbour(field, arc)), np.int64(1)
    return table, np.int64(1), states_of(field, field.ends[arc >> 1, 1])


@inlined
def leave(messages, into, share, hat, k, less):
    """less <- share * hat - the message that came along the edge."""
    for x in range(k):
        if hat[x] > -np.inf:
            less[x] = share * hat[x] - messages[into + x]
        else:
            less[x] = -np.inf


@maximising
def largest(numbers, k):
    top = -np.inf
    for x in range(k):
        top = max(top, numbers[x])
    return top


@maximising
def send_best(theta, table, side, less, k, other, out):
    """out[z] <- largest less[x] + theta(x, z)."""
    if side == 0:
        for z in range(other):
            out[z] = -np.inf
        for x in range(k):
            row, here = table + x * other, less[x]
            for z in range(other):
                out[z] = max(out[z], here + theta[row + z])
    else:
        for z in range(other):
            row, top = table + z * k, -np.inf
            for x in range(k):
                top = max(top, less[x] + theta[row + x])
            out[z] = top


@inlined
def decay(x):
    """exp(x) for x <= 0, in SIMD lanes: (Taylor's polynomial of x / 64) to the 64th.

    Next to 1, which is the largest term of every sum, it is off by 1e-12 at most.
    """
    z = max(x, -40.0) * 0.015625
    p = 1 / 24 + z * (1 / 120 + z * (1 / 720 + z * (1 / 5040)))
    p = 1.0 + z * (1.0 + z * (0.5 + z * (1 / 6 + z * p)))
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    return p * p


@maximising
def send_soft(theta, place, less, k, other, temperature, sums, buffer, out):
    """out[z] <- t log sum of exp((less[x] + theta(x, z)) / t); less is lost."""
    (table, up, across), colder = place, 1.0 / temperature
    for z in range(other):
        out[z], sums[z] = -np.inf, 0.0
    for x in range(k):
        row, first, here = buffer[x], table + x * up, less[x]
        for z in range(other):
            row[z] = here + theta[first + z * across]
        for z in range(other):
            out[z] = max(out[z], row[z])
    for z in range(other):  # what is impossible stays so, without inf - inf
        less[z] = max(out[z], -1e300)
    for x in range(k):
        row = buffer[x]
        for z in range(other):
            sums[z] += decay((row[z] - less[z]) * colder)
    for z in range(other):
        out[z] += temperature * np.log(sums[z])


@inlined
def soft_largest(numbers, k, share, temperature):
    """t log sum of exp(share * numbers / t)."""
    top, total = largest(numbers, k), 0.0
    for x in range(k):
        total += np.exp(share * (numbers[x] - top) / temperature)
    return share * top + temperature * np.log(total)


@inlined
def level(out, k):
    """out -= its largest number, which is returned."""
    top = largest(out, k)
    for x in range(k):
        out[x] -= top
    return top


@inner
def round_off(field, theta, at, messages, order, rank, hat, y):
    """y <- labels one after the other, given those before and the messages from behind."""
    for v in order:
        gather_known(field, theta, at, messages, rank, v, y, hat)
        best = 0
        for x in range(1, states_of(field, v)):
            if hat[x] > hat[best]:
                best = x
        y[v] = best
