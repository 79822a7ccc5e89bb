"""Whatever is made of kernels by the algebra is a kernel, with the gradient it says."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from maxmargin import kernels
from maxmargin.kernels import laplace, linear, normalized, polynomial, rbf


def leaves():
    gamma = st.floats(0.05, 1.0)
    parts = st.sampled_from([slice(0, 2), slice(None, None, 2), [2, 0], 1])
    plain = st.one_of(
        st.just(linear()),
        st.builds(polynomial, st.integers(1, 3), gamma, st.floats(0, 2)),
        st.builds(rbf, gamma),
        st.builds(laplace, gamma),
    )
    return plain | st.builds(lambda k, part: k.of(part), plain, parts)


def grow(inner):
    parts = st.sampled_from([slice(None), [2, 0, 1], [1, 1, 0]])
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda c, a: c * a + c, st.floats(0.1, 3), inner),
        st.builds(lambda a, n: normalized(a + 0.1) ** n, inner, st.integers(1, 3)),
        st.builds(lambda a: kernels.exp(normalized(a)), inner),
        st.builds(lambda a, part: a.of(part) + rbf(0.3), inner, parts),
    )


formulas = st.recursive(leaves(), grow, max_leaves=5)
seeds = st.integers(0, 2**32 - 1)


@given(formulas, seeds)
def test_every_formula_is_a_kernel(k, seed):
    X = np.random.default_rng(seed).normal(size=(12, 3)) / 2
    kernels.check(k, X)
    assert kernels.from_state(k.state()) == k
    K = k(X)
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(k(X, X.copy()), K, rtol=1e-9)
    np.testing.assert_allclose(k.diagonal(X), K.diagonal(), rtol=1e-9)
    single = k(X.astype(np.float32))
    assert single.dtype == k.diagonal(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single, K, rtol=1e-2, atol=1e-4 * np.abs(K).max())


@given(formulas, seeds)
def test_gradients_are_those_of_differences(k, seed):
    rng = np.random.default_rng(seed)
    X, B, C = rng.normal(size=(6, 3)), rng.normal(size=(4, 3)), rng.normal(size=(6, 4))
    X, B = X / 2, B / 2
    before = C.copy()
    assert k.differentiable
    G = k.gradient(X, B, C)
    assert G.shape == B.shape
    assert np.array_equal(C, before)
    h = 1e-6 * np.abs(X[:, None] - B).min()  # no kink of the Laplace kernel in between
    h = max(h, 1e-9)
    for j in range(4):
        for c in range(3):
            up, down = B.copy(), B.copy()
            up[j, c] += h
            down[j, c] -= h
            slope = (((k(X, up) - k(X, down)) * C).sum()) / (up[j, c] - down[j, c])
            scale = np.abs(k(X, B) * C).sum() + np.abs(G).max()
            # differences are rounded like the values they are of
            assert abs(slope - G[j, c]) <= scale * (1e-4 + 2e-15 / h)


@given(formulas, seeds)
def test_sparse_tables_are_as_dense_ones(k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 3)) * (rng.random((7, 3)) < 0.5)
    B = rng.normal(size=(4, 3)) * (rng.random((4, 3)) < 0.5)
    K, C = k(X, B), rng.normal(size=(7, 4))
    for make in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        for left, right in ((make(X), B), (X, make(B)), (make(X), make(B))):
            np.testing.assert_allclose(k(left, right), K, atol=1e-9 * np.abs(K).max())
    np.testing.assert_allclose(k(make(X)), k(X), atol=1e-9 * np.abs(k(X)).max())
    np.testing.assert_allclose(k.diagonal(make(X)), k.diagonal(X), rtol=1e-9)
    G = k.gradient(X, B, C)
    np.testing.assert_allclose(
        k.gradient(make(X), B, C), G, atol=1e-9 * np.abs(G).max()
    )


@pytest.mark.parametrize("d", [1, 5, 40])
def test_scikit_learn_agrees(d):
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(20, d)), rng.normal(size=(9, d))
    for k, K in [
        (linear(), pairwise.linear_kernel(X, Y)),
        (polynomial(3, 0.2, 0.5), pairwise.polynomial_kernel(X, Y, 3, 0.2, 0.5)),
        (polynomial(7, 0.1), pairwise.polynomial_kernel(X, Y, 7, 0.1, 1)),
        (rbf(0.3), pairwise.rbf_kernel(X, Y, 0.3)),
        (laplace(0.3), pairwise.laplacian_kernel(X, Y, 0.3)),
        (normalized(linear()), pairwise.cosine_similarity(X, Y)),
        (kernels.pairwise("cosine"), pairwise.cosine_similarity(X, Y)),
        (
            kernels.pairwise("sigmoid", gamma=0.1, coef0=-1),
            pairwise.sigmoid_kernel(X, Y, 0.1, -1),
        ),
        (kernels.function(pairwise.rbf_kernel), pairwise.rbf_kernel(X, Y)),
    ]:
        np.testing.assert_allclose(k(X, Y), K, rtol=1e-10, atol=1e-13)
    chi2 = kernels.pairwise("chi2", gamma=0.5)
    many = np.abs(rng.normal(size=(100, d)))
    np.testing.assert_allclose(chi2(many), pairwise.chi2_kernel(many, gamma=0.5))
    np.testing.assert_allclose(chi2.diagonal(many), np.ones(100))
    kernels.check(chi2, many)


def test_kernels_without_parameters_can_be_fitted():
    for k in (kernels.pairwise("cosine"), kernels.pairwise("linear") + 1):
        assert k.fitted([[1.0, 2.0]]) == k


def test_formulas():
    shown = {
        rbf(0.5): "exp(-0.5 |x - x'|²)",
        polynomial(): "(1 + x·x')²",
        polynomial(12, 0.5, 0): "(0.5 x·x')¹²",
        polynomial(1): "1 + x·x'",
        2 * rbf() + linear(): "2 exp(-|x - x'|²) + x·x'",
        3 * (linear() + 1): "3 (x·x' + 1)",
        (1 + linear()) * laplace(2): "(1 + x·x') * exp(-2 |x - x'|₁)",
        (2 * linear()) ** 3: "(2 x·x')³",
        (rbf() ** 2) ** 2: "(exp(-|x - x'|²)²)²",
        2 * (3 * linear()): "6 x·x'",
        linear() / 4: "0.25 x·x'",
        rbf().of(slice(0, 3)): "exp(-|x[0:3] - x'[0:3]|²)",
        rbf().of(slice(None, None, 2)): "exp(-|x[::2] - x'[::2]|²)",
        linear().of([0, 2]) * kernels.spectrum(3).of("text"): (
            "x[[0, 2]]·x'[[0, 2]] * spectrum[3](x['text'], x'['text'])"
        ),
        linear().after(np.sqrt, name="phi"): "phi(x)·phi(x')",
        kernels.exp(normalized(linear())): "exp(normalized(x·x'))",
        rbf("scale"): "exp(-scale |x - x'|²)",
        kernels.mismatch(4, 1, "ACGT"): "mismatch[4, 1](x, x')",
        kernels.precomputed(): "K[x, x']",
    }
    for k, text in shown.items():
        assert str(k) == repr(k) == text
    assert len(shown) == 19  # equal formulas are equal, others are not


def test_sums_of_lists_and_numbers_of_numpy():
    assert sum([rbf(), linear()]) == rbf() + linear()
    assert np.float64(2) * rbf() == 2 * rbf()
    assert rbf() + 0 == rbf()
    assert rbf() + linear() + laplace() == rbf() + (linear() + laplace())


def test_kernels_are_values():
    k = (2 * rbf(0.5).of([0, 1]) + 1) ** 2
    assert copy.deepcopy(k) == k == pickle.loads(pickle.dumps(k))
    assert hash(k) == hash((2 * rbf(0.5).of([0, 1]) + 1) ** 2)
    assert k != (2 * rbf(0.5).of([0, 2]) + 1) ** 2
    with pytest.raises(AttributeError):
        k.degree = 3


def test_other_rules_are_feature_maps():
    """f(x) k(x, x') f(x') and x'Ax of the closure rules."""
    rng = np.random.default_rng(0)
    X, Y, L = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    k = linear().after(lambda X: X @ L)
    np.testing.assert_allclose(k(X, Y), X @ (L @ L.T) @ Y.T)
    k = linear().after(lambda X: X[:, :1]) * rbf()
    np.testing.assert_allclose(k(X, Y), X[:, :1] * rbf()(X, Y) * Y[:, 0])
    assert not k.differentiable


