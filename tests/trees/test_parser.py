"""GrammarParser and PCFGParser: training, prediction, bad input, saving."""

import gzip
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from maxmargin import GrammarParser, PCFGParser, load, save
from maxmargin.trees import Tree
from maxmargin.trees.input import loop_of

# small grammars have one tree per sentence: there is nothing to learn, which is right
pytestmark = pytest.mark.filterwarnings("ignore:Training ended with weights that are")

TEXTS = [
    "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
    "(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))",
    "(S (NP (DT the) (JJ old) (JJ red) (NN dog)) (VP (VBD saw) (NP (NNS cats))))",
    "(S (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS cats)))) (VP (VBD sat)))",
    "(S (VP (VB sit) (PP (IN with) (NP (DT the) (NN dog)))))",
    "(NP (DT the) (JJ red) (NN cat))",
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN with) "
    "(NP (NNS dogs)))))",
]
TREES = [Tree.parse(text) for text in TEXTS]
PAIRS = [tree.tags() for tree in TREES]
WORDS = [tree.words() for tree in TREES]
TAGS = [[tag for _, tag in pairs] for pairs in PAIRS]


@pytest.fixture(scope="module")
def fitted():
    return GrammarParser(C=100).fit(None, TREES)


def test_training_trees_are_learned_with_a_certificate(fitted):
    assert fitted.predict(PAIRS) == TREES
    assert fitted.n_fallbacks_ == 0
    assert fitted.converged_
    assert fitted.certificate_.relative_gap <= fitted.tol
    assert fitted.score(None, TREES) == fitted.score(PAIRS, TREES) == 1.0
    assert len(fitted.coef_) == len(fitted.grammar_.rule_names())
    assert len(fitted.root_coef_) == 2


def test_tags_become_leaves_where_words_are_not_known(fitted):
    (tree,) = fitted.predict(TAGS[:1])
    assert tree == Tree.parse("(S (NP (DT DT) (NN NN)) (VP (VBD VBD)))")
    assert fitted.evaluate(TAGS, TREES).exact_match == 1.0


def test_words_are_seen_where_they_are_given(fitted, tmp_path):
    """With features="auto", also if the input is tags; tags alone stay possible."""
    assert len(fitted.structure_.encoders["spans"].channels) == 2
    plain = GrammarParser(C=100).fit(TAGS, TREES)
    assert len(plain.structure_.encoders["spans"].channels) == 1
    assert len(GrammarParser(C=100, features="spans").fit(None, TREES)._w) == len(
        plain._w
    )
    assert GrammarParser(features=None).fit(None, TREES).span_coef_.size == 0
    for model in (fitted, plain):
        assert model.predict(PAIRS) == TREES
        found = model.predict(TAGS)
        assert model.evaluate(TAGS, TREES).exact_match == np.mean(
            [a.spans() == b.spans() for a, b in zip(found, TREES, strict=True)]
        )
        save(model, tmp_path / "model")
        assert load(tmp_path / "model").predict(PAIRS) == TREES


