"""Models that earlier code saved load and predict the same.

``models/`` was written by that code: a model of every class, and what it predicted. Those
of the first families are from before the format knew sparse arrays.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import saved_structures

from maxmargin import load, save
from maxmargin.files.model_file import _CLASSES
from maxmargin.files.model_format import read
from maxmargin.trees import Tree

FOLDER = Path(__file__).parent / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def shown(value):
    """An output as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, Tree):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return value


def loaded(name):
    structure = EXPECTED[name].get("structure")
    if structure is not None:
        structure = getattr(saved_structures, structure)
    return load(FOLDER / f"{name}.safetensors", structure=structure)


@pytest.mark.parametrize("name", EXPECTED)
def test_predictions_are_those_of_then(name):
    model = loaded(name)
    assert shown(model.predict(EXPECTED[name]["X"])) == EXPECTED[name]["predict"]


# of models whose input is a table, or tables
FEATURES = {
    "multiclass": 3,
    "taxonomy": 3,
    "taxonomy-sets": 3,
    "multilabel": 2,
    "kernel": 2,
}
FEATURES |= {
    "ranker": 2,
    "clusterer": 1,
    "multilabel-graph": 2,
    "kernel-precomputed": 6,
}


@pytest.mark.parametrize("name", FEATURES)
def test_the_number_of_features_comes_back(name):
    assert loaded(name).n_features_in_ == FEATURES[name]


def test_every_class_is_there():
    networks = {"NeuralTagger.v1"}  # tests/torch_layers
    found = {type(loaded(name))._model_name for name in EXPECTED}
    assert found == set(_CLASSES) - networks


def same(now, then) -> bool:
    """Equal values of equal types; what files of then did not have may be there."""
    if isinstance(then, dict):
        return type(now) is dict and all(
            k in now and same(now[k], then[k]) for k in then
        )
    if isinstance(then, (list, tuple)):
        alike = type(now) is type(then) and len(now) == len(then)
        return alike and all(map(same, now, then))
    if isinstance(then, np.ndarray):
        return now.dtype == then.dtype and np.array_equal(now, then)
    return type(now) is type(then) and (now == then or now != now)


SPENT = ("n_jobs", "verbose", "max_time", "warm_start")  # not the file's to say


@pytest.mark.parametrize("name", EXPECTED)
def test_they_are_written_as_they_were(name, tmp_path):
    model = loaded(name)
    save(model, tmp_path / "again.safetensors")
    now = read(str(tmp_path / "again.safetensors"))
    then = read(str(FOLDER / f"{name}.safetensors"))
    for part, (new, old) in enumerate(zip(now, then, strict=True)):
        if part == 1:  # parameters
            old = {key: value for key, value in old.items() if key not in SPENT}
        assert same(new, old), (part, new, old)
