"""KernelSVM as it comes, beside hand-made settings and scikit-learn's SVC."""

from __future__ import annotations

import numpy as np
from common import need_data
from scipy.sparse import csr_matrix

from default_rows import classified

METRIC = "accuracy"
DATA = {
    "digits": [],
    "spambase": ["spambase/spambase.npz"],
    "covertype, 4,000 rows": ["covertype/covertype_15120.npz"],
    "a9a, 20,000 rows": ["a9a/a9a.train.svm.gz", "a9a/a9a.test.svm.gz"],
}
SETTINGS = {
    "default": "default",
    "method=exact": "hand",
    "subspace-pursuit, 200": "hand",
    "C=10": "hand",
    "SVC": "peer",
}
ROWS = 4000  # of covertype
LARGE = 20_000  # of a9a: as many as method="auto" trains exactly
QUICK = 600  # training samples


def warm() -> None:
    from maxmargin import KernelSVM

    rng, y = np.random.default_rng(0), np.arange(60) % 3
    tables = [rng.normal(size=(60, width)) for width in (3, 64)]  # few columns, or many
    for X in [*tables, csr_matrix(tables[0])]:
        for options in ({}, {"method": "subspace-pursuit", "n_components": 5}):
            KernelSVM(**options).fit(X, y)
            KernelSVM(**options).fit(X, y % 2)


def run(data: str, setting: str, quick: bool) -> dict:
    X, y, test_X, test_y = load(data)
    if quick:
        X, y = X[:QUICK], y[:QUICK]
    return classified(_model(setting), X, y, test_X, test_y)


def _model(setting: str):
    from sklearn.svm import SVC

    from maxmargin import KernelSVM

    pursuit = {"method": "subspace-pursuit", "n_components": 200, "random_state": 0}
    return {
        "default": lambda: KernelSVM(),
        "method=exact": lambda: KernelSVM(method="exact"),
        "subspace-pursuit, 200": lambda: KernelSVM(**pursuit),
        "C=10": lambda: KernelSVM(C=10.0),
        "SVC": lambda: SVC(),
    }[setting]()


def load(data: str):
    """Half to train, half to test; but for digits, standardised by the first half.

    a9a has a test part of its own, and is sparse.
    """
    from sklearn.datasets import load_digits, load_svmlight_files
    from sklearn.model_selection import train_test_split

    if data.startswith("a9a"):
        X, y, test_X, test_y = load_svmlight_files(need_data(*DATA[data]))
        for part in (X, test_X):  # SVC takes 32-bit numbers only
            part.indices, part.indptr = (
                part.indices.astype("i4"),
                part.indptr.astype("i4"),
            )
        rows = np.random.default_rng(0).permutation(len(y))[:LARGE]
        return X[rows], y[rows], test_X, test_y
    if data == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        (path,) = need_data(*DATA[data])
        with np.load(path, allow_pickle=False) as file:
            if data == "spambase":
                X, y = file["X"].astype(float), file["y"]
            else:
                marks = [np.eye(4)[file["wilderness"]], np.eye(40)[file["soil"]]]
                X, y = np.hstack([file["X_num"].astype(float), *marks]), file["y"]
    if len(X) > 2 * ROWS:
        chosen = np.random.default_rng(0).permutation(len(X))[: 2 * ROWS]
        X, y = X[chosen], y[chosen]
    X, test_X, y, test_y = train_test_split(X, y, test_size=0.5, random_state=0)
    if data == "digits":
        return X, y, test_X, test_y
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    return (X - mean) / scale, y, (test_X - mean) / scale, test_y
