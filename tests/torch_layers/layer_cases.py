"""Layers of every kind on small random inputs, and all outputs of an example."""

import itertools

import numpy as np
import torch
from alignment_cases import enumerate_alignments
from hypergraph_cases import enumerate_hypergraph
from parse_cases import enumerate_derivations

from maxmargin import DynamicProgram, HypergraphBuilder, Tree
from maxmargin.core import contract
from maxmargin.core.kernel import interpreted
from maxmargin.testing import enumerate_chain
from maxmargin.torch import (
    Alignment,
    Chain,
    Graph,
    Matching,
    Program,
    Scored,
    SecondOrder,
    TreeCRF,
)

TREES = (
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (N dogs)) (VP (V saw) (NP (D a) (N cat))))",
    "(S (NP (NP (N x)) (PP (P in) (NP (N y)))) (VP (V runs)))",
    "(S (NP (N x)) (VP (VP (V runs)) (PP (P in) (NP (N y)))))",
)


class Words(DynamicProgram):
    """Cut a text into pieces of up to three letters."""

    def graph(self, x):
        builder = HypergraphBuilder(root=len(x))
        builder.leaf(0)
        for end in range(1, len(x) + 1):
            for begin in range(max(0, end - 3), end):
                builder.edge(end, begin, part=(begin, end))
        return builder


