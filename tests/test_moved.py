"""Modules keep their old names, for imports and for pickles."""

import importlib
import pickle

import numpy as np
import pytest

from maxmargin import MulticlassSVM
from maxmargin.moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_is_the_same_module(old):
    new = importlib.import_module(f"maxmargin.{MOVED[old]}")
    assert importlib.import_module(f"maxmargin.{old}") is new
    assert new.__spec__.name == new.__name__ == f"maxmargin.{MOVED[old]}"


def test_pickles_of_old_models_load():
    model = MulticlassSVM().fit(np.eye(2), ["a", "b"])
    data = pickle.dumps(model, protocol=0)
    old = data.replace(
        b"maxmargin.classes.multiclass", b"maxmargin.estimators.multiclass"
    )
    assert old != data
    assert pickle.loads(old).predict(np.eye(2)).tolist() == ["a", "b"]
