"""Arithmetic on tables and Gram blocks, in place where nobody else holds them.

Tables are numpy arrays, scipy's sparse matrices or torch's tensors; blocks are dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")  # scipy is imported by whoever has one


def toarray(X: Any) -> Any:
    return X.toarray() if is_sparse(X) else X


BLOCK = 2**18  # entries that are worked on at a time, to stay in the cache


def row_blocks(n: int, width: int) -> list[slice]:
    size = max(1, BLOCK // max(1, width))
    return [slice(top, min(n, top + size)) for top in range(0, n, size)]


def product(X: Any, Y: Any) -> Any:
    """X Y' as a new, dense table."""
    if is_sparse(X) and is_sparse(Y):
        return _sparse_product(X, Y)
    if is_sparse(X) and np.count_nonzero(Y) < Y.size / 20:  # landmarks out of the data
        return _sparse_product(X, type(X)(Y))
    if is_sparse(Y):
        return np.ascontiguousarray((Y @ X.T).T)
    return X @ Y.T


def _sparse_product(X: Any, Y: Any) -> np.ndarray:
    """By multiplying what is not zero, or by dense tables of some columns at a time.

    A multiplication costs about 30 times as much between sparse tables.
    """
    (n, d), m = X.shape, Y.shape[0]
    K = np.zeros((n, m), np.result_type(X.dtype, Y.dtype))
    work = np.bincount(X.indices, minlength=d) @ np.bincount(Y.indices, minlength=d)
    if 30 * work < n * m * d:
        columns = Y.T.tocsr()
        for rows in row_blocks(n, m):
            (X[rows] @ columns).toarray(out=K[rows])
        return K
    left = X.tocsc()
    right = left if X is Y else Y.tocsc()
    for part in row_blocks(d, (n + m) // 8):
        A = left[:, part].toarray()
        K += A @ (A if X is Y else right[:, part].toarray()).T
    return K


def weighted_rows(W: Any, X: Any) -> Any:
    """W' X: every row of the result is a combination of rows of X, dense."""
    if is_sparse(X):
        return np.ascontiguousarray((X.T @ W).T)
    return W.T @ X


def squared_norms(X: Any) -> Any:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X) if isinstance(X, np.ndarray) else (X * X).sum(1)


def _ours(K: Any, L: Any = None) -> bool:
    """Whether K can be changed in place: of the right dtype, and not seen by autograd."""
    if getattr(K, "requires_grad", False) or getattr(L, "requires_grad", False):
        return False
    return L is None or np.isscalar(L) or K.dtype == L.dtype


def add(K: Any, L: Any) -> Any:
    if not _ours(K, L):
        return K + L
    K += L
    return K


def multiply(K: Any, L: Any) -> Any:
    if not _ours(K, L):
        return K * L
    K *= L
    return K


def power(K: Any, degree: int) -> Any:
    if degree == 1:
        return K
    if degree == 2:
        return multiply(K, K)
    if not isinstance(K, np.ndarray):
        return K**degree if K.requires_grad else K.pow_(degree)
    if K.ndim == 2 and K.size > BLOCK:  # within the cache
        for rows in row_blocks(*K.shape):
            K[rows] = power(K[rows], degree)
        return K
    # repeated squaring: numpy's power is many times slower
    result = None
    while degree:
        if degree & 1:
            result = K.copy() if result is None else np.multiply(result, K, out=result)
        degree >>= 1
        if degree:
            K *= K
    return result


def exponential(K: Any) -> Any:
    if isinstance(K, np.ndarray):
        return np.exp(K, out=K)
    return K.exp() if K.requires_grad else K.exp_()


def divide_by_outer(K: Any, a: Any, b: Any) -> Any:
    """K_ij / (a_i b_j), and exactly symmetric where K is."""
    if not isinstance(K, np.ndarray):
        return K / (a[:, None] * b[None, :])
    for rows in row_blocks(*K.shape):
        K[rows] /= a[rows, None] * b
    return K


def diagonal_table(values: Any) -> Any:
    """The square table with these values on its diagonal."""
    return np.diag(values) if isinstance(values, np.ndarray) else values.diag()


def full(X: Any, shape: tuple[int, ...], value: float, dtype: type) -> Any:
    """A new table of one value, of the kind of X."""
    if hasattr(X, "new_full"):
        X = X if X.is_floating_point() else X.double()
        return X.new_full(shape, value)
    return np.full(shape, value, dtype)


