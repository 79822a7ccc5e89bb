"""Sequential tree-reweighted search (TRW-S): an upper bound, and a labelling near it.

The edges of the field, in an order of its nodes, fall into chains along which the order
rises; N_v = max(edges to nodes before v, edges to nodes behind v) of them meet in v, and
each gets the share 1 / N_v of hat_v. The sum of the best values of all chains bounds

    max of <theta, mu>  over the local polytope  >=  max of score(y)  over labellings

from above. A sweep through the order, forwards or backwards, makes the chains that meet in
a node agree on its states and solves them on the way; the bound never rises. It may stop
above the relaxation where a node has more than two states (``fractional.py`` goes on).

Kolmogorov 2006, Convergent tree-reweighted message passing for energy minimization.
"""

import numpy as np

from maxmargin.core.kernel import inner
from maxmargin.graphs.field import field_score, states_of
from maxmargin.graphs.inference.messages import (
    arranged,
    gather,
    largest,
    leave,
    level,
    message_places,
    most_states,
    neighbour,
    round_off,
    send_best,
    strides,
    without_infinities,
)


@inner
def chains_at(field, rank, v, forwards):
    """(edges ahead of v, chains through v) of a sweep."""
    ahead, count = 0, field.arc_start[v + 1] - field.arc_start[v]
    for j in range(field.arc_start[v], field.arc_start[v + 1]):
        ahead += (rank[neighbour(field, field.arcs[j])] > rank[v]) == forwards
    return ahead, max(ahead, count - ahead, 1)


@inner
def sweep(field, theta, at, messages, order, rank, forwards, hat, less, out):
    """Send all messages forwards, or backwards; returns the bound."""
    bound, n = 0.0, len(order)
    for t in range(n):
        v = order[t] if forwards else order[n - 1 - t]
        k = states_of(field, v)
        gather(field, theta, at, messages, v, hat)
        ahead, chains = chains_at(field, rank, v, forwards)
        if ahead < chains:  # some end here
            bound += (chains - ahead) / chains * largest(hat, k)
        for j in range(field.arc_start[v], field.arc_start[v + 1]):
            arc = field.arcs[j]
            w = neighbour(field, arc)
            if (rank[w] > rank[v]) == forwards:
                leave(messages, at[arc], 1.0 / chains, hat, k, less)
                other = states_of(field, w)
                send_best(theta, field.edge_at[arc >> 1], arc & 1, less, k, other, out)
                bound += level(out, other)
                into = at[arc ^ 1]
                for z in range(other):
                    messages[into + z] = out[z]
    return bound


@inner
def improve(field, theta, hat, y):
    """Change one label at a time while the score rises (iterated conditional modes)."""
    changed, sweeps = True, 0
    while changed and sweeps < 20:
        changed = False
        sweeps += 1
        for v in range(len(field.node_at) - 1):
            first, k = field.node_at[v], states_of(field, v)
            for x in range(k):
                hat[x] = theta[first + x]
            for j in range(field.arc_start[v], field.arc_start[v + 1]):
                arc = field.arcs[j]
                table, up, across = strides(field, arc)
                table += y[neighbour(field, arc)] * across
                for x in range(k):
                    hat[x] += theta[table + x * up]
            best = np.int64(y[v])
            for x in range(k):
                if hat[x] > hat[best]:
                    best = x
            if best != y[v] and hat[best] > hat[y[v]]:
                y[v] = best
                changed = True


@inner
def ascend(field, theta, messages, passes, tol, y):
    """y <- a good labelling; returns (upper bound, score of y) and keeps the messages.

    ``messages`` are zeros (``no_messages``) or those of a field with other scores. A pass
    is a sweep forwards and one backwards. The search ends where bound and score differ by
    ``tol`` at most, or where the bound fell by so little that a hundred such passes would
    not gain ``tol``.
    """
    n = len(field.node_at) - 1
    at, (order, rank) = message_places(field), arranged(field)
    most = most_states(field)
    hat, less, out = np.empty(most), np.empty(most), np.empty(most)
    trial = np.zeros(n, np.int32)
    without_infinities(messages)
    bound, value, rounded = np.inf, -np.inf, -np.inf
    for done in range(max(passes, 1)):
        sweep(field, theta, at, messages, order, rank, True, hat, less, out)
        found = sweep(field, theta, at, messages, order, rank, False, hat, less, out)
        round_off(field, theta, at, messages, order, rank, hat, trial)
        score = field_score(field, theta, trial)
        if score > rounded or done == 0:
            rounded = score
            improve(field, theta, hat, trial)
            score = field_score(field, theta, trial)
        if score > value or done == 0:
            value = score
            for v in range(n):
                y[v] = trial[v]
        fall = bound - found
        bound = min(bound, found)
        if bound - value <= tol or fall <= 0.01 * tol:
            break
    return max(bound, value), value
