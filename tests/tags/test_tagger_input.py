"""SequenceTagger: kinds of input that mean the same, labels as they were."""

import numpy as np
import pytest
import scipy.sparse as sp
from tagger_cases import (
    VOCABULARY,
    model,  # noqa: F401
    primal,
    sequences,
    table,
    tight,
)

from maxmargin import SequenceTagger

# ruff: noqa: F811  (what is imported so is a fixture)

WORDS = [
    [["the", "short"], ["dog", "the"], ["barks", "verb", "short"]],
    [["dogs"], ["bark", "verb"]],
    [],
    [["bark", "noun"], ["falls", "verb", "short"]],
]
TAGS = [["D", "N", "V"], ["N", "V"], [], ["N", "V"]]
FORMATS = {
    "tuples": [tuple(map(tuple, tokens)) for tokens in WORDS],
    "sets": [list(map(set, tokens)) for tokens in WORDS],
    "dicts of bools": [[dict.fromkeys(t, True) for t in tokens] for tokens in WORDS],
    "dicts of numbers": [[dict.fromkeys(t, 1.0) for t in tokens] for tokens in WORDS],
    "tables": [table(x).reshape(-1, len(VOCABULARY)) for x in WORDS],
    "single precision": [
        table(x).reshape(-1, len(VOCABULARY)).astype(np.float32) for x in WORDS
    ],
    "nested lists": [table(x).tolist() for x in WORDS],
    "sparse": [sp.csr_array(table(x).reshape(-1, len(VOCABULARY))) for x in WORDS],
    "sparse matrices": [
        sp.coo_matrix(table(x).reshape(-1, len(VOCABULARY))) for x in WORDS
    ],
    "an iterator": None,
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_mean_the_same(name):
    def data():
        return iter(WORDS) if name == "an iterator" else FORMATS[name]

    wanted = tight().fit(WORDS, TAGS)
    model = tight().fit(data(), TAGS)
    assert model.certificate_.primal == pytest.approx(
        wanted.certificate_.primal, rel=2e-6
    )
    assert model.predict(data()) == wanted.predict(WORDS) == TAGS
    for row, other in zip(
        model.predict_marginals(data()), wanted.predict_marginals(WORDS), strict=True
    ):
        np.testing.assert_allclose(row, other, atol=2e-3)


def test_feature_names():
    model = SequenceTagger().fit(WORDS, TAGS)
    assert model.feature_names_ == VOCABULARY
    assert model.coef_.shape == (3, len(VOCABULARY))
    assert model.transitions_.shape == (3, 3)
    assert model.first_.shape == model.last_.shape == (3,)
    assert SequenceTagger().fit(FORMATS["tables"], TAGS).feature_names_ is None


def test_strings_train_in_single_precision_with_a_valid_certificate():
    model = SequenceTagger(tol=1e-3, C=5.0).fit(WORDS, TAGS)
    assert model.coef_.dtype == np.float32
    X = FORMATS["tables"]
    assert model.certificate_.primal == pytest.approx(primal(model, X, TAGS), rel=1e-5)
    optimum = tight(C=5.0).fit(WORDS, TAGS).certificate_
    assert model.certificate_.dual <= optimum.primal * (1 + 1e-6)
    assert model.predict(WORDS) == TAGS


def test_unknown_words_have_no_weight():
    model = SequenceTagger().fit(WORDS, TAGS)
    plain = model.predict_marginals([[["dog"], []]])[0]
    strange = model.predict_marginals([[["dog", "never"], ["seen", "before"]]])[0]
    np.testing.assert_array_equal(strange, plain)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ("ABC", str),
        (["B-NP", "I-NP", "O"], str),
        ([3, -1, 20], int),
        (np.array([0, 1, 2]), int),
        (np.array(["x", "yy", "z"]), str),
    ],
)
def test_labels_come_back_as_they_were(labels, kind):
    X, y = sequences(labels=labels, noise=0.0)
    model = SequenceTagger(C=100.0).fit(X, y)
    found = model.predict(X)
    assert found == y
    assert all(type(label) is kind for labels in found for label in labels)
    assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    arrays = SequenceTagger(C=100.0).fit(X, [np.array(row) for row in y])
    assert arrays.predict(X) == y


def test_empty_sequences_change_nothing():
    X, y = sequences()
    with_empty = tight().fit([[], *X, np.zeros((0, 3))], [[], *y, []])
    assert with_empty.certificate_.primal == pytest.approx(
        tight().fit(X, y).certificate_.primal, rel=2e-6
    )


def test_empty_sequences_in_every_answer(model):
    x = sequences()[0][3]
    assert model.predict([[], x, []]) == [[], model.predict([x])[0], []]
    assert model.predict([[], []]) == [[], []]
    assert model.predict_k_best([[], x], 2)[0] == [([], 0.0)]
    for tables in (model.predict_marginals([x, []]), model.decision_function([x, []])):
        assert [t.shape for t in tables] == [(len(x), 3), (0, 3)]
    assert model.score([[]], [[]]) == 1.0


def test_score_is_the_share_of_right_labels(model):
    X, y = sequences(seed=5)
    found = model.predict(X)
    pairs = [(a, b) for t, f in zip(y, found, strict=True) for a, b in zip(t, f)]  # noqa: B905
    assert 0 < model.score(X, y) < 1
    assert model.score(X, y) == pytest.approx(np.mean([a == b for a, b in pairs]))
    weights = np.zeros(len(X))
    weights[3] = 2.0
    alone = model.score(X[3:4], y[3:4])
    assert model.score(X, y, sample_weight=weights) == pytest.approx(alone)
    assert model.score(X, [["never"] * len(row) for row in y]) == 0.0


def test_score_takes_iterators(model):
    X, y = sequences()
    assert model.score(iter(X), iter(y)) == model.score(X, y)
