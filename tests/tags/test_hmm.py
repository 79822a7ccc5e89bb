"""HMMTagger: probabilities by hand, and everything a tagger can do with them."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin import HMMTagger, load, save

X = [
    [["the"], ["dog"], ["barks"]],
    [["dogs"], ["bark"]],
    [["the"], ["dogs"], ["bark"], ["here"]],
]
Y = [["D", "N", "V"], ["N", "V"], ["D", "N", "V", "V"]]
RICH = [
    [{"word": w, "end": w[-1], "long": len(w) > 4} for (w,) in sentence]
    for sentence in X
]


def names(model):
    return {name: j for j, name in enumerate(model.feature_names_)}


def test_plain_model_by_hand():
    model = HMMTagger(alpha=0.5).fit(X, Y)
    D, N, V = range(3)
    word = names(model)
    # 6 words; D has 2 tokens, N 3, V 4
    np.testing.assert_allclose(np.exp(model.coef_[D, word["the"]]), 2.5 / (2 + 3.0))
    np.testing.assert_allclose(np.exp(model.coef_[N, word["dogs"]]), 2.5 / (3 + 3.0))
    np.testing.assert_allclose(np.exp(model.coef_[V, word["the"]]), 0.5 / (4 + 3.0))
    # from every label: three labels or the end
    np.testing.assert_allclose(np.exp(model.transitions_[D, N]), 2.5 / (2 + 2.0))
    np.testing.assert_allclose(np.exp(model.transitions_[V, V]), 1.5 / (4 + 2.0))
    np.testing.assert_allclose(np.exp(model.last_[V]), 3.5 / (4 + 2.0))
    np.testing.assert_allclose(np.exp(model.first_), [2.5 / 4.5, 1.5 / 4.5, 0.5 / 4.5])


@pytest.mark.parametrize("data", [X, RICH], ids=["plain", "overlapping"])
def test_probabilities_sum_to_one(data):
    model = HMMTagger().fit(data, Y)
    ends = np.exp(model.transitions_).sum(axis=1) + np.exp(model.last_)
    np.testing.assert_allclose(ends, 1)
    np.testing.assert_allclose(np.exp(model.first_).sum(), 1)
    if data is X:
        np.testing.assert_allclose(np.exp(model.coef_).sum(axis=1), 1)
        return
    listed = model.feature_names_
    for attribute in ("word:", "end:"):
        these = [j for j, name in enumerate(listed) if name.startswith(attribute)]
        np.testing.assert_allclose(np.exp(model.coef_[:, these]).sum(axis=1), 1)
    # present or absent: of N, "dog" and "dogs" twice are short
    long = model.coef_[:, names(model)["long"]]
    np.testing.assert_allclose(np.exp(long), [1 / 4, 1 / 5, 2 / 6])


def test_overlapping_features_multiply():
    """p(value | label) of each attribute, from a table made by hand."""
    model = HMMTagger().fit(RICH, Y)
    end = names(model)["end:s"]
    # D: the the; N: dog dogs dogs; V: barks bark bark here; ends e g s k
    np.testing.assert_allclose(np.exp(model.coef_[:, end]), [1 / 6, 3 / 7, 2 / 8])
    strings = [
        [[f"{key}={value}" for key, value in token.items()] for token in sentence]
        for sentence in RICH
    ]
    other = HMMTagger().fit(strings, Y)
    a, b = names(model)["word:dogs"], names(other)["word=dogs"]
    np.testing.assert_allclose(model.coef_[:, a], other.coef_[:, b])


def joint(model, x, y):
    """log p(x, y) from the public tables."""
    column = names(model)
    total = model.first_[y[0]] + model.last_[y[-1]]
    total += sum(model.transitions_[a, b] for a, b in pairwise(y))
    known = [[column[f] for f in token if f in column] for token in x]
    return total + sum(
        model.coef_[k, j] for k, row in zip(y, known, strict=True) for j in row
    )


def test_predictions_are_those_of_the_joint_probability():
    model = HMMTagger().fit(X, Y)
    new = [[["the"], ["bark"], ["unheard"]], [["dogs"]], []]
    every = [list(product(range(3), repeat=len(x))) for x in new[:2]]
    for x, some, found, ranked, table in zip(
        new[:2],
        every,
        model.predict(new),
        model.predict_k_best(new, 3),
        model.predict_marginals(new),
        strict=False,
    ):
        logs = np.array([joint(model, x, y) for y in some])
        best = np.argsort(-logs)
        assert found == [model.classes_[k] for k in some[best[0]]]
        np.testing.assert_allclose([s for _, s in ranked], logs[best[:3]], rtol=1e-9)
        p = np.exp(logs - logs.max())
        p /= p.sum()
        for t in range(len(x)):
            for k in range(3):
                wanted = sum(q for q, y in zip(p, some, strict=True) if y[t] == k)
                assert table[t, k] == pytest.approx(wanted)
    assert model.predict(new)[2] == []


def test_objective_is_minimal():
    """Probabilities a little different from the counts have a larger objective."""
    model = HMMTagger().fit(X, Y)
    counts = np.full((3, 6), 1.0)
    column = names(model)
    for x, y in zip(X, Y, strict=True):
        for (word,), label in zip(x, y, strict=True):
            counts["DNV".index(label), column[word]] += 1
    p = np.exp(model.coef_)
    best = -(counts * np.log(p)).sum()
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = p * np.exp(0.1 * rng.normal(size=p.shape))
        q /= q.sum(axis=1, keepdims=True)
        assert -(counts * np.log(q)).sum() >= best
    assert model.certificate_.gap == 0
    assert model.converged_
    assert model.certificate_.primal > best  # transitions come on top


def test_forbidden_transitions_have_no_share():
    model = HMMTagger(forbidden=[("D", "V"), (None, "V"), ("D", None)]).fit(X, Y)
    D, N, V = range(3)
    rows = np.exp(model.transitions_)
    assert rows[D, D] + rows[D, N] == pytest.approx(1)
    assert np.exp(model.first_[[D, N]]).sum() == pytest.approx(1)
    assert (rows[[N, V]].sum(axis=1) + np.exp(model.last_[[N, V]])) == pytest.approx(1)
    for tags in model.predict([[["bark"], ["the"], ["bark"]], [["the"]]]):
        assert tags[0] != "V"
        assert tags[-1] != "D"
        assert ("D", "V") not in list(pairwise(tags))
    with pytest.raises(ValueError, match="forbidden"):
        HMMTagger(forbidden=[("N", "V")]).fit(X, Y)


def test_scheme_makes_illegal_tags_impossible():
    words = [[["Ann"], ["Lee"], ["ran"]], [["Lee"], ["ran"]], [["ran"], ["Lee"]]]
    tags = [["B-P", "I-P", "O"], ["B-P", "O"], ["O", "B-P"]]
    model = HMMTagger(scheme="BIO").fit(words, tags)
    rng = np.random.default_rng(0)
    vocabulary = ["Ann", "Lee", "ran", "new"]
    for length in range(1, 6):
        x = [[vocabulary[k]] for k in rng.integers(4, size=length)]
        (found,) = model.predict([x])
        assert found[0] != "I-P"
        assert ("O", "I-P") not in list(pairwise(found))


def test_sample_weights_count_like_copies():
    weighted = HMMTagger().fit(RICH, Y, sample_weight=[2, 0, 1])
    copies = HMMTagger().fit([*RICH, RICH[0]], [*Y, Y[0]], sample_weight=[1, 0, 1, 1])
    for part in ("coef_", "transitions_", "first_", "last_"):
        np.testing.assert_allclose(getattr(weighted, part), getattr(copies, part))


def test_columns_with_a_template():
    rows = [[(w, w[-1]) for (w,) in sentence] for sentence in X]
    template = "U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-1,0]"
    model = HMMTagger(features=template).fit(rows, Y)
    assert model.score(rows, Y) == 1.0
    listed = model.feature_names_
    for line in ("U00:", "U01:", "U02:"):
        these = [j for j, name in enumerate(listed) if name.startswith(line)]
        np.testing.assert_allclose(np.exp(model.coef_[:, these]).sum(axis=1), 1)
    plain = HMMTagger(features="U00:%x[0,0]").fit(rows, Y)
    np.testing.assert_allclose(plain.coef_, HMMTagger().fit(X, Y).coef_)


def test_numeric_tables_are_counts():
    words = sorted({w for sentence in X for (w,) in sentence})
    tables = [np.eye(6)[[words.index(w) for (w,) in sentence]] for sentence in X]
    dense, sparse = (
        HMMTagger().fit(data, Y) for data in (tables, [sp.csr_array(t) for t in tables])
    )
    plain = HMMTagger().fit(X, Y)
    assert dense.predict(tables) == sparse.predict(tables) == plain.predict(X)
    order = [names(plain)[w] for w in words]
    np.testing.assert_allclose(dense.coef_, plain.coef_[:, order])


def test_words_with_colons_are_words():
    x = [[["10:30"], ["="], ["a=b"]]] * 2
    model = HMMTagger().fit(x, [["T", "P", "T"]] * 2)
    np.testing.assert_allclose(np.exp(model.coef_).sum(axis=1), 1)


@pytest.mark.parametrize("params", [{}, {"scheme": None, "alpha": 0.1}])
def test_saved_and_loaded(tmp_path, params):
    model = HMMTagger(**params).fit(RICH, Y)
    save(model, tmp_path / "hmm.safetensors")
    again = load(tmp_path / "hmm.safetensors")
    assert type(again) is HMMTagger
    assert again.get_params() == model.get_params()
    assert again.predict_k_best(RICH, 4) == model.predict_k_best(RICH, 4)
    assert again.certificate_ == model.certificate_
    assert clone(again).fit(RICH, Y).predict(RICH) == model.predict(RICH)


def test_unknown_labels_are_completed():
    y = [["D", "N", None], *Y[1:]]
    model = HMMTagger().fit(X, y)
    assert model.predict(X)[0] == ["D", "N", "V"]


@pytest.mark.parametrize("alpha", [0, -1.0, np.inf, np.nan, "1", True, None])
def test_bad_alpha(alpha):
    with pytest.raises(ValueError, match="must be positive"):
        HMMTagger(alpha=alpha).fit(X, Y)


def test_bad_input():
    with pytest.raises(
        ValueError, match="sequence 1 has a feature of value -2 at token 0"
    ):
        HMMTagger().fit([np.ones((2, 2)), [[-2.0, 1.0]]], [["A", "B"], ["A"]])
    with pytest.raises(ValueError, match="sequence 0 has 3 tokens"):
        HMMTagger().fit(X, [["D"], *Y[1:]])
    with pytest.raises(ValueError, match="decoding='best'"):
        HMMTagger(decoding="best").fit(X, Y)
    with pytest.raises(ValueError, match="one label only"):
        HMMTagger().fit(X[1:2], [["A", "A"]])
    assert not hasattr(HMMTagger(), "path")


def test_decoding_token_by_token():
    model = HMMTagger(decoding="posterior").fit(X, Y)
    for x, found in zip(model.predict_marginals(X), model.predict(X), strict=True):
        assert found == model.classes_[x.argmax(axis=1)].tolist()
