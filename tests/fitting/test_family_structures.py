"""What a family does, its structure does: StructuralSVM trains and predicts the same."""

import importlib

import numpy as np
import pytest

from maxmargin import SequenceAligner, StructuralSVM
from maxmargin.core.structure import Structure
from maxmargin.tags.structure import Tags

FAMILIES = (*("rankings", "matchings", "motifs", "alignments", "trees", "tags"),)
CASES = {}
for family in FAMILIES:
    CASES |= importlib.import_module(f"structure_cases_{family}").CASES


def trained(model, X, y):
    """The structure of a fitted model, fitted by itself."""
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


def test_predictions_copy_the_structure_where_parameters_changed_alone():
    X, y, new = importlib.import_module("structure_cases_alignments").pairs()
    model = SequenceAligner(C=10).fit(X, y)
    assert model._fitted() is model.structure_
    before = model.predict(new), model.predict_marginals(new, sharpness=2.0)
    assert model.structure_.normalize  # which marginals of this objective leave out
    assert model.predict(new) == before[0]
    model.set_params(scope="local")
    assert model._fitted().scope == "local"
    assert model.structure_.scope == "global"
    model.set_params(scope="some")
    with pytest.raises(ValueError, match="scope='some'"):
        model.predict(new)


def test_with_a_prior_w_has_differences_and_coef_has_scores():
    X, y, new = importlib.import_module("structure_cases_alignments").pairs()
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


def test_other_questions_to_the_structure():
    cases = importlib.import_module("structure_cases_tags")
    X, y, _ = cases.sentences()
    model = cases.tagger(objective="log").fit(X, y)
    plain = StructuralSVM(Tags(), C=1, tol=1e-3, objective="log").fit(X, y)
    assert plain.predict_k_best(X, 3) == model.predict_k_best(X, 3)
    for a, b in zip(
        plain.predict_marginals(X), model.predict_marginals(X), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-6)
    gaps = [[None, *row[1:]] for row in y]
    found = plain.structure_.complete(X, plain.coef_, gaps)
    assert found == model.complete(X, gaps)
    assert Tags().prepare(X, y, model._training(None)).C == 1
    assert StructuralSVM(Tags(), C=None).fit(X, y).C_ == 0.1
