"""solver="auto" beside every solver by name: CPU time to the default tolerance.

A score is 100 where the gap is certified below tol, else 100 times what is proved of the
primal.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import Clock

METRIC = "certified"
DATA: dict[str, list[str]] = {
    f"{name}, C={C:g}": []
    for name in ("iris as graphs", "crosses", "colours 0-255", "colours 0-1")
    for C in (0.1, 1.0, 100.0)
}
DATA["wine, not scaled"] = []
SETTINGS = {
    "default": "default",
    "block-coordinate": "hand",
    "one-slack": "hand",
    "n-slack": "hand",
    "proximal-bundle": "hand",
}
SECONDS = 60.0  # of the clock, at most
NOISE = 10  # pixels of a picture of crosses


def warm() -> None:
    for name in ("iris as graphs", "crosses", "colours 0-1"):
        X, y = _load(name)
        for solver in SETTINGS:
            _model(name, solver, 0.01, max_iter=20).fit(X[:3] + X[-3:], y[:3] + y[-3:])


def run(data: str, setting: str, quick: bool) -> dict:
    name, _, C = data.partition(", C=")
    X, y = _load(name)
    if quick:
        X, y = X[::5], y[::5]
    model = _model(name, setting, float(C or 1.0))
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore")
        model.fit(X, y)
    proved = 1.0 if model.converged_ else 1.0 - model.certificate_.relative_gap
    return {"score": 100 * proved, "interval": 0.0, "cpu": clock.cpu}


def _model(name: str, setting: str, C: float, **more):
    from maxmargin import GraphLabeler, MulticlassSVM

    make = MulticlassSVM if name.startswith("wine") else GraphLabeler
    solver = "auto" if setting == "default" else setting
    return make(C=C, solver=solver, max_time=SECONDS, **more)


def _load(name: str):
    from sklearn.datasets import load_iris, load_wine

    if name.startswith("wine"):
        return load_wine(return_X_y=True)
    if name.startswith("iris"):
        X, y = load_iris(return_X_y=True)
        nobody = np.zeros((0, 2), int)
        return [(x[None], nobody) for x in X], [[int(k)] for k in y]
    if name == "crosses":
        return _crosses(50)
    return _colours(20, 1.0 if name.endswith("255") else 1 / 255)


def _crosses(n: int, size: int = 12, crosses: int = 4):
    """Crosses with a centre of its own label, seen in black and white with noise."""
    from maxmargin import grid_graph

    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        truth = np.zeros((size, size), int)
        for a, b in rng.integers(1, size - 1, (crosses, 2)):
            truth[a - 1 : a + 2, b] = np.maximum(truth[a - 1 : a + 2, b], 1)
            truth[a, b - 1 : b + 2] = np.maximum(truth[a, b - 1 : b + 2], 1)
            truth[a, b] = 2
        seen = (truth > 0).astype(int)
        flipped = rng.integers(0, size, (NOISE, 2))
        seen[flipped[:, 0], flipped[:, 1]] ^= 1
        pixels = np.stack([1.0 - seen, seen], 2)
        X.append(grid_graph(pixels, edge_features="direction"))
        y.append(truth)
    return X, y


def _colours(n: int, scale: float, size: int = 8):
    """Two regions of different colours, with noise."""
    from maxmargin import grid_graph

    rng = np.random.default_rng(0)
    colours = np.array([[200, 80, 60], [60, 120, 210]])
    X, y = [], []
    for _ in range(n):
        truth = np.zeros((size, size + 2), int)
        truth[:, rng.integers(3, size) :] = 1
        noise = rng.normal(0, 70, (*truth.shape, 3))
        picture = np.clip(colours[truth] + noise, 0, 255).round()
        X.append(grid_graph(picture * scale, edge_features="direction"))
        y.append(truth)
    return X, y