@pytest.mark.parametrize("loss", ["f1", "hamming", "zero-one"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_losses_and_rescalings_learn(loss, rescaling):
    model = GrammarParser(C=100, loss=loss, rescaling=rescaling).fit(TAGS, TREES)
    assert model.score(TAGS, TREES) == 1.0
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize(
    "options",
    [
        {"input": "words"},
        {"input": "words", "features": ["lexical", "spans"]},
        {"input": "both", "features": "spans", "parent": 1, "direction": "left"},
    ],
)
def test_features_learn_and_survive_a_file(options, tmp_path):
    X = WORDS if options["input"] == "words" else PAIRS
    model = GrammarParser(C=100, **options).fit(X, TREES)
    assert model.predict(X) == TREES
    new = [["a", "frog", "sat"]]
    if options["input"] == "both":
        new = [[("a", "DT"), ("frog", "NN"), ("sat", "VBD")]]
    assert model.predict(new)[0].words() == ["a", "frog", "sat"]
    path = tmp_path / "parser.safetensors"
    save(model, path)
    again = load(path)
    assert again.predict([*X, *new]) == model.predict([*X, *new])
    assert again.get_params() == model.get_params()
    assert again.certificate_ == model.certificate_


def test_k_best_is_ordered_and_starts_with_the_prediction(fitted):
    ranked = fitted.predict_k_best(PAIRS, 5)
    assert [trees[0][0] for trees in ranked] == TREES
    for trees in ranked:
        scores = [score for _, score in trees]
        assert scores == sorted(scores, reverse=True)
        assert len({tree for tree, _ in trees}) == len(trees)
    assert fitted.predict_k_best([["NN", "DT"]], 3) == [[]]
    with pytest.raises(ValueError, match="k=0 is not possible"):
        fitted.predict_k_best(PAIRS, 0)


def test_marginals_agree_with_all_trees():
    model = GrammarParser(C=1.0).fit(None, TREES)
    for tags in (TAGS[0], TAGS[6]):
        (table,) = model.predict_marginals([tags], threshold=0.0)
        (ranked,) = model.predict_k_best([tags], 10_000)
        scores = np.array([score for _, score in ranked])
        share = np.exp(scores - scores.max())
        share /= share.sum()
        want = {}
        for (tree, _), p in zip(ranked, share, strict=True):
            for bracket in set(tree.spans()):
                want[bracket] = want.get(bracket, 0.0) + p
        for bracket, p in want.items():
            assert table[bracket] == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize("fallback", ["flat", "right", "none"])
def test_fallbacks(fitted, fallback):
    model = GrammarParser(C=100, fallback=fallback, max_iter=1, tol=0.9)
    model.__dict__.update({k: v for k, v in fitted.__dict__.items() if k.endswith("_")})
    model._w = fitted._w
    found = model.predict([["NN", "DT", "??"], [], ["DT", "NN", "VBD"]])
    assert model.n_fallbacks_ == 2
    assert found[1] is None
    assert found[2] is not None
    if fallback == "flat":
        assert found[0] == Tree.parse("(S (NN NN) (DT DT) (?? ??))")
    elif fallback == "right":
        assert found[0] == Tree.parse("(S (NN NN) (S (DT DT) (?? ??)))")
    else:
        assert found[0] is None


def test_fallback_error_names_the_sentence(fitted):
    fitted.set_params(fallback="error")
    try:
        with pytest.raises(ValueError, match=r"sentence 1 \(NN DT\) cannot be parsed"):
            fitted.predict([["DT", "NN", "VBD"], ["NN", "DT"]])
    finally:
        fitted.set_params(fallback="flat")


def test_max_length_leaves_sentences_out():
    model = GrammarParser(max_length=4, tol=0.1).fit(None, TREES)
    assert model.n_left_out_ == 3
    assert PCFGParser(max_length=4).fit(None, TREES).n_left_out_ == 3
    with pytest.raises(ValueError, match="nothing is left"):
        GrammarParser(max_length=1).fit(None, TREES)


def test_words_get_tags_by_their_letters():
    model = GrammarParser(C=100, input="words").fit(WORDS, TREES)
    (tree,) = model.predict([["the", "cows", "sat"]])
    assert tree.words() == ["the", "cows", "sat"]
    assert tree.tags()[0] == ("the", "DT")


def test_one_word_trees_and_phrases_named_like_tags():
    texts = [
        "(NN dog)",
        "(X (X a) (Y b))",
        "(X (X (X a) (Y b)) (Y c))",
        "(NP (NN cat))",
    ]
    trees = [Tree.parse(text) for text in texts]
    model = GrammarParser(C=100).fit(None, trees)
    assert model.predict(trees[1:3]) == trees[1:3]
    assert model.predict([["NN"]])[0] in (
        Tree.parse("(NN NN)"),
        Tree.parse("(NP (NN NN))"),
    )


def test_weights_that_overflowed_give_no_tree(fitted):
    from maxmargin.core.decode import decode

    batch = fitted._encode(None, TREES, None).batch
    for bad in (np.nan, -np.inf):
        flat = decode(batch, np.full_like(fitted._w, bad))
        assert set(flat.tolist()) == {-2}


# pcfg ------------------------------------------------------------------------------------


def test_pcfg_scores_are_log_probabilities(tmp_path):
    model = PCFGParser(horizontal=2).fit(None, TREES)
    assert model.score(PAIRS, TREES) > 0.8
    ((tree, score),) = model.predict_k_best([["DT", "JJ", "NN"]], 1)[0:1][0][:1]
    assert tree.label == "NP"
    # P(root NP) P(NP -> DT NP|<JJ;NN>) P(NP|<JJ;NN> -> JJ NN)
    rules = dict(
        zip(
            model.grammar_.rule_names(),
            np.concatenate(model.grammar_.log_probabilities()[:2]),
            strict=True,
        )
    )
    want = np.log(1 / 7) + rules["NP -> DT NP|<JJ;NN>"] + rules["NP|<JJ;NN> -> JJ NN"]
    assert score == pytest.approx(want)
    save(model, tmp_path / "pcfg")
    assert load(tmp_path / "pcfg").predict(PAIRS) == model.predict(PAIRS)


def test_pcfg_refuses_rules_without_probability():
    from dataclasses import replace

    grammar = PCFGParser().fit(None, TREES).grammar_
    counts = grammar.counts_binary.copy()
    counts[1] = 0.0
    with pytest.raises(ValueError, match="has probability zero"):
        PCFGParser.from_grammar(replace(grammar, counts_binary=counts))
    parser = PCFGParser.from_grammar(grammar)
    assert parser.predict(PAIRS) == PCFGParser().fit(None, TREES).predict(PAIRS)


def test_pcfg_of_words():
    model = PCFGParser(input="words").fit(WORDS, TREES)
    assert model.score(WORDS, TREES) > 0.8
    (tree,) = model.predict([["the", "frogs", "sat"]])
    assert tree.words() == ["the", "frogs", "sat"]


def wsj(data_home, longest, first, last):
    from maxmargin.trees.treebank import read_trees

    folder = data_home / "wsj_sample_trees"
    if not folder.is_dir():
        pytest.skip("there are no wsj_sample_trees among the data sets")
    trees = read_trees(folder / "wsj_sample.mrg.gz")
    with gzip.open(folder / "wsj_sample.docids.txt.gz", "rt") as lines:
        names = lines.read().split()
    return [
        tree
        for tree, name in zip(trees, names, strict=True)
        if first <= int(name[-4:]) <= last and len(tree.words()) <= longest
    ]


def test_pcfg_equals_nltk(data_home):
    nltk = pytest.importorskip("nltk")
    trees = wsj(data_home, 6, 1, 60)
    model = PCFGParser().fit(None, trees)
    try:
        parser = nltk.ViterbiParser(model.to_nltk(), max_time=None)
    except TypeError:
        parser = nltk.ViterbiParser(model.to_nltk())
    sentences = [[tag for _, tag in tree.tags()] for tree in trees[:6]]
    for tags, ranked in zip(sentences, model.predict_k_best(sentences, 1), strict=True):
        theirs = next(iter(parser.parse(tags)))
        assert ranked[0][1] == pytest.approx(theirs.logprob() * np.log(2))


def test_wsj_short_sentences(data_home):
    trees = wsj(data_home, 10, 1, 60)
    model = GrammarParser(tol=0.1, horizontal=1).fit(None, trees)
    assert model.certificate_.relative_gap <= 0.1
    assert model.score(None, trees) > 0.95
    assert model.n_fallbacks_ == 0


def test_no_tree_beats_the_search(data_home):
    """On real sentences, where all trees cannot be listed: against the 300 best."""
    from maxmargin.testing import Asker
    from maxmargin.trees.cky.k_best import k_best

    trees = wsj(data_home, 9, 1, 40)[:15]
    for C in (1e-3, 1.0):
        model = GrammarParser(C=C, tol=0.5).fit(None, trees)
        batch = model._encode(None, trees, None).batch
        w = model._w.astype(np.float64)
        for i in range(len(trees)):
            ask = Asker(batch, i, w, True)
            y = ask.argmax(1.0)
            found = ask.value(y) + ask.loss(y)
            for other, value in k_best(batch, i, w, 300):
                assert value + ask.loss(other) <= found + 1e-9


# bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [GrammarParser, PCFGParser])
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, None, "y is missing"),
        (None, [], "there are no trees"),
        (None, TEXTS[0], "y must be a list"),
        (None, [TEXTS[0]], r"y\[0\] is of type str.*Tree.parse"),
        (None, [TREES[0], None], r"y\[1\] is of type NoneType"),
        (TAGS[:2], TREES[:1], "X has 2 sentences, but y has 1"),
        (["DT NN VBD"], TREES[:1], r"X\[0\] is 'DT NN VBD', not a list"),
        ("DT NN VBD", TREES[:1], "X is of type str"),
        ([["DT", "NN"]], TREES[:1], r"X\[0\] has 2 tags, but y\[0\] has 3"),
        ([["DT", "NN", "VB"]], TREES[:1], r"X\[0\]\[2\] is 'VB', but y\[0\] has 'VBD'"),
        ([[]], TREES[:1], r"X\[0\] is an empty sentence"),
        ([["DT", 3, "VBD"]], TREES[:1], r"X\[0\]\[1\] is 3"),
        ([["DT", "N N", "VBD"]], TREES[:1], "with a space in it"),
        (None, [Tree.parse("(S (NP (S (NP (NN x)))))")], r"y\[0\] has S above itself"),
    ],
)
def test_bad_input_is_a_sentence_and_changes_nothing(make, X, y, message):
    model = make().set_params(horizontal=1)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "loss='hinge' is not known"),
        ({"input": "letters"}, "input='letters' is not known"),
        ({"features": "all"}, "features='all' is not known"),
        ({"features": "lexical"}, "choose input='words'"),
        ({"fallback": "guess"}, "fallback='guess' is not known"),
        ({"direction": "up"}, "direction='up'"),
        ({"horizontal": -1}, "horizontal=-1"),
        ({"parent": 3}, "parent=3"),
        ({"max_length": 0}, "max_length=0"),
        ({"C": -1.0}, "C=-1.0"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        GrammarParser(**options).fit(None, TREES)


def test_words_must_be_those_of_the_tree():
    with pytest.raises(ValueError, match=r"X\[0\]\[1\] is 'dog', but y\[0\] has 'cat'"):
        GrammarParser(input="words").fit([["the", "dog", "sat"]], TREES[:1])
    with pytest.raises(ValueError, match="pairs"):
        GrammarParser(input="both").fit([["the", "dog", "sat"]], TREES[:1])


@pytest.mark.parametrize("make", [GrammarParser, PCFGParser])
def test_trees_with_a_loop_are_left_out(make):
    loop = Tree.parse("(S (NP (VP (NP (NN x)))))")
    with pytest.warns(UserWarning, match=r"1 of .*y\[1\] has NP .*\(NP -> VP -> NP\)"):
        model = make(max_length=8).fit(None, [TREES[0], loop, *TREES[1:]])
    assert model.n_left_out_ == 1
    assert model.predict(TAGS) == make(max_length=8).fit(None, TREES).predict(TAGS)
    report = model.evaluate(None, [*TREES, loop])
    assert report.sentences[-1].truth == 4
    assert model.score(None, [loop]) < 1


def test_long_chains_are_looked_through_once():
    chain = Tree("T", ["w"])
    for k in range(20_000):
        chain = Tree(f"A{k}", [chain])
    assert loop_of(chain) is None
    assert loop_of(Tree("A3", [chain])).count("->") == 20_000 - 3


def test_conventions(fitted):
    with pytest.raises(NotFittedError):
        GrammarParser().predict(TAGS)
    with pytest.raises(NotFittedError):
        PCFGParser().predict(TAGS)
    other = clone(fitted)
    assert other.get_params() == fitted.get_params()
    assert not hasattr(other, "grammar_")
    assert fitted.predict([]) == []


def test_sample_weights_and_paths():
    weights = np.ones(len(TREES))
    weights[3] = 0.0
    model = GrammarParser(C=10).fit(None, TREES, sample_weight=weights)
    assert model.score(None, TREES, sample_weight=weights) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = GrammarParser(tol=0.05).path(None, TREES, [1e-4, 10.0])
    primals = [m.certificate_.primal for m in models]
    assert primals[0] < primals[1]
    assert models[1].predict(TAGS) == GrammarParser(C=10.0).fit(None, TREES).predict(
        TAGS
    )
    with pytest.raises(ValueError, match="sample_weight"):
        PCFGParser().fit(None, TREES, sample_weight=weights)
