"""The k best labellings of graphs, and scores of their parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from maxmargin.core.contract import score, shape
from maxmargin.core.expectations import places
from maxmargin.core.kernel import kernel, run
from maxmargin.graphs.batch import Graphs, fields_of
from maxmargin.graphs.inference import elimination
from maxmargin.graphs.inference.elimination_plan import gather, plan_of
from maxmargin.graphs.labellings import GraphLabellings, with_search
from maxmargin.graphs.schema import Schema


def part_scores(graphs: Graphs, w) -> list[np.ndarray]:
    """theta of every graph."""
    start = graphs.node_start
    batch = with_search(graphs, np.zeros(int(start[-1]), np.int32), gather([]))
    place = places(batch)
    out = np.zeros(place[-1])
    run(score_range, batch, np.ascontiguousarray(w), place, out)
    return [out[a:b] for a, b in pairwise(place.tolist())]


def edge_tables(schema: Schema, inputs, graphs: Graphs, scores) -> list:
    """The tables of all edges in the order of the input; by type, if there are types."""
    found = []
    for i, (graph, theta) in enumerate(zip(inputs, scores, strict=True)):
        places = {}  # of edges, by their nodes
        for e in range(int(graphs.edge_start[i]), int(graphs.edge_start[i + 1])):
            places[tuple(graphs.ends[e].tolist())] = int(graphs.edge_at[e])
        counts = np.cumsum(
            [0, *(graph.counts.get(name, 0) for name in schema.node_types)]
        )
        tables = {}
        for s, key in enumerate(schema.edge_types):
            u, v = schema.ends(s)
            shape = len(schema.labels[u]), len(schema.labels[v])
            pairs = graph.edges.get(key, (np.zeros((0, 2), np.int64),))[0]
            ends = (pairs + counts[[u, v]]).tolist()
            at = [places[tuple(pair)] for pair in ends]
            size = shape[0] * shape[1]
            rows = [theta[a : a + size].reshape(shape) for a in at]
            tables[key] = np.array(rows).reshape(len(at), *shape)
        found.append(tables if schema.typed else next(iter(tables.values())))
    return found


@kernel
def score_range(batch, w, place, out):
    theta = np.zeros(shape(batch))
    for i in range(len(place) - 1):
        score(batch, i, w, theta)
        for k in range(place[i + 1] - place[i]):
            out[place[i] + k] = theta[0, k]


def k_best(batch: GraphLabellings, w, k: int) -> list[list[tuple[np.ndarray, float]]]:
    """Up to k (states, score) of every graph, best first."""
    scores = part_scores(batch.graphs, w)
    out = []
    for i, (field, theta) in enumerate(
        zip(fields_of(batch.graphs), scores, strict=True)
    ):
        n = len(field.node_at) - 1
        labellings, values = np.zeros((k, n), np.int32), np.zeros(k)
        plan = plan_of(batch.search, i)
        count = elimination.k_best(field, plan, theta, labellings, values)
        out.append([(labellings[r].copy(), float(values[r])) for r in range(count)])
    return out
