"""A few examples of every family, and the estimators that learn them."""

from __future__ import annotations

import itertools

import numpy as np
from cutting_cases import LINKS, PATHS, SETS, WORDS

import maxmargin as mm
from maxmargin.alignments.homologs.invented import make_homologs
from maxmargin.trees import Tree

TREES = [
    "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
    "(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))",
    "(S (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS cats)))) (VP (VBD sat)))",
    "(S (NP (NNS dogs)) (VP (VBD saw) (NP (NNS cats)) (PP (IN with) (NP (NNS dogs)))))",
]


def rows(n=24, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def classes():
    X = rows()
    return X, (X + 0.5 * rows(seed=1)).argmax(axis=1)


def taxonomy():
    return rows(), (5 * PATHS)[:24]


def taxonomy_of_sets():
    return rows(), 6 * SETS


def label_sets():
    X = rows()
    noisy = X + 0.5 * rows(seed=1)
    return X, [{"abc"[j] for j in np.flatnonzero(row > 0)} for row in noisy]


def sentences(labels=("O", "B-X", "I-X"), n=20):
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(rng.integers(1, 6), 3)) for _ in range(n)]
    noise = [0.5 * rng.normal(size=x.shape) for x in X]
    pairs = zip(X, noise, strict=True)
    return X, [[labels[k] for k in (x + e).argmax(axis=1)] for x, e in pairs]


def trees():
    return None, [Tree.parse(text) for text in 3 * TREES]


def alignments(n=12):
    rng = np.random.default_rng(3)
    X, y = [], []
    for _ in range(n):
        a, b = (
            "".join(rng.choice(list("ACGT"), size=rng.integers(3, 6))) for _ in "ab"
        )
        shared = min(len(a), len(b))
        X.append((a, b))
        y.append([(i, i) for i in range(shared) if i != 1])
    return X, y


def links():
    return 5 * WORDS, 5 * LINKS


def queries():
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(10), 4)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    y[::4], y[1::4] = 0, 1
    return X, y, qid


def documents(n=8):
    rng = np.random.default_rng(10)
    X = [rng.normal(size=(6, 2)) for _ in range(n)]
    return X, [rng.integers(2, size=4).tolist() for _ in range(n)]


def graphs(states=3, n=12):
    rng = np.random.default_rng(6)
    X, y = [], []
    for k in range(n):
        size = 2 + k % 3
        pairs = list(itertools.combinations(range(size), 2))
        nodes = rng.normal(size=(size, 3))
        X.append((nodes, pairs, rng.integers(0, 2, (len(pairs), 2))))
        y.append((nodes + 0.5 * rng.normal(size=nodes.shape))[:, :states].argmax(1))
    return X, [row.tolist() for row in y]


class Cuts(mm.DynamicProgram):
    """A list of numbers, cut into pieces of one or two."""

    def graph(self, x):
        builder = mm.HypergraphBuilder(root=len(x))
        builder.leaf(0)
        for end in range(1, len(x) + 1):
            for begin in range(max(0, end - 2), end):
                features = {("sum", end - begin): sum(x[begin:end]), end - begin: 1.0}
                builder.edge(end, begin, part=(begin, end), features=features)
        return builder


def numbers(n=12):
    rng = np.random.default_rng(7)
    X, y = [], []
    for _ in range(n):
        sizes = rng.integers(1, 3, size=3)
        ends = np.cumsum([0, *sizes]).tolist()
        y.append(list(itertools.pairwise(ends)))
        X.append((rng.normal(size=ends[-1]) + np.repeat(sizes, sizes)).tolist())
    return X, y


def homologs():
    return make_homologs(8, 2, length=6, operations=4, random_state=0)


def problem(**options):
    return mm.StructuralSVM(Cuts(), **options)


GRAPH = [("a", "b"), ("b", "c"), ("a", "c")]
CASES = {
    "classes": (mm.MulticlassSVM, classes, {}),
    "classes, log": (mm.MulticlassSVM, classes, {"objective": "log"}),
    "taxonomy": (mm.TaxonomySVM, taxonomy, {}),
    "taxonomy of sets": (mm.TaxonomySVM, taxonomy_of_sets, {"multilabel": True}),
    "label sets": (mm.MultilabelSVM, label_sets, {}),
    "label sets, f1": (mm.MultilabelSVM, label_sets, {"loss": "f1"}),
    "label sets, graph": (mm.MultilabelSVM, label_sets, {"graph": GRAPH}),
    "tags": (mm.SequenceTagger, sentences, {}),
    "tags, order 0": (mm.SequenceTagger, sentences, {"order": 0}),
    "tags, order 2": (mm.SequenceTagger, sentences, {"order": 2}),
    "tags, spans": (mm.SequenceTagger, sentences, {"loss": "spans"}),
    "tags, log": (mm.SequenceTagger, sentences, {"objective": "log"}),
    "trees": (mm.GrammarParser, trees, {}),
    "trees, log": (mm.GrammarParser, trees, {"objective": "log"}),
    "alignments": (mm.SequenceAligner, alignments, {}),
    "alignments, log": (mm.SequenceAligner, alignments, {"objective": "log"}),
    "homologs": (mm.HomologFinder, homologs, {}),
    "links": (mm.WordAligner, links, {}),
    "pairs of documents": (mm.TopKRanker, queries, {"loss": "pairwise"}),
    "ndcg": (mm.TopKRanker, queries, {"loss": "ndcg"}),
    "clusters, correlation": (mm.LinkClusterer, documents, {"method": "correlation"}),
    "graphs": (mm.GraphLabeler, graphs, {"inference": "elimination"}),
    "graphs, log": (
        mm.GraphLabeler,
        graphs,
        {"inference": "elimination", "objective": "log"},
    ),
    "graphs, relaxed": (mm.GraphLabeler, graphs, {"inference": "relaxed"}),
    "graphs, cut": (
        mm.GraphLabeler,
        lambda: graphs(2),
        {"inference": "graph-cut", "edges": "associative"},
    ),
    "programmes": (problem, numbers, {}),
    "programmes, log": (problem, numbers, {"objective": "log"}),
}
