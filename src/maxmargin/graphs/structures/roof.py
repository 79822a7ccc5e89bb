"""Search over the local polytope of two labels: roof duality solves it exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.fractions import complete, of_fractions, slots_of, states_at
from maxmargin.graphs.inference.fractional import UNIT
from maxmargin.graphs.inference.roof import roof, roof_marginals
from maxmargin.graphs.parts import add_losses, field_of, put_back


class RoofGraphs(NamedTuple):
    """Graphs whose nodes have two states at most."""

    cuts = cut_by(
        start="example",
        y="start",
        graphs="example",
        slot_at="graphs.edge_start",
        short="example",
    )

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    slot_at: np.ndarray
    most_entries: int
    short: np.ndarray


PartialRoofGraphs = with_known(RoofGraphs)
of_fractions(RoofGraphs)
implements(contract.complete, PartialRoofGraphs)(complete)


def roof_graphs(graphs: Graphs, states) -> RoofGraphs:
    return RoofGraphs(**slots_of(graphs, states))


@implements(contract.argmax, RoofGraphs)
def argmax(batch, i, theta, scale, y):
    g = batch.graphs
    states = np.zeros(g.node_start[i + 1] - g.node_start[i], np.int32)
    states_at(batch, i, states)
    before = add_losses(batch, i, scale, states, theta)
    field = field_of(batch, i)
    roof(field, theta[0], states)
    roof_marginals(field, theta[0], states, UNIT, y)
    put_back(before, theta)
