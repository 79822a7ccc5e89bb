"""Tiny fits, to compile ahead: see ``maxmargin/warmup.py``."""

import maxmargin
from maxmargin.trees import Tree


def parse():
    trees = [
        Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"),
        Tree.parse("(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))"),
    ]
    X = [[("a", "DT"), ("cat", "NN"), ("saw", "VBD"), ("dogs", "NNS")]]
    return maxmargin.GrammarParser().fit(None, trees), X
