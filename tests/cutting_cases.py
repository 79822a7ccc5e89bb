"""A small batch of every class of batches, and its number of weights."""

import importlib
import itertools
import pkgutil

import numpy as np
from alignment_cases import random_batch as random_alignments
from conftest import random_chain, random_multiclass
from hypergraph_cases import random_batch as random_hypergraphs
from parse_cases import random_parses

import maxmargin
from maxmargin.core import contract
from maxmargin.core.partial import partly_known

WORDS = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
LINKS = ["0-0 1-1 2-2", "0-0 1-1"]


def batch_classes() -> set[type]:
    """All classes of batches that the library has, partial twins too."""
    for module in pkgutil.walk_packages(maxmargin.__path__, "maxmargin."):
        needs_torch = module.name.startswith(("maxmargin.torch", "maxmargin.neural"))
        if not module.name.endswith("__main__") and not needs_torch:
            importlib.import_module(module.name)
    return {
        cls
        for cls in contract.score.bodies
        if cls.__module__.startswith("maxmargin.") and hasattr(cls, "_fields")
    }


def some_weights(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def partial(made, seed=0):
    """The same batch with some labels that are not known."""
    batch, n = made
    return partly_known(
        batch, np.random.default_rng(seed).random(len(batch.y)) < 0.5
    ), n


def encoded(model, X, y):
    """What a fit would train on."""
    found = model._encode(X, y, None)
    return found.batch, found.n_weights


# makers --------------------------------------------------------------------------------


def chain(**options):
    return random_chain(1, (3, 0, 1, 4, 2), **options)


def spans():
    from maxmargin.tags.chain_spans import span_tables

    batch, n = chain()
    return batch._replace(tables=span_tables(["O", "B-X", "I-X"])), n


def second_order():
    from maxmargin.tags.second_order import second_order

    batch, n = chain()
    return second_order(batch), n + batch.n_labels**2 * batch.width


def dense_classes():
    from maxmargin.classes.dense import make_batch

    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6, 4)), rng.integers(3, size=6)
    return make_batch(X, y, 1.0 - np.eye(3)), 12


def taxonomy(y, **options):
    X = np.random.default_rng(3).normal(size=(len(y), 3))
    return encoded(maxmargin.TaxonomySVM(**options), X, y)


PATHS = ["pet.cat", "pet.dog", "car", "pet.cat", "car"]
SETS = [{"pet.cat", "car"}, {"pet.dog"}, {"pet.cat"}, {"car"}]


def label_sets(**options):
    X = np.random.default_rng(4).normal(size=(5, 3))
    y = [{"a"}, {"a", "b"}, set(), {"c"}, {"a", "b", "c"}]
    return encoded(maxmargin.MultilabelSVM(**options), X, y)


def queries(loss):
    rng = np.random.default_rng(5)
    y, qid = rng.integers(0, 2, size=14), np.repeat([0, 1, 2, 3], [4, 2, 5, 3])
    y[[0, 4, 6, 11]], y[[1, 5, 7, 12]] = 0, 1
    X = rng.normal(size=(14, 3))
    return encoded(maxmargin.TopKRanker(k=2, loss=loss, init="given"), (X, qid), y)


def graphs(inference, states=3, edges="directed", objective="hinge", hidden=False):
    rng = np.random.default_rng(6)
    X, y = [], []
    for n in (4, 1, 5, 2):
        pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < 0.8]
        X.append((rng.normal(size=(n, 2)), pairs, rng.integers(0, 2, (len(pairs), 2))))
        y.append(rng.integers(states, size=n).tolist())
    y[2][:3] = range(states) if states == 3 else [0, 1, 0]
    if hidden:
        y[0][1] = y[2][4] = None
    model = maxmargin.GraphLabeler(
        inference=inference, edges=edges, objective=objective
    )
    return encoded(model, X, y)


def rounded(hidden=False):
    from maxmargin.graphs.labellings import Rounding, with_search

    batch, n = graphs("expansion")
    made = with_search(batch.graphs, batch.y, Rounding()), n
    return partial(made) if hidden else made


def reweighted(hidden=False):
    return graphs("relaxed", objective="log", hidden=hidden)


def dependencies(hidden=False, **options):
    sizes, rng = (3, 1, 4, 2), np.random.default_rng(9)
    X = [
        [(f"w{rng.integers(6)}", f"T{rng.integers(3)}") for _ in range(n)]
        for n in sizes
    ]
    y = [[(t, "ab"[rng.integers(2)]) for t in range(n)] for n in sizes]
    if hidden:
        y[0][1] = y[2][2] = None
    return encoded(maxmargin.DependencyParser(rows=64, **options), X, y)


def parses(**options):
    return random_parses(7, (3, 1, 4, 2), **options)


def partial_parses():
    from maxmargin.trees.cky.parses import partly_parsed

    batch, n = parses(with_features=True)
    known = [[(0, 3, -1)], [], [(1, 4, -1), (0, 4, -1)], [(0, 2, -1)]]
    return partly_parsed(batch, [False, True, False, False], known), n


