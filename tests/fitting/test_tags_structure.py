"""The tests of ``test_family_structures.py`` for taggers, and a structure of one's own."""

import numpy as np
import pytest
import test_family_structures as families
from structure_cases_tags import CASES, sentences, tagger

from maxmargin import StructuralSVM
from maxmargin.tags.structure import Tags


@pytest.fixture(autouse=True)
def _cases(monkeypatch):
    monkeypatch.setattr(families, "CASES", CASES)


@pytest.mark.parametrize("name", CASES)
def test_structural_svm_takes_the_structure_of_a_tagger(name):
    families.test_structural_svm_takes_the_structure_of_a_family(name)


@pytest.mark.parametrize("name", CASES)
def test_weights_can_be_split_and_joined(name):
    families.test_weights_can_be_split_and_joined(name)


def test_other_questions_to_the_structure():
    X, y, _ = sentences()
    model = tagger(objective="log").fit(X, y)
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
