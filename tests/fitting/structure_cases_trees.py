"""Parsers, with data, whose structures StructuralSVM trains."""

from maxmargin import GrammarParser
from maxmargin.trees import Tree

TREES = [
    Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"),
    Tree.parse("(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))"),
    Tree.parse("(S (NP (NP (NN a)) (PP (IN in) (NP (NN b)))) (VP (VBD is)))"),
    Tree.parse("(S (NP (NN I)) (VP (VBD saw) (NP (NN it)) (PP (IN in) (NP (NN it)))))"),
]


def tags():
    return None, TREES, [tree.tags() for tree in TREES]


def words():
    X = [tree.words() for tree in TREES]
    return X, TREES, [*X, ["dogs", "saw", "dogs"], ["is"]]


def partly_known():
    X = [tree.tags() for tree in [*TREES, TREES[3]]]
    return X, [*TREES, [("VP", 1, 5), (None, 3, 5)]], X


CASES = {
    "trees": (GrammarParser(C=10, tol=0.01), tags),
    "trees of words": (GrammarParser(C=1, loss="hamming", input="words"), words),
    "trees in double precision": (GrammarParser(tol=1e-5, features=None), tags),
    "partly known trees": (GrammarParser(C=10, tol=1e-3), partly_known),
}
