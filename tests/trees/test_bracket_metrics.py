"""Bracket scores: counted by hand, as evalb counts; intervals."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_cases import trees

from maxmargin import Tree
from maxmargin.trees.metrics import (
    bootstrap,
    bootstrap_difference,
    score_brackets,
    wrong_brackets,
)

GOLD = Tree.parse(
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)) (PP (IN in) (NP (NN "
    "town)))) (. .))"
)
ATTACHED = Tree.parse(
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (NN "
    "town))))) (. .))"
)


def one(gold, predicted, **options):
    return score_brackets([Tree.parse(gold)], [Tree.parse(predicted)], **options)


def test_a_wrong_attachment():
    report = score_brackets([GOLD], [ATTACHED])
    assert report.counts == (6, 7, 6)
    assert (report.precision, report.recall) == (6 / 7, 1.0)
    assert report.f1 == pytest.approx(12 / 13)
    assert report.exact_match == 0.0
    assert report.average_crossing == 0.0
    assert report.tagging_accuracy == 1.0
    assert report.labels["NP"] == (3, 4, 3)
    assert wrong_brackets(GOLD, ATTACHED) == (set(), {3})
    assert wrong_brackets(ATTACHED, GOLD) == ({3}, set())


def test_perfect_predictions():
    report = score_brackets([GOLD, ATTACHED], [GOLD, ATTACHED])
    assert report.f1 == report.exact_match == report.unlabelled_f1 == 1.0
    assert report.no_crossing == report.two_or_less_crossing == 1.0


def test_labels():
    report = one("(S (NP (A a) (B b)) (C c))", "(S (VP (A a) (B b)) (D c))")
    assert report.counts == (2, 2, 1)
    assert report.unlabelled_f1 == 1.0
    assert report.tagging_accuracy == pytest.approx(2 / 3)
    assert report.labels == {"NP": (1, 0, 0), "S": (1, 1, 1), "VP": (0, 1, 0)}


def test_crossing_brackets():
    report = one("(S (X (A a) (A a)) (A a))", "(S (A a) (X (A a) (A a)))")
    assert report.counts == (2, 2, 1)
    assert report.average_crossing == 1.0
    assert (report.no_crossing, report.two_or_less_crossing) == (0.0, 1.0)
    swapped = one("(S (A a) (X (A a) (A a)))", "(S (X (A a) (A a)) (A a))")
    assert swapped.average_crossing == 1.0


def test_brackets_that_are_there_twice_need_two_partners():
    report = one("(S (NP (NP (A a))) (B b))", "(S (NP (A a)) (B b))")
    assert report.counts == (3, 2, 2)
    assert one("(S (NP (A a)) (B b))", "(S (NP (NP (A a))) (B b))").counts == (2, 3, 2)


def test_punctuation_is_taken_out():
    gold, guess = "(S (NP (A a) (, ,)) (VP (B b)))", "(S (NP (A a)) (, ,) (VP (B b)))"
    assert one(gold, guess).exact_match == 1.0
    assert one(gold, guess, delete_punctuation=False).counts == (3, 3, 2)
    # by the true tag, so that the words stay the same; and it is no tagging error
    assert one(gold, "(S (NP (A a)) (X ,) (VP (B b)))").exact_match == 1.0
    assert one(gold, "(S (NP (A a)) (X ,) (VP (B b)))").tagging_accuracy == 1.0
    # a bracket over punctuation alone is none
    assert one("(S (X (. .)) (A a))", "(S (. .) (A a))").counts == (1, 1, 1)


def test_roots_and_equal_labels():
    assert one("(TOP (S (A a)))", "(ROOT (S (A a)))").counts == (1, 1, 1)
    assert one("(TOP (S (A a)))", "(S (A a))", delete_labels=()).counts == (2, 1, 1)
    assert one("(S (PRT (A a)))", "(S (ADVP (A a)))").f1 == 1.0
    assert one("(S (PRT (A a)))", "(S (ADVP (A a)))", equal_labels=()).f1 == 0.5


def test_empty_elements_do_not_count():
    gold = "(S (NP (-NONE- *)) (VP (A a)))"
    report = one(gold, gold)
    assert report.counts == (2, 2, 2)
    assert report.sentences[0].length == 1


def test_failed_and_skipped_sentences():
    other = Tree.parse("(S (X other))")
    report = score_brackets([GOLD, GOLD, GOLD], [GOLD, None, other])
    assert (report.n_sentences, report.n_failed, report.n_skipped) == (3, 1, 1)
    assert report.counts == (12, 6, 6)
    assert report.exact_match == 0.5
    assert report.no_crossing == 1.0
    nothing = score_brackets([], [])
    assert nothing.f1 == nothing.exact_match == nothing.average_crossing == 0.0
    assert "0.00" in str(nothing)


def test_words_may_be_escaped_in_one_of_the_trees():
    assert one("(S (X -LRB-))", "(S (X -LRB-))").f1 == 1.0
    assert score_brackets([Tree("X", ["-LRB-"])], [Tree("X", ["("])]).n_skipped == 0


def test_the_summary_has_a_column_for_short_sentences():
    edge = Tree("S", [Tree("A", ["a"])] * 40)
    at_edge = score_brackets([edge, GOLD], [edge, GOLD])
    assert str(at_edge).split("\n")[1].split()[-2:] == ["2", "2"]
    long = Tree("S", [Tree("A", ["a"])] * 41)
    wrong = Tree("X", long.children)
    report = score_brackets([GOLD, long], [GOLD, wrong])
    line = next(z for z in str(report).split("\n") if z.startswith("bracket F1"))
    assert line.split()[-2:] == ["85.71", "100.00"]
    assert report.as_dict()["f1"] == report.f1


@given(st.lists(st.tuples(trees(), trees()), max_size=4))
def test_scores_agree_with_plain_counting(pairs):
    """Without deletions, by multisets of spans, on trees made to have equal words."""
    gold = [a for a, _ in pairs]
    guess = [_over(b, a.words()) for a, b in pairs]
    report = score_brackets(
        gold, guess, delete_labels=(), delete_punctuation=False, equal_labels=()
    )
    truth = [Counter(a.spans()) for a in gold]
    found = [Counter(b.spans()) for b in guess]
    same = sum((a & b).total() for a, b in zip(truth, found, strict=True))
    assert report.counts == (
        sum(a.total() for a in truth),
        sum(b.total() for b in found),
        same,
    )
    swapped = score_brackets(guess, gold, delete_labels=(), delete_punctuation=False)
    assert swapped.n_skipped == 0
    for a, b in zip(gold, guess, strict=True):
        missed, wrong = wrong_brackets(
            a, b, delete_labels=(), delete_punctuation=False, equal_labels=()
        )
        assert len(a.spans()) - len(missed) == len(b.spans()) - len(wrong)


def _over(shape, words):
    """A tree over the words: flat, with the labels of another one on top."""
    tree = Tree(shape.label, [Tree("T", [word]) for word in words])
    for label, _, _ in shape.spans():
        tree = Tree(label, [tree])
    return tree


def test_intervals():
    gold, guess = [GOLD] * 40, [GOLD, ATTACHED] * 20
    interval = bootstrap(gold, guess, n=200)
    assert interval.low < interval.value < interval.high <= 1.0
    assert interval.value == score_brackets(gold, guess).f1
    assert bootstrap(gold, guess, n=200) == interval
    assert bootstrap(gold, gold) == (1.0, 1.0, 1.0)
    assert str(bootstrap(gold, gold)) == "100.00 [100.00, 100.00]"
    better = bootstrap_difference(gold, guess, gold, n=200)
    assert 0 < better.low <= better.value <= better.high
    assert better.value == pytest.approx(1.0 - interval.value)
    same = bootstrap_difference(gold, guess, guess)
    assert np.allclose(same, 0.0)


@pytest.mark.parametrize(
    ("gold", "guess", "words"),
    [
        ([GOLD], [], "1 true trees, but 0 predicted"),
        ([None], [GOLD], r"gold_trees\[0\] is of type NoneType"),
        ([GOLD], ["(S (A b))"], r"predicted_trees\[0\] is of type str"),
    ],
)
def test_bad_input_is_refused(gold, guess, words):
    with pytest.raises(ValueError, match=words):
        score_brackets(gold, guess)


def test_more_bad_input():
    with pytest.raises(ValueError, match="n=0"):
        bootstrap([GOLD], [GOLD], n=0)
    with pytest.raises(ValueError, match="level=2"):
        bootstrap([GOLD], [GOLD], level=2)
    with pytest.raises(ValueError, match="no sentences"):
        bootstrap([], [])
    with pytest.raises(ValueError, match="different words"):
        wrong_brackets(GOLD, Tree.parse("(S (A b))"))