# distances ------------------------------------------------------------------------------


_FEW = 4  # rows whose distances are computed one by one


def squared_distances(X: Any, Y: Any) -> Any:
    """|x - y|² = |x|² + |y|² - 2 x·y around the mean; by differences where that cancels.

    The product is rounded in proportion to the norms, so it says little of points that are
    near each other for their norms; these few pairs are computed again. None is negative,
    equal rows have distance 0, and the table of X with itself is exactly symmetric.
    """
    same = X is Y
    if not is_sparse(X) and not is_sparse(Y) and len(Y):  # zeros of sparse tables stay
        if len(X) <= _FEW and isinstance(X, np.ndarray):
            return _by_differences(X, Y)
        center = Y.mean(0)
        # else they are near 0
        if (center * center).sum() > 0.25 * squared_norms(Y).mean():
            X = X - center
            Y = X if same else Y - center
    a = squared_norms(X)
    b = a if same else squared_norms(Y)
    D = multiply(product(X, Y), -2)
    eps = float(np.finfo(np.float32 if "float32" in str(D.dtype) else np.float64).eps)
    if not isinstance(D, np.ndarray):
        return _finished_tensor(D, X, Y, a, b, eps**0.5)
    for rows in row_blocks(*D.shape):
        block, norms = D[rows], a[rows, None] + b
        block += norms
        norms *= eps**0.5
        near = block <= norms
        if same:
            at = np.arange(rows.start, rows.stop)
            near[at - rows.start, at] = False
            block[at - rows.start, at] = 0
        if near.any():
            _again(block, near, X[rows], Y)
    return D


def _by_differences(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """One row of distances after the other, for a few rows the quickest way."""
    D = np.empty((len(X), len(Y)), X.dtype)
    for rows in row_blocks(*Y.shape):
        for i, x in enumerate(X):
            D[i, rows] = squared_norms(Y[rows] - x)
    return D


def _again(D: np.ndarray, near: np.ndarray, X: Any, Y: Any) -> None:
    """Compute the marked distances from differences, or in double precision if many."""
    i, j = near.nonzero()
    if len(i) > D.size // 16 and D.dtype == np.float32:
        X, Y = X.astype(np.float64), Y.astype(np.float64)
        exact = product(X, Y)
        exact *= -2
        exact += squared_norms(X)[:, None] + squared_norms(Y)
        D[near] = np.maximum(exact[near], 0)
        return
    sparse = is_sparse(X) and is_sparse(Y)
    size = max(1, BLOCK // max(1, X.shape[1]))
    for top in range(0, len(i), size):
        p, q = i[top : top + size], j[top : top + size]
        if sparse:
            D[p, q] = squared_norms(X[p] - Y[q])
        else:
            D[p, q] = squared_norms(toarray(X[p]) - toarray(Y[q]))


def _finished_tensor(D: Any, X: Any, Y: Any, a: Any, b: Any, share: float) -> Any:
    norms = a[:, None] + b[None, :]
    if D.requires_grad:  # in place nothing: autograd may need it
        return (D + norms).clamp(min=0)
    D += norms
    near = (norms.mul_(share) >= D).nonzero()
    size = max(1, BLOCK // max(1, X.shape[1]))
    for top in range(0, len(near), size):
        p, q = near[top : top + size].T
        D[p, q] = squared_norms(X[p] - Y[q])
    return D


def city_distances(X: Any, Y: Any) -> Any:
    """The sums of absolute differences."""
    if hasattr(X, "new_empty"):
        D = X.new_empty((X.shape[0], Y.shape[0]))
        for rows in row_blocks(X.shape[0], Y.shape[0] * X.shape[1] // 64):
            D[rows] = (X[rows, None, :] - Y[None, :, :]).abs().sum(-1)
        return D
    D = np.empty((X.shape[0], Y.shape[0]), X.dtype)
    if is_sparse(X) or is_sparse(Y):
        from sklearn.metrics.pairwise import manhattan_distances as distances
    else:
        from scipy.spatial.distance import cdist

        def distances(A: Any, B: Any) -> Any:
            return cdist(A, B, "cityblock")

    for rows in row_blocks(*D.shape):
        D[rows] = distances(X[rows], Y)
    return D
