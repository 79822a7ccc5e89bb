"""Good labellings of any graph by dual ascent: for prediction, where nothing is exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.dual_ascent import ascend
from maxmargin.graphs.inference.messages import message_room
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)

PASSES = 200


class RoundedGraphs(NamedTuple):
    """Graphs; what the best labelling may have more than the one found is ``short``."""

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
    field = field_of(batch, i)
    messages = np.zeros(message_room(field))
    bound, value = ascend(field, theta[0], messages, PASSES, 1e-6, y)
    batch.short[i] = max(bound - value, 0.0)
    put_back(before, theta)
