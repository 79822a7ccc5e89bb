"""Options of SequenceTagger: features from columns, order, schemes, gaps, losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import SequenceTagger, load, save
from maxmargin.files import columns_from
from maxmargin.tags.schemes import violations

ROWS = [
    [("the", "D"), ("old", "A"), ("dog", "N"), ("barks", "V")],
    [("a", "D"), ("dog", "N"), ("sleeps", "V")],
    [("old", "A"), ("dogs", "N"), ("bark", "V"), ("loud", "R")],
    [("the", "D"), ("cat", "N"), ("sleeps", "V")],
]
TAGS = [
    ["B-NP", "I-NP", "I-NP", "B-VP"],
    ["B-NP", "I-NP", "B-VP"],
    ["B-NP", "I-NP", "B-VP", "O"],
    ["B-NP", "I-NP", "B-VP"],
]
TEMPLATE = "U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-1,1]/%x[0,1]\nB\n"


def test_columns_and_rows_are_the_same_input():
    a = SequenceTagger(features=TEMPLATE).fit(columns_from(ROWS), TAGS)
    b = SequenceTagger(features=TEMPLATE).fit(ROWS, TAGS)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.predict(ROWS) == b.predict(columns_from(ROWS)) == TAGS
    assert "U02:D/N" in a.feature_names_


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_saved_tagger_predicts_the_same(order, tmp_path):
    model = SequenceTagger(features=TEMPLATE, order=order, C=10).fit(ROWS, TAGS)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(ROWS) == model.predict(ROWS) == TAGS
    assert again.feature_names_ == model.feature_names_
    assert again.order == order


def test_min_count_drops_rare_features():
    few = SequenceTagger(features=TEMPLATE, min_count=2).fit(ROWS, TAGS)
    names = few.feature_names_
    assert "U00:dog" in names
    assert "U00:cat" not in names


def test_word_lists_vectors_and_hashing(tmp_path):
    vectors = {"dog": np.array([1.0, 0.0]), "cat": np.array([0.9, 0.1])}
    options = {"gazetteers": {"animals": {"dog", "cat"}}, "dense": {0: vectors}}
    text = TEMPLATE + "U03:%g[0,0,animals]\n"
    model = SequenceTagger(features=text, feature_options=options).fit(ROWS, TAGS)
    assert "U03:animals" in model.feature_names_
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(ROWS) == model.predict(ROWS)
    hashed = SequenceTagger(features=TEMPLATE, feature_options={"hash_bits": 10})
    assert hashed.fit(ROWS, TAGS).coef_.shape[1] == 1024
    assert hashed.predict(ROWS) == TAGS


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_order_zero_labels_every_token_on_its_own(objective):
    model = SequenceTagger(features="U00:%x[0,0]", order=0, objective=objective, C=10)
    model.fit(ROWS, TAGS)
    assert not model.transitions_.any()
    one_by_one = [[model.predict([[row]])[0][0] for row in s] for s in ROWS]
    assert model.predict(ROWS) == one_by_one
    with pytest.raises(ValueError, match="order=1"):
        model.predict_k_best(ROWS, 2)


def test_second_order_learns_what_the_first_cannot():
    # the label two places back decides, and all tokens look alike
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(40):
        labels = list(rng.integers(0, 2, 2))
        for t in range(2, 8):
            labels.append(1 - labels[t - 2])
        seen = np.zeros((8, 2))
        seen[[0, 1], labels[:2]] = 1
        X.append(seen)
        y.append([int(label) for label in labels])
    first = SequenceTagger(C=100).fit(X, y)
    second = SequenceTagger(C=100, order=2).fit(X, y)
    assert first.score(X, y) < 0.95
    assert second.score(X, y) == 1.0
    assert second.triples_.shape == (2, 2, 2)
    for method in (second.predict_marginals, second.decision_function):
        with pytest.raises(ValueError, match="order=1"):
            method(X)


@given(seed=st.integers(0, 10**6))
def test_a_scheme_makes_broken_outputs_impossible(seed):
    model = scheme_model()
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, 3)) * 10 for length in (1, 3, 6)]
    assert violations(model.predict(X), "BIO") is None


_models = {}


def scheme_model():
    if "scheme" not in _models:
        rng = np.random.default_rng(0)
        X = [rng.normal(size=(len(tags), 3)) for tags in TAGS]
        _models["scheme"] = SequenceTagger(scheme="BIO").fit(X, TAGS)
    return _models["scheme"]


def test_training_data_that_break_the_scheme_are_named():
    wrong = [*TAGS[:2], ["I-NP", "I-NP", "B-VP", "O"], TAGS[3]]
    with pytest.raises(ValueError, match=r"y\[2\], token 0: I-NP stands first"):
        SequenceTagger(features=TEMPLATE, scheme="BIO").fit(ROWS, wrong)


# labels that are not known ------------------------------------------------------------


def test_gaps_are_filled():
    X, y = ROWS * 3, TAGS * 3
    gaps = [[None if (i + t) % 3 == 0 else tag for t, tag in enumerate(row)]
            for i, row in enumerate(y)]  # fmt: skip
    model = SequenceTagger(features=TEMPLATE, C=10).fit(X, gaps)
    assert model.predict(X) == y
    completed = model.complete(X, gaps)
    assert completed == y


def test_known_labels_are_kept_in_completion():
    model = SequenceTagger(features=TEMPLATE, C=10).fit(ROWS, TAGS)
    odd = [["O", None, None, None], [None] * 3, TAGS[2], [None, None, "O"]]
    completed = model.complete(ROWS, odd)
    assert completed[0][0] == "O"
    assert completed[3][2] == "O"
    assert completed[1] == TAGS[1]
    assert completed[2] == TAGS[2]


def test_gaps_with_a_scheme():
    gaps = [TAGS[0], *([None, *row[1:]] for row in TAGS[1:])]
    model = SequenceTagger(features=TEMPLATE, scheme="BIO", C=10).fit(ROWS, gaps)
    assert violations(model.predict(ROWS), "BIO") is None


def test_only_gaps_are_refused():
    with pytest.raises(ValueError, match="label"):
        SequenceTagger(features=TEMPLATE).fit(ROWS, [[None] * len(r) for r in TAGS])


# losses and decoding ------------------------------------------------------------------


def test_span_loss_is_certified():
    model = SequenceTagger(features=TEMPLATE, loss="spans", tol=1e-3).fit(ROWS, TAGS)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.predict(ROWS) == TAGS


def test_span_loss_needs_spans():
    with pytest.raises(ValueError, match="span scheme"):
        SequenceTagger(loss="spans").fit([[["a"], ["b"]]], [["N", "V"]])


def test_posterior_decoding_takes_the_largest_marginals():
    model = SequenceTagger(features=TEMPLATE, objective="log", C=0.1)
    model.fit(ROWS, TAGS).set_params(decoding="posterior")
    best = [table.argmax(axis=1) for table in model.predict_marginals(ROWS)]
    wanted = [[model.classes_[k] for k in row] for row in best]
    assert model.predict(ROWS) == wanted


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(objective="hinges"), "objective='hinges' is not known"),
        (dict(order=3), "order=3"),
        (dict(order=True), "order=True"),
        (dict(order=2, objective="log"), "order=2 needs"),
        (dict(order=2, loss="zero-one"), "order=2 needs a loss of labels"),
        (dict(l1=-1.0), "l1=-1.0"),
        (dict(l1=1.0), "needs one of the objectives"),
        (dict(l1=1.0, objective="log", solver="n-slack"), "cannot minimise"),
        (dict(decoding="best"), "decoding='best'"),
        (dict(objective="log", C=np.inf), "hard margin"),
        (dict(objective="log", rescaling="slack"), "belong to objective='hinge'"),
        (dict(objective="log", solver="one-slack"), "cannot minimise"),
        (dict(scheme="XYZ"), "XYZ"),
        (dict(features="U00:%q[0,0]"), "%q"),
        (dict(features="U00:%x[0,7]"), "column"),
        (dict(min_count=0, features=TEMPLATE), "min_count"),
        (dict(feature_options=[]), "feature_options"),
        (dict(feature_options={"bits": 3}), "gazetteers, dense, hash_bits"),
        (dict(feature_options={"hash_bits": 8}, features=None), "needs features"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    model = SequenceTagger(**{"features": TEMPLATE, **settings})
    with pytest.raises(ValueError, match=message):
        model.fit(ROWS, TAGS)
