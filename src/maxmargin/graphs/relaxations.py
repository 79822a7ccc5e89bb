"""Searches over the local polytope, by their types: of two labels, and of any number.

Roof duality solves two labels exactly; dual ascent says how much it misses, and begins
with the messages where its last search ended.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, required
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.field import offsets
from maxmargin.graphs.fractions import GraphPoints, states_at
from maxmargin.graphs.inference.fractional import UNIT, relax
from maxmargin.graphs.inference.roof import roof, roof_marginals
from maxmargin.graphs.parts import add_losses, field_of, put_back

PASSES = 300  # of one search
SHARE = (
    0.02  # of the tolerance of training, times the largest loss: what searches leave
)


@implements(contract.argmax, GraphPoints)
def argmax(batch, i, theta, scale, y):
    g = batch.graphs
    states = np.zeros(g.node_start[i + 1] - g.node_start[i], np.int32)
    states_at(batch, i, states)
    before = add_losses(batch, i, scale, states, theta)
    mu = y[: batch.start[i + 1] - batch.start[i]]
    batch.short[i] = find_point(
        batch.search, i, field_of(batch, i), theta[0], states, mu
    )
    put_back(before, theta)


@required
def find_point(search, i, field, theta, states, mu):
    """mu <- the best point, or one near it; returns what it may be below the best.

    ``states`` are those of the truth, and lost.
    """


class Roof(NamedTuple):
    """Of graphs whose nodes have two states at most."""

    cuts = cut_by()


@implements(find_point, Roof)
def find_by_roof(search, i, field, theta, states, mu):
    roof(field, theta, states)
    roof_marginals(field, theta, states, UNIT, mu)
    return 0.0


class Ascent(NamedTuple):
    """The messages that the next search of each graph begins with."""

    cuts = cut_by(messages="message_start", message_start="example", tol="example")

    messages: np.ndarray
    message_start: np.ndarray
    tol: np.ndarray  # by example, how near a search comes to the optimum


def ascent(graphs: Graphs, tol: float) -> Ascent:
    """For training up to a relative gap."""
    start = message_starts(graphs)
    near = np.maximum(SHARE * tol * largest_losses(graphs), 1e-6)
    return Ascent(np.zeros(start[-1]), start, near)


@implements(find_point, Ascent)
def find_by_ascent(search, i, field, theta, states, mu):
    messages = search.messages[search.message_start[i] : search.message_start[i + 1]]
    bound, value = relax(field, theta, messages, PASSES, search.tol[i], states, mu)
    return max(bound - value, 0.0)


def message_starts(graphs: Graphs) -> np.ndarray:
    """Where those of every example begin: a number per arc and state of its node."""
    n = len(graphs.node_start) - 1
    graph = np.repeat(np.arange(n), np.diff(graphs.node_start))
    nodes = np.arange(len(graph)) + graph
    degrees = graphs.arc_start[nodes + 1] - graphs.arc_start[nodes]
    sizes = degrees * graphs.blocks.states[graphs.node_type]
    each = np.bincount(graph, sizes, n)
    return offsets(each)


def largest_losses(graphs: Graphs) -> np.ndarray:
    """A bound on the loss of every example."""
    blocks = graphs.blocks
    ends = np.append(blocks.cost_at, len(blocks.cost))
    most = [blocks.cost[a:b].max(initial=0.0) for a, b in pairwise(ends.tolist())]
    owner = np.repeat(np.arange(len(graphs.node_start) - 1), np.diff(graphs.node_start))
    each = graphs.size * np.array(most)[graphs.node_type]
    return np.bincount(owner, each, len(graphs.node_start) - 1)
