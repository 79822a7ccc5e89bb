"""A point of the local polytope whose value is near the bound, in whole units.

The relaxation of the search for the best labelling is

    maximise <theta, mu>  over  mu_v >= 0 with sum 1,  mu_uv >= 0 with sums mu_u and mu_v

Its corners are the labellings and, where a field is frustrated, fractional points. A
plane of training may be any point of it, so what is wanted is a point that is exactly
inside, and a bound that proves it good. mu is therefore an array of integers, in units of
1 / ``UNIT``: first the states of all nodes, which sum to UNIT at every node, then a table
for every edge (also where edges share their scores), whose rows and columns have exactly
the sums that the nodes say.

1. Plain search (``dual_ascent.py``) finds a labelling. Where that reaches the bound, it is
   the answer.
2. Else the bound is made smooth: with maxima softened at a temperature t, the same sweeps
   cannot get stuck, and their fixed point is the point of the local polytope with the
   largest value + t * (sum of entropies of chains). Extrapolation between passes (Nesterov,
   from anew when the soft bound rises) makes them many times quicker; messages of every
   kind are sound. The temperature falls when the gap is hardly more than the softening.
3. The marginals of nodes are rounded to units, and every edge gets the best table they
   allow (``transport.py``). So nothing is lost at the edges, whatever the nodes say, and
   messages that have not converged cost value, never consistency.

Savchynskyy, Schmidt, Kappes & Schnoerr 2012, Efficient MRF energy minimization via adaptive
diminishing smoothing; O'Donoghue & Candes 2015, Adaptive restart for accelerated gradients.
"""

import numpy as np

from maxmargin.core.kernel import inlined, inner
from maxmargin.graphs.field import states_of
from maxmargin.graphs.inference.dual_ascent import ascend, chains_at
from maxmargin.graphs.inference.messages import (
    arranged,
    extrapolate,
    gather,
    largest,
    leave,
    level,
    message_places,
    message_room,
    most_states,
    neighbour,
    send_soft,
    soft_largest,
    strides,
    without_infinities,
)
from maxmargin.graphs.inference.transport import make_freight, transport

UNIT = 1 << 20
PLAIN = 20  # passes of plain search before it is softened
ROUND = 10  # passes from one look at the gap to the next
COOLER = 0.4
CUTOFF = 1e-3  # states with less of a node get nothing


@inner
def mu_room(field):
    """The length of mu."""
    total = field.node_at[-1]
    for e in range(len(field.ends)):
        total += states_of(field, field.ends[e, 0]) * states_of(field, field.ends[e, 1])
    return total


@inner
def relax(field, theta, messages, passes, tol, y, mu):
    """mu (int32) <- a good point, y <- a good labelling; returns (bound, value of mu).

    The bound is one of <theta, mu> over the whole local polytope. The search ends where it
    is within ``tol`` of the value, or after so many passes. Only a labelling has impossible
    parts (value -inf), and only where no other is found. For ``messages`` see ``ascend``;
    if they have one number more than that needs, it holds the temperature, so that the
    next search, whose scores are nearly the same, begins where this one ended.
    """
    room = message_room(field)
    warm = len(messages) > room and messages[room] > 0.0
    hard = messages.copy()
    bound, score = ascend(field, theta, hard, min(passes, PLAIN), tol, y)
    integral(field, y, mu)
    best = score
    if warm:
        without_infinities(messages)
    else:
        copy_to(hard, messages)
    if bound - best <= tol:
        return bound, best
    at, (order, rank) = message_places(field), arranged(field)
    most = most_states(field)
    work, freight = np.empty((4 + most, most)), make_freight(most)
    trial, label = np.zeros_like(mu), np.zeros_like(y)
    before = messages.copy()
    temperature = bound - best if best > -np.inf else abs(bound) + 1.0
    temperature /= freedom(field)
    coldest = 1e-9 * temperature
    if warm:
        temperature = min(temperature, messages[room] / COOLER)
    momentum, last, former = 1.0, np.inf, np.inf
    for done in range(1, passes + 1):
        soft_sweep(field, theta, at, messages, order, rank, True, temperature, work)
        soft = soft_sweep(
            field, theta, at, messages, order, rank, False, temperature, work
        )
        momentum = momentum if soft <= last else 1.0
        last = soft
        if done % ROUND == 0 or done == passes:
            copy_to(messages, hard)
            found, value = ascend(field, theta, hard, 1, tol, label)
            bound = min(bound, found)
            if value > score:
                score = value
                copy_to(label, y)
                if value > best:
                    best = value
                    integral(field, y, mu)
            fill_nodes(field, theta, at, messages, rank, temperature, work[0], trial)
            value = fill_edges(field, theta, freight, trial)
            if value > best:
                best = value
                copy_to(trial, mu)
            if bound - best <= tol or temperature < coldest:
                break
            change = warmth(bound - value, soft - bound, former)
            former = bound - value
            if change != 1.0:
                temperature *= change
                momentum, last, former = 1.0, np.inf, np.inf
        following = 0.5 + np.sqrt(0.25 + momentum * momentum)
        extrapolate(messages, before, (momentum - 1.0) / following)
        momentum = following
    if len(messages) > room:
        messages[room] = temperature
    return max(bound, best), best


