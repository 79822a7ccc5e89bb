"""Batches of hypergraphs, and questions to all graphs of a batch in threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import score, shape
from maxmargin.core.expectations import expectations
from maxmargin.core.kernel import direct, kernel
from maxmargin.engine.threads import over_ranges
from maxmargin.hypergraphs import inference
from maxmargin.hypergraphs.counts import count_ranges
from maxmargin.hypergraphs.inference import Graph
from maxmargin.hypergraphs.structure import HypergraphBatch, edge_scores, graph_of

# Steps of the tables of counts.py up to which the exact search is made:
# a few milliseconds. Above, rescaled formulations have the search with bounds.
MOST_COUNTING = 4e6
MOST_EDGES = 10**7  # in one derivation
MOST_COST = 1e8  # with so many edges, sums are still exact


class Example(NamedTuple):
    """What a batch holds of one input. Every node of the graph is useful, root last."""

    graph: Graph
    indptr: np.ndarray  # features of parts
    indices: np.ndarray
    values: np.ndarray
    truth: np.ndarray  # edges of the true derivation, ascending; empty if not known
    cost: np.ndarray  # float64, by part


def make_batch(examples: list[Example]) -> HypergraphBatch:
    """Encode examples; refuses costs under which another output beats the truth."""
    graphs = [example.graph for example in examples]
    slots, entries, constant, counted, lows, highs = [], [0], [], [], [], []
    least = 1.0
    for i, (graph, indptr, _, _, truth, cost) in enumerate(examples):
        slots.append(longest_derivation(graph))
        entries.append(int(_best(graph, np.diff(indptr).astype(np.float64))))
        by_edge = np.zeros(len(graph.part))
        inference.score_edges(graph, cost, by_edge)
        total = 0.0
        for e in truth:  # in the order in which loss() sums, so that they cancel
            total += by_edge[e]
        constant.append(-total)
        _check_costs(i, graph, cost, total)
        whole = bool(((cost == np.round(cost)) & (np.abs(cost) <= MOST_COST)).all())
        least = min(least, _least_loss(cost, total, whole))
        low, high = np.zeros((2, graph.root + 1), np.int64)
        work = count_ranges(graph, by_edge, low, high) if whole else np.inf
        counted.append(int(work <= MOST_COUNTING))
        lows.append(low)
        highs.append(high)
    return HypergraphBatch(
        start=_starts(slots),
        y=_labellings(examples, slots),
        node_start=_starts([graph.root + 1 for graph in graphs]),
        edge_start=_starts([len(graph.part) for graph in graphs]),
        tail_start=_starts([len(graph.tail) for graph in graphs]),
        part_start=_starts([len(example.cost) for example in examples]),
        in_ptr=_joined([graph.in_ptr for graph in graphs], np.int64),
        tail_ptr=_joined([graph.tail_ptr for graph in graphs], np.int64),
        tail=_joined([graph.tail for graph in graphs], np.int32),
        part=_joined([graph.part for graph in graphs], np.int32),
        indptr=_starts(_joined([np.diff(e.indptr) for e in examples], np.int64)),
        indices=_joined([example.indices for example in examples], np.int64),
        values=_joined([example.values for example in examples], np.float64),
        cost=_joined([example.cost for example in examples], np.float64),
        constant=np.array(constant, np.float64),
        low=_joined(lows, np.int64),
        high=_joined(highs, np.int64),
        counted=np.array(counted, np.int64),
        least=float(least),
        most_parts=max((len(example.cost) for example in examples), default=0),
        most_entries=max(entries),
    )


def _starts(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _joined(arrays, dtype) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype)


def _labellings(examples, slots) -> np.ndarray:
    rows = []
    for example, size in zip(examples, slots, strict=True):
        row = np.full(size, -1, np.int32)
        row[: len(example.truth)] = example.truth
        rows.append(row)
    return _joined(rows, np.int32)


def _best(graph: Graph, theta) -> float:
    """The value of the best derivation under these scores of parts."""
    scores = np.zeros(len(graph.part))
    inference.score_edges(graph, theta, scores)
    return _best_value(graph, scores)


def _best_value(graph: Graph, scores) -> float:
    inside, choice = np.empty(graph.root + 1), np.empty(graph.root + 1, np.int64)
    inference.inside_max(graph, scores, inside, choice)
    return float(inside[graph.root])


def longest_derivation(graph: Graph) -> int:
    """The number of edges of the longest derivation; refuses beyond all memory."""
    most = _best_value(graph, np.ones(len(graph.part)))
    if most > MOST_EDGES:
        raise ValueError(
            f"a derivation of the graph may have {most:.3g} edges, but at most "
            f"{MOST_EDGES} are possible: nodes that are used several times in one "
            "derivation multiply."
        )
    return int(most) if most > 0 else 0  # -inf: the root cannot be built


def _check_costs(i, graph, cost, total) -> None:
    lowest = -_best(graph, -cost) - total
    if lowest < -1e-9 * (1.0 + np.abs(cost).max(initial=0.0)):
        raise ValueError(
            f"the costs of sample {i} give some other output a loss of {lowest:.6g}: "
            "no sum of costs may be below that of the true output. With the standard "
            "costs this means that an output can have a true part more often than the "
            "truth has it."
        )


def _least_loss(cost, total, whole) -> float:
    """A lower bound on the positive losses, 0 if none is known."""
    if whole:
        return 1.0
    if total == 0.0 and (cost >= 0.0).all():
        return float(cost[cost > 0].min(initial=np.inf))
    return 0.0


# all graphs of a batch ---------------------------------------------------------------


def k_best(batch: HypergraphBatch, w, k: int, n_jobs: int = 1):
    """(labellings, values): int32[k, slots] and float64[k, examples].

    Values are -inf where an example has fewer than k derivations.
    """
    labels = np.full((k, len(batch.y)), -1, np.int32)
    values = np.full((k, len(batch.start) - 1), -np.inf)

    def part(lo, hi):
        direct(k_best_range, batch, lo, hi, w, labels, values)

    over_ranges(part, batch.start, n_jobs)
    return labels, values


@kernel
def k_best_range(batch, lo, hi, w, labels, values):
    theta = np.empty(shape(batch))
    found = np.empty(len(values))
    for i in range(lo, hi):
        graph = graph_of(batch, i)
        score(batch, i, w, theta)
        scores = edge_scores(batch, i, graph, theta, 0.0)
        inside = np.empty(graph.root + 1)
        inference.inside_max(graph, scores, inside, np.empty(graph.root + 1, np.int64))
        edges = np.empty((len(values), batch.start[i + 1] - batch.start[i]), np.int32)
        count = inference.k_best(graph, scores, inside, edges, found)
        for rank in range(count):
            values[rank, i] = found[rank]
            labels[rank, batch.start[i] : batch.start[i + 1]] = edges[rank]


def marginals(batch: HypergraphBatch, w, n_jobs: int = 1) -> np.ndarray:
    """float64[parts of all examples]: expected uses under exp(value) / Z."""
    tables, _ = expectations(batch, w, n_jobs)
    return np.concatenate([np.zeros(0), *tables])
