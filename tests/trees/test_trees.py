"""Trees: what they hold, texts and back, drawings, depth, bad input."""

import copy
import pickle

import pytest
from hypothesis import given
from tree_cases import deep_tree, trees

from maxmargin import Tree
from maxmargin.trees.brackets import escape, unescape

CAT = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))")


def test_what_a_tree_holds():
    assert CAT.label == "S"
    assert [child.label for child in CAT.children] == ["NP", "VP", "."]
    assert CAT.words() == ["the", "cat", "sat", "."]
    assert CAT.tags() == [("the", "DT"), ("cat", "NN"), ("sat", "VBD"), (".", ".")]
    assert CAT.spans() == [("S", 0, 4), ("NP", 0, 2), ("VP", 2, 3)]
    assert CAT.height == 3
    assert not CAT.is_preterminal
    assert CAT.children[2].is_preterminal
    assert [t.label for t in CAT.subtrees()] == [
        "S",
        "NP",
        "DT",
        "NN",
        "VP",
        "VBD",
        ".",
    ]


def test_a_single_preterminal():
    tree = Tree("UH", ["yes"])
    assert (tree.words(), tree.spans(), tree.height) == (["yes"], [], 1)
    assert Tree.parse("(UH yes)") == tree


def test_labels_can_be_mapped():
    assert repr(CAT.map_labels(str.lower)) == (
        "(s (np (dt the) (nn cat)) (vp (vbd sat)) (. .))"
    )
    assert CAT.map_labels(lambda z: z + "x", tags=False).tags() == CAT.tags()


def test_words_can_be_replaced():
    tree = CAT.with_words(["a", "dog", "ran", "!"])
    assert repr(tree) == "(S (NP (DT a) (NN dog)) (VP (VBD ran)) (. !))"
    with pytest.raises(ValueError, match="3 words for a tree over 4"):
        CAT.with_words(["a", "b", "c"])


def test_trees_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot be changed"):
        CAT.label = "NP"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del CAT.children
    with pytest.raises(AttributeError):
        CAT.other = 1
    assert copy.deepcopy(CAT) is copy.copy(CAT) is CAT


@given(trees(), trees())
def test_equality_and_hash_follow_the_text(a, b):
    assert (a == b) == (repr(a) == repr(b))
    assert a != repr(a)
    again = pickle.loads(pickle.dumps(a))
    assert again == a
    assert hash(again) == hash(a)
    assert {a: 1}[again] == 1


def test_a_word_is_not_a_phrase_of_the_same_text():
    assert Tree("A", ["B"]) != Tree("A", [Tree("B", ["c"])])


@given(trees())
def test_texts_can_be_read_back(tree):
    assert Tree.parse(repr(tree)) == tree
    for width in (1, 20, 80):
        text = tree.pretty(width)
        assert Tree.parse(text) == tree
    assert all(len(line) <= 80 or line.count("(") == 1 for line in text.split("\n"))


@given(trees())
def test_spans_have_the_words_of_their_nodes(tree):
    phrases = [node for node in tree.subtrees() if not node.is_preterminal]
    words = tree.words()
    for node, (label, start, end) in zip(phrases, tree.spans(), strict=True):
        assert node.label == label
        assert node.words() == words[start:end]


@given(trees())
def test_drawings_show_every_node_once(tree):
    for ascii in (False, True):
        lines = tree.draw(ascii).split("\n")
        assert len(lines) == 2 * tree.height + 1
        assert lines[-1].split() == tree.words()
        seen = " ".join(lines[:-1:2])
        if not ascii:
            labels = sorted(t.label for t in tree.subtrees())
            assert sorted(z for z in seen.split() if z != "│") == labels


