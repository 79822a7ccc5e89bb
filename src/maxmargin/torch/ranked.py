"""The k best outputs and random outputs of the structures that have them.

Searches of the families start from weights and features. Here scores of parts are given:
features that tell all parts apart make weights of scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.alignments.k_best import best_alignments
from maxmargin.alignments.pair_batch import AlignmentBatch, parts_of
from maxmargin.core.contract import shape
from maxmargin.core.flat_scores import load
from maxmargin.core.kernel import direct, kernel
from maxmargin.core.partial import ordinary
from maxmargin.core.structure import check_k
from maxmargin.graphs.batch import fields_of
from maxmargin.graphs.inference import elimination
from maxmargin.graphs.inference.elimination_plan import Eliminations, plan_of
from maxmargin.graphs.labellings import GraphLabellings
from maxmargin.hypergraphs import inference
from maxmargin.hypergraphs.batch import k_best as k_best_derivations
from maxmargin.hypergraphs.structure import HypergraphBatch, edge_scores, graph_of
from maxmargin.matchings.k_best import k_best as k_best_matchings
from maxmargin.matchings.links import MatchingBatch, to_labelling
from maxmargin.tags.chain_batch import ChainBatch
from maxmargin.tags.chain_inference import k_best as k_best_labels
from maxmargin.torch.chain_kernels import sample_each
from maxmargin.torch.examples import Examples
from maxmargin.trees.cky.batch import ParseBatch, sentence_of
from maxmargin.trees.cky.chart import inside
from maxmargin.trees.cky.k_best import Ranking


def k_best(examples: Examples, own: np.ndarray, head: np.ndarray, k: int):
    """(labellings (k, slots), scores (k, n)), the best first; -inf if there are fewer."""
    k, batch = check_k(k), ordinary(examples.batch)
    search = _RANKINGS.get(type(batch))
    if isinstance(batch, GraphLabellings) and not isinstance(
        batch.search, Eliminations
    ):
        search = None
    if search is None:
        raise TypeError(
            f"{type(batch).__name__} has no search for its k best outputs: use decode()."
        )
    return search(batch, examples.layout.place, own, head, k)


def sampled(examples: Examples, own: np.ndarray, head: np.ndarray, n: int, seed: Any):
    """n labellings of all examples, drawn with probability exp(score) / Z."""
    n, batch, rng = check_k(n), ordinary(examples.batch), np.random.default_rng(seed)
    draw = _DRAWS.get(type(batch))
    if draw is None:
        raise TypeError(
            f"{type(batch).__name__} has no way to draw outputs: chains and hypergraphs "
            "have, and marginals() are there for all with sums."
        )
    place = examples.layout.place
    return [draw(batch, place, own, head, rng) for _ in range(n)]


# k best ---------------------------------------------------------------------------------


def _chains(batch, place, own, head, k):
    n = len(batch.y)
    batch = batch._replace(
        indptr=np.arange(n + 1),
        indices=np.arange(n, dtype=np.int32),
        values=np.ones(n),
        n_features=n,
        widest=batch.longest,
    )
    return k_best_labels(batch, np.concatenate([own, head]), k)


def _hypergraphs(batch, place, own, head, k):
    n = len(own)
    batch = batch._replace(
        indptr=np.arange(n + 1), indices=np.arange(n), values=np.ones(n)
    )
    return k_best_derivations(batch, own, k)


def _alignments(batch, place, own, head, k):
    labels, scores = _nothing(batch, k, -1)
    direct(align_all, batch, place, own, head, labels, scores)
    return labels, scores


@kernel
def align_all(batch, place, own, head, labels, scores):
    theta = np.zeros(shape(batch))
    for i in range(len(place) - 1):
        load(i, place, own, head, theta)
        match, gaps = parts_of(batch, i, theta)
        first, last = batch.start[i], batch.start[i + 1]
        best_alignments(match, gaps, labels[:, first:last], scores[:, i])


def _trees(batch, place, own, head, k):
    labels, scores = _nothing(batch, k, -1)
    for i in range(scores.shape[1]):
        a, z = batch.start[i : i + 2]
        if a == z:
            scores[0, i] = 0.0
            continue
        arguments = direct(chart_of_scores, batch, i, place, own, head)
        ranking = Ranking(batch.grammar, *arguments)
        for rank in range(k):
            found = ranking.derivation("root", rank)
            if found is None:
                break
            ranking.write("root", rank, 0, labels[rank, a:z])
            scores[rank, i] = found[0]
    return labels, scores


@kernel
def chart_of_scores(batch, i, place, own, head):
    theta = np.zeros(shape(batch))
    load(i, place, own, head, theta)
    sentence = sentence_of(batch, i, theta)
    return sentence, inside(batch.grammar, sentence)


def _matchings(batch, place, own, head, k):
    labels, scores = _nothing(batch, k, 0)
    longest = batch.longest_target
    for i in range(scores.shape[1]):
        m = batch.n_target[i]
        size = batch.cells[i + 1] - batch.cells[i]
        table = own[place[i] : place[i + 1]].reshape(-1, longest)[: size // m, :m]
        found = k_best_matchings(table, batch.source_most, batch.target_most, k)
        for rank, (links, score) in enumerate(found):
            y = to_labelling(links, size // m, batch.source_most)
            labels[rank, batch.start[i] : batch.start[i + 1]] = y
            scores[rank, i] = score
    return labels, scores


def _graphs(batch, place, own, head, k):
    labels, scores = _nothing(batch, k, 0)
    for i, field in enumerate(fields_of(batch.graphs)):
        a, z = batch.start[i : i + 2]
        states, values = np.zeros((k, z - a), np.int32), np.zeros(k)
        theta = np.concatenate([head, own[place[i] : place[i + 1]]])
        plan = plan_of(batch.search, i)
        count = elimination.k_best(field, plan, theta, states, values)
        labels[:count, a:z], scores[:count, i] = states[:count], values[:count]
    return labels, scores


def _nothing(batch, k, empty):
    labels = np.full((k, len(batch.y)), empty, np.int32)
    return labels, np.full((k, len(batch.start) - 1), -np.inf)


_RANKINGS: dict[type, Callable] = {
    ChainBatch: _chains,
    HypergraphBatch: _hypergraphs,
    AlignmentBatch: _alignments,
    ParseBatch: _trees,
    MatchingBatch: _matchings,
    GraphLabellings: _graphs,
}


# random outputs ---------------------------------------------------------------------------


def _draw_labels(batch, place, own, head, rng):
    labels = np.zeros(len(batch.y), np.int32)
    k, width = batch.n_labels, batch.width
    emissions = np.ascontiguousarray(own.reshape(-1, width)[:, :k])
    table = head.reshape(-1, width) + batch.barrier
    uniform = rng.random(len(labels))
    table = np.ascontiguousarray(table[:, :k])
    sample_each(emissions, batch.start, table, uniform, labels)
    return labels


def _draw_derivations(batch, place, own, head, rng):
    labels = np.full(len(batch.y), -1, np.int32)
    uniforms = rng.random(len(labels))
    direct(draw_all, batch, place, own, head, uniforms, labels)
    return labels


@kernel
def draw_all(batch, place, own, head, uniforms, labels):
    theta = np.zeros(shape(batch))
    for i in range(len(place) - 1):
        first, last = batch.start[i], batch.start[i + 1]
        if first == last:
            continue
        load(i, place, own, head, theta)
        graph = graph_of(batch, i)
        scores = edge_scores(batch, i, graph, theta, 0.0)
        chances = np.empty(graph.root + 1)
        inference.inside_logsum(graph, scores, chances)
        y = labels[first:last]
        inference.draw(graph, scores, chances, uniforms[first:last], y)


_DRAWS: dict[type, Callable] = {
    ChainBatch: _draw_labels,
    HypergraphBatch: _draw_derivations,
}
