"""Random small inputs of a GraphLabeler, and their batches."""

import itertools

import numpy as np

from maxmargin.core.tables.label_costs import cost_table
from maxmargin.graphs.batch import make_graphs, node_rows
from maxmargin.graphs.input import read_graphs
from maxmargin.graphs.schema import check_graphs, learn


def random_pairs(rng, n, density=None):
    density = rng.random() if density is None else density
    pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < density]
    return [p if rng.random() < 0.5 else p[::-1] for p in pairs]


def plain_inputs(rng, sizes=(4, 0, 1, 3), width=3, edge_width=None, density=None):
    """Graphs without types; features of edges are few numbers, so that some are equal."""
    X = []
    for n in sizes:
        edges = random_pairs(rng, n, density)
        features = None
        if edge_width is not None:
            features = rng.integers(0, 2, size=(len(edges), edge_width)).astype(float)
        nodes = rng.normal(size=(n, width))
        X.append((nodes, edges, features, rng.integers(0, 3, size=n)))
    return X


def typed_inputs(rng, sizes=((2, 2), (0, 1), (3, 0))):
    """Graphs with two types of nodes and three of edges."""
    X = []
    for a, b in sizes:
        across = [(u, v) for u in range(a) for v in range(b) if rng.random() < 0.7]
        X.append(
            {
                "nodes": {"a": rng.normal(size=(a, 2)), "b": rng.normal(size=(b, 1))},
                "edges": {
                    ("a", "a"): random_pairs(rng, a),
                    ("a", "of", "b"): across[::2],
                    ("b", "a"): [p[::-1] for p in across[1::2]],
                },
                "edge_features": {
                    ("a", "of", "b"): rng.integers(0, 2, size=(len(across[::2]), 2))
                },
            }
        )
    return X


def encoded(rng, X, labels, edges="directed", constant=1, loss=None):
    """(graphs in flat arrays, random truths, number of weights)."""
    inputs = read_graphs(X)
    schema = learn(inputs, edges, constant)
    check_graphs(schema, inputs)
    schema.labels = [labels] if not schema.typed else labels
    costs = [cost_table(loss or "hamming", some) for some in schema.labels]
    graphs, _ = make_graphs(schema, inputs, costs, node_rows(schema, inputs))
    y = rng.integers(graphs.blocks.states[graphs.node_type]).astype(np.int32)
    return graphs, y, schema.n_weights


def enumerate_states(batch, i):
    """Every labelling of a graph."""
    g = batch.graphs
    kinds = g.node_type[g.node_start[i] : g.node_start[i + 1]]
    for states in itertools.product(*map(range, g.blocks.states[kinds].tolist())):
        yield np.array(states, np.int32)
