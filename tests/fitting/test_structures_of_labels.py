"""The tests of test_family_structures.py, where rows of w are padded or outputs arrays."""

import numpy as np
import pytest
import structure_cases_classes
import structure_cases_graphs

from maxmargin import StructuralSVM
from maxmargin.core.structure import Structure

CASES = structure_cases_classes.CASES | structure_cases_graphs.CASES
ROUNDED = 1e-12  # of weights that are other numbers times a factor


@pytest.mark.parametrize("name", CASES)
def test_structural_svm_takes_the_structure_of_a_family(name):
    model, data = CASES[name]
    X, y, new = data()
    model.fit(X, y)
    structure = model._structure()
    assert isinstance(structure, Structure)
    plain = StructuralSVM(structure, C=model.C_, tol=model.tol).fit(X, y)
    np.testing.assert_allclose(plain.coef_, model._weights(), rtol=ROUNDED)
    np.testing.assert_equal(list(plain.predict(new)), list(model.predict(new)))
    assert plain.certificate_ == model.certificate_


@pytest.mark.parametrize("name", CASES)
def test_weights_can_be_split_and_joined(name):
    model, data = CASES[name]
    X, y, _ = data()
    model.fit(X, y)
    structure, shown = model.structure_, set(vars(model))
    split = structure.split(np.arange(1.0, 1.0 + len(model._weights())))
    for attribute, value in split.items():
        setattr(model, attribute, value)
    assert set(vars(model)) == shown
    again = structure.split(model._weights())
    for attribute, value in split.items():
        by_name = value if isinstance(value, dict) else {"": value}
        found = again[attribute] if isinstance(value, dict) else {"": again[attribute]}
        for name, table in by_name.items():
            if table is None or table.dtype.kind in "UO":  # no graph; labels
                np.testing.assert_array_equal(found[name], table)
            else:
                np.testing.assert_allclose(found[name], table, rtol=ROUNDED)
