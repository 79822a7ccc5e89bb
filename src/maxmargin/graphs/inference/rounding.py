"""Good labellings of any graph, for prediction, and how far from the best they can be.

Where nodes have two labels, roof duality may have the best one (``inference/roof.py``), in
submodular fields always. Else dual ascent has the bound, and often the best labelling.
Where its labelling is below the bound, max-product and expansions of both are tried, and
the best of all is kept: ascent is the better one where tables are smooth, max-product where
they are rough.

On large graphs of many labels all that would take minutes for the last thousandths of the
score. There, expansion goes first, and ascent has a budget: as many passes as fit into
half of what expansion costs until no move helps, or into ``WORK``, if those are more.
Costs are counted in steps, which depend on the graph alone, so that answers never depend
on the clock.
"""

import numpy as np

from maxmargin.core.kernel import inner
from maxmargin.graphs.field import states_of
from maxmargin.graphs.inference.dual_ascent import ascend
from maxmargin.graphs.inference.expansion import expansion, independent
from maxmargin.graphs.inference.max_product import max_product
from maxmargin.graphs.inference.messages import message_room, most_states
from maxmargin.graphs.inference.roof import roof

PASSES = 200
MOVES = 3  # rounds of expansions
LOOPS, DAMPING = 50, 0.5  # of max-product
NEAR = 1e-6  # of the bound: a labelling so near is the best one
WORK = 3e8  # steps, of a nanosecond or two, that ascent may always take
MOVE = 95.0  # steps of the rounds of expansion that count, per label, node and edge
CELL, STATE = 2.0, 10.0  # steps of a pass of ascent, per cell of an edge, per state


@inner
def good_labelling(field, theta, y):
    """y <- a labelling; returns a bound on what the best one has more.

    Messages begin at zero, so that answers depend on the scores alone.
    """
    n, size = len(field.node_at) - 1, 1.0
    for k in range(field.node_at[n]):
        if theta[k] > -np.inf:
            size = max(size, abs(theta[k]))
    near, passes = NEAR * size, affordable(field)
    value, other = -np.inf, np.zeros(n, np.int32)
    if most_states(field) <= 2 and whole(field, theta, y):
        return 0.0
    if passes < LOOPS:
        independent(field, theta, other)
        value = expansion(field, theta, other, MOVES - 1)
    messages = np.zeros(message_room(field))
    bound, found = ascend(field, theta, messages, passes, near, y)
    if bound - found > near and passes >= LOOPS:
        found = max(found, expansion(field, theta, y, MOVES))
        if bound - found > near:
            for k in range(len(messages)):
                messages[k] = 0.0
            max_product(field, theta, messages, LOOPS, DAMPING, near, other)
            value = expansion(field, theta, other, MOVES)
    if value > found:
        for v in range(n):
            y[v] = other[v]
    return max(bound - max(found, value), 0.0)


@inner
def whole(field, theta, y):
    """y <- the solution of roof duality, if that is a labelling, and so the best one."""
    roof(field, theta, y)
    for v in range(len(field.node_at) - 1):
        if y[v] == 1:  # a half
            return False
    for v in range(len(field.node_at) - 1):
        y[v] //= 2
    return True


@inner
def affordable(field):
    """The passes of ascent that a graph is worth: all, if ``LOOPS`` are little work."""
    n, m = len(field.node_at) - 1, len(field.ends)
    once, labels = 1.0, 0
    for v in range(n):
        labels = max(labels, states_of(field, v))
    for e in range(m):
        j, k = states_of(field, field.ends[e, 0]), states_of(field, field.ends[e, 1])
        once += CELL * j * k + STATE * (j + k)
    if LOOPS * once <= WORK:
        return PASSES
    return max(int(max(WORK, MOVE * labels * (n + m)) / once), 1)
