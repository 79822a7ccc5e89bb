"""decoding="posterior": the tree of least expected loss, against all trees."""

import numpy as np
import pytest
from test_parser import TAGS, TREES

from maxmargin import GrammarParser, load, save


@pytest.fixture(scope="module")
def unsure():
    """A parser with random weights: many trees are nearly as good as the best."""
    model = GrammarParser(objective="log", horizontal=0, features=None)
    model.fit(None, TREES)
    return random_weights(model, 1)


def random_weights(model, seed):
    model._w[:] = 0.5 * np.random.default_rng(seed).normal(size=len(model._w))
    return model


def all_trees(model, tags):
    (ranked,) = model.predict_k_best([tags], 10_000)
    scores = np.array([score for _, score in ranked])
    share = np.exp(scores - scores.max())
    return [tree for tree, _ in ranked], share / share.sum()


def expected_f1(spans, chance):
    right = sum(chance.get(bracket, 0.0) for bracket in spans)
    return 2 * right / (sum(chance.values()) + len(spans))


def expected_hamming(spans, chance):
    right = sum(chance.get(bracket, 0.0) for bracket in spans)
    return 2 * right - sum(chance.values()) - len(spans)


SENTENCES = [
    TAGS[3],
    TAGS[6],
    [*TAGS[6], "IN", "NNS"],
    ["DT", "NN", "IN", "NNS", "VBD", "NNS", "IN", "DT", "NN"],
    ["NNS", "VBD", "DT", "NN", "IN", "NNS", "IN", "DT", "NN", "IN", "NNS"],
]


@pytest.mark.parametrize(
    ("loss", "value"), [("f1", expected_f1), ("hamming", expected_hamming)]
)
def test_no_tree_of_the_grammar_is_expected_to_be_better(unsure, loss, value):
    model = unsure.set_params(loss=loss, decoding="posterior")
    differs = False
    for seed, tags in enumerate(SENTENCES * 3):
        random_weights(model, seed)
        trees, share = all_trees(model, tags)
        assert len(trees) < 10_000
        chance = {}
        for tree, p in zip(trees, share, strict=True):
            for bracket in tree.spans():
                chance[bracket] = chance.get(bracket, 0.0) + p
        (found,) = model.predict([tags])
        best = max(value(tree.spans(), chance) for tree in trees)
        assert found in trees
        assert value(found.spans(), chance) == pytest.approx(best, abs=1e-6)
        differs = differs or value(trees[0].spans(), chance) < best - 1e-3
    assert differs  # the tree of largest score is worse, else this shows nothing


def test_auto_is_posterior_for_probabilities_alone(unsure):
    model = random_weights(unsure, 1).set_params(loss="f1", decoding="auto")
    auto = model.predict(SENTENCES)
    assert auto == model.set_params(decoding="posterior").predict(SENTENCES)
    viterbi = model.set_params(decoding="viterbi").predict(SENTENCES)
    assert auto != viterbi
    # the most probable tree has the least zero-one loss
    model.set_params(loss="zero-one", decoding="posterior")
    assert model.predict(SENTENCES) == viterbi
    model.set_params(loss="f1", decoding="auto", objective="hinge")
    assert model.predict(SENTENCES) == viterbi
    model.set_params(objective="log")


def test_fallbacks_empty_sentences_threads_and_files(unsure, tmp_path):
    model = unsure.set_params(loss="f1", decoding="auto", n_jobs=2)
    X = [["NN", "DT", "??"], [], *SENTENCES]
    found = model.predict(X)
    assert found[1] is None
    assert model.n_fallbacks_ == 2
    model.set_params(n_jobs=1)
    assert found[2:] == model.predict(SENTENCES)
    save(model, tmp_path / "parser.model")
    assert load(tmp_path / "parser.model").predict(X) == found


def test_words_get_their_probable_tags():
    model = GrammarParser(objective="log", input="words", C=100).fit(None, TREES)
    words = [tree.words() for tree in TREES]
    assert model.predict(words) == TREES


def test_unknown_decoding_is_an_error():
    with pytest.raises(ValueError, match="decoding='best' is not known; choose one of"):
        GrammarParser(decoding="best").fit(None, TREES)


def test_C_is_chosen_by_the_objective(unsure):
    assert unsure.C is None
    assert unsure.C_ == 1.0
    assert GrammarParser(features=None).fit(None, TREES).C_ == 0.1
    assert GrammarParser().fit(None, TREES).C_ == 0.1
    assert GrammarParser().fit(None, 10 * TREES).C_ < 0.1
    assert GrammarParser()._structure()._usual_C(1000) == 0.01
    assert GrammarParser(input="words")._structure()._usual_C(1000) == 0.03
    assert GrammarParser(C=3.0).fit(None, TREES).C_ == 3.0
