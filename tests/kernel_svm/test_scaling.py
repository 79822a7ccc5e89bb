"""Columns of any unit, brought to one scale."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import KernelSVM, kernels, load, save


def units(n=80, seed=0):
    """A circle whose second column is in units a million times smaller, far from 0."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, size=(n, 2))
    y = (np.square(Z).sum(axis=1) < 0.6).astype(int)
    return Z * [1.0, 1e6] + [5.0, 3e6], y


WAYS = {
    "standard": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
    "range": lambda X: (X - X.min(axis=0)) / np.ptp(X, axis=0),
}


@pytest.mark.parametrize("scale", WAYS)
@pytest.mark.parametrize("method", ["exact", "subspace-pursuit"])
def test_it_is_the_machine_of_scaled_columns(scale, method):
    X, y = units()
    new = units(40, 1)[0]
    settings = {"method": method, "C": 10.0, "n_components": 20, "random_state": 0}
    ours = KernelSVM(scale=scale, **settings).fit(X, y)
    by_hand = KernelSVM(**settings).fit(WAYS[scale](X), y)
    assert ours.certificate_.primal == pytest.approx(by_hand.certificate_.primal)
    if scale == "standard":
        scaled = (new - X.mean(axis=0)) / X.std(axis=0)
    else:
        scaled = (new - X.min(axis=0)) / np.ptp(X, axis=0)
    np.testing.assert_allclose(
        ours.decision_function(new), by_hand.decision_function(scaled), atol=1e-8
    )
    low, high = X.min(axis=0), X.max(axis=0)  # the basis is in the units of X
    middle = np.median(ours.basis_, axis=0)
    assert (low <= middle).all()
    assert (middle <= high).all()
    unscaled = KernelSVM(**settings).fit(X, y)
    assert ours.score(X, y) > unscaled.score(X, y)


@pytest.mark.parametrize(
    ("scale", "divide"),
    [
        ("standard", lambda X: np.sqrt(np.square(X).mean(axis=0))),
        ("range", lambda X: np.abs(X).max(axis=0)),
    ],
)
def test_sparse_columns_are_divided(scale, divide):
    rng = np.random.default_rng(0)
    dense = (
        rng.normal(size=(60, 5))
        * (rng.uniform(size=(60, 5)) < 0.5)
        * 10.0 ** -np.arange(5)
    )
    dense[:, 2] = 0.0  # nobody fills it
    y = (dense[:, 0] > 0).astype(int)
    ours = KernelSVM(scale=scale).fit(sp.csr_matrix(dense), y)
    width = divide(dense)
    width[2] = 1.0
    np.testing.assert_allclose(ours.scaling_.width, width)
    by_hand = KernelSVM().fit(sp.csr_matrix(dense / width), y)
    wanted = by_hand.decision_function(dense / width)
    np.testing.assert_allclose(
        ours.decision_function(sp.csr_matrix(dense)), wanted, atol=1e-8
    )
    np.testing.assert_allclose(ours.decision_function(dense), wanted, atol=1e-8)


def test_sparse_inputs_of_a_machine_of_dense_ones():
    X, y = units()
    model = KernelSVM(scale="range").fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(sp.csr_matrix(X)), model.decision_function(X)
    )


def test_columns_that_do_not_vary():
    X, y = units()
    X = np.column_stack([X, np.full(len(X), 0.1)])
    for scale in WAYS:
        model = KernelSVM(scale=scale).fit(X, y)
        assert model.scaling_.width[2] == 1.0
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("scale", WAYS)
def test_the_model_file_keeps_it(scale, tmp_path):
    X, y = units()
    model = KernelSVM(scale=scale).fit(X.astype(np.float32), y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.scale == scale
    np.testing.assert_array_equal(again.scaling_.width, model.scaling_.width)
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )


def test_what_cannot_be_scaled():
    X, y = units()
    with pytest.raises(
        ValueError, match=r"scale='up' is not known; choose \"standard\""
    ):
        KernelSVM(scale="up").fit(X, y)
    with pytest.raises(ValueError, match="not possible with a precomputed matrix"):
        KernelSVM(kernel="precomputed", scale="range").fit(X @ X.T, y)
    strings = KernelSVM(kernel=kernels.spectrum(2), scale="range")
    with pytest.raises(ValueError, match="samples that are not rows of numbers"):
        strings.fit(["abab", "baba", "aaaa", "bbbb"], [0, 0, 1, 1])
