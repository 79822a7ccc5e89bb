"""Label sequences as hypergraphs against the kernels made for chains.

    python benchmarks/hypergraphs.py

The same sequences with the same weights, once through ``tags/chain.py`` and once
as hypergraphs whose parts are the entries of the chain's theta: microseconds per
sequence, and the ratio.
"""

from __future__ import annotations

import time

import numpy as np
from common import machine, start, table

from maxmargin import HypergraphBuilder
from maxmargin.core.decode import decode
from maxmargin.hypergraphs import batch as hypergraph_batch
from maxmargin.tags import chain, chain_inference
from maxmargin.tags.features import TokenMatrix

LENGTH, COPIES = 25, 50


def main() -> int:
    print(f"Label sequences of {LENGTH} tokens: chain kernels against hypergraphs")
    print(machine())
    rows = [row for n_labels in (5, 20) for row in compare(n_labels)]
    table(["", "", "chain us", "hypergraph us", "ratio"], rows)
    return 0


def compare(n_labels: int) -> list[list]:
    seconds, graph = _best_of(3, lambda: chain_graph(n_labels))
    size = f"{n_labels} labels, {len(graph.part)} edges"
    rows = [[size, "build the graph", "", 1e6 * seconds, ""]]
    dense, w = dense_batch(n_labels)
    sparse = sparse_batch(graph, dense)
    questions = {
        "decode": (decode, decode),
        "marginals": (
            lambda batch, w: chain_inference.table_per_token("sum", batch, w),
            hypergraph_batch.marginals,
        ),
        "10 best": (
            lambda batch, w: chain_inference.k_best(batch, w, 10),
            lambda batch, w: hypergraph_batch.k_best(batch, w, 10),
        ),
    }
    for what, (of_chain, of_graph) in questions.items():
        a, theirs = _best_of(9, lambda ask=of_chain: ask(dense, w))
        b, ours = _best_of(9, lambda ask=of_graph: ask(sparse, w))
        if what == "10 best":
            np.testing.assert_allclose(ours[1], theirs[1])  # the same scores
        rows.append([size, what, 1e6 * a / COPIES, 1e6 * b / COPIES, b / a])
    return rows


def chain_graph(n_labels: int):
    first, last, tokens = n_labels, n_labels + 1, n_labels + 2
    builder = HypergraphBuilder("end")
    builder.leaf("begin")
    for t in range(LENGTH):
        for k in range(n_labels):
            if t == 0:
                builder.edge(("at", t, k), "begin", part=(first, k))
            for j in range(n_labels if t else 0):
                builder.edge(("at", t, k), ("after", t - 1, j), part=(j, k))
            builder.edge(("after", t, k), ("at", t, k), part=(tokens + t, k))
    for k in range(n_labels):
        builder.edge("end", ("after", LENGTH - 1, k), part=(last, k))
    return builder.build()


def dense_batch(n_labels: int):
    """Every token of every sequence has one feature of its own."""
    ends = np.arange(COPIES + 1) * LENGTH
    n = int(ends[-1])
    features = np.arange(n, dtype=np.int32)
    tokens = TokenMatrix(np.arange(n + 1), features, np.ones(n), ends, n)
    cost = 1.0 - np.eye(n_labels)
    batch = chain.make_batch(tokens, n, None, cost, None, False, np.float64)
    n_weights = (n + n_labels + 2) * batch.width
    return batch, np.random.default_rng(0).normal(size=n_weights)


def sparse_batch(graph, dense):
    """The same sequences; every part has one feature, its place in the chain's w."""
    k, n = dense.n_labels, graph.n_parts
    examples = []
    for i in range(COPIES):
        rows = [
            row + dense.n_features if row < k + 2 else row - (k + 2) + i * LENGTH
            for row, _ in graph.parts
        ]
        where = np.array(rows) * dense.width + np.array([c for _, c in graph.parts])
        nothing = np.zeros(0, np.int64)
        examples.append(
            hypergraph_batch.Example(
                graph.arrays, np.arange(n + 1), where, np.ones(n), nothing, np.zeros(n)
            )
        )
    return hypergraph_batch.make_batch(examples)


def _best_of(times: int, function):
    """(seconds of the fastest call after the first, what it returned)."""
    result, seconds = function(), []
    for _ in range(times):
        began = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - began)
    return min(seconds), result


if __name__ == "__main__":
    start(main)
