"""Loopy max-product with damping: exact on forests, without any promise elsewhere.

    M into w (z)  <-  max over x of  hat_v(x) - M into v (x) + theta(x, z)

Messages keep a part ``damping`` of what they were, from the second pass on, so that cycles
swing less; the first pass, which solves forests, is whole.
"""

import numpy as np

from maxmargin.core.kernel import inner
from maxmargin.graphs.field import field_score, states_of
from maxmargin.graphs.inference.messages import (
    arranged,
    gather,
    leave,
    level,
    message_places,
    most_states,
    neighbour,
    round_off,
    send_best,
    without_infinities,
)


@inner
def max_product(field, theta, messages, passes, damping, tol, y):
    """y <- the best labelling met; returns (its score, largest change of a message).

    ``messages`` are zeros (``no_messages``) or those of a field with other scores. The
    search ends when no message changes by more than ``tol`` in a pass.
    """
    n = len(field.node_at) - 1
    at, (order, rank) = message_places(field), arranged(field)
    most = most_states(field)
    hat, less, out = np.empty(most), np.empty(most), np.empty(most)
    trial = np.zeros(n, np.int32)
    without_infinities(messages)
    value, change = -np.inf, np.inf
    for done in range(max(passes, 1)):
        kept = damping if done > 0 else 0.0
        change = 0.0
        for t in range(2 * n):  # backwards first: that alone solves forests
            forwards = t >= n
            v = order[t - n] if forwards else order[n - 1 - t]
            gather(field, theta, at, messages, v, hat)
            for j in range(field.arc_start[v], field.arc_start[v + 1]):
                arc = field.arcs[j]
                if (rank[neighbour(field, arc)] > rank[v]) == forwards:
                    moved = send(field, theta, at, messages, arc, kept, hat, less, out)
                    change = max(change, moved)
        round_off(field, theta, at, messages, order, rank, hat, trial)
        score = field_score(field, theta, trial)
        if score > value or done == 0:
            value = score
            for v in range(n):
                y[v] = trial[v]
        if change <= tol:
            break
    return value, change


@inner
def send(field, theta, at, messages, arc, kept, hat, less, out):
    """The message away from the node of an arc; returns its largest change."""
    v, w = field.ends[arc >> 1, arc & 1], neighbour(field, arc)
    k, other = states_of(field, v), states_of(field, w)
    leave(messages, at[arc], 1.0, hat, k, less)
    send_best(theta, field.edge_at[arc >> 1], arc & 1, less, k, other, out)
    level(out, other)
    into, change = at[arc ^ 1], 0.0
    for z in range(other):
        was = messages[into + z]
        now = out[z]
        if now > -np.inf and was > -np.inf:
            now += kept * (was - now)
            change = max(change, abs(now - was))
        elif now != was:
            change = np.inf
        messages[into + z] = now
    return change
