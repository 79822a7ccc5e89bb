"""Which method of inference a fit or a prediction uses.

The methods, and what they are for:

    elimination   exact, where the graphs are narrow (trees, chains, small grids)
    graph-cut     exact for two labels and associative edges, on any graph
    relaxed       the local polytope: fractional outputs are planes of training too, so its
                  certificate is one of the relaxed problem; predictions are rounded
    expansion     alpha expansion: labellings that no move improves; training with them
                  finds too few planes, and its certificate is not exact

"auto" is the first of these that is possible, without the last.
"""

from __future__ import annotations

from typing import Any

from maxmargin.graphs.schema import Schema

METHODS = ("auto", "elimination", "graph-cut", "relaxed", "expansion")
NARROW = 1 << 12  # joint states of a clique up to which "auto" eliminates


def check_inference(name) -> None:
    if not isinstance(name, str) or name not in METHODS:
        raise ValueError(
            f"inference={name!r} is not known; choose one of {', '.join(METHODS)}."
        )


def training_batch(
    name: str, objective: str, schema: Schema, graphs, y, tol: float
) -> tuple[str, Any]:
    """(the method chosen, a batch for training with it)."""
    if objective == "log":
        return _summing(name, graphs, y)
    batch = _exact(name, schema, graphs, y)
    if batch is not None:
        return batch
    if name == "expansion":
        from maxmargin.graphs.structures.expansion import expansion_graphs

        return name, expansion_graphs(graphs, y)
    return "relaxed", relaxed_batch(graphs, y, tol)


def relaxed_batch(graphs, y, tol: float) -> Any:
    """A batch of relaxed outputs; that of two labels is solved exactly."""
    if graphs.blocks.states.max(initial=0) <= 2:
        from maxmargin.graphs.structures.roof import roof_graphs

        return roof_graphs(graphs, y)
    from maxmargin.graphs.structures.relaxed import relaxed_graphs

    return relaxed_graphs(graphs, y, tol)


def labelling_batch(name: str, schema: Schema, graphs, y, w) -> Any:
    """A batch whose search gives every node a state under weights w, for prediction."""
    found = _exact(name, schema, graphs, y, w)
    if found is not None:
        return found[1]
    if name == "expansion":
        from maxmargin.graphs.structures.expansion import expansion_graphs

        return expansion_graphs(graphs, y)
    from maxmargin.graphs.structures.rounded import rounded_graphs

    return rounded_graphs(graphs, y)


def _exact(name: str, schema: Schema, graphs, y, w=None) -> tuple[str, Any] | None:
    """(method, batch) of an exact method, if one is wanted and possible."""
    if name in ("auto", "elimination"):
        from maxmargin.graphs.inference.elimination_plan import LIMIT
        from maxmargin.graphs.structures.elimination import elimination_graphs

        limit = NARROW if name == "auto" else LIMIT
        batch, wide = elimination_graphs(graphs, y, limit)
        if batch is not None:
            return "elimination", batch
        if name == "elimination":
            raise too_wide(wide)
    if name in ("auto", "graph-cut"):
        reason = _no_cut(schema, w)
        if not reason:
            from maxmargin.graphs.structures.cut import cut_graphs

            return "graph-cut", cut_graphs(graphs, y)
        if name == "graph-cut":
            raise ValueError(
                f"inference='graph-cut' is not possible: {reason}. Choose "
                "inference='auto', 'relaxed' or 'expansion'."
            )
    return None


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


def _summing(name: str, graphs, y) -> tuple[str, Any]:
    """(method, batch) for the log objective and for marginals."""
    from maxmargin.graphs.inference.elimination_plan import LIMIT
    from maxmargin.graphs.structures.elimination import elimination_graphs

    limit = NARROW if name == "auto" else LIMIT
    batch, wide = elimination_graphs(graphs, y, limit)
    if batch is None:
        raise too_wide(wide)
    return "elimination", batch


def too_wide(i: int) -> ValueError:
    return ValueError(
        f"X[{i}] is too wide for exact inference by elimination: its cycles join too many "
        "nodes. Choose inference='auto' or 'relaxed'."
    )
