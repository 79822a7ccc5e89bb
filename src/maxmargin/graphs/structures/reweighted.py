"""Sums over labellings of any graph, by a convex bound: tree-reweighted belief propagation.

In place of log Z stands an upper bound of it that is convex in the scores, and in place of
probabilities its gradient. So the log objective is convex still and bounds that of the
true log Z from above; where the graph is a forest, it is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.messages import message_room
from maxmargin.graphs.inference.tree_reweighted import log_bound
from maxmargin.graphs.parts import clamp, field_of, of_labellings

PASSES = 500
NEAR = 1e-9  # per node: what a pass may still lower the bound by


class ReweightedGraphs(NamedTuple):
    """Graphs of any width."""

    cuts = cut_by(start="example", y="start", graphs="example")

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs


PartialReweightedGraphs = with_known(ReweightedGraphs)
of_labellings(ReweightedGraphs)
implements(contract.clamp, PartialReweightedGraphs)(clamp)


def reweighted_graphs(graphs: Graphs, y) -> ReweightedGraphs:
    return ReweightedGraphs(graphs.node_start, y, graphs)


@implements(contract.sums, ReweightedGraphs)
def sums(batch, i, theta, mu, work):
    # messages begin at zero, so that values depend on the scores alone
    field = field_of(batch, i)
    messages = np.zeros(message_room(field))
    near = NEAR * (batch.start[i + 1] - batch.start[i])
    used = mu[0, : contract.extent(batch, i)]
    return log_bound(field, theta[0], messages, PASSES, near, used)
