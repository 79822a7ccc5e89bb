"""Trees of nltk in place of ours: to train, to evaluate, to parse, to show."""

import re

import pytest

pytest.importorskip("nltk")

import nltk

from maxmargin import GrammarParser, PCFGParser, Tree
from maxmargin.files import read_trees
from maxmargin.trees.metrics import score_brackets
from maxmargin.views import tree as tree_view

TEXTS = [
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))))",
    "(S (NP (DT a) (NN man)) (VP (VBD slept)))",
    "(S (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS spots)))) (VP (VBD slept)))",
    "(S (NP (PRP she)) (VP (VBD saw) (NP (DT a) (NN star)) (PP (IN with) (NP (NNS we)))))",
]
OURS = [Tree.parse(text) for text in TEXTS]
THEIRS = [nltk.Tree.fromstring(text) for text in TEXTS]


@pytest.mark.parametrize("make", [lambda: GrammarParser(C=10), PCFGParser])
@pytest.mark.parametrize("kind", ["tags", "words", "both"])
def test_they_train_and_evaluate_as_ours(make, kind):
    ours = make().set_params(input=kind).fit(None, OURS)
    theirs = make().set_params(input=kind).fit(None, THEIRS)
    assert theirs.predict(THEIRS) == ours.predict(OURS)
    assert theirs.score(None, THEIRS) == ours.score(OURS, OURS)
    assert str(theirs.evaluate(THEIRS, THEIRS)) == str(ours.evaluate(None, OURS))
    assert theirs.fit(THEIRS, OURS).predict(OURS) == ours.predict(OURS)


def test_predictions_go_back():
    parser = GrammarParser(C=10).fit(None, THEIRS)
    found = [tree.to_nltk() for tree in parser.predict(THEIRS)]
    assert found == THEIRS
    assert score_brackets(THEIRS, found).f1 == score_brackets(OURS, found).f1 == 1.0
    assert parser.evaluate(None, THEIRS, predicted=found).f1 == 1.0


def test_subclasses_and_partial_truths():
    parented = [nltk.ParentedTree.convert(tree) for tree in THEIRS]
    parser = GrammarParser(C=10).fit(THEIRS, [parented[0], None, *parented[2:]])
    same = GrammarParser(C=10).fit(OURS, [OURS[0], None, *OURS[2:]])
    assert (parser.coef_ == same.coef_).all()
    assert parser.complete(THEIRS, [None, *parented[1:]])[1:] == OURS[1:]


def test_reports_and_views_show_them():
    parser = GrammarParser(C=10).fit(None, THEIRS)
    assert "spots" in parser.report(THEIRS, THEIRS).html
    assert repr(tree_view(THEIRS[0], THEIRS[0])) == repr(tree_view(OURS[0], OURS[0]))
    assert repr(parser.show(THEIRS[0], THEIRS[0])) == repr(
        parser.show(OURS[0], OURS[0])
    )


def test_treebanks_of_nltk_are_cleaned_as_files_are():
    text = "( (S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD slept) (NP (-NONE- *-1)))) )"
    raw = nltk.Tree.fromstring(text)
    clean = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD slept)))")
    assert read_trees([raw]) == read_trees([text]) == [clean]
    assert read_trees([raw, THEIRS[0]], root="TOP")[1].label == "TOP"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (THEIRS[0], "y must be a list of trees, also for one"),
        (
            [nltk.Tree("NP", ["the", "cat"])],
            "y[0]: NP has a word beside other children",
        ),
        ([THEIRS[0], nltk.Tree("NP", [])], "y[1]: NP has no children"),
        ([nltk.Tree("", THEIRS)], "y[0]: '' cannot be a label"),
        ([nltk.Tree("", THEIRS)], "read_trees takes trees of nltk too"),
        ([nltk.Tree("NN", [("cat", "NN")])], "y[0]: NN has children that are neither"),
    ],
)
def test_what_is_no_parse_tree_is_named(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GrammarParser().fit(None, y)


def test_one_tree_is_no_list_of_sentences():
    parser = PCFGParser().fit(None, THEIRS)
    with pytest.raises(ValueError, match="X is one Tree: give a list"):
        parser.predict(THEIRS[0])
    with pytest.raises(ValueError, match=r"X\[0\]: NP has no children"):
        parser.predict([nltk.Tree("NP", [])])
    with pytest.raises(ValueError, match=r"gold_trees\[0\]: NP has no children"):
        score_brackets([nltk.Tree("NP", [])], OURS[:1])
