"""Taggers trained on corpora are those trained on the same sentences in memory."""

import numpy as np
import pytest
from corpus_tagger_cases import (
    TEMPLATE,
    check_use,
    data,  # noqa: F401
    made,
    write,
)

from maxmargin import SequenceTagger, TagCorpus, scorers
from maxmargin.files import columns_from

# ruff: noqa: F811  (what is imported so is a fixture)


def same(a, b) -> None:
    assert np.array_equal(a._w, b._w)
    assert a.certificate_ == b.certificate_
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.feature_names_ == b.feature_names_


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "log"},
        {"order": 0},
        {"order": 2},
        {"loss": "zero-one", "tol": 1e-5},
        {"loss": "spans", "scheme": "BIO"},
        {"forbidden": [("B-X", "B-Q")]},
    ],
)
def test_weights_are_those_of_data_in_memory(data, options):
    corpus, X, y, _ = data
    in_memory = SequenceTagger(features=TEMPLATE, **options).fit(X, y)
    same(SequenceTagger(features=TEMPLATE, **options).fit(corpus), in_memory)


def test_hashed_features(data, tmp_path):
    """Rows of a large table are in another order while training, not afterwards."""
    _, X, y, corpus = data
    options = {"hash_bits": 17}
    in_memory = SequenceTagger(features=TEMPLATE, feature_options=options).fit(X, y)
    tagger = SequenceTagger().fit(corpus)
    assert corpus.feature_of_row is not None
    same(tagger, in_memory)
    check_use(tagger, corpus, X, y, tmp_path)


def test_a_tagger_without_settings_takes_those_of_the_corpus(data, tmp_path):
    corpus, X, y, _ = data
    tagger = SequenceTagger().fit(corpus)
    same(tagger, SequenceTagger(features=TEMPLATE).fit(X, y))
    check_use(tagger, corpus, X, y, tmp_path)


def test_sample_weights(data):
    corpus, X, y, _ = data
    weights = np.arange(60) % 3
    for order in (0, 1):
        tagger = SequenceTagger(features=TEMPLATE, order=order)
        a = tagger.fit(corpus, sample_weight=weights)._w.copy()
        assert np.array_equal(a, tagger.fit(X, y, weights)._w)
    with pytest.raises(ValueError, match="sample_weight has shape"):
        tagger.fit(corpus, sample_weight=[1.0])


def test_new_data_in_the_features_of_a_tagger(data, tmp_path):
    corpus, X, y, _ = data
    tagger = SequenceTagger(features=TEMPLATE).fit(X, y)
    fresh = made(30, 1)
    fresh[0][0] = ("new", "p9", "UNSEEN")
    write(tmp_path / "new", fresh)
    test = columns_from([[row[:2] for row in s] for s in fresh])
    truth = [[row[2] for row in s] for s in fresh]
    for k, like in enumerate((tagger, corpus)):
        other = TagCorpus.build(tmp_path / str(k), tmp_path / "new", like=like)
        assert tagger.predict(other) == tagger.predict(test)
        assert tagger.score(other) == pytest.approx(tagger.score(test, truth))
        with pytest.raises(ValueError, match="features of other data"):
            tagger.fit(other)
    own = TagCorpus.build(tmp_path / "own", tmp_path / "new", TEMPLATE)
    with pytest.raises(ValueError, match="other features than the tagger"):
        tagger.predict(own)


def test_path_over_a_corpus(data):
    corpus, X, y, _ = data
    tagger = SequenceTagger(features=TEMPLATE)
    for a, b in zip(
        tagger.path(corpus, None, [0.1, 1]), tagger.path(X, y, [0.1, 1]), strict=True
    ):
        assert np.array_equal(a._w, b._w)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "chunking"}, "features of the tagger is not that of the corpus"),
        ({"features": "U0:%x[0,0]\n"}, "features of the tagger"),
        ({"min_count": 2}, "min_count of the tagger"),
        ({"feature_options": {}, "features": TEMPLATE, "kernel": "rbf"}, "kernel"),
        (
            {"features": TEMPLATE, "feature_options": {"hash_bits": 9}},
            "feature_options",
        ),
        ({"objective": "marginal"}, "objective='marginal' needs all data"),
        ({"objective": "perceptron"}, "objective='perceptron' needs all data"),
        ({"forbidden": [("O", "B-X")]}, "which is forbidden"),
        ({"scheme": "IOB1"}, "breaks the scheme IOB1"),
    ],
)
def test_what_contradicts_the_corpus(data, options, message):
    corpus = data[0]
    tagger = SequenceTagger(**options)
    with pytest.raises(ValueError, match=message):
        tagger.fit(corpus)
    assert not hasattr(tagger, "coef_")


def test_labels_beside_a_corpus(data):
    corpus, X, y, _ = data
    with pytest.raises(ValueError, match="leave y out"):
        SequenceTagger().fit(corpus, y)
    with pytest.raises(ValueError, match="y is missing"):
        SequenceTagger(features=TEMPLATE).fit(X)
    tagger = SequenceTagger().fit(corpus)
    with pytest.raises(ValueError, match="scored alone"):
        tagger.score(corpus, y)
    with pytest.raises(ValueError, match="scored alone"):
        tagger.evaluate(corpus, y)


def test_a_corpus_is_evaluated_like_its_sentences(data):
    corpus, X, y, _ = data
    tagger = SequenceTagger().fit(corpus)
    assert tagger.evaluate(corpus) == tagger.evaluate(X, y)
    assert scorers.token_accuracy(tagger, corpus) == tagger.score(corpus)
