"""Labellings that no expansion of a label makes better: quick, on any graph, not exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.expansion import PASSES, expansion, independent
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)


class ExpansionGraphs(NamedTuple):
    """Graphs whose search finds good outputs, not always the best."""

    exact = False

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs


PartialExpansionGraphs = with_known(ExpansionGraphs)
PartialExpansionGraphs.exact = False
of_labellings(ExpansionGraphs)
implements(contract.clamp, PartialExpansionGraphs)(clamp)


def expansion_graphs(graphs: Graphs, y) -> ExpansionGraphs:
    return ExpansionGraphs(graphs.node_start, y, graphs)


@implements(contract.argmax, ExpansionGraphs)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    before = add_losses(batch, i, scale, truth, theta)
    field = field_of(batch, i)
    independent(field, theta[0], y)
    expansion(field, theta[0], y, PASSES)
    put_back(before, theta)
