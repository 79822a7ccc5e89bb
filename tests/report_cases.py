"""A small fitted model of every public estimator, with data to evaluate it on."""

from functools import cache

import numpy as np
import pytest

import maxmargin
from maxmargin import LatentProblem, Problem
from maxmargin.alignments.homologs.invented import make_homologs
from maxmargin.trees import Tree


class Signs(Problem):
    """x is a list of numbers, y their signs."""

    def joint_feature(self, x, y):
        return np.array([float(np.dot(x, y))])

    def loss(self, y, y_hat):
        return float(sum(a != b for a, b in zip(y, y_hat, strict=True)))

    def argmax(self, x, w):
        return [1 if w[0] * value >= 0 else -1 for value in x]

    def loss_augmented_argmax(self, x, y, w):
        return [1 if w[0] * v - a / 2 >= 0 else -1 for v, a in zip(x, y, strict=True)]


class Bump(LatentProblem):
    """y says whether the series x has a bump, h where it is."""

    def joint_feature(self, x, y, h):
        return y * np.append(x[h : h + 3], 1.0)

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [(0, 0)] + [(1, h) for h in range(len(x) - 2)]


VECTORS = np.random.default_rng(0).normal(size=(24, 3))
VECTORS[:, 0] += np.repeat([-2.0, 0.0, 2.0], 8)
TREES = [
    "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
    "(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))",
    "(S (NP (NP (NN a)) (PP (IN in) (NP (NN b)))) (VP (VBD is)))",
    "(S (NP (NN I)) (VP (VBD saw) (NP (NN it)) (PP (IN in) (NP (NN it)))))",
]
SEQUENCES = [
    [["Ann"], ["Lee"], ["sleeps"]],
    [["Bob"], ["sees"], ["Ann"]],
    [["dogs"], ["bark"]],
] * 2
SPANS = [["B-PER", "I-PER", "O"], ["B-PER", "O", "B-PER"], ["O", "O"]] * 2
DNA = ["ACTATAAGC", "GGCTATAAC", "TATAACCGA", "CCGACGTGC", "GGACCAGCA", "ACACGTCAG"]
PAIRS = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA")]
ROWS = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("G-ATTACA", "GCA-TGCA")]
SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]
NODES = [[1.0], [0.2], [-1.0], [-0.1]], [[0.5], [1.0], [0.3], [0.8]]
SETS = [{"sea"}, {"sea", "beach"}, {"beach", "city"}, {"city"}]
SERIES = np.random.default_rng(1).normal(0, 0.1, (12, 9))
SERIES[1::2, 3:6] += [1, 2, 1]
QUERIES = np.repeat(np.arange(8), 3)
GRADES = np.tile([2, 1, 0], 8)


@cache
def cases() -> dict:
    """{name of a public estimator: (what it is made with, X, y)}."""
    classes = np.repeat(["cod", "eel", "ray"], 8)
    trees = [Tree.parse(text) for text in TREES]
    homologs = make_homologs(8, random_state=0)
    mentions = [[[1.0], [-1.0], [-1.0]], [[-1.0], [-1.0], [1.0]]]
    ragged = [[1.0, -2.0], [3.0], [-1.0, 1.0, 2.0], [2.0, 2.0]]
    signs = [[1 if value > 0 else -1 for value in x] for x in ragged]
    taxa = np.repeat(["fish.cod", "fish.eel", "bird"], 8)
    words = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
    tagged = [
        [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")],
        [("cats", "NNS"), ("see", "VBP"), ("dogs", "NNS"), (".", ".")],
    ]
    heads = [
        [(2, "det"), (3, "subj"), (0, "root")],
        [(2, "subj"), (0, "root"), (2, "obj"), (2, "end")],
    ]
    return {
        "DependencyParser": ({"C": 10}, tagged, heads),
        "GrammarParser": ({"C": 10}, trees, trees),
        "GraphLabeler": (
            {"C": 10},
            [(NODES[0], SQUARE), (NODES[1], SQUARE)],
            [["a", "a", "b", "b"], ["a", "a", "a", "a"]],
        ),
        "HMMTagger": ({}, SEQUENCES, SPANS),
        "HomologFinder": ({"C": 0.1}, *homologs),
        "KernelSVM": ({"C": 10, "n_components": 5}, VECTORS, classes),
        "LatentStructuralSVM": (
            {"problem": Bump(), "C": 10},
            list(SERIES),
            [0, 1] * 6,
        ),
        "LinkClusterer": ({"C": 10}, mentions, [[0, 0, 1], ["a", "b", "b"]]),
        "MotifFinder": (
            {"width": 5, "order": 0},
            DNA,
            ["yes"] * 3 + ["no"] * 3,
        ),
        "MulticlassSVM": ({"C": 10}, VECTORS, classes),
        "MultilabelSVM": (
            {"C": 10},
            [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]],
            SETS,
        ),
        "NeuralTagger": (
            {"hidden_size": 8, "max_iter": 4, "learning_rate": 0.02},
            SEQUENCES,
            SPANS,
        ),
        "PCFGParser": ({}, trees, trees),
        "SequenceAligner": ({"C": 100}, PAIRS, ROWS),
        "SequenceTagger": ({"C": 10}, SEQUENCES, SPANS),
        "StructuralSVM": ({"problem": Signs()}, ragged, signs),
        "TaxonomySVM": ({"C": 10}, VECTORS, taxa),
        "TopKRanker": ({"C": 10}, VECTORS, GRADES),
        "WordAligner": ({}, words, ["0-0 1-1 2-2", "0-0 1-1"]),
    }


def unfitted(name: str):
    """(an estimator, X, y)."""
    params, X, y = cases()[name]
    return getattr(maxmargin, name)(**params), X, y


@cache
def fitted(name: str):
    """(a fitted estimator, X, y, what evaluate is told besides)."""
    if name == "NeuralTagger":
        pytest.importorskip("torch", reason="torch is not installed: make test-torch")
    model, X, y = unfitted(name)
    more = {"qid": QUERIES} if name == "TopKRanker" else {}
    return model.fit(X, y, **more), X, y, more


def report_of(name: str):
    model, X, y, more = fitted(name)
    return model.evaluate(X, y, **more)
