"""Arithmetic on tables and Gram blocks, in place where nobody else holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.kernels.inputs import is_sparse, is_tensor

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
    return (X * X).sum(1) if is_tensor(X) else np.einsum("ij,ij->i", X, X)


def _ours(K: Any, L: Any = None) -> bool:
    """Whether K can be changed in place: of the right dtype, and not seen by autograd."""
    if is_tensor(K) and (K.requires_grad or getattr(L, "requires_grad", False)):
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
    if is_tensor(K):
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
    if is_tensor(K):
        return K.exp() if K.requires_grad else K.exp_()
    return np.exp(K, out=K)


def divide_by_outer(K: Any, a: Any, b: Any) -> Any:
    """K_ij / (a_i b_j), and exactly symmetric where K is."""
    if is_tensor(K):
        return K / (a[:, None] * b[None, :])
    for rows in row_blocks(*K.shape):
        K[rows] /= a[rows, None] * b
    return K


def diagonal_table(values: Any) -> Any:
    """The square table with these values on its diagonal."""
    return values.diag() if is_tensor(values) else np.diag(values)


def full(X: Any, shape: tuple[int, ...], value: float, dtype: type) -> Any:
    """A new table of one value, of the kind of X."""
    if is_tensor(X):
        X = X if X.is_floating_point() else X.double()
        return X.new_full(shape, value)
    return np.full(shape, value, dtype)
