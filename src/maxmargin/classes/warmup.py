"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def classify():
    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0]]
    return maxmargin.MulticlassSVM().fit(X, [0, 1, 0, 1]), X


def taxonomy():
    X = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.1], [1.0, 1.0, 0.2]]
    return maxmargin.TaxonomySVM().fit(X, ["pet.cat", "pet.dog", "car", "pet.cat"]), X
