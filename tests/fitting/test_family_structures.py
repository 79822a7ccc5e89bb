"""What a family does, its structure does: StructuralSVM trains and predicts the same."""

import numpy as np
import pytest

from maxmargin import LinkClusterer, StructuralSVM, TopKRanker
from maxmargin.core.structure import Structure
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


@pytest.mark.parametrize("name", CASES)
def test_structural_svm_takes_the_structure_of_a_family(name):
    model, data = CASES[name]
    X, y, new = data()
    model.fit(X, y)
    structure = model._structure()
    assert isinstance(structure, Structure)
    plain = StructuralSVM(structure, C=model.C_, tol=model.tol).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, model._weights())
    np.testing.assert_array_equal(plain.predict(new), model.predict(new))
    assert plain.certificate_ == model.certificate_


@pytest.mark.parametrize("name", CASES)
def test_weights_can_be_split_and_joined(name):
    model, data = CASES[name]
    X, y, _ = data()
    model.fit(X, y)
    w = np.arange(1.0, 1.0 + len(model._weights()))
    for attribute, value in model.structure_.split(w).items():
        setattr(model, attribute, value)
    np.testing.assert_array_equal(model._weights(), w)
