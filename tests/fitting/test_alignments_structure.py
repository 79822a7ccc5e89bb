"""What a family does, its structure does: StructuralSVM trains and predicts the same."""

import numpy as np
import pytest
from structure_cases_alignments import CASES, pairs

from maxmargin import SequenceAligner, StructuralSVM
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


def test_with_a_prior_w_has_differences_and_coef_has_scores():
    X, y, new = pairs()
    model = SequenceAligner(C=10, tol=1e-3).fit(X, y)
    plain = trained(model, X, y)
    assert len(plain.coef_) == len(model.coef_) + 1
    structure = plain.structure_
    fitted = structure.split(plain.coef_)
    np.testing.assert_array_equal(fitted["coef_"], model.coef_)
    assert fitted["prior_factor_"] == model.prior_factor_ == plain.coef_[-1]
    assert (
        plain.predict(new) == structure.predict(new, model.coef_) == model.predict(new)
    )
    assert plain.predict_k_best(new, 3) == model.predict_k_best(new, 3)
    assert plain.certificate_ == model.certificate_
    inverse = structure.usual.unfolded(model.coef_, model.prior_factor_)
    np.testing.assert_allclose(inverse, plain.coef_, atol=1e-12)
