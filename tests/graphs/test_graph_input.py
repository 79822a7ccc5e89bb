"""All forms of graphs mean the same, and bad ones get a sentence with the sample."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from maxmargin import GraphLabeler, grid_graph
from maxmargin.graphs.input import read_graph, read_graphs

NODES = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
EDGES = [(0, 1), (1, 2)]


class Network:
    """What of networkx is used."""

    def __init__(self, nodes, edges):
        self._nodes, self._edges = nodes, edges

    def nodes(self, data=False):
        return list(self._nodes.items()) if data else list(self._nodes)

    def edges(self, data=False):
        return list(self._edges)

    def is_directed(self):
        return False


def test_forms_are_the_same():
    features = [[1.0], [2.0]]
    given = [
        (NODES, EDGES, features),
        (np.array(NODES), np.array(EDGES), np.array(features)),
        (csr_matrix(NODES), EDGES, csr_matrix(features)),
        {"nodes": NODES, "edges": EDGES, "edge_features": features},
        Network(
            {"a": {"x": NODES[0]}, "b": {"x": NODES[1]}, "c": {"x": NODES[2]}},
            [("a", "b", {"x": 1.0}), ("b", "c", {"x": 2.0})],
        ),
    ]
    for graph in read_graphs(given):
        table, (pairs, edges) = graph.nodes[""], graph.edges["", "", ""]
        dense = [t.toarray() if hasattr(t, "toarray") else t for t in (table, edges)]
        np.testing.assert_array_equal(dense[0], NODES)
        np.testing.assert_array_equal(dense[1], features)
        np.testing.assert_array_equal(pairs, EDGES)


BAD = [
    (3, "not a graph"),
    ([1, 2], "is a list, not a graph"),
    ((NODES,), "a tuple of 1"),
    ({"edges": EDGES}, "no key 'nodes'"),
    ({"nodes": NODES, "links": EDGES}, "the key 'links'"),
    (("abc", EDGES), "node features are not a table"),
    (([[1.0], [1.0, 2.0]], []), "node features are not a table"),
    (([[1j]], []), "node features are not a table"),
    ((NODES, [(0, 3)]), "edge 0 leads to node 3, but the nodes are 0 to 2"),
    ((NODES, [(0, 1), (-1, 2)]), "edge 1 leads to node -1"),
    ((np.zeros((0, 2)), [(0, 1)]), "there are none"),
    ((NODES, [(1, 1)]), "joins node 1 with itself"),
    ((NODES, [(0, 1), (1, 0)]), "edges 0 and 1 both join nodes 0 and 1"),
    ((NODES, [(0, 1, 2)]), "not pairs of whole numbers"),
    ((NODES, [(0.5, 1.0)]), "not pairs of whole numbers"),
    ((NODES, EDGES, [[1.0]]), "2 edges, but 1 rows of edge features"),
    ((NODES, EDGES, None, [1, -1, 1]), "size of node 1 is -1"),
    ((NODES, EDGES, None, [1, np.nan, 1]), "size of node 1 is nan"),
    ((NODES, EDGES, None, [1, 1e300, 1]), r"size of node 1 is 1e\+300"),
    ((NODES, np.array([[0, 2**64 - 1]], np.uint64)), "edge 0 leads to node 9"),
    ((NODES, EDGES, None, [1, 1]), "3 nodes, but sizes of shape"),
    ((NODES, EDGES, None, ["a", "b", "c"]), "sizes are not numbers"),
    ({"nodes": {1: NODES}}, "node type 1"),
    ({"nodes": {"a": NODES}, "edges": EDGES}, "'edges' must be a dict"),
    ({"nodes": {"a": NODES}, "edges": {("a", "b"): EDGES}}, "no 'b' nodes"),
    ({"nodes": {"a": NODES}, "edges": {"a": EDGES}}, "edges of type 'a'"),
    ({"nodes": {"a": NODES}, "sizes": {"b": [1]}}, "sizes of 'b' nodes"),
    (
        {"nodes": {"a": NODES}, "edge_features": {("a", "a"): [[1]]}},
        "but no such edges",
    ),
    (
        {
            "nodes": {"a": NODES},
            "edges": {("a", "a"): EDGES, ("a", "also", "a"): [(1, 0)]},
        },
        "both join nodes 0 and 1",
    ),
    (Network({"a": {}}, []), "node 'a' has no attribute 'x'"),
    (
        Network(
            {v: {"x": [1.0]} for v in "abc"},
            [("a", "b", {"x": 1.0}), ("b", "c", {})],
        ),
        r"the edge \('b', 'c'\) has no attribute 'x'",
    ),
]


@pytest.mark.parametrize(("graph", "says"), BAD)
def test_bad_graphs_get_a_sentence(graph, says):
    with pytest.raises(ValueError, match=says) as found:
        read_graph(graph, "X[7]")
    assert "X[7]" in str(found.value)


GOOD = (NODES, EDGES)
BAD_FITS = [
    (GOOD, ["a", "b"], "X\\[0\\] is a list, not a graph"),
    ([GOOD], [["a", "b"]], "y\\[0\\] has 2 labels, but its graph has 3 nodes"),
    ([GOOD], ["abc"], "y\\[0\\] is 'abc'"),
    ([GOOD], [["a", "a", "a"]], "one label only"),
    ([GOOD], [["a", 1, "a"]], "all strings or all integers"),
    ([GOOD], [["a", 1.5, "a"]], "all strings or all integers"),
    ([GOOD], [[None, None, None]], "no known label"),
    ([GOOD], [{0: "a"}], "no types and no names"),
    ([([], [])], [[]], "all graphs of X are empty"),
    ([], [], "X is empty"),
    ([GOOD, ([[1.0]], [])], [["a", "b", "a"], ["a"]], "X\\[1\\] has 1 features"),
    (
        [GOOD, (NODES, EDGES, [[1], [2]])],
        [["a", "b", "a"], ["a", "b", "a"]],
        "X\\[1\\] has 1 features for each of its edges, but others have none",
    ),
    (
        [([[np.nan, 1.0], [0.0, 1.0]], [])],
        [["a", "b"]],
        "X\\[0\\], node 0: the value of feature 0 is nan",
    ),
    (
        [GOOD, (NODES, EDGES[:1], None), (NODES, EDGES[:1], [[np.inf]])],
        [["a", "b", "a"]] * 3,
        "features for each of its edges",
    ),
    (
        [GOOD, {"nodes": {"a": NODES}}],
        [["a", "b", "a"], {"a": ["a", "b", "a"]}],
        "X\\[1\\] has types of nodes, but others have none",
    ),
]


@pytest.mark.parametrize(("X", "y", "says"), BAD_FITS)
def test_bad_data_get_a_sentence(X, y, says):
    with pytest.raises(ValueError, match=says):
        GraphLabeler().fit(X, y)


def test_one_graph_is_no_list():
    with pytest.raises(ValueError, match="X is one graph"):
        read_graphs({"nodes": NODES})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"edges": "none"}, "edges='none' is not known"),
        ({"inference": 3}, "inference=3 is not known"),
        ({"loss": "zero-one"}, "zero-one"),
        ({"loss": {"z": 1.0}}, "'z'"),
        ({"edges": "associative"}, "X\\[0\\]: edge 1 has a feature of -1"),
    ],
)
def test_bad_settings_get_a_sentence(settings, says):
    X = [(NODES, EDGES, [[1.0], [-1.0]])]
    with pytest.raises(ValueError, match=says):
        GraphLabeler(**settings).fit(X, [["a", "b", "a"]])


def test_grids():
    image = np.arange(12.0).reshape(3, 4)
    nodes, edges, none = grid_graph(image)
    assert nodes.shape == (12, 1)
    assert len(edges) == 3 * 3 + 2 * 4
    assert none is None
    steps = (edges[:, 1] - edges[:, 0]).tolist()
    assert set(steps) == {1, 4}
    _, edges, features = grid_graph(image, 8, ("direction", "contrast"))
    assert len(edges) == 17 + 2 * 6
    kinds = features[:, :4].argmax(1)
    for kind, step in enumerate((1, 4, 5, 3)):
        assert (np.diff(edges[kinds == kind], axis=1) == step).all()
    assert (features[:, 4] == 1).all()
    assert (features[:, 5] > 0).all()
    read_graph((nodes, edges, features), "X[0]")
    empty, edges, _ = grid_graph(np.zeros((0, 3)))
    assert len(empty) == len(edges) == 0
    for bad in ("abc", [1.0], [[1j]]):
        with pytest.raises(ValueError, match="image is not"):
            grid_graph(bad)
    with pytest.raises(ValueError, match="choose 4 or 8"):
        grid_graph(image, 5)
    with pytest.raises(ValueError, match="choose from"):
        grid_graph(image, edge_features="all")
