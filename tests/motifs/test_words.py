"""Enriched words: where a search for a motif may begin."""

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import MotifFinder
from maxmargin.motifs.hidden_sites import make_batch
from maxmargin.motifs.words import enriched_words, shifted_motif, word_weights

CODE = {letter: k for k, letter in enumerate("ACGT")}
OTHER = str.maketrans("ACGT", "TGCA")


def planted(word, both=False, n=120, seed=0):
    """Sequences of 60 letters; two thirds of the positive ones have the word."""
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(n)]
    for i in range(0, n, 2):
        if i % 6:
            at = int(rng.integers(60 - len(word)))
            piece = word.translate(OTHER)[::-1] if both and i % 4 else word
            X[i] = X[i][:at] + piece + X[i][at + len(word) :]
    return X, [i % 2 == 0 for i in range(n)]


def batch_of(X, y, width, strands):
    codes = np.array([CODE[letter] for x in X for letter in x], np.uint8)
    first = np.concatenate([[0], np.cumsum([len(x) for x in X])])
    return make_batch(codes, first, np.array(y), width, 1, strands)


@pytest.mark.parametrize("strands", [1, 2])
def test_the_planted_word_comes_first_and_its_shifts_do_not_come_again(strands):
    X, y = planted("GATTACAT", both=strands == 2)
    batch = batch_of(X, y, 10, strands)
    words = enriched_words(batch, np.ones(len(X)), 5)
    texts = ["".join("ACGT"[k] for k in word) for word in words]
    assert texts[0] in ("GATTACAT", "GATTACAT".translate(OTHER)[::-1])
    assert len(texts) == 5
    fives = [{t[k : k + 5] for k in range(4)} for t in texts]
    assert not any(a & b for i, a in enumerate(fives) for b in fives[:i])


def test_samples_without_weight_do_not_count():
    X, y = planted("GATTACAT")
    other, labels = planted("CCGCGTGG", seed=1)
    batch = batch_of(X + other, y + labels, 8, 1)
    weights = np.repeat([1.0, 0.0], [len(X), len(other)])
    word = enriched_words(batch, weights, 1)[0]
    assert "".join("ACGT"[k] for k in word) == "GATTACAT"


def test_a_word_stands_in_the_middle_of_its_motif():
    w = word_weights(np.array([2, 0, 3]), 6, 4 * 6 + 4)
    assert np.flatnonzero(w).tolist() == [4 * 1 + 2, 4 * 2 + 0, 4 * 3 + 3]


def test_a_motif_is_shifted_either_way_and_its_background_stays():
    w = np.arange(1.0, 17)
    assert shifted_motif(w, 3, 1).tolist() == [0] * 4 + [*range(1, 9), *range(13, 17)]
    assert shifted_motif(w, 3, -2).tolist() == [*range(9, 13), *[0] * 8, *range(13, 17)]
    assert w[0] == 1


def test_a_start_at_words_finds_what_is_planted():
    X, y = planted("GATTACAT", both=True)
    settings = {"width": 10, "order": 1, "both_strands": True, "C": 0.3}
    model = MotifFinder(init="words", n_restarts=2, **settings).fit(X, y)
    found = model.consensus()
    both = found + " " + found.translate(OTHER)[::-1]
    assert "ATTACA" in both
    assert len(model.restarts_) == 2


def test_words_shorter_than_usual_and_none_at_all():
    X, y = planted("GATT")
    assert MotifFinder(width=4, order=0, init="words").fit(X, y).coef_.any()
    same = ["ACGTACGTAC"] * 6
    model = MotifFinder(width=4, order=0, init="words")
    with pytest.warns(UserWarning, match="all zero"):
        model.fit(same, [True, False] * 3)
    assert model.score(same, [True, False] * 3) == 0.5


@pytest.mark.parametrize("both", [False, True])
def test_strands_and_C_are_decided_before_training(both):
    X, y = planted("GATTACAT", both=both)
    model = MotifFinder(width=10).fit(X, y)
    assert model.both_strands_ is both
    assert pytest.approx(16 / len(X)) == model.C_
    assert {len(word) for word in model.words_} == {8}
    assert model.words_[0] in ("GATTACAT", "GATTACAT".translate(OTHER)[::-1])
    forward = MotifFinder(width=10, both_strands=False, C=0.3, init="random").fit(X, y)
    assert (forward.both_strands_, forward.C_) == (False, 0.3)
    assert not hasattr(forward, "words_")


def test_both_classes_weigh_the_same_unless_samples_have_weights():
    X, y = planted("GATTACAT")
    many = X + [x for x, yes in zip(X, y, strict=True) if not yes] * 3
    labels = y + [False] * (len(many) - len(X))
    model = MotifFinder(width=8, C=0.3)
    share = np.array(labels).mean()
    weights = 0.5 / np.where(labels, share, 1 - share)
    same = clone(model).fit(many, labels, weights)
    assert model.fit(many, labels).coef_.tolist() == same.coef_.tolist()
    other = clone(model).set_params(class_weight=None).fit(many, labels)
    ones = clone(model).fit(many, labels, np.ones(len(many)))
    assert other.coef_.tolist() == ones.coef_.tolist() != same.coef_.tolist()
    with pytest.raises(ValueError, match="class_weight='x' is not possible"):
        clone(model).set_params(class_weight="x").fit(X, y)
