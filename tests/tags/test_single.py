"""One input at a time gives the labels, and the messages, of many at a time."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import HMMTagger, SequenceTagger
from maxmargin.tags.features import one_sentence
from maxmargin.tags.single import single_of

LABELS = ["B-a", "B-b", "I-a", "I-b", "O"]
WORDS = ["the", "Dog", "barks-", "42", "?", "New", "York"]


def _fit(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SequenceTagger(C=1, max_iter=1, **options).fit(X, y)


def _shake(tagger, seed):
    """Random weights, small whole numbers, so that there are ties and zeros."""
    rng = np.random.default_rng(seed)
    tagger._w[:] = rng.integers(-3, 4, len(tagger._w)) / rng.choice([1.0, 3.0])
    return tagger


def _same(tagger, x):
    """Alone it is predicted as beside another; and without a batch where it can be."""
    many = tagger.predict([x, x])
    assert many[0] == many[1] == tagger.predict([x])[0] == tagger.predict_single(x)
    assert type(tagger.predict([x])) is type(many)


def _message(tagger, X):
    """What is said of X; None if it is predicted."""
    try:
        tagger.predict(X)
    except ValueError as error:
        return str(error)
    return None


def _training(token):
    labels = [LABELS[k] for k in (4, 0, 2, 1, 3)]
    return [[token(w) for w in WORDS[:5]], [token(WORDS[5])]], [labels, ["O"]]


STRINGS = _fit(*_training(lambda w: [w, w[:1], "bias"]))
FEATURES = st.sampled_from([*WORDS, *(w[:1] for w in WORDS), "bias", "unseen"])
OPTIONS = st.fixed_dictionaries(
    {
        "order": st.sampled_from([0, 1]),
        "scheme": st.sampled_from([None, "BIO"]),
        "forbidden": st.lists(
            st.tuples(*[st.sampled_from([None, *LABELS])] * 2).filter(any), max_size=3
        ),
        "decoding": st.sampled_from(["auto", "posterior"]),
    }
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(FEATURES, max_size=9), max_size=7),
    OPTIONS,
    st.integers(0, 10**6),
)
def test_strings(x, options, seed):
    tagger = copy.deepcopy(STRINGS).set_params(**options)
    _shake(tagger, seed)
    message = _message(tagger, [x, x])
    assert _message(tagger, [x]) == message  # that no labels are allowed, if any
    if message is None:
        _same(tagger, x)


TEMPLATES = {
    name: _fit(*_training(lambda w: (w, w[-1:])), features=name)
    for name in (
        "ner",
        "chunking",
        'U1:%x[-3,1]/%x[2,0]\nU2\nU3:%m[0,0,"\\a*"]',
    )
}


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(list(TEMPLATES)),
    st.lists(
        st.tuples(st.sampled_from([*WORDS, "new", "Xy", ""]), st.text(max_size=2)),
        min_size=1,
        max_size=8,
    ),
    st.integers(0, 10**6),
)
def test_columns(name, x, seed):
    tagger = _shake(TEMPLATES[name], seed)
    _same(tagger, x)
    assert single_of(tagger)._one is not None
    one = single_of(tagger)._one.encode(x)
    tokens = tagger.structure_.tokens([x])
    n = len(tokens.indices)
    assert one[0][:n].tolist() == tokens.indices.tolist()
    assert one[1].tolist() == tokens.indptr.tolist()


def test_words_are_forgotten(monkeypatch):
    monkeypatch.setattr(one_sentence, "_WORDS", 16)
    tagger = pickle.loads(pickle.dumps(TEMPLATES["ner"]))
    for k in range(30):
        x = [(f"w{k + j}", "D") for j in range(4)]
        _same(tagger, x)
        assert sum(map(len, single_of(tagger)._one._memo._rows)) <= 16
    _same(tagger, [(f"w{j}", "D") for j in range(40)])  # more than fit in


def test_word_lists_hashes_and_vectors():
    X, y = _training(lambda w: (w,))
    vectors = {w: np.arange(2.0) + k for k, w in enumerate(WORDS)}
    for options in (
        {"gazetteers": {"places": {"the", "York"}}},
        {"hash_bits": 6},
        {"dense": {0: vectors}},
    ):
        text = "U:%g[0,0,places]" if "gazetteers" in options else "U:%x[0,0]"
        tagger = _fit(X, y, features=text, feature_options=options)
        _shake(tagger, 1)
        _same(tagger, [("York",), ("?",), ("unseen",)])


def test_dicts_arrays_and_sets():
    tagger = _fit(*_training(lambda w: {"word": w, "size": len(w) / 3, "odd": True}))
    _same(_shake(tagger, 3), [{"word": "the", "size": 0.7}, {"new": 2}, {}])
    rng = np.random.default_rng(0)
    tagger = _fit([rng.random((6, 3))], [[*LABELS, "O"]])
    _same(_shake(tagger, 4), rng.random((4, 3)))
    _same(tagger, [])
    _same(STRINGS, [{"the", "Dog"}, frozenset({"bias"})])
    _same(STRINGS, (["the"], ("Dog", "x")))
    hmm = HMMTagger().fit(*_training(lambda w: [w]))
    _same(hmm, [["the"], ["unseen"], ["York"]])


def test_labels_are_numbers_or_many():
    X = [[[f"f{k}"] for k in range(30)]]
    tagger = _fit(X, [list(range(30))])  # padded rows of weights
    for seed in range(20):
        _same(_shake(tagger, seed), [[f"f{k}", f"f{k + 1}"] for k in range(12)])


@pytest.mark.parametrize(
    "x",
    [
        "the dog",
        ["the", "Dog"],
        [["the", 3]],
        [["the"], [["nested"]]],
        [["the"], 5],
        [[1.0, 2.0]],
        None,
    ],
)
def test_messages(x):
    assert _message(STRINGS, [x]) == _message(STRINGS, [x, x]) is not None


@pytest.mark.parametrize("x", [[], [("a",), ("b", "c")], [("a", 3)], ["ab"], [()]])
def test_messages_of_rows(x):
    tagger = TEMPLATES["ner"]
    assert _message(tagger, [x]) == _message(tagger, [x, x]) is not None


def test_follows_weights_and_settings():
    X, y = _training(lambda w: [w])
    tagger = _fit(X, y)
    x = X[0]
    _same(tagger, x)
    tagger.coef_[:] = 0  # the table that prediction uses
    tagger.transitions_[:] = 0
    tagger.first_[:], tagger.last_[:] = 0, 0
    assert tagger.predict([x]) == [[LABELS[0]] * 5]
    tagger.first_[4] = 1.0
    assert tagger.predict([x])[0][0] == "O"
    forbidden = [("O", "B-a")]
    tagger.set_params(forbidden=forbidden)
    _same(tagger, x)
    assert tagger.predict([x])[0][:2] != ["O", "B-a"]
    forbidden.append(("O", "B-b"))  # changed in place
    assert tagger.predict([x])[0][:2] == ["O", "I-a"]
    tagger.set_params(forbidden=[[None, label] for label in LABELS[:3]])
    _same(tagger, x)
    tagger.set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs"):
        tagger.predict([x])
    tagger.set_params(n_jobs=1, forbidden=None, max_iter=None).fit(X, y)
    assert tagger.predict([x]) == [y[0]]
    for other in (pickle.loads(pickle.dumps(tagger)), copy.copy(tagger)):
        assert "_single" not in vars(other)
        assert other.predict([x]) == [y[0]]
