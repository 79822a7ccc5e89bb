"""Rankings and clusterings as the tests of families' structures want them."""

import numpy as np

from maxmargin import LinkClusterer, TopKRanker
from maxmargin.rankings.queries import Documents


def clusters():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, 12)
    X = [rng.normal(size=(n * (n - 1) // 2, 3)).tolist() for n in sizes]
    return X, [rng.integers(0, 2, n).tolist() for n in sizes], X


def documents():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    X = Documents(X + 0.5 * y[:, None], np.repeat(np.arange(6), 10))
    return X, y, X


CASES = {
    "forests": (LinkClusterer(C=1, tol=1e-3), clusters),
    "correlation": (LinkClusterer(C=1, tol=1e-3, method="correlation"), clusters),
    "rankings": (TopKRanker(C=1, tol=1e-3), documents),
    "precision": (TopKRanker(3, C=1, tol=1e-3, loss="precision"), documents),
}
