"""Cases of ``test_family_structures.py``: taggers."""

import numpy as np

from maxmargin import SequenceTagger

WORDS = ["the", "dog", "barks", "loud", "cat", "sees", "old", "new"]


def sentences(n: int = 15, words=WORDS):
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, len(words), rng.integers(1, 7)).tolist() for _ in range(n)]
    X = [[[words[k], words[k][:1]] for k in row] for row in drawn]
    return X, [["BIO"[(k + k // 3) % 3] for k in row] for row in drawn], X


def dense():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(n, 3)) for n in rng.integers(0, 6, 15)]
    y = [np.where(x[:, 0] > 0, "a", "b").tolist() for x in X]
    return X, y, X


def many_features():
    """So many that they are renumbered, from frequent to rare."""
    return sentences(4000, [f"w{k}" for k in range(20_000)])


def alternating():
    X, y, _ = sentences()
    return X, [["BO"[t % 2] for t in range(len(row))] for row in y], X


def unknown():
    X, y, _ = sentences()
    y[3] = None
    y[4][0] = None
    return X, y, X


def tagger(**options):
    return SequenceTagger(**{"C": 1, "tol": 1e-3} | options)


CASES = {
    "tags": (tagger(), sentences),
    "tags, order=0": (tagger(order=0), sentences),
    "tags, order=2": (tagger(order=2), sentences),
    "tags, float64": (tagger(tol=1e-5), sentences),
    "tags, spans": (tagger(loss="spans"), sentences),
    "tags, forbidden": (tagger(forbidden=[("B", "B"), (None, "O")]), alternating),
    "tags, templates": (tagger(features="U:%x[0,0]/%x[-1,0]"), sentences),
    "tags, kernel": (tagger(kernel="rbf"), dense),
    "tags, renumbered": (tagger(tol=0.1), many_features),
    "tags, partly known": (tagger(), unknown),
}
