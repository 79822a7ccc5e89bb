"""A small batch of every class of batches, and its number of weights."""

import importlib
import itertools
import pkgutil

import numpy as np
from conftest import random_chain, random_multiclass

import maxmargin
from maxmargin.core import contract
from maxmargin.core.partial import partly_known

WORDS = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
LINKS = ["0-0 1-1 2-2", "0-0 1-1"]


def batch_classes() -> set[type]:
    """All classes of batches that the library has, partial twins too."""
    for module in pkgutil.walk_packages(maxmargin.__path__, "maxmargin."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {
        cls
        for cls in contract.score.bodies
        if cls.__module__.startswith("maxmargin.") and hasattr(cls, "_fields")
    }


def some_weights(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def partial(made, seed=0):
    """The same batch with some labels that are not known."""
    batch, n = made
    return partly_known(
        batch, np.random.default_rng(seed).random(len(batch.y)) < 0.5
    ), n


def encoded(model, X, y):
    """What a fit would train on."""
    found = model._encode(X, y, None)
    return found.batch, found.n_weights


# makers --------------------------------------------------------------------------------


def chain(**options):
    return random_chain(1, (3, 0, 1, 4, 2), **options)


def spans():
    from maxmargin.tags.chain_spans import span_tables

    batch, n = chain()
    return batch._replace(tables=span_tables(["O", "B-X", "I-X"])), n


def second_order():
    from maxmargin.tags.second_order import second_order

    batch, n = chain()
    return second_order(batch), n + batch.n_labels**2 * batch.width


def dense_classes():
    from maxmargin.classes.dense import make_batch

    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6, 4)), rng.integers(3, size=6)
    return make_batch(X, y, 1.0 - np.eye(3)), 12


def taxonomy(y):
    X = np.random.default_rng(3).normal(size=(len(y), 3))
    return encoded(maxmargin.TaxonomySVM(), X, y)


PATHS = ["pet.cat", "pet.dog", "car", "pet.cat", "car"]
SETS = [{"pet.cat", "car"}, {"pet.dog"}, set(), {"car"}]


def labels(**options):
    X = np.random.default_rng(4).normal(size=(5, 3))
    y = [{"a"}, {"a", "b"}, set(), {"c"}, {"a", "b", "c"}]
    return encoded(maxmargin.MultilabelSVM(**options), X, y)


def documents(**options):
    rng = np.random.default_rng(5)
    y, qid = rng.integers(0, 2, size=14), np.repeat([0, 1, 2, 3], [4, 2, 5, 3])
    y[[0, 4, 6, 11]], y[[1, 5, 7, 12]] = 0, 1
    model = maxmargin.TopKRanker(k=2, **options)
    model._qid = qid
    return model, rng.normal(size=(14, 3)), y, qid


def grid(method, states=3, edges="directed", objective="hinge", hidden=False):
    rng = np.random.default_rng(6)
    X, y = [], []
    for n in (4, 1, 5, 2):
        pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < 0.8]
        X.append((rng.normal(size=(n, 2)), pairs, rng.integers(0, 2, (len(pairs), 2))))
        y.append(rng.integers(states, size=n).tolist())
    y[2][:3] = range(states) if states == 3 else [0, 1, 0]
    if hidden:
        y[0][1] = y[2][4] = None
    model = maxmargin.GraphLabeler(
        inference=method, edges=edges, objective=objective, edge_features=None
    )
    return encoded(model, X, y)


CASES = {
    "chain": chain,
    "chain zero-one": lambda: chain(zero_one=True),
    "chain spans": spans,
    "chain partial": lambda: partial(chain()),
    "second order": second_order,
    "second order partial": lambda: partial(second_order()),
    "classes": lambda: random_multiclass(1, n=7),
    "classes partial": lambda: partial(random_multiclass(1, n=7)),
    "classes dense": dense_classes,
}
