"""Where the search for precision at k begins: a classification SVM of documents.

From random lists it mostly ends at w = 0, as the documents that happen to stand in them say
little. Weights that tell relevant documents from others put the right ones first; every
document weighs 1 / documents of its query, so that every query weighs the same (thesis of
Yu, 5.4.3).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def classification_weights(X, relevant, first, use=None, C: float = 1.0) -> np.ndarray:
    """Weights of min 1/2 |w|^2 + C sum_q 1/n_q sum_d (1 - y_d (w.x_d + b))_+^2.

    Query i has the rows first[i] .. first[i + 1]; ``use`` says which queries take part.
    liblinear sees the columns that hold a value only: it allocates all others too, with
    sizes that overflow, and ends the process if it fails.
    """
    from sklearn.svm import LinearSVC

    sizes = np.diff(first)
    use = np.ones(len(sizes), bool) if use is None else use
    weights = np.repeat(use / sizes, sizes)
    taken = weights > 0
    X = sp.csr_matrix(X)[taken]
    columns, numbers = np.unique(X.indices, return_inverse=True)
    w = np.zeros(X.shape[1])
    if len(columns):
        X = sp.csr_matrix((X.data, numbers, X.indptr), (X.shape[0], len(columns)))
        # the primal Newton method: the same answer every time, and it ends
        svm = LinearSVC(C=C, dual=False, tol=1e-4, max_iter=10_000)
        svm.fit(X, np.asarray(relevant)[taken], sample_weight=weights[taken])
        w[columns] = svm.coef_[0]
    return w