def test_parts_of_tuples_dicts_lists_and_tables():
    rng = np.random.default_rng(0)
    numbers, words = rng.normal(size=(4, 3)), ["ab", "abc", "b", "cab"]
    truth = rbf()(numbers) + kernels.spectrum(1)(words)
    k = rbf().of(0) + kernels.spectrum(1).of(1)
    np.testing.assert_allclose(k((numbers, words)), truth)
    samples = list(zip(numbers, words, strict=True))
    np.testing.assert_allclose(k(samples), truth)
    np.testing.assert_allclose(k(samples, (numbers, words)), truth)
    np.testing.assert_allclose(k.diagonal((numbers, words)), truth.diagonal())
    k = rbf().of("n") + kernels.spectrum(1).of("w") + 1
    by_parts = {"n": numbers.astype(np.float32), "w": words}
    np.testing.assert_allclose(k(by_parts), truth + 1, rtol=1e-5)
    np.testing.assert_allclose(
        k([{"n": n, "w": w} for n, w in samples]), truth + 1, rtol=1e-5
    )
    small = rbf().of("n") + 1
    assert small({"n": by_parts["n"]}).dtype == np.float32
    assert kernels.count(by_parts) == kernels.count(samples) == 4
    two = kernels.take(by_parts, [2, 0])
    np.testing.assert_allclose(k(two), truth[np.ix_([2, 0], [2, 0])] + 1, rtol=1e-5)
    kernels.check(k, by_parts)
    np.testing.assert_allclose(rbf().of(1)(numbers), rbf()(numbers[:, [1]]))
    np.testing.assert_allclose(rbf().of(1)(numbers.tolist()), rbf()(numbers[:, [1]]))


