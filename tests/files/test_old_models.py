"""Models that were saved before the format knew sparse arrays load and predict the same.

``models/`` was written by the code of that time: a model of every class, and what it
predicted.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from maxmargin import load
from maxmargin.families import model_classes
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


@pytest.mark.parametrize("name", EXPECTED)
def test_predictions_are_those_of_then(name):
    model = load(FOLDER / f"{name}.safetensors")
    assert shown(model.predict(EXPECTED[name]["X"])) == EXPECTED[name]["predict"]


YOUNGER = (
    "MultilabelSVM",
    "LinkClusterer",
    "TopKRanker",
    "MotifFinder",
    "KernelSVM",
    "GraphLabeler",
)


def test_every_class_is_there():
    found = {
        type(load(FOLDER / f"{name}.safetensors"))._model_name for name in EXPECTED
    }
    younger = {f"{name}.v1" for name in YOUNGER}
    assert found == set(model_classes()) - younger
