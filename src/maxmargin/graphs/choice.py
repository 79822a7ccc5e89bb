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

METHODS = ("auto", "elimination")
NARROW = 1 << 12  # joint states of a clique up to which "auto" eliminates


def check_inference(name) -> None:
    if not isinstance(name, str) or name not in METHODS:
        raise ValueError(
            f"inference={name!r} is not known; choose one of {', '.join(METHODS)}."
        )


def training_batch(
    name: str, objective: str, schema: Schema, graphs, y
) -> tuple[str, Any]:
    """(the method chosen, a batch for training with it)."""
    from maxmargin.graphs.inference.elimination_plan import LIMIT
    from maxmargin.graphs.structures.elimination import elimination_graphs

    limit = NARROW if name == "auto" else LIMIT
    batch, wide = elimination_graphs(graphs, y, limit)
    if batch is None:
        raise too_wide(wide)
    return "elimination", batch


def labelling_batch(name: str, schema: Schema, graphs, y) -> Any:
    """A batch whose search gives every node a state, for prediction."""
    return training_batch(name, "hinge", schema, graphs, y)[1]


def too_wide(i: int) -> ValueError:
    return ValueError(
        f"X[{i}] is too wide for exact inference by elimination: its cycles join too many "
        "nodes. Choose inference='auto' or 'relaxed'."
    )