def test_a_drawing():
    tree = Tree.parse("(S (NP (DT the) (JJ old) (NN cat)) (VP (VBD sat)))")
    assert tree.draw() == "\n".join(
        [
            "         S",
            "     ┌───┴───┐",
            "     NP      VP",
            " ┌───┼───┐   │",
            " DT  JJ  NN VBD",
            " │   │   │   │",
            "the old cat sat",
        ]
    )
    assert "|" in tree.draw(ascii=True)
    assert tree.draw(ascii=True).isascii()


def test_depth_is_no_problem():
    tree = deep_tree(10_000)
    again = Tree.parse(repr(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert tree.height == 10_001
    assert len(tree.spans()) == 10_000
    assert pickle.loads(pickle.dumps(tree)) == tree
    small = deep_tree(2000)  # indentation grows with the square of depth
    assert Tree.parse(small.pretty(40)) == small
    assert tree.map_labels(str.lower).height == tree.height
    narrow = Tree("w", ["w"])
    for _ in range(10_000):
        narrow = Tree("A", [narrow])
    assert narrow.draw().count("\n") == 2 * 10_001


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no tree in the text"),
        ("  ", "no tree in the text"),
        ("(S (A b)", "character 1: .*1 bracket is not closed"),
        ("(S (A (B c", "character 1: .*3 brackets are not closed"),
        ("(S (A b)))", "character 10: a bracket closes, but none is open"),
        (") (A b)", "character 1: a bracket closes"),
        ("(S (A b) ((B c)))", "character 10: a bracket has no label"),
        ("( (S (A b)))", "read_trees reads such trees"),
        ("(S (A b) (NP))", r"character 10: \(NP\) holds no word"),
        ("(S)", "holds no word"),
        ("(S (A b)) (S (A b))", "character 11: a second tree"),
        ("(S (A b)) tail", "character 11: 'tail' stands outside"),
        ("(S (A b) word)", "'word' stands beside other children"),
        ("(S word (A b))", "character 9: a bracket stands beside the word"),
        ("(A b c)", "character 6: the word 'c' stands beside"),
        (None, "read from a text"),
    ],
)
def test_bad_texts_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        Tree.parse(text)


@pytest.mark.parametrize(
    ("label", "children", "words"),
    [
        ("", ["a"], "cannot be a label"),
        ("N P", ["a"], "cannot be a label"),
        ("(", ["a"], "cannot be a label"),
        (3, ["a"], "cannot be a label"),
        ("NP", [], "no children"),
        ("NP", "cat", "give a list"),
        ("NP", None, "give a list"),
        ("NP", ["a", "b"], "a word beside other children"),
        ("NP", ["a", Tree("B", ["b"])], "a word beside other children"),
        ("NP", [3], "neither trees nor words"),
        ("NP", [""], "cannot be a word"),
        ("NP", ["a b"], "cannot be a word"),
    ],
)
def test_bad_nodes_are_refused(label, children, words):
    with pytest.raises(ValueError, match=words):
        Tree(label, children)


def test_brackets_in_words():
    tree = Tree("-LRB-", ["("])
    assert repr(tree) == "(-LRB- -LRB-)"
    assert [escape(w) for w in ("(", "a}", "b")] == ["-LRB-", "a-RCB-", "b"]
    assert [unescape(w) for w in ("-LRB-", "-RCB-", "-LXB-")] == ["(", "}", "-LXB-"]


@given(trees())
def test_exchange_with_nltk(tree):
    nltk = pytest.importorskip("nltk")
    theirs = tree.to_nltk()
    assert isinstance(theirs, nltk.Tree)
    assert theirs.leaves() == tree.words()
    assert Tree.from_nltk(theirs) == tree


def test_nltk_trees_without_tags_are_refused():
    nltk = pytest.importorskip("nltk")
    with pytest.raises(ValueError, match="a word needs a node of its own"):
        Tree.from_nltk(nltk.Tree("NP", ["the", "cat"]))
    with pytest.raises(ValueError, match="no children"):
        Tree.from_nltk(nltk.Tree("NP", []))
