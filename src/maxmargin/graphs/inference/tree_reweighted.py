"""Tree-reweighted sums: an upper bound of log Z, convex in theta, and its gradient.

Let every node but the first of a component pick one neighbour before it, in an order of
the nodes, each of them equally likely: a random spanning forest, in which the edge from w
to v behind it occurs with q = 1 / (neighbours before v). If theta is the mean of scores
of such forests, then log Z, which is convex, is at most the mean of theirs. The messages M
along the order are free: they say which scores. With them, the forests are summed from
the last node to the first, each node v given the one that it picked:

    M into w (x)  =  q log sum over z of exp((q hat_v(z) - M into v (z) + theta(x, z)) / q)
    log Z        <=  sum over roots of log sum of exp(hat)

so every sweep backwards ends with a bound, whatever M is. A sweep forwards makes M better:
the same formula the other way round, whose fixed point has the least bound of all (there
the marginals of all forests agree). It is extrapolated like the search in
``fractional.py``, and where the bound rises without that, it is taken back by half. A
forest is its own spanning forest: there, log Z is exact.

mu is the gradient of the bound that is returned: at the fixed point it lies in the local
polytope. Where edges share a table, they add up there.

Wainwright, Jaakkola & Willsky 2005, A new class of upper bounds on the log partition
function.
"""

import numpy as np

from maxmargin.core.kernel import inner
from maxmargin.graphs.field import states_of
from maxmargin.graphs.inference.messages import (
    arranged,
    extrapolate,
    gather,
    largest,
    leave,
    level,
    message_places,
    most_states,
    neighbour,
    send_soft,
    soft_largest,
    strides,
    without_infinities,
)


@inner
def log_bound(field, theta, messages, passes, tol, mu):
    """mu (float64, all of it) <- pseudo-marginals; returns an upper bound of log Z.

    ``messages`` are zeros (``no_messages``) or those of a field with other scores. The
    search ends when two passes in a row lower the bound by ``tol`` at most.
    """
    n = len(field.node_at) - 1
    at, (order, rank) = message_places(field), arranged(field)
    most = most_states(field)
    work = np.empty((4 + most, most))
    picks = np.empty(n)
    for v in range(n):
        picks[v] = 0.0
        for j in range(field.arc_start[v], field.arc_start[v + 1]):
            picks[v] += rank[neighbour(field, field.arcs[j])] < rank[v]
    without_infinities(messages)
    before = messages.copy()
    momentum, slow = 1.0, 0
    bound = sweep(field, theta, at, messages, order, rank, picks, False, work)
    for done in range(passes):
        sweep(field, theta, at, messages, order, rank, picks, True, work)
        found = sweep(field, theta, at, messages, order, rank, picks, False, work)
        slow = slow + 1 if abs(bound - found) <= tol else 0
        rises, bound = found > bound, found
        if slow == 2 or done == passes - 1:
            break
        by = 0.0
        if rises:
            by = -0.5 if momentum == 1.0 else 0.0
            momentum = 1.0
        else:
            following = 0.5 + np.sqrt(0.25 + momentum * momentum)
            by = (momentum - 1.0) / following
            momentum = following
        extrapolate(messages, before, by)
    for j in range(len(mu)):
        mu[j] = 0.0
    for v in order:
        marginals(field, theta, at, messages, rank, picks, v, work[0], work[1], mu)
    return bound


@inner
def sweep(field, theta, at, messages, order, rank, picks, forwards, work):
    """Send all messages forwards, or backwards; then what is returned is the bound."""
    hat, less, out, sums = work[0], work[1], work[2], work[3]
    bound, n = 0.0, len(order)
    for t in range(n):
        v = order[t] if forwards else order[n - 1 - t]
        k = states_of(field, v)
        gather(field, theta, at, messages, v, hat)
        if picks[v] == 0.0:
            bound += soft_largest(hat, k, 1.0, 1.0)
        for j in range(field.arc_start[v], field.arc_start[v + 1]):
            arc = field.arcs[j]
            w = neighbour(field, arc)
            if (rank[w] > rank[v]) == forwards:
                share = 1.0 / (picks[w] if forwards else picks[v])
                leave(messages, at[arc], share, hat, k, less)
                place, other = strides(field, arc), states_of(field, w)
                send_soft(theta, place, less, k, other, share, sums, work[4:], out)
                bound += level(out, other)
                into = at[arc ^ 1]
                for z in range(other):
                    messages[into + z] = out[z]
    return bound


@inner
def marginals(field, theta, at, messages, rank, picks, v, hat, less, mu):
    """mu of v and its edges to the nodes before it, whose own marginals are there."""
    first, k = field.node_at[v], states_of(field, v)
    gather(field, theta, at, messages, v, hat)
    if picks[v] == 0.0:
        spread_out(hat, k, 1.0, 1.0)
        for x in range(k):
            mu[first + x] = hat[x]
        return
    share = 1.0 / picks[v]
    for j in range(field.arc_start[v], field.arc_start[v + 1]):
        arc = field.arcs[j]
        w = neighbour(field, arc)
        if rank[w] > rank[v]:
            continue
        table, up, across = strides(field, arc)
        for z in range(states_of(field, w)):
            given = mu[field.node_at[w] + z]
            if given > 0.0:
                leave(messages, at[arc], share, hat, k, less)
                for x in range(k):
                    less[x] += theta[table + x * up + z * across]
                spread_out(less, k, share, given)
                for x in range(k):
                    mu[table + x * up + z * across] += less[x]
                    mu[first + x] += share * less[x]


@inner
def spread_out(scores, k, temperature, mass):
    """scores <- the mass, in proportion to exp(scores / temperature)."""
    top, total = largest(scores, k), 0.0
    for x in range(k):
        scores[x] = np.exp((scores[x] - top) / temperature)
        total += scores[x]
    for x in range(k):
        scores[x] *= mass / total
