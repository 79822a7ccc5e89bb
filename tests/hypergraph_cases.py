"""Random hypergraphs and all their derivations, by plain recursion."""

import itertools

import numpy as np

from maxmargin import Hypergraph
from maxmargin.hypergraphs.batch import Example, make_batch
from maxmargin.hypergraphs.inference import Graph


def derivations(graph: Graph, v=None) -> list[list[int]]:
    """The derivations of a node as sorted lists of edges."""
    out = []
    v = graph.root if v is None else v
    for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
        tails = graph.tail[graph.tail_ptr[e] : graph.tail_ptr[e + 1]]
        for below in itertools.product(*(derivations(graph, u) for u in tails)):
            out.append(sorted([e, *itertools.chain(*below)]))
    return out


def random_graph(rng, most=200) -> Hypergraph:
    """A graph with dead ends, shared parts and nodes used twice, but few derivations."""
    while True:
        n = int(rng.integers(1, 7))
        head, tails = [], []
        for v in range(n):
            for _ in range(rng.integers(0, 4)):
                arity = min(int(rng.integers(0, 4)), v)
                head.append(v)
                tails.append(rng.integers(v, size=arity) if v else np.zeros(0, int))
        part = rng.integers(-1, max(len(head), 1), size=len(head))
        ends = np.concatenate([[0], np.cumsum([len(t) for t in tails])]).astype(int)
        tail = np.concatenate([np.zeros(0, int), *tails])
        try:
            graph = Hypergraph(head, ends, tail, part, n, n - 1 - rng.integers(n) // 3)
        except ValueError:
            continue
        if graph.count() <= most:
            return graph


def random_example(rng, n_weights, costs) -> Example:
    graph = random_graph(rng).pruned()
    counts = rng.integers(0, 4, size=graph.n_parts)
    total = int(counts.sum())
    all_of_them = derivations(graph.arrays)
    truth = all_of_them[rng.integers(len(all_of_them))]
    cost = {
        "whole": rng.integers(0, 4, size=graph.n_parts).astype(float),
        "real": np.abs(rng.normal(size=graph.n_parts)),
        "signed": rng.integers(-2, 3, size=graph.n_parts).astype(float),
        "mixed": rng.normal(size=graph.n_parts),
    }[costs]
    if costs in ("signed", "mixed"):  # any costs do, if the truth is the cheapest
        sums = [cost[[p for p in graph.part[d] if p >= 0]].sum() for d in all_of_them]
        truth = all_of_them[int(np.argmin(sums))]
    else:
        cost[[p for p in graph.part[truth] if p >= 0]] = 0.0
    return Example(
        graph.arrays,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rng.integers(n_weights, size=total),
        rng.normal(size=total),
        np.array(truth, np.int32),
        cost,
    )


def random_batch(seed, n=3, n_weights=6, costs="whole"):
    rng = np.random.default_rng(seed)
    return make_batch([random_example(rng, n_weights, costs) for _ in range(n)])


def enumerate_hypergraph(batch, i):
    """Every derivation as a labelling."""
    from maxmargin.hypergraphs.structure import graph_of

    size = batch.start[i + 1] - batch.start[i]
    for edges in derivations(graph_of.py_func(batch, i)):
        yield np.array(edges + [-1] * (size - len(edges)), np.int32)
