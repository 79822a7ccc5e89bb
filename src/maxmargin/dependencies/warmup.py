"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin


def depend():
    X = [
        [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")],
        [("cats", "NNS"), ("see", "VBP"), ("a", "DT"), ("dog", "NN")],
    ]
    y = [
        [(2, "det"), (3, "subj"), (0, "root")],
        [(2, "subj"), (0, "root"), (4, "det"), (2, "obj")],
    ]
    maxmargin.DependencyParser(projective=False).fit(X, y).predict(X)
    maxmargin.DependencyParser(order=2).fit(X, y).predict(X)
    return maxmargin.DependencyParser().fit(X, y), X
