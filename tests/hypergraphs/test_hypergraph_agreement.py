"""Dense kernels against the hypergraph of the same dynamic programme.

The parts of a graph are the entries of the structure's own ``theta``, so that both get
the very same scores, minus infinities included.
"""

import numpy as np
import pytest
from conftest import random_chain
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HypergraphBuilder
from maxmargin.core.completion import complete_all
from maxmargin.core.expectations import expectations
from maxmargin.core.partial import partly_known
from maxmargin.tags.chain_inference import k_best, table_per_token
from maxmargin.testing import Asker

SEEDS = st.integers(0, 10**6)
LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=3)
BARRIER = np.zeros((5, 3))
BARRIER[0, 1] = BARRIER[2, 2] = BARRIER[3, 2] = -np.inf


def chain_graph(n_labels, length):
    """A part is (row, column) of the theta of chain.py."""
    first, last, tokens = n_labels, n_labels + 1, n_labels + 2
    builder = HypergraphBuilder("end")
    builder.leaf("begin")
    for t in range(length):
        for k in range(n_labels):
            if t == 0:
                builder.edge(("at", t, k), "begin", part=(first, k))
            else:
                for j in range(n_labels):
                    builder.edge(("at", t, k), ("after", t - 1, j), part=(j, k))
            builder.edge(("after", t, k), ("at", t, k), part=(tokens + t, k))
    for k in range(n_labels):
        builder.edge("end", ("after", length - 1, k), part=(last, k))
    return builder.build()


def scores_of(graph, theta):
    return np.array([theta[part] for part in graph.parts])


def labels_of(graph, edges, n_labels):
    """Labels in the order of tokens, from the parts that stand for tokens."""
    tokens = [p for p in graph.parts_of(edges) if p[0] >= n_labels + 2]
    return [k for _, k in sorted(tokens)]


def chains(seed, lengths, walled):
    """(batch, w, example, graph, theta) for every example."""
    batch, n_weights = random_chain(seed, lengths, barrier=BARRIER if walled else None)
    w = np.random.default_rng(seed).normal(size=n_weights)
    for i, length in enumerate(lengths):
        ask = Asker(batch, i, w, True)
        yield batch, w, i, chain_graph(3, length), ask.theta, ask


@given(SEEDS, LENGTHS, st.booleans(), st.booleans())
def test_chain_decodes_the_same(seed, lengths, walled, whole):
    for batch, _, i, graph, theta, ask in chains(seed, lengths, walled):
        if whole:  # with ties, which must be broken alike
            theta[:] = np.where(np.isinf(theta), theta, np.round(theta))
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        for scale in (0.0, 1.0):
            augmented = theta.copy()
            for t, label in enumerate(truth):
                augmented[5 + t, :3] += scale * batch.cost[label, :3]
            edges, _ = graph.best(scores_of(graph, augmented))
            assert labels_of(graph, edges, 3) == ask.argmax(scale).tolist()


@given(SEEDS, LENGTHS, st.booleans())
def test_chain_has_the_same_k_best(seed, lengths, walled):
    for batch, w, i, graph, theta, _ in chains(seed, lengths, walled):
        labels, values = k_best(batch, w, 6)
        ranked = graph.k_best(scores_of(graph, theta), 6)
        possible = values[:, i] > -np.inf
        assert len(ranked) == possible.sum()
        np.testing.assert_allclose([v for _, v in ranked], values[possible, i])
        rows = labels[: len(ranked), batch.start[i] : batch.start[i + 1]]
        assert [labels_of(graph, d, 3) for d, _ in ranked] == rows.tolist()


@given(SEEDS, LENGTHS, st.booleans())
def test_chain_has_the_same_sums_and_marginals(seed, lengths, walled):
    for batch, w, i, graph, theta, _ in chains(seed, lengths, walled):
        scores = scores_of(graph, theta)
        found = dict(zip(graph.parts, graph.marginals(scores), strict=True))
        table = table_per_token("sum", batch, w)[batch.start[i] : batch.start[i + 1]]
        for (t, k), p in np.ndenumerate(table):
            assert found.get((5 + t, k), 0.0) == pytest.approx(p, abs=1e-9)
        total = expectations(batch, w)[1][i]
        assert graph.log_partition(scores) == pytest.approx(total, abs=1e-9)


@given(SEEDS, LENGTHS)
def test_chain_completes_the_same(seed, lengths):
    rng = np.random.default_rng(seed)
    known = rng.integers(-1, 3, size=sum(lengths)).astype(np.int32)
    for batch, w, i, graph, theta, _ in chains(seed, lengths, False):
        first, last = batch.start[i], batch.start[i + 1]
        truth = batch._replace(y=np.maximum(known, 0).astype(np.int32))
        partial = partly_known(truth, known >= 0)
        wanted = complete_all(partial, w)[first:last].tolist()
        # as parts that are required, and as edits of scores: all others forbidden
        pairs = [(5 + t, k) for t, k in enumerate(known[first:last]) if k >= 0]
        scores = scores_of(graph, theta)
        edges, _ = graph.complete(scores, [graph.parts.index(p) for p in pairs])
        assert labels_of(graph, edges, 3) == wanted
        for row, k in pairs:
            for p, part in enumerate(graph.parts):
                if part[0] == row and part[1] != k:
                    scores[p] = -np.inf
        assert labels_of(graph, graph.best(scores)[0], 3) == wanted
