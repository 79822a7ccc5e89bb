"""What users of sklearn-crfsuite are used to."""

import numpy as np
import pytest

from maxmargin import SequenceTagger

X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]]
Y = [["D", "N", "V"], ["N", "V"]]


@pytest.fixture(scope="module")
def tagger():
    return SequenceTagger(C=10).fit(X, Y)


def test_one_sequence(tagger):
    assert tagger.predict_single(X[0]) == Y[0]
    rows = tagger.predict_marginals_single(X[0])
    assert [max(row, key=row.get) for row in rows] == Y[0]
    np.testing.assert_allclose(
        [[row[label] for label in tagger.classes_] for row in rows],
        tagger.predict_marginals(X[:1])[0],
    )


def test_weights_by_name(tagger):
    states, transitions = tagger.state_features_, tagger.transition_features_
    names, labels = tagger.feature_names_, tagger.classes_.tolist()
    table = np.zeros(tagger.coef_.shape)
    for (name, label), weight in states.items():
        table[labels.index(label), names.index(name)] = weight
    np.testing.assert_array_equal(table, tagger.coef_)
    assert 0.0 not in states.values()
    table = np.zeros((3, 3))
    for (a, b), weight in transitions.items():
        table[labels.index(a), labels.index(b)] = weight
    np.testing.assert_array_equal(table, tagger.transitions_)
    assert states["the", "D"] > 0
    assert transitions["D", "N"] > 0


def test_columns_are_features_by_number():
    tables = [np.eye(3)[[0, 1, 2]], np.eye(3)[[1, 2]]]
    tagger = SequenceTagger(C=10).fit(tables, Y)
    assert tagger.state_features_[0, "D"] > 0
