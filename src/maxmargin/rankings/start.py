"""Where the search for precision at k begins: a classification SVM of documents.

From random lists it mostly ends at w = 0, as the documents that happen to stand in them say
little. Weights that tell relevant documents from others put the right ones first; every
document weighs 1 / documents of its query, so that every query weighs the same (thesis of
Yu, 5.4.3).
"""

from __future__ import annotations

import numpy as np


def classification_weights(X, relevant, first, use=None, C: float = 1.0) -> np.ndarray:
    """Weights of min 1/2 |w|^2 + C sum_q 1/n_q sum_d (1 - y_d (w.x_d + b))_+^2.

    Query i has the rows first[i] .. first[i + 1]; ``use`` says which queries take part.
    """
    from sklearn.svm import LinearSVC

    sizes = np.diff(first)
    use = np.ones(len(sizes), bool) if use is None else use
    weights = np.repeat(use / sizes, sizes)
    taken = weights > 0
    # the primal Newton method: the same answer every time, and it ends
    svm = LinearSVC(C=C, dual=False, tol=1e-4, max_iter=10_000)
    svm.fit(X[taken], np.asarray(relevant)[taken], sample_weight=weights[taken])
    return svm.coef_[0].astype(np.float64)
