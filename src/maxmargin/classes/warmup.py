"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

from __future__ import annotations


def classify():
    from maxmargin import MulticlassSVM

    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0]]
    return MulticlassSVM().fit(X, [0, 1, 0, 1]), X


def taxonomy():
    from maxmargin import TaxonomySVM

    X = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.1], [1.0, 1.0, 0.2]]
    return TaxonomySVM().fit(X, ["pet.cat", "pet.dog", "car", "pet.cat"]), X
