"""Exact search for two labels where neighbours gain by agreeing: graph cuts.

With edge weights that are not negative every field is submodular. Steps of a solver may
leave them negative for a while (``solvers/signs.py``); then such edges are left out of the
cut, and what that can cost is what the search falls short of. With k_e < 0 as in
``inference/graph_cut.py``, leaving out edge e makes labellings that disagree there worse
by |k_e| / 2, so that

    max <= value of the cut + sum over e with k_e < 0 of |k_e| / 2 [y_u = y_v]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.graph_cut import barrier, graph_cut, table_form
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)


class CutGraphs(NamedTuple):
    """Graphs whose nodes have two states at most, with associative edges."""

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


PartialCutGraphs = with_known(CutGraphs)
of_labellings(CutGraphs)
implements(contract.clamp, PartialCutGraphs)(clamp)


def cut_graphs(graphs: Graphs, y) -> CutGraphs:
    return CutGraphs(graphs.node_start, y, graphs, np.zeros(len(graphs.node_start) - 1))


@implements(contract.shortfall, CutGraphs)
def shortfall(batch, i):
    return batch.short[i]


@implements(contract.argmax, CutGraphs)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    before = add_losses(batch, i, scale, truth, theta)
    field, flat = field_of(batch, i), theta[0]
    graph_cut(field, flat, y)
    loss, short = barrier(field, flat), 0.0
    for e in range(len(field.ends)):
        if y[field.ends[e, 0]] == y[field.ends[e, 1]]:
            short += max(-0.5 * table_form(field, flat, e, loss)[2], 0.0)
    batch.short[i] = short
    put_back(before, theta)
