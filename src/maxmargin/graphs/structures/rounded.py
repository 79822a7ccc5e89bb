"""Good labellings of any graph, for prediction.

Dual ascent has the bound, and often the best labelling. Where its labelling is below the
bound, max-product and expansions of both are tried, and the best of all is kept: ascent is
the better one where tables are smooth, max-product where they are rough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, kernel
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.dual_ascent import ascend
from maxmargin.graphs.inference.expansion import expansion
from maxmargin.graphs.inference.max_product import max_product
from maxmargin.graphs.inference.messages import message_room
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)

PASSES = 200
MOVES = 3  # rounds of expansions
LOOPS, DAMPING = 50, 0.5  # of max-product
NEAR = 1e-6  # of the bound: a labelling so near is the best one


class RoundedGraphs(NamedTuple):
    """Graphs; ``short`` bounds what the best labelling has more than the one found."""

    cuts = cut_by(
        start="example",
        y="start",
        graphs="example",
        short="example",
    )

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    short: np.ndarray


PartialRoundedGraphs = with_known(RoundedGraphs)
of_labellings(RoundedGraphs)
implements(contract.clamp, PartialRoundedGraphs)(clamp)


def rounded_graphs(graphs: Graphs, y) -> RoundedGraphs:
    short = np.zeros(len(graphs.node_start) - 1)
    return RoundedGraphs(graphs.node_start, y, graphs, short)


@implements(contract.shortfall, RoundedGraphs)
def shortfall(batch, i):
    return batch.short[i]


@implements(contract.argmax, RoundedGraphs)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    before = add_losses(batch, i, scale, truth, theta)
    batch.short[i] = good_labelling(field_of(batch, i), theta[0], y)
    put_back(before, theta)


@kernel
def good_labelling(field, theta, y):
    """y <- a labelling; returns a bound on what the best one has more.

    Messages begin at zero, so that answers depend on the scores alone.
    """
    size = 1.0
    for v in range(len(field.node_at) - 1):
        for k in range(field.node_at[v], field.node_at[v + 1]):
            if theta[k] > -np.inf:
                size = max(size, abs(theta[k]))
    messages = np.zeros(message_room(field))
    bound, value = ascend(field, theta, messages, PASSES, NEAR * size, y)
    if bound - value > NEAR * size:
        value = max(value, expansion(field, theta, y, MOVES))
    if bound - value > NEAR * size:
        other = np.zeros(len(field.node_at) - 1, np.int32)
        for k in range(len(messages)):
            messages[k] = 0.0
        max_product(field, theta, messages, LOOPS, DAMPING, NEAR * size, other)
        found = expansion(field, theta, other, MOVES)
        if found > value:
            value = found
            for v in range(len(other)):
                y[v] = other[v]
    return max(bound - value, 0.0)
