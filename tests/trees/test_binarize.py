"""Binarisation: exactly undone for all trees and options; the symbols of nltk."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_cases import deep_tree, trees

from maxmargin import Tree
from maxmargin.trees.binarize import (
    base_label,
    binarize,
    collapse_unaries,
    expand_unaries,
    is_intermediate,
    unbinarize,
)

OPTIONS = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["left", "right"]),
        "horizontal": st.sampled_from([0, 1, 2, 3, None]),
        "parent": st.sampled_from([0, 1]),
    }
)
FLAT = Tree.parse("(NP (DT a) (JJ big) (JJ red) (NN dog))")


@given(trees(max_children=7), OPTIONS)
def test_binarisation_is_undone(tree, options):
    small = binarize(tree, **options)
    assert all(len(node.children) <= 2 for node in small.subtrees())
    assert small.tags() == tree.tags()
    assert unbinarize(small) == tree
    names = [node.label for node in small.subtrees() if not node.is_preterminal]
    hidden = sum(map(is_intermediate, names))
    wide = [len(node.children) for node in tree.subtrees()]
    assert hidden == sum(max(n - 2, 0) for n in wide)


def test_symbols():
    assert repr(binarize(FLAT)) == (
        "(NP (DT a) (NP|<JJ;JJ> (JJ big) (NP|<JJ;NN> (JJ red) (NN dog))))"
    )
    assert repr(binarize(FLAT, direction="left", horizontal=1)) == (
        "(NP (NP|<JJ> (NP|<JJ> (DT a) (JJ big)) (JJ red)) (NN dog))"
    )
    under = Tree("S", [FLAT])
    assert binarize(under, parent=1, horizontal=0).children[0].label == "NP^<S>"
    hidden = binarize(under, parent=1, horizontal=0).children[0].children[1].label
    assert hidden == "NP|<>^<S>"
    assert base_label(hidden) == "NP"


def test_labels_with_the_signs_of_the_notation():
    assert base_label(r"A\|<B>") == "A|<B>"
    assert not is_intermediate(r"A\|<B>")
    assert is_intermediate("A|<B>")
    assert not is_intermediate("VBG|NN")
    assert base_label("VBG|NN") == "VBG|NN"


def test_deep_trees():
    tree = deep_tree(10_000)
    assert unbinarize(binarize(tree, parent=1)) == tree
    assert expand_unaries(collapse_unaries(tree)) == tree


def test_part_of_a_binarised_tree_is_refused():
    with pytest.raises(ValueError, match="intermediate symbol"):
        unbinarize(binarize(FLAT).children[1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"direction": "up"}, "choose 'right' or 'left'"),
        ({"horizontal": -1}, "0 or more"),
        ({"horizontal": 1.5}, "0 or more"),
        ({"horizontal": True}, "0 or more"),
        ({"parent": 2}, "0 or 1"),
        ({"parent": "1"}, "0 or 1"),
        ({"parent": None}, "0 or 1"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        binarize(FLAT, **options)


@pytest.fixture(scope="module")
def sample(data_home):
    from maxmargin.files import read_trees

    return read_trees(data_home / "wsj_sample_trees" / "wsj_sample.mrg.gz")[::20]


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("horizontal", [0, 1, 2, None])
@pytest.mark.parametrize("parent", [0, 1])
def test_rules_are_those_of_nltk(sample, direction, horizontal, parent):
    pytest.importorskip("nltk")
    ours, theirs = Counter(), Counter()
    for tree in sample:
        small = binarize(
            tree, direction=direction, horizontal=horizontal, parent=parent
        )
        for node in small.subtrees():
            if not node.is_preterminal:
                ours[(node.label, *(c.label for c in node.children))] += 1
        other = tree.to_nltk()
        other.chomsky_normal_form(direction, horizontal, parent)
        theirs.update(p for p in other.productions() if p.is_nonlexical())
    assert len(ours) == len(theirs)
    assert Counter(ours.values()) == Counter(theirs.values())


# unary chains ------------------------------------------------------------------------


@given(trees(), st.booleans())
def test_unary_chains_are_undone(tree, tags):
    small = collapse_unaries(tree, tags=tags)
    for node in small.subtrees():
        if not node.is_preterminal and len(node.children) == 1:
            assert not tags
            assert node.children[0].is_preterminal
    assert small.words() == tree.words()
    assert expand_unaries(small, tags=tags) == tree


def test_labels_that_contain_the_separator_are_refused():
    with pytest.raises(ValueError, match="choose another sep"):
        collapse_unaries(Tree.parse("(A+B (C d))"))
    tree = Tree.parse("(A+B (C (D d) (E e)))")
    assert expand_unaries(collapse_unaries(tree, sep="/"), sep="/") == tree
    for sep in ("", " ", None):
        with pytest.raises(ValueError, match="sep="):
            collapse_unaries(FLAT, sep=sep)
