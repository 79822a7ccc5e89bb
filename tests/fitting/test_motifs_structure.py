"""The tests of families' structures, over those of motifs."""

import pytest
import test_family_structures as shared
from structure_cases_motifs import CASES


@pytest.mark.parametrize("name", CASES)
def test_as_with_the_structures_of_other_families(name, monkeypatch):
    monkeypatch.setattr(shared, "CASES", CASES)
    shared.test_structural_svm_takes_the_structure_of_a_family(name)
    shared.test_weights_can_be_split_and_joined(name)
