"""Quick searches on any graph that find good labellings, not always the best.

Training with them finds too few planes (it *under-generates*): the dual is a true bound,
the primal that it reports is not, and ``exact`` says so. The relaxation bounds the primal
from above (``GraphLabeler.primal_bound_``). (Finley & Joachims 2008.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import generic, implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.inference.expansion import PASSES, expansion, independent, swap
from maxmargin.graphs.inference.max_product import max_product
from maxmargin.graphs.inference.messages import message_room
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)

ROUNDS, DAMPING = 50, 0.5  # of max-product


class Expansion(NamedTuple):
    """Labellings that no expansion of a label makes better."""

    passes: int


class Swap(NamedTuple):
    """Labellings that no swap of two labels makes better."""

    passes: int


class MaxProduct(NamedTuple):
    """Labellings that loopy messages lead to."""

    passes: int


SEARCHES = {
    "expansion": Expansion(PASSES),
    "swap": Swap(PASSES),
    "max-product": MaxProduct(ROUNDS),
}


class InexactGraphs(NamedTuple):
    """Graphs and the search for their labellings, by its type."""

    cuts = cut_by(start="example", y="start", graphs="example")

    exact = False

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    search: Expansion | Swap | MaxProduct


PartialInexactGraphs = with_known(InexactGraphs)
PartialInexactGraphs.exact = False
of_labellings(InexactGraphs)
implements(contract.clamp, PartialInexactGraphs)(clamp)


def inexact_graphs(graphs: Graphs, y, name: str) -> InexactGraphs:
    return InexactGraphs(graphs.node_start, y, graphs, SEARCHES[name])


@implements(contract.argmax, InexactGraphs)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    before = add_losses(batch, i, scale, truth, theta)
    find_labelling(batch.search, field_of(batch, i), theta[0], y)
    put_back(before, theta)


@generic
def find_labelling(search, field, theta, y):
    """y <- a good labelling, by the type of the search."""
    independent(field, theta, y)
    expansion(field, theta, y, search.passes)


@implements(find_labelling, Swap)
def find_by_swaps(search, field, theta, y):
    independent(field, theta, y)
    swap(field, theta, y, search.passes)


@implements(find_labelling, MaxProduct)
def find_by_messages(search, field, theta, y):
    messages = np.zeros(message_room(field))
    max_product(field, theta, messages, search.passes, DAMPING, 1e-6, y)
