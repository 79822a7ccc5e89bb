"""What a family does, its structure does: StructuralSVM trains and predicts the same."""

import numpy as np
import pytest
from structure_cases_trees import CASES

from maxmargin import StructuralSVM
from maxmargin.core.structure import Structure


def trained(model, X, y):
    structure = model._structure()
    assert isinstance(structure, Structure)
    return StructuralSVM(structure, C=model.C_, tol=model.tol).fit(X, y)


@pytest.mark.parametrize("name", CASES)
def test_structural_svm_takes_the_structure_of_a_family(name):
    model, data = CASES[name]
    X, y, new = data()
    plain = trained(model.fit(X, y), X, y)
    np.testing.assert_array_equal(plain.coef_, model._weights())
    assert list(plain.predict(new)) == list(model.predict(new))
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
