"""GraphLabeler as it comes, beside settings by hand and logistic regression per node."""

from __future__ import annotations

import numpy as np
from common import Clock

METRIC = "accuracy of nodes"
DATA = {
    "Snakes": ["snakes/snakes.npz"],
    "horses": ["weizmann_horses64/horses64.npz"],
    "horses, other photographs": ["weizmann_horses64/horses64.npz"],
}
SETTINGS = {
    "default": "default",
    "C=1": "hand",
    "C=0.1": "hand",
    "C=0.001": "hand",
    "C=0.001, associative": "hand",
    "inference=expansion": "hand",
    "LogisticRegression": "peer",
}
TRAIN, TEST = 10, 40  # photographs
MOST = {"max_time": 20}  # seconds; large C take much longer on photographs


def warm() -> None:
    from maxmargin import grid_graph

    X = [grid_graph(np.eye(8)), grid_graph(np.ones((8, 8)))]
    y = [np.eye(8, dtype=int).ravel(), np.arange(64) % 3]
    wide = [grid_graph(np.arange(900.0).reshape(30, 30) % 7)]
    for setting in SETTINGS:
        if setting != "LogisticRegression":
            for labels in (2, 3):
                truth = [some % labels for some in y]
                _model(setting).set_params(max_iter=2).fit(X, truth).predict(X)
            wide_truth = [np.arange(900) % 2]
            _model(setting).set_params(max_iter=2).fit(wide, wide_truth).predict(wide)


def run(data: str, setting: str, quick: bool) -> dict | None:
    X, y, test_X, test_y = load(data, quick)
    if setting == "LogisticRegression":
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(max_iter=500)
        with Clock() as clock:
            model.fit(np.concatenate([x[0] for x in X]), np.concatenate(y))
            found = [model.predict(x[0]) for x in test_X]
    else:
        model = _model(setting)
        with Clock() as clock:
            found = model.fit(X, y).predict(test_X)
    right = np.array([np.mean(a == b) for a, b in zip(found, test_y, strict=True)])
    sizes = np.array([len(b) for b in test_y])
    # graphs are independent, their nodes are not
    interval = 196.0 * right.std() / len(right) ** 0.5
    score = 100.0 * float((right * sizes).sum() / sizes.sum())
    return {"score": score, "interval": float(interval), "cpu": clock.cpu}


def _model(setting: str):
    from maxmargin import GraphLabeler

    return {
        "default": lambda: GraphLabeler(),
        "C=1": lambda: GraphLabeler(C=1.0, **MOST),
        "C=0.1": lambda: GraphLabeler(C=0.1, **MOST),
        "C=0.001": lambda: GraphLabeler(C=0.001, **MOST),
        "C=0.001, associative": lambda: GraphLabeler(
            C=0.001, edges="associative", **MOST
        ),
        "inference=expansion": lambda: GraphLabeler(inference="expansion"),
    }[setting]()


def load(data: str, quick: bool):
    import graph_data

    if data == "Snakes":
        most = 30 if quick else None
        parts = [graph_data.load_snakes(part, most) for part in ("train", "test")]
        return [
            some
            for X, y in parts
            for some in (
                [graph_data.snake_graph(picture, "directions") for picture in X],
                [np.ravel(labels) for labels in y],
            )
        ]
    train, test = (8, 12) if quick else (TRAIN, TEST)
    first = 0 if data == "horses" else train + test
    X, y, *_ = graph_data.load_horses(first + train + test, 0)
    X, y = X[first:], y[first:]
    rows = np.concatenate([graph_data.pixel_features(picture) for picture in X[:train]])
    graphs = graph_data.horse_graphs(X, rows.mean(0), rows.std(0), True)
    y = [np.ravel(labels) for labels in y]
    return graphs[:train], y[:train], graphs[train:], y[train:]
