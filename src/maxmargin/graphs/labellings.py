"""Graphs whose outputs give every node a state, and the searches for the best of them.

A search is a ``NamedTuple`` of what it needs beside the graphs. Its type chooses what is
compiled, so that a fit waits for its own search alone:

    Eliminations              exact, where the graphs are narrow; sums as well
    GraphCut                  exact for two labels that gain by being equal
    Expansion, Swap, MaxProduct   quick, on any graph, and not exact: training with them
                              finds too few planes (it *under-generates*), so that the dual
                              is a true bound and the primal is not. The relaxation bounds
                              it from above (``GraphLabeler.primal_bound_``)
    Rounding                  good labellings for prediction
    Reweighting               the same, and tree-reweighted sums: a convex bound of log Z

Finley & Joachims 2008, Training structural SVMs when exact inference is intractable.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implemented, implements, required
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs, fields_of
from maxmargin.graphs.inference import elimination, expansion, graph_cut
from maxmargin.graphs.inference.elimination_plan import (
    LIMIT,
    Eliminations,
    gather,
    plan_of,
    plans,
)
from maxmargin.graphs.inference.max_product import max_product
from maxmargin.graphs.inference.messages import message_room
from maxmargin.graphs.inference.rounding import good_labelling
from maxmargin.graphs.inference.tree_reweighted import log_bound
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)

ROUNDS, DAMPING = 50, 0.5  # of max-product
PASSES = 500  # of tree-reweighted messages
NEAR = 1e-9  # per node: what such a pass may still lower the bound by


class GraphLabellings(NamedTuple):
    """Graphs, the search for their labellings, and what its last answers may miss."""

    cuts = cut_by(
        start="example",
        y="start",
        graphs="example",
        short="example",
        search="example",
    )

    exact = property(lambda batch: getattr(batch.search, "exact", True))
    has_sums = property(lambda b: implemented(sum_labellings, type(b.search)))

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    short: np.ndarray
    search: Any


PartialGraphLabellings = with_known(GraphLabellings)
PartialGraphLabellings.exact = GraphLabellings.exact
PartialGraphLabellings.has_sums = GraphLabellings.has_sums
of_labellings(GraphLabellings)
implements(contract.clamp, PartialGraphLabellings)(clamp)


def with_search(graphs: Graphs, y, search) -> GraphLabellings:
    """These graphs with these states as truths."""
    short = np.zeros(len(graphs.node_start) - 1)
    return GraphLabellings(graphs.node_start, y, graphs, short, search)


@implements(contract.shortfall, GraphLabellings)
def shortfall(batch, i):
    return batch.short[i]


@implements(contract.argmax, GraphLabellings)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    before = add_losses(batch, i, scale, truth, theta)
    batch.short[i] = find_labelling(batch.search, i, field_of(batch, i), theta[0], y)
    put_back(before, theta)


@implements(contract.sums, GraphLabellings)
def sums(batch, i, theta, mu, work):
    used = mu[0, : contract.extent(batch, i)]
    return sum_labellings(batch.search, i, field_of(batch, i), theta[0], used)


@required
def find_labelling(search, i, field, theta, y):
    """y <- the best labelling, or a good one; returns what it may be below the best."""


@required
def sum_labellings(search, i, field, theta, mu):
    """mu <- expected parts; returns log Z."""


# exact ------------------------------------------------------------------------------------


def elimination_graphs(
    graphs: Graphs, y, limit: int = LIMIT
) -> tuple[GraphLabellings | None, int]:
    """(batch, -1), or (None, a graph that is too wide)."""
    found, wide = plans(fields_of(graphs), limit)
    if wide >= 0:
        return None, wide
    return with_search(graphs, y, gather(found)), -1


@implements(find_labelling, Eliminations)
def eliminate(search, i, field, theta, y):
    elimination.best(field, plan_of(search, i), theta, y)
    return 0.0


@implements(sum_labellings, Eliminations)
def sum_by_elimination(search, i, field, theta, mu):
    return elimination.log_sums(field, plan_of(search, i), theta, mu)


class GraphCut(NamedTuple):
    """Of graphs whose nodes have two states at most, with associative edges."""

    cuts = cut_by()


@implements(find_labelling, GraphCut)
def find_by_cut(search, i, field, theta, y):
    return graph_cut.cut_with_bound(field, theta, y)


# not exact ----------------------------------------------------------------------------


class Expansion(NamedTuple):
    """Labellings that no expansion of a label makes better."""

    exact = False
    cuts = cut_by()

    passes: int = expansion.PASSES


class Swap(NamedTuple):
    """Labellings that no swap of two labels makes better."""

    exact = False
    cuts = cut_by()

    passes: int = expansion.PASSES


class MaxProduct(NamedTuple):
    """Labellings that loopy messages lead to."""

    exact = False
    cuts = cut_by()

    passes: int = ROUNDS


class Rounding(NamedTuple):
    """The best of several searches, with a bound."""

    cuts = cut_by()


SEARCHES = {"expansion": Expansion(), "swap": Swap(), "max-product": MaxProduct()}


@implements(find_labelling, Expansion)
def find_by_expansions(search, i, field, theta, y):
    expansion.independent(field, theta, y)
    expansion.expansion(field, theta, y, search.passes)
    return 0.0


@implements(find_labelling, Swap)
def find_by_swaps(search, i, field, theta, y):
    expansion.independent(field, theta, y)
    expansion.swap(field, theta, y, search.passes)
    return 0.0


@implements(find_labelling, MaxProduct)
def find_by_messages(search, i, field, theta, y):
    messages = np.zeros(message_room(field))
    max_product(field, theta, messages, search.passes, DAMPING, 1e-6, y)
    return 0.0


@implements(find_labelling, Rounding)
def find_by_rounding(search, i, field, theta, y):
    return good_labelling(field, theta, y)


# sums ---------------------------------------------------------------------------------


class Reweighting(NamedTuple):
    """In place of log Z an upper bound of it that is convex in the scores.

    In place of probabilities stands its gradient. So the log objective is convex still and
    bounds that of the true log Z from above; where the graph is a forest, it is the same.
    """

    cuts = cut_by()


implements(find_labelling, Reweighting)(find_by_rounding)


@implements(sum_labellings, Reweighting)
def sum_by_reweighting(search, i, field, theta, mu):
    # messages begin at zero, so that values depend on the scores alone
    messages = np.zeros(message_room(field))
    near = NEAR * (len(field.node_at) - 1)
    return log_bound(field, theta, messages, PASSES, near, mu)
