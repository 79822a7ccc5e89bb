"""Which method of inference a fit or a prediction uses.

The methods, and what they are for:

    elimination   exact, where the graphs are narrow (trees, chains, small grids)
    graph-cut     exact for two labels and associative edges, on any graph
    relaxed       the local polytope: fractional outputs are planes of training too, so its
                  certificate is one of the relaxed problem; predictions are rounded
    reweighted    of "relaxed" with sums: a convex bound of log Z, tree-reweighted
    expansion     alpha expansion: labellings that no move improves; training with them
                  finds too few planes, and its certificate is not exact
    swap          the same with swaps of two labels
    max-product   loopy max-product, likewise

"auto" is a graph cut where that is possible and there are cycles, else the first of these
that is possible, and never one of the last three.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.partial import partly_known
from maxmargin.graphs.fractions import known_slots, with_points
from maxmargin.graphs.inference.elimination_plan import LIMIT
from maxmargin.graphs.labellings import (
    SEARCHES,
    GraphCut,
    Reweighting,
    Rounding,
    elimination_graphs,
    with_search,
)
from maxmargin.graphs.parameters import INEXACT, METHODS
from maxmargin.graphs.relaxations import Roof, ascent
from maxmargin.graphs.schema import Schema

CHOSEN = (*METHODS[1:], "reweighted")
RELAXED = ("relaxed", "reweighted")  # whose certificates are of other problems
NARROW = 1 << 12  # joint states of a clique up to which "auto" eliminates


def training_batch(
    name: str, objective: str, schema: Schema, graphs, y, tol: float
) -> tuple[str, Any]:
    """(the method chosen, a batch for training with it); y is -1 where it is not known."""
    states = np.maximum(y, 0)
    if objective == "log":
        method, batch = summing_batch(name, graphs, states)
    elif (found := _exact(name, schema, graphs, states)) is not None:
        method, batch = found
    elif name in INEXACT:
        method, batch = name, with_search(graphs, states, SEARCHES[name])
    else:
        method, batch = "relaxed", relaxed_batch(graphs, states, tol)
    known = y >= 0
    if known.all():
        return method, batch
    if method == "relaxed":
        known = known_slots(batch, known)
    return method, partly_known(batch, known)


def relaxed_batch(graphs, y, tol: float) -> Any:
    """A batch of relaxed outputs; that of two labels is solved exactly."""
    two = graphs.blocks.states.max(initial=0) <= 2
    return with_points(graphs, y, Roof() if two else ascent(graphs, tol))


def labelling_batch(name: str, schema: Schema, graphs, y, w) -> Any:
    """A batch whose search gives every node a state under weights w, for prediction."""
    found = _exact(name, schema, graphs, y, w)
    if found is not None:
        return found[1]
    return with_search(graphs, y, SEARCHES.get(name, Rounding()))


def _exact(name: str, schema: Schema, graphs, y, w=None) -> tuple[str, Any] | None:
    """(method, batch) of an exact method, if one is wanted and possible."""
    reason = _no_cut(schema, w)
    cut = name == "auto" and not reason and _has_cycles(graphs)  # no need to plan then
    if not cut and (found := _eliminated(name, graphs, y)) is not None:
        return found
    if name in ("auto", "graph-cut"):
        if not reason:
            return "graph-cut", with_search(graphs, y, GraphCut())
        if name == "graph-cut":
            raise ValueError(
                f"inference='graph-cut' is not possible: {reason}. Choose "
                "inference='auto', 'relaxed' or 'expansion'."
            )
    return None


def _has_cycles(graphs) -> bool:
    """Whether some graph has so many edges that it is no forest."""
    edges, nodes = np.diff(graphs.edge_start), np.diff(graphs.node_start)
    return bool(((edges >= nodes) & (edges > 0)).any())


def _no_cut(schema: Schema, w) -> str:
    """Why cuts would not be exact; empty if they are."""
    if schema.edges != "associative":
        return "it needs edges='associative', whose weights keep scores submodular"
    wide = [some for some in schema.labels if len(some) > 2]
    if wide:
        return f"it needs two labels, but there are {len(wide[0])}"
    cells = [schema.cells(s) for s in range(len(schema.edge_types))]
    if any(table.shape == (2, 2) and table[0, 1] == 0 for table in cells) or any(
        table.shape == (2, 2) and table[1, 0] == 0 for table in cells
    ):
        return "edges join nodes of types with different labels"
    if w is not None and (w[schema.n_node_weights :] < 0).any():
        return "a weight of edges is negative"
    return ""


def summing_batch(name: str, graphs, y) -> tuple[str, Any]:
    """(method, batch) for the log objective."""
    found = _eliminated(name, graphs, y)
    return found or ("reweighted", with_search(graphs, y, Reweighting()))


def _eliminated(name: str, graphs, y) -> tuple[str, Any] | None:
    """(method, batch) of elimination, if it is wanted and possible."""
    if name not in ("auto", "elimination"):
        return None
    limit = NARROW if name == "auto" else LIMIT
    batch, wide = elimination_graphs(graphs, y, limit)
    if batch is not None:
        return "elimination", batch
    if name == "elimination":
        raise TooWide(
            f"X[{wide}] is too wide for exact inference by elimination: its cycles join "
            "too many nodes. Choose inference='auto' or 'relaxed'."
        )
    return None


def exact_sums(graphs, y) -> Any:
    """A batch with exact sums over all labellings, for probabilities."""
    batch, wide = elimination_graphs(graphs, y)
    if batch is None:
        raise TooWide(
            f"X[{wide}] is too wide for probabilities: its cycles join too many nodes to "
            "sum over all labellings. predict_pseudo_marginals has shares of labels for "
            "graphs of any width, which are no probabilities; decision_function has the "
            "scores of nodes alone."
        )
    return batch


class TooWide(ValueError):
    """A graph on which elimination, which is exact, would take too long."""
