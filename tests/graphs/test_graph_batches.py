"""Graphs in flat arrays: the functions that all methods share, by enumeration."""

from typing import NamedTuple

import numpy as np
import pytest
from graph_cases import encoded, enumerate_states, plain_inputs, typed_inputs

from maxmargin.core import contract
from maxmargin.core.kernel import implements
from maxmargin.graphs.batch import Graphs
from maxmargin.graphs.field import extent
from maxmargin.graphs.input import read_graphs
from maxmargin.graphs.parts import field_of, of_labellings
from maxmargin.testing import check_structure


@of_labellings
class ListedGraphs(NamedTuple):
    """Search by enumeration, in Python."""

    start: np.ndarray
    y: np.ndarray
    graphs: Graphs


@implements(contract.argmax, ListedGraphs)
def argmax(batch, i, theta, scale, y):
    def worth(states):
        value = contract.value(batch, i, theta, states)
        return value + scale * contract.loss(batch, i, states)

    best = max(enumerate_states(batch, i), key=worth)
    y[: len(best)] = best


@pytest.mark.parametrize("edges", ["directed", "symmetric", "associative"])
@pytest.mark.parametrize("edge_width", [None, 2])
def test_plain_graphs(edges, edge_width):
    rng = np.random.default_rng(1)
    X = plain_inputs(rng, edge_width=edge_width, density=0.8)
    graphs, y, n = encoded(rng, X, ["x", "y", "z"], edges, loss={"y": 2.5})
    batch = ListedGraphs(graphs.node_start, y, graphs)
    check_structure(batch, n, enumerate_states, compiled=False)


def test_typed_graphs():
    rng = np.random.default_rng(2)
    graphs, y, n = encoded(rng, typed_inputs(rng), [[0, 1], [0, 1, 2]])
    batch = ListedGraphs(graphs.node_start, y, graphs)
    check_structure(batch, n, enumerate_states, compiled=False)
    # nodes (2 + 1) x 2 states and (1 + 1) x 3; edges 2 x 2 with 1, 2 x 3 with 2, 3 x 2
    assert n == 6 + 6 + 4 + 12 + 6


def test_equal_features_share_a_table():
    edges = [(0, 1), (1, 2), (2, 3), (3, 0)]
    nodes, features = np.ones((4, 1)), [[1, 0], [0, 1], [1, 0], [0, 1]]
    X = [(nodes, edges, features), (nodes, edges, features)]
    graphs, _, _ = encoded(np.random.default_rng(0), X, [0, 1])
    assert len(graphs.table_at) == 4
    assert graphs.table_at.tolist() == [8, 12, 8, 12]
    batch = ListedGraphs(graphs.node_start, np.zeros(8, np.int32), graphs)
    for i in (0, 1):
        field = field_of(batch, i)
        assert extent(field) == 16
        assert sorted(map(tuple, field.ends.tolist())) == sorted(edges)
        for v in range(4):
            arcs = field.arcs[field.arc_start[v] : field.arc_start[v + 1]]
            assert (field.ends[arcs // 2, arcs % 2] == v).all()
            assert len(arcs) == 2


def test_truth_is_told_by_sizes():
    X = read_graphs([([[1.0], [2.0]], [(0, 1)], None, [3, 0])])
    graphs, _, _ = encoded(np.random.default_rng(0), X, ["a", "b"])
    batch = ListedGraphs(graphs.node_start, np.zeros(2, np.int32), graphs)
    assert contract.loss(batch, 0, np.array([1, 0], np.int32)) == 3.0
    assert contract.loss(batch, 0, np.array([0, 1], np.int32)) == 0.0
