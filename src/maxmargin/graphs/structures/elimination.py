"""Exact search and sums, where the graphs are narrow enough: trees, chains, small grids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements
from maxmargin.core.partial import with_known
from maxmargin.graphs.batch import Graphs, fields_of
from maxmargin.graphs.inference.elimination import best, log_sums
from maxmargin.graphs.inference.elimination_plan import (
    LIMIT,
    Eliminations,
    gather,
    plan_of,
    plans,
)
from maxmargin.graphs.parts import (
    add_losses,
    clamp,
    field_of,
    of_labellings,
    put_back,
)


class EliminationGraphs(NamedTuple):
    """Graphs and, for each, the order in which its nodes are eliminated."""

    cuts = cut_by(
        start="example",
        y="start",
        graphs="example",
        plans="example",
    )

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs
    plans: Eliminations


PartialEliminationGraphs = with_known(EliminationGraphs)
of_labellings(EliminationGraphs)
implements(contract.clamp, PartialEliminationGraphs)(clamp)


def elimination_graphs(
    graphs: Graphs, y, limit: int = LIMIT
) -> tuple[EliminationGraphs | None, int]:
    """(batch, -1), or (None, a graph that is too wide)."""
    found, wide = plans(fields_of(graphs), limit)
    if wide >= 0:
        return None, wide
    return EliminationGraphs(graphs.node_start, y, graphs, gather(found)), -1


@implements(contract.argmax, EliminationGraphs)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    before = add_losses(batch, i, scale, truth, theta)
    best(field_of(batch, i), plan_of(batch.plans, i), theta[0], y)
    put_back(before, theta)


@implements(contract.sums, EliminationGraphs)
def sums(batch, i, theta, mu, work):
    return log_sums(field_of(batch, i), plan_of(batch.plans, i), theta[0], mu[0])
