"""Graphs of networkx whose features and labels are attributes of any name."""

from __future__ import annotations

from collections.abc import Iterable

from maxmargin.core.listed import listed
from maxmargin.files.messages import kind_of
from maxmargin.graphs.input import GraphInput, read_graph
from maxmargin.graphs.objects import Names, is_networkx, networkx_parts


def read_networkx(
    graphs: Iterable,
    features: Names = "x",
    label: str | None = "y",
    edge_features: Names | None = None,
) -> tuple[list[GraphInput], list[list] | None]:
    """(X, y) for a :class:`maxmargin.GraphLabeler` from graphs of networkx.

    What is predicted for a graph of X is a dict {node: label}, as
    ``networkx.set_node_attributes(graph, found, "predicted")`` takes it.

    Parameters
    ----------
    graphs : list of networkx graphs
        The attribute "size" of a node, if it has one, is what it counts in the loss.
    features : name of an attribute of nodes, or names of several
        Numbers or vectors, put side by side.
    label : name of an attribute of nodes, or None: then y is None
        The label of a node without it is None, not known.
    edge_features : the same for edges; None is the attribute "x", if edges have it
    """
    if is_networkx(graphs):
        raise ValueError("graphs is one graph: give a list of graphs, also for one.")
    graphs = listed(
        graphs, f"graphs is {kind_of(graphs)}: give a list of graphs of networkx."
    )
    X = []
    for i, graph in enumerate(graphs):
        where = f"graphs[{i}]"
        if not is_networkx(graph):
            raise ValueError(f"{where} is {kind_of(graph)}, not a graph of networkx.")
        parts, names = networkx_parts(graph, where, features, edge_features)
        X.append(read_graph(parts, where))
        X[-1].names = names
    if label is None:
        return X, None
    y = [[data.get(label) for _, data in graph.nodes(data=True)] for graph in graphs]
    if all(z is None for row in y for z in row):
        have = dict.fromkeys(
            key
            for graph in graphs
            for _, data in graph.nodes(data=True)
            for key in data
        )
        raise ValueError(
            f"no node has the attribute {label!r}; there are "
            f"{', '.join(map(repr, have)) or 'none'}."
        )
    return X, y
