"""Classes and sets of labels for the tests that structures of families share."""

import numpy as np

from maxmargin import MulticlassSVM, MultilabelSVM, TaxonomySVM

PATHS = np.array(["pet.cat", "pet.dog", "car"])


def rows():
    X = np.random.default_rng(0).normal(size=(40, 4))
    return X, X[:, :3].argmax(axis=1), np.random.default_rng(1).normal(size=(9, 4))


def classes():
    X, y, new = rows()
    return X, np.array(["a", "b", "c"])[y], new


def single():
    X, y, new = classes()
    return X.astype(np.float32), y, new


def unknown():
    X, y, new = classes()
    return X, [None if i % 4 == 0 else label for i, label in enumerate(y.tolist())], new


def paths():
    X, y, new = rows()
    return X, PATHS[y], new


def sets():
    X, _, new = rows()
    return X, [{"abc"[k] for k in np.flatnonzero(x[:3] > 0)} for x in X], new


def nodes():
    X, _, new = rows()
    return X, [{PATHS[k].item() for k in np.flatnonzero(x[:3] > 0)} for x in X], new


def table():
    X, _, new = rows()
    return X, (X[:, :3] > 0).astype(int), new


PLAIN = {"C": 1, "tol": 1e-3}
CASES = {
    "classes": (MulticlassSVM(**PLAIN), classes),
    "classes, one precision": (MulticlassSVM(**PLAIN), single),
    "classes, losses": (
        MulticlassSVM(**PLAIN, loss={"a": 3}, fit_intercept=False),
        classes,
    ),
    "classes, unknown": (MulticlassSVM(**PLAIN), unknown),
    "taxonomy": (TaxonomySVM(**PLAIN), paths),
    "taxonomy, flat": (TaxonomySVM(**PLAIN, mode="flat"), paths),
    "taxonomy, weights": (TaxonomySVM(**PLAIN, node_weights={"pet": 2}), paths),
    "taxonomy, sets": (TaxonomySVM(**PLAIN, multilabel=True), nodes),
    "taxonomy, table": (
        TaxonomySVM(**PLAIN, multilabel=True, fit_intercept=False),
        table,
    ),
    "labels": (MultilabelSVM(**PLAIN), sets),
    "labels, f1": (MultilabelSVM(**PLAIN, loss="f1"), table),
    "labels, ranking": (
        MultilabelSVM(**PLAIN, loss="ranking", fit_intercept=False),
        sets,
    ),
    "labels, tree": (MultilabelSVM(**PLAIN, graph="tree"), sets),
    "labels, pairs": (
        MultilabelSVM(**PLAIN, graph=[("a", "b")], fit_intercept=False),
        sets,
    ),
}
