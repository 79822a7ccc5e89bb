"""MultilabelSVM as it comes, beside settings by hand and one LinearSVC per label.

The default loss counts labels, so that labels that are right are counted here.
"""

from __future__ import annotations

import numpy as np
from common import Clock
from graph_data import load_sets

METRIC = "labels right"
DATA = {
    "scene": ["scene/scene.npz"],
    "yeast": ["yeast_multilabel/yeast_multilabel.npz"],
}
HAND = {
    "C=0.1": {"C": 0.1},
    "C=10": {"C": 10.0},
    "loss=f1": {"loss": "f1"},
    "graph=tree": {"graph": "tree"},
    "objective=log": {"objective": "log"},
}
SETTINGS = {
    "default": "default",
    **dict.fromkeys(HAND, "hand"),
    "OneVsRest(LinearSVC)": "peer",
}
QUICK = 300


def warm() -> None:
    from maxmargin import MultilabelSVM

    X = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    y = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    for options in HAND.values():
        MultilabelSVM(**options).fit(X, y).predict(X)


def run(data: str, setting: str, quick: bool) -> dict:
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    from maxmargin import MultilabelSVM

    X, y, test_X, test_y = load_sets(data)
    if quick:
        chosen = np.random.default_rng(0).permutation(len(X))[:QUICK]
        X, y = X[chosen], y[chosen]
    peer = setting not in HAND and setting != "default"
    model = (
        OneVsRestClassifier(LinearSVC())
        if peer
        else MultilabelSVM(**HAND.get(setting, {}))
    )
    with Clock() as clock:
        found = np.asarray(model.fit(X, y).predict(test_X))
    each = (found == test_y).mean(axis=1)  # samples are independent, labels are not
    interval = 196.0 * float(np.std(each)) / len(each) ** 0.5
    return {
        "score": 100.0 * float(np.mean(each)),
        "interval": interval,
        "cpu": clock.cpu,
    }
