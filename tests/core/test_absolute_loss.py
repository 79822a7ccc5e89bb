"""The distance between labels that are numbers, as a loss."""

import itertools

import numpy as np
import pytest

from maxmargin import MulticlassSVM, SequenceTagger
from maxmargin.core.tables.label_costs import cost_table


def test_it_is_the_distance_of_what_labels_stand_for():
    expected = [[0, 1, 9], [1, 0, 8], [9, 8, 0]]
    for labels in ([1, 2, 10], [1.0, 2.0, 10.0], ["1", "2", "10"], ["1.0", "2", "1e1"]):
        np.testing.assert_array_equal(cost_table("absolute", labels), expected)
    shuffled = cost_table("absolute", ["10", "1", "2"])
    np.testing.assert_array_equal(shuffled, [[0, 9, 8], [9, 0, 1], [8, 1, 0]])


@pytest.mark.parametrize("label", ["NN", "", "nan", "inf", None, float("nan")])
def test_labels_that_are_no_numbers_are_refused(label):
    with pytest.raises(ValueError, match=r"loss='absolute'.*is none"):
        cost_table("absolute", ["1", label])


def test_the_primal_of_a_tagger_is_that_of_all_paths():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 2)) for _ in range(4)]
    y = [["1", "3", "3"], ["2", "2", "1"], ["3", "1", "2"], ["1", "1", "3"]]
    model = SequenceTagger(C=1.0, loss="absolute", tol=1e-6).fit(X, y)
    labels = model.classes_.tolist()
    numbers = np.array(labels, float)
    weights = model.coef_, model.transitions_, model.first_, model.last_

    def score(x, path):
        tokens = (x @ model.coef_.T)[np.arange(len(path)), path].sum()
        steps = model.transitions_[path[:-1], path[1:]].sum()
        return tokens + steps + model.first_[path[0]] + model.last_[path[-1]]

    primal = 0.5 * sum((w**2).sum() for w in weights)
    for x, truth in zip(X, y, strict=True):
        right = np.array([labels.index(z) for z in truth])
        paths = map(np.array, itertools.product(range(len(labels)), repeat=len(x)))
        primal += max(
            np.abs(numbers[path] - numbers[right]).sum() + score(x, path)
            for path in paths
        ) - score(x, right)
    assert primal == pytest.approx(model.certificate_.primal, rel=1e-6)


def test_classifiers_take_it_too():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 3 * 2
    table = np.abs(np.subtract.outer([0, 2, 4], [0, 2, 4]))
    named, given = (
        MulticlassSVM(C=1, loss=loss).fit(X, y).coef_ for loss in ("absolute", table)
    )
    np.testing.assert_array_equal(named, given)