def normal(seed, *shape, scale=1.0):
    """Random numbers in double precision that want gradients."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(scale * rng.normal(size=shape)).requires_grad_()


def shaken(layer, seed):
    """The layer with random parameters in double precision."""
    layer = layer.double()
    rng = np.random.default_rng([seed, 1])
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.from_numpy(rng.normal(size=tuple(parameter.shape))))
    return layer


def chain(seed, **settings):
    layer = shaken(Chain(3, **settings), seed)
    labels = [[0, 2, 1], [1], [2, 2]]
    return layer, (normal(seed, 3, 3, 3), labels, [3, 1, 2]), {}


def unknown_labels(seed):
    layer, (emissions, _, lengths), more = chain(seed)
    return layer, (emissions, [[0, None, 1], [None], [2, 2]], lengths), more


def bio(seed, **settings):
    names = ["O", "B-X", "I-X"]
    layer = shaken(Chain(names, scheme="BIO", **settings), seed)
    labels = [["O", "B-X", "I-X"], ["B-X"], ["O", "O"]]
    return layer, (normal(seed, 3, 3, 3), labels, [3, 1, 2]), {}


def second_order(seed):
    layer = shaken(SecondOrder(2), seed)
    return layer, (normal(seed, 3, 4, 2), [[0, 1, 1, 0], [1], [0, 0]], [4, 1, 2]), {}


def second_order_unknown(seed):
    layer = shaken(SecondOrder(2), seed)
    labels = [[0, None, 1, None], [None], [0, 0]]
    return layer, (normal(seed, 3, 4, 2), labels, [4, 1, 2]), {}


def alignment(seed, **settings):
    layer = shaken(Alignment(**settings), seed)
    return layer, (normal(seed, 2, 3, 4), [[0, -1, 3], [1, 2]], [(3, 4), (2, 3)]), {}


def alignment_unknown(seed):
    layer, (scores, _, lengths), more = alignment(seed, free_ends=True)
    return layer, (scores, [[0, None, 3], [None, 2]], lengths), more


def matching(seed, **settings):
    layer = shaken(Matching(**settings), seed)
    return (
        layer,
        (normal(seed, 2, 2, 3), [[(0, 1), (1, 0)], [(1, 1)]], [(2, 3), (2, 2)]),
        {},
    )


def graph(seed, method="exact"):
    layer = shaken(Graph(2, method), seed)
    edges = [[(0, 1), (1, 2), (0, 2)] if method == "exact" else [(0, 1), (2, 1)], []]
    labels = torch.tensor([[0, 1, 0], [1, 1, 0]])
    return layer, (normal(seed, 2, 3, 2), labels), {"edges": edges, "lengths": [3, 1]}


def edges_scored(seed):
    layer, (nodes, _), more = graph(seed)
    more["edges"][1], more["lengths"] = [(1, 0)], [3, 2]
    scores = [normal([seed, k], k, 2, 2) for k in (3, 1)]
    return layer, (nodes, [[0, None, 1], [1, 0]]), {**more, "edge_scores": scores}


def trees(seed, tags=True, **settings):
    known = [Tree.parse(text) for text in TREES]
    layer = shaken(TreeCRF(known, **settings), seed)
    spans, more = normal(seed, 3, 5, 5, len(layer.labels)), {}
    chosen = known[1:4]
    more["tags"] = [[tag for _, tag in tree.tags()] for tree in chosen]
    if not tags:
        more = {"lengths": [4, 4, 4]}
        more["tag_scores"] = normal([seed, 1], 3, 4, len(layer.tags))
    return layer, (spans, chosen), more


def program(seed):
    layer = shaken(Program(Words()), seed)
    X, Y = ["acat", "the"], [[(0, 1), (1, 4)], [(0, 3)]]
    n = sum(len(parts) for parts in layer.parts(X))
    return layer, (normal(seed, n), Y, X), {}


LAYERS = {
    "chain": chain,
    "chain, zero-one": lambda seed: chain(seed, cost="zero-one"),
    "chain, costs": lambda seed: chain(seed, cost=[[0, 1, 2], [3, 0, 1], [1, 1, 0]]),
    "chain, labels unknown": unknown_labels,
    "chain, BIO": bio,
    "chain, spans": lambda seed: bio(seed, cost="spans"),
    "second order": second_order,
    "second order, labels unknown": second_order_unknown,
    "alignment": alignment,
    "alignment, hamming": lambda seed: alignment(seed, cost="hamming"),
    "alignment, free ends": lambda seed: alignment(seed, free_ends=True),
    "alignment, partners unknown": alignment_unknown,
    "matching": matching,
    "matching, fertile": lambda seed: matching(seed, row_most=2, costs=(1.0, 3.0)),
    "graph": graph,
    "graph, edges scored, labels unknown": edges_scored,
    "graph, tree-reweighted": lambda seed: graph(seed, "tree-reweighted"),
    "trees": trees,
    "trees, tags unknown, hamming": lambda seed: trees(seed, False, cost="hamming"),
    "trees, zero-one": lambda seed: trees(seed, cost="zero-one"),
    "program": program,
}


def scored(name, seed=0):
    """What the bridge makes of a layer: its scores as leaves that want gradients."""
    layer, arguments, more = LAYERS[name](seed)
    found = layer.scored(*arguments, **more)
    found = found.flat() if hasattr(found, "flat") else found
    own, head = (t.detach().clone().requires_grad_() for t in (found.own, found.head))
    return Scored(own, found.examples, head)


# all outputs --------------------------------------------------------------------------


def enumerate_slots(batch, i):
    """Every labelling that is possible, for structures with few values per slot."""
    size = int(batch.start[i + 1] - batch.start[i])
    for values in itertools.product(range(4), repeat=size):
        y = np.array(values, np.int32)
        if interpreted(_possible)(batch, i, y):
            yield y


def _possible(batch, i, y):
    return contract.possible(batch, i, y)


ENUMERATORS = {
    "ChainBatch": enumerate_chain,
    "SecondOrderBatch": enumerate_chain,
    "AlignmentBatch": enumerate_alignments,
    "ParseBatch": enumerate_derivations,
    "HypergraphBatch": enumerate_hypergraph,
}


def outputs_of(batch, i):
    """All labellings of an example."""
    name = type(batch).__name__.removeprefix("Partial")
    return list(ENUMERATORS.get(name, enumerate_slots)(batch, i))
