"""Predictions are lists that scikit-learn can join, whatever they hold."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict

from maxmargin import Problem, SequenceTagger, StructuralSVM
from maxmargin.core.structure import Outputs, check_k


class Signs(Problem):
    """x is a list of numbers, y their signs."""

    def joint_feature(self, x, y):
        return np.array([float(np.dot(x, y))])

    def loss(self, y, y_hat):
        return float(sum(a != b for a, b in zip(y, y_hat, strict=True)))

    def argmax(self, x, w):
        return [1 if w[0] * value >= 0 else -1 for value in x]

    def loss_augmented_argmax(self, x, y, w):
        return [1 if w[0] * v - a / 2 >= 0 else -1 for v, a in zip(x, y, strict=True)]


RAGGED = [[1.0, -2.0], [3.0], [-1.0, 1.0, 2.0], [], [2.0, 2.0], [-3.0]]
TRUTH = [[1 if value > 0 else -1 for value in x] for x in RAGGED]


def test_cross_validation_of_ragged_outputs():
    found = cross_val_predict(StructuralSVM(Signs()), RAGGED, TRUTH, cv=3)
    assert found.tolist() == TRUTH


def test_cross_validation_of_taggers():
    X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]] * 2
    y = [["D", "N", "V"], ["N", "V"]] * 2
    found = cross_val_predict(SequenceTagger(C=10), X, y, cv=2)
    assert found.tolist() == y


@pytest.mark.parametrize(
    "values", [[], [[1]], [[1], [2]], [[1], [2, 3]], [None, {}], [np.ones(2)] * 2]
)
def test_outputs_are_lists_and_columns_of_objects(values):
    outputs = Outputs(values)
    assert outputs == values
    assert repr(outputs) == repr(values)
    array = np.asarray(outputs)
    assert array.dtype == object
    assert array.shape == (len(values),)
    assert all(a is b for a, b in zip(array, values, strict=True))
    joined = np.concatenate([outputs, outputs])
    assert joined.shape == (2 * len(values),)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "2", None])
def test_numbers_of_outputs(k):
    with pytest.raises(ValueError, match=r"k=.* whole number >= 1"):
        check_k(k)
