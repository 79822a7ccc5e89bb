"""Search over the local polytope by dual ascent, with a bound on what it misses."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.fractions import complete, of_fractions, slots_of, states_at
from maxmargin.graphs.inference.fractional import relax
from maxmargin.graphs.parts import add_losses, field_of, put_back
from maxmargin.graphs.structures.messages import message_starts

PASSES = 300  # of one search
SHARE = (
    0.02  # of the tolerance of training, times the largest loss: what searches leave
)


class RelaxedGraphs(NamedTuple):
    """Graphs, and the messages that the next search of each begins with."""

    cuts = cut_by(
        start="example",
        y="start",
        graphs="example",
        slot_at="graphs.edge_start",
        short="example",
        messages="message_start",
        message_start="example",
        tol="example",
    )

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    slot_at: np.ndarray
    most_entries: int
    short: np.ndarray
    messages: np.ndarray
    message_start: np.ndarray
    tol: np.ndarray  # by example, how near a search comes to the optimum


PartialRelaxedGraphs = with_known(RelaxedGraphs)
of_fractions(RelaxedGraphs)
implements(contract.complete, PartialRelaxedGraphs)(complete)


def relaxed_graphs(graphs: Graphs, states, tol: float = 0.01) -> RelaxedGraphs:
    """Of these truths, for training up to a relative gap."""
    starts = message_starts(graphs)
    return RelaxedGraphs(
        **slots_of(graphs, states),
        messages=np.zeros(starts[-1]),
        message_start=starts,
        tol=np.maximum(SHARE * tol * largest_losses(graphs), 1e-6),
    )


def largest_losses(graphs: Graphs) -> np.ndarray:
    """A bound on the loss of every example."""
    blocks = graphs.blocks
    ends = np.append(blocks.cost_at, len(blocks.cost))
    most = [blocks.cost[a:b].max(initial=0.0) for a, b in pairwise(ends.tolist())]
    owner = np.repeat(np.arange(len(graphs.node_start) - 1), np.diff(graphs.node_start))
    each = graphs.size * np.array(most)[graphs.node_type]
    return np.bincount(owner, each, len(graphs.node_start) - 1)


@implements(contract.argmax, RelaxedGraphs)
def argmax(batch, i, theta, scale, y):
    g = batch.graphs
    states = np.zeros(g.node_start[i + 1] - g.node_start[i], np.int32)
    states_at(batch, i, states)
    before = add_losses(batch, i, scale, states, theta)
    messages = batch.messages[batch.message_start[i] : batch.message_start[i + 1]]
    mu = y[: batch.start[i + 1] - batch.start[i]]
    bound, value = relax(
        field_of(batch, i), theta[0], messages, PASSES, batch.tol[i], states, mu
    )
    batch.short[i] = max(bound - value, 0.0)
    put_back(before, theta)
