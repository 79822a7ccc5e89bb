"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def graph():
    from maxmargin import GraphLabeler

    X = [([[1.0], [0.5], [-1.0]], [(0, 1), (1, 2)]), ([[1.0]], [])]
    return GraphLabeler().fit(X, [[0, 0, 1], [1]]), X


def graph_wide():
    """Graphs that are too wide for elimination, of two labels and of three."""
    from maxmargin import GraphLabeler, grid_graph

    X = [grid_graph([[1.0, 0.5, -1.0], [0.8, -0.2, 0.1]])]
    GraphLabeler(inference="relaxed").fit(X, [[0, 0, 1, 2, 2, 1]]).predict(X)
    model = GraphLabeler(inference="graph-cut", edges="associative")
    return model.fit(X, [[0, 0, 1, 0, 1, 1]]), X
