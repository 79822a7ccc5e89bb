"""Single precision, points that are near each other, and blocks of memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import kernels
from maxmargin.kernels.inputs import pair
from maxmargin.kernels.tables import squared_distances


def exact(X, Y):
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    return ((X[:, None] - Y) ** 2).sum(-1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_near_points(dtype, offset, make):
    """Equal rows have distance zero, near ones a good one, and no distance is negative."""
    rng = np.random.default_rng(0)
    X = (offset + rng.normal(size=(60, 20))).astype(dtype)
    Y = X[::-1].copy()
    Y[:20] += rng.normal(size=(20, 20)).astype(dtype) * dtype(1e-3)
    D = squared_distances(*pair(make(X), make(Y)))
    assert D.dtype == dtype
    assert D.min() >= 0
    assert D[0, -1] == 0
    assert (D[np.arange(40), np.arange(59, 19, -1)] == 0).all()
    truth = exact(X, Y)
    np.testing.assert_allclose(D, truth, rtol=2e-2 if dtype == np.float32 else 1e-6)
    k = kernels.rbf(10.0)
    np.testing.assert_allclose(k(make(X)).diagonal(), 1, atol=1e-6)
    np.testing.assert_allclose(k(make(X), make(X.copy())).diagonal(), 1, atol=1e-6)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 6])
def test_few_rows(n):
    X, Y = np.random.default_rng(n).normal(size=(2, 40, 3)) + 1
    X = X[:n]
    np.testing.assert_allclose(squared_distances(X, Y), exact(X, Y), rtol=1e-10)
    np.testing.assert_allclose(squared_distances(Y, X), exact(Y, X), rtol=1e-10)
    np.testing.assert_allclose(squared_distances(X, X), exact(X, X), atol=1e-12)


def test_many_near_points():
    """Tight clusters, where differences of all pairs would be dear."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(2, 30)) * 100
    X = (centers[rng.integers(2, size=300)] + rng.normal(size=(300, 30))).astype("f4")
    D = squared_distances(X, X.copy())
    np.testing.assert_allclose(D, exact(X, X), rtol=1e-2, atol=1e-6)
    assert D.diagonal().max() <= 1e-6


@pytest.mark.parametrize(
    "k",
    [
        kernels.rbf(),
        kernels.linear(),
        kernels.polynomial(3),
        kernels.laplace(),
        kernels.rbf() + kernels.linear(),
        kernels.rbf() * kernels.polynomial(),
        kernels.exp(kernels.normalized(kernels.linear())),
        kernels.rbf() ** 4,
    ],
    ids=str,
)
def test_one_temporary_block_at_most(k):
    X = np.random.default_rng(0).normal(size=(1500, 3))
    k(X[:5])  # imports
    tracemalloc.start()
    K = k(X, X[:1400].copy())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2.6 * K.nbytes


def test_empty_batches():
    X = np.zeros((3, 2))
    for k in (kernels.rbf(), kernels.exp(kernels.linear()), kernels.laplace() + 1):
        assert k(X[:0], X).shape == (0, 3)
        assert k(X, X[:0]).shape == (3, 0)
        assert k.diagonal(X[:0]).shape == (0,)
    assert kernels.spectrum(2)([], ["ab"]).shape == (0, 1)
    assert kernels.spectrum(2)(["", "a"]).tolist() == [[0, 0], [0, 0]]