@inlined
def warmth(gap, softening, former):
    """The factor of the temperature: a gap that is mostly softening needs less of it.

    So does one that has come to rest. One far above is that of messages which are not
    nearly at their fixed point, and would take too long to get there in the cold.
    """
    if gap < softening or gap == np.inf:
        return COOLER
    if gap < 2.0 * softening and gap > 0.95 * former:
        return COOLER
    return 1.0 / COOLER if gap > 20.0 * softening else 1.0


@inner
def soft_sweep(field, theta, at, messages, order, rank, forwards, temperature, work):
    """Send all soft messages forwards, or backwards; returns the soft bound."""
    hat, less, out, sums = work[0], work[1], work[2], work[3]
    buffer = work[4:]
    bound, n = 0.0, len(order)
    for t in range(n):
        v = order[t] if forwards else order[n - 1 - t]
        k = states_of(field, v)
        gather(field, theta, at, messages, v, hat)
        ahead, chains = chains_at(field, rank, v, forwards)
        if ahead < chains:  # some end here
            bound += (chains - ahead) * soft_largest(hat, k, 1.0 / chains, temperature)
        for j in range(field.arc_start[v], field.arc_start[v + 1]):
            arc = field.arcs[j]
            w = neighbour(field, arc)
            if (rank[w] > rank[v]) == forwards:
                leave(messages, at[arc], 1.0 / chains, hat, k, less)
                place, other = strides(field, arc), states_of(field, w)
                send_soft(theta, place, less, k, other, temperature, sums, buffer, out)
                bound += level(out, other)
                into = at[arc ^ 1]
                for z in range(other):
                    messages[into + z] = out[z]
    return bound


@inner
def fill_nodes(field, theta, at, messages, rank, temperature, hat, mu):
    """mu <- the marginals of nodes, in units; what rounding leaves goes to the largest."""
    for v in range(len(field.node_at) - 1):
        gather(field, theta, at, messages, v, hat)
        chains = chains_at(field, rank, v, True)[1]
        first, k = field.node_at[v], states_of(field, v)
        top, total, best = largest(hat, k), 0.0, 0
        for x in range(k):
            if hat[x] == top:
                best = x
            hat[x] = np.exp((hat[x] - top) / (chains * temperature))
            total += hat[x]
        rest = UNIT
        for x in range(k):
            share = hat[x] / total
            units = np.int64(share * UNIT) if share >= CUTOFF else 0
            mu[first + x] = units
            rest -= units
        mu[first + best] += rest


@inner
def fill_edges(field, theta, freight, mu):
    """mu <- the best tables for the marginals of nodes; returns <theta, mu>."""
    value = 0.0
    for j in range(field.node_at[-1]):
        if mu[j] > 0:
            value += mu[j] * theta[j]
    into = field.node_at[-1]
    for e in range(len(field.ends)):
        u, v = field.ends[e, 0], field.ends[e, 1]
        k, other = states_of(field, u), states_of(field, v)
        rows, columns = field.node_at[u], field.node_at[v]
        value += transport(
            theta, field.edge_at[e], mu, rows, k, columns, other, into, freight
        )
        into += k * other
    return value / UNIT


@inner
def integral(field, y, mu):
    """mu <- the corner that is the labelling y."""
    for j in range(len(mu)):
        mu[j] = 0
    into = field.node_at[-1]
    for v in range(len(field.node_at) - 1):
        mu[field.node_at[v] + y[v]] = UNIT
    for e in range(len(field.ends)):
        u, v = field.ends[e, 0], field.ends[e, 1]
        other = states_of(field, v)
        mu[into + y[u] * other + y[v]] = UNIT
        into += states_of(field, u) * other


@inner
def freedom(field):
    """The largest sum of entropies of the nodes."""
    total = 0.0
    for v in range(len(field.node_at) - 1):
        total += np.log(states_of(field, v))
    return max(total, 1.0)


@inner
def copy_to(source, target):
    for k in range(len(source)):
        target[k] = source[k]
