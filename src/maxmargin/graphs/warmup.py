"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def graph():
    X = [([[1.0], [0.5], [-1.0]], [(0, 1), (1, 2)]), ([[1.0]], [])]
    return maxmargin.GraphLabeler().fit(X, [[0, 0, 1], [1]]), X


def graph_wide():
    """Graphs that are too wide for elimination, of two labels and of three."""
    X = [maxmargin.grid_graph([[1.0, 0.5, -1.0], [0.8, -0.2, 0.1]])]
    maxmargin.GraphLabeler(inference="relaxed").fit(X, [[0, 0, 1, 2, 2, 1]]).predict(X)
    model = maxmargin.GraphLabeler(inference="graph-cut", edges="associative")
    return model.fit(X, [[0, 0, 1, 0, 1, 1]]), X
