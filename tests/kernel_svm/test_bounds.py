"""The exact dual in blocks is the dense formula; theorem 6.4 holds."""

import numpy as np
import pytest
import theorems
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import sample_cuts

from maxmargin import kernels
from maxmargin.kernel_svm import proofs
from maxmargin.kernel_svm.linear import signed
from maxmargin.kernel_svm.proofs import exact_dual
from maxmargin.kernels.basis import Basis

RBF = kernels.rbf(0.5)
seeds = st.integers(0, 2**32 - 1)


def random_dual(seed, n=30, classes=3):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, classes)) * (rng.random((n, 1)) < 0.7)
    return rng.normal(size=(n, 4)), a, float(rng.normal() * 30)


@given(seeds, st.sampled_from([1, 700, 5000, 1e9]), st.booleans())
def test_exact_dual_is_the_dense_formula(seed, memory, single):
    X, a, linear = random_dual(seed)
    X = X.astype(np.float32 if single else np.float64)
    square = np.einsum("ik,ij,jk->", a, RBF(X.astype(float)), a)
    value, found = exact_dual(RBF, X, a, linear, memory)
    precise = 1e-4 if single else 1e-10
    assert found == pytest.approx(square, rel=precise)
    best = max(t * linear - t * t / 2 * square for t in np.linspace(0, 1, 100_001))
    assert value == pytest.approx(best, rel=precise, abs=1e-6)
    assert value >= max(linear - square / 2, 0) - precise * square


@given(st.integers(1, 10**10), st.integers(1, 1000), st.integers(2, 50))
def test_blocks_fit_into_memory(memory, width, classes):
    b = proofs._block_rows(np.zeros((3, width)), classes, memory)

    def needed(b):
        return 8 * (proofs.TABLES * b * b + (2 * width + classes) * b)

    assert b == 1 or needed(b) <= memory
    assert b == proofs.LARGEST or needed(b + 1) > memory * (1 - 1e-9)


def test_blocks_are_never_larger():
    sizes = []

    class Watched(type(RBF)):
        def _block(self, X, Y):
            block = super()._block(X, Y)
            sizes.append(block.nbytes)
            return block

    X, a, linear = random_dual(0, 200)
    exact_dual(Watched(0.5), X, a, linear, 20_000)
    assert max(sizes) <= 20_000 / proofs.TABLES
    assert len(sizes) > 10


def test_strings_and_zeros():
    X = ["abab", "bbab", "aabb"]
    kernel, a = kernels.spectrum(2), np.array([[1.0, -1.0], [0, 0], [-2, 2]])
    square = np.einsum("ik,ij,jk->", a, kernel(X), a)
    assert exact_dual(kernel, X, a, 9.0, 1)[1] == pytest.approx(square)
    assert exact_dual(kernel, X, 0 * a, 9.0, 1) == (9.0, 0.0)
    assert exact_dual(kernel, X, 0 * a, -9.0, 1) == (0.0, 0.0)
    assert exact_dual(kernel, X, a, -9.0, 1)[0] == 0.0


def cut_of(cost, y, mass, scores):
    """The coefficients (n, classes) of the exact cut at these scores, and its offset."""
    every = np.arange(len(y))
    worst = (cost[y] + scores).argmax(axis=1)
    a = np.zeros((len(y), len(cost)))
    np.add.at(a, (every, y), mass)
    np.add.at(a, (every, worst), -mass)
    return a, float(mass @ cost[y, worst])


def test_theorem_6_4():
    """Within the span of a few points, cuts are those of the machine on coordinates."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    X = rng.normal(size=(50, 2)) + y[:, None]
    cost, C = 1 - np.eye(2), 3.0
    mass = np.full(50, C / 50)
    exact = sample_cuts(RBF, X, y, cost, mass, 50, 1e-5, 0, 3000)
    gram, before = RBF(X), np.inf
    for k in (2, 8, 30):
        Z = Basis(RBF, X[:k]).transform(X)
        within = sample_cuts(kernels.linear(), Z, y, cost, mass, 50, 1e-3, 0, 3000)
        # the residuals of all cuts that were met are below that of all examples together
        rest = np.linalg.eigvalsh(gram - Z @ Z.T)[-1]
        delta = np.sqrt(2 * max(rest, 0) * (mass**2).sum()) / C
        tol = (within.primal - within.dual) / C
        bound = theorems.theorem_6_4(C, delta, tol)
        assert -1e-4 <= within.primal - exact.dual <= bound
        assert bound <= before
        before = bound
    assert bound < 0.5 * C


def test_the_exact_dual_bounds_the_optimum():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 40)
    X = rng.normal(size=(40, 2)) + y[:, None]
    cost, mass = 1 - np.eye(3), np.full(40, 0.1)
    best = sample_cuts(RBF, X, y, cost, mass, 40, 1e-4, 0, 3000)
    a, linear = cut_of(cost, y, mass, rng.normal(size=(40, 3)))
    value, _ = exact_dual(RBF, X, a, linear, 1e6)
    assert 0 < value <= best.primal
    tight = np.zeros((40, 3))
    tight[best.points] = best.coefficients
    linear = best.dual + 0.5 * np.vdot(tight, RBF(X) @ tight)
    assert exact_dual(RBF, X, tight, linear, 1e6)[0] == pytest.approx(
        best.primal, rel=1e-3
    )


def test_coefficients_keep_their_digits_beside_a_large_mass():
    mass, alpha = np.full(2, 1e9), np.zeros((2, 3), np.float32)
    alpha[:, 1:] = [[1.25, 0.5], [1e9, 0.0]]
    alpha[:, 0] = mass - alpha[:, 1:].sum(axis=1)
    a = signed(alpha, np.zeros(2, int), mass)
    np.testing.assert_array_equal(a, [[1.75, -1.25, -0.5], [1e9, -1e9, 0]])


def test_messages():
    X, a, linear = random_dual(0)
    with pytest.raises(ValueError, match="a row for each of the 30 samples"):
        exact_dual(RBF, X, a[1:], linear, 1e6)
    with pytest.raises(ValueError, match="must be finite numbers"):
        exact_dual(RBF, X, np.full_like(a, np.inf), linear, 1e6)
    with pytest.raises(ValueError, match="must be finite numbers"):
        exact_dual(RBF, X, a, float("nan"), 1e6)
    with pytest.raises(ValueError, match="memory must be a positive number of bytes"):
        exact_dual(RBF, X, a, linear, 0)