def alignments(**options):
    sizes = ((3, 4), (1, 2), (4, 3), (2, 2))
    batch, model = random_alignments(8, sizes, **options)
    return batch, model.n_weights


def homologs(**options):
    from maxmargin.alignments.homologs.invented import make_homologs

    X, y = make_homologs(4, 2, length=6, operations=4, random_state=0)
    return encoded(maxmargin.HomologFinder(**options), X, y)


def word_links():
    return encoded(maxmargin.WordAligner(), 2 * WORDS, 2 * LINKS)


def partial_links():
    from maxmargin.matchings.links import partly_linked

    batch, n = word_links()
    unknown = np.random.default_rng(9).random(len(batch.kind)) < 0.4
    return partly_linked(batch, unknown), n


def clusters(**options):
    rng = np.random.default_rng(10)
    X = [rng.normal(size=(n * (n - 1) // 2, 2)) for n in (4, 1, 3, 5)]
    y = [[0, 0, 1, 1], [0], [0, 1, 0], [0, 1, 0, 2, 1]]
    return encoded(maxmargin.LinkClusterer(**options), X, y)


def motifs(**options):
    X = ["ACGTTTACGT", "CCGTTTAGGANA", "ACACACGCGC", "GGCACAGCGC"]
    model = maxmargin.MotifFinder(width=4, order=1, unknown="skip", **options)
    return encoded(model, X, [1, 1, 0, 0])


CASES = {
    "chain": chain,
    "chain zero-one": lambda: chain(zero_one=True),
    "chain spans": spans,
    "chain partial": lambda: partial(chain()),
    "second order": second_order,
    "second order partial": lambda: partial(second_order()),
    "classes": lambda: random_multiclass(1, n=7),
    "classes partial": lambda: partial(random_multiclass(1, n=7)),
    "classes dense": dense_classes,
    "taxonomy": lambda: taxonomy(PATHS),
    "taxonomy partial": lambda: partial(taxonomy(PATHS)),
    "taxonomy of sets": lambda: taxonomy(SETS, multilabel=True),
    "label sets": label_sets,
    "label sets, f1": lambda: label_sets(loss="f1"),
    "label sets, ranking": lambda: label_sets(loss="ranking"),
    "label sets, graph": lambda: label_sets(graph=[("a", "b"), ("b", "c"), ("a", "c")]),
    "top k": lambda: queries("precision"),
    "pairs": lambda: queries("pairwise"),
    "pairs, ndcg": lambda: queries("ndcg"),
    "trees": parses,
    "trees with features": lambda: parses(with_features=True, free=True),
    "trees, zero-one": lambda: parses(loss="zero-one"),
    "trees partial": partial_parses,
    "dependencies": dependencies,
    "dependencies partial": lambda: dependencies(hidden=True),
    "all dependencies": lambda: dependencies(projective=False),
    "all dependencies partial": lambda: dependencies(hidden=True, projective=False),
    "dependencies, order 2": lambda: dependencies(order=2),
    "dependencies, order 2, partial": lambda: dependencies(hidden=True, order=2),
    "alignments": alignments,
    "alignments, windows": lambda: alignments(
        loss="hamming",
        free=(1, 0),
        model=["residue[3]/residue[3]", "ss[5]/residue", "1/ss"],
        gaps="position",
    ),
    "alignments, profiles": lambda: alignments(
        model="profile", dense={"profile": 3}, gaps="position"
    ),
    "alignments partial": lambda: partial(alignments()),
    "homologs": homologs,
    "links": word_links,
    "links partial": partial_links,
    "clusters": clusters,
    "clusters partial": lambda: partial(clusters()),
    "clusters, correlation": lambda: clusters(method="correlation"),
    "hypergraphs": lambda: (random_hypergraphs(11, n=4), 6),
    "motifs": motifs,
    "graphs, elimination": lambda: graphs("elimination"),
    "graphs, elimination partial": lambda: graphs("elimination", hidden=True),
    "graphs, cut": lambda: graphs("graph-cut", 2, "associative"),
    "graphs, cut partial": lambda: graphs("graph-cut", 2, "associative", hidden=True),
    "graphs, roof": lambda: graphs("relaxed", 2),
    "graphs, roof partial": lambda: graphs("relaxed", 2, hidden=True),
    "graphs, relaxed": lambda: graphs("relaxed"),
    "graphs, relaxed partial": lambda: graphs("relaxed", hidden=True),
    "graphs, reweighted": reweighted,
    "graphs, reweighted partial": lambda: reweighted(True),
    "graphs, rounded": rounded,
    "graphs, rounded partial": lambda: rounded(True),
    "graphs, expansion": lambda: graphs("expansion"),
    "graphs, swap partial": lambda: graphs("swap", hidden=True),
}
