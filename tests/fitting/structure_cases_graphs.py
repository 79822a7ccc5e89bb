"""Graphs for the tests that structures of families share."""

import numpy as np

from maxmargin import GraphLabeler


def circle(n, rng, cycle=True):
    edges = [(v, v + 1) for v in range(n - 1)] + [(n - 1, 0)] * (cycle and n > 2)
    return rng.normal(size=(n, 3)), edges, rng.integers(0, 3, (len(edges), 2)) * 1.0


def circles(labels="abc"):
    rng = np.random.default_rng(0)
    X = [circle(n, rng) for n in (4, 1, 5, 3, 6)]
    names = np.array(list(labels))
    y = [names[np.argmax(x[0], axis=1)].tolist() for x in X]
    return X, y, [circle(n, rng) for n in (5, 1, 4)]


def two_labels():
    return circles("aab")


def unknown():
    X, y, new = circles()
    y[0][1] = y[2][4] = None
    return X, [*y[:-1], None], new


def types():
    rng = np.random.default_rng(1)
    edges = {("u", "to", "v"): [(0, 0), (1, 1)], ("u", "near", "u"): [(0, 2)]}
    X, y = [], []
    for _ in range(6):
        nodes = {"u": rng.normal(size=(3, 2)), "v": rng.normal(size=(2, 3))}
        X.append({"nodes": nodes, "edges": edges})
        found = {name: np.argmax(table, axis=1) for name, table in nodes.items()}
        y.append({name: [f"{name}{k}" for k in row] for name, row in found.items()})
    return X, y, X[:2]


PLAIN = {"C": 1, "tol": 1e-3}
CASES = {
    "graphs": (GraphLabeler(**PLAIN), circles),
    "graphs, symmetric": (
        GraphLabeler(**PLAIN, edges="symmetric", fit_intercept=False),
        circles,
    ),
    "graphs, cut": (GraphLabeler(**PLAIN, edges="associative"), two_labels),
    "graphs, relaxed": (GraphLabeler(**PLAIN, inference="relaxed"), circles),
    "graphs, unknown": (GraphLabeler(**PLAIN), unknown),
    "graphs, kernel": (
        GraphLabeler(**PLAIN, kernel="rbf", method="nystroem", n_components=5),
        circles,
    ),
    "graphs, types": (GraphLabeler(**PLAIN, loss={"u": {"u0": 2}}), types),
}