def test_functions_of_samples_and_of_batches():
    X, Y = np.random.default_rng(0).normal(size=(2, 3, 3))
    asked = []

    def dot(x, y):
        asked.append(1)
        return x @ y  # also says something of two matrices

    for k in (kernels.function(dot), kernels.function(dot, blocks=False)):
        np.testing.assert_allclose(k(X, Y), X @ Y.T)
        np.testing.assert_allclose(k.diagonal(X), (X * X).sum(1))
        asked.clear()
        np.testing.assert_allclose(k(X), X @ X.T)
        assert len(asked) <= 8  # the half of it, and two trials
    by_table = kernels.function(lambda X, Y: X @ Y.T)
    np.testing.assert_allclose(by_table(X, Y), X @ Y.T)
    np.testing.assert_allclose(by_table.diagonal(X), (X * X).sum(1))
    assert by_table(X.astype(np.float32)).dtype == np.float32
    kernels.check(by_table, X)


def test_precomputed_is_not_changed():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    k = kernels.precomputed()
    np.testing.assert_array_equal((2 * k + 1)(K), 2 * K + 1)
    np.testing.assert_array_equal(k(K), [[2, 1], [1, 2]])
    np.testing.assert_array_equal(k.diagonal(K), [2, 2])
    np.testing.assert_array_equal(k(K[:1], K), [[2, 1]])
    kernels.check(k, np.eye(300))


def test_names():
    X = np.random.default_rng(0).normal(size=(30, 4))
    k = kernels.as_kernel("rbf", X=X)
    assert k.gamma == pytest.approx(1 / (4 * X.var()), rel=1e-12)
    assert kernels.as_kernel("rbf", X=sp.csr_array(X)).gamma == pytest.approx(k.gamma)
    assert kernels.as_kernel("laplacian", gamma="auto", X=X) == laplace(0.25)
    assert kernels.as_kernel("poly", gamma=2, degree=4, coef0=1) == polynomial(4, 2, 1)
    assert kernels.as_kernel("linear", gamma=7) == linear()
    assert kernels.as_kernel(k) is k
    both = rbf("scale").of([0, 1]) + laplace("auto").of([2, 3])
    k = kernels.as_kernel(both, X=X)
    first, second = k.terms
    assert first.kernel.gamma == pytest.approx(1 / (2 * X[:, :2].var()), rel=1e-12)
    assert second == laplace(0.5).of([2, 3])
    assert kernels.as_kernel(lambda x, y: x @ y)(X).shape == (30, 30)
    half = rbf("scale").after(np.tanh)
    gamma = half.fitted(X).kernel.gamma
    assert gamma == pytest.approx(1 / (4 * np.tanh(X).var()), rel=1e-12)


def test_the_import_is_light():
    code = (
        "import sys, maxmargin\n"
        "from maxmargin import kernels\n"
        "assert maxmargin.kernels is kernels\n"
        "assert 'scipy' not in sys.modules\n"
        "k = kernels.rbf() + kernels.linear()\n"
        "assert not {'scipy', 'sklearn', 'numba', 'torch'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
