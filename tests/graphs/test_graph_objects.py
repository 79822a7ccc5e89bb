"""Graphs of networkx, arrays ``edge_index``, objects like those of PyTorch Geometric."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("networkx")

import networkx as nx

from maxmargin import GraphLabeler
from maxmargin.files import read_networkx
from maxmargin.graphs.input import read_graph

PAIRS = np.array([[0, 1], [0, 3], [1, 2], [2, 3]])  # in the order of networkx
BOTH = np.concatenate([PAIRS, PAIRS[:, ::-1]]).T  # every edge in both directions
LABELS = np.array(["a", "b"])


class Tensor:
    """What of a tensor is used: it can be changed into an array, step by step."""

    def __init__(self, values, ready=()):
        self.values, self.ready = np.asarray(values), ready

    def detach(self):
        return Tensor(self.values, (*self.ready, "detach"))

    def cpu(self):
        return Tensor(self.values, (*self.ready, "cpu"))

    def numpy(self):
        assert self.ready == ("detach", "cpu")
        return self.values


def samples(n=12, seed=0):
    """(nodes, edges, features of edges) and labels that depend on both."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        kind = rng.integers(2, size=4)
        X.append((2.0 * kind[:, None] - 1 + rng.normal(0, 0.7, (4, 2)), PAIRS))
        y.append(LABELS[kind])
    return X, y


X, Y = samples()
PLAIN = GraphLabeler(C=1).fit(X, Y)


def network(nodes, labels, cls=nx.Graph):
    graph = cls()
    for name, row, label in zip("pqrs", nodes, labels, strict=True):
        graph.add_node(name, x=row, age=row[0], size=[row[1]], kind=str(label))
    graph.add_edges_from(("pqrs"[u], "pqrs"[v]) for u, v in PAIRS)
    return graph


def networks():
    found = [network(nodes, labels) for (nodes, _), labels in zip(X, Y, strict=True)]
    for graph in found:
        nx.set_node_attributes(graph, 1.0, "size")
    return found


# networkx ------------------------------------------------------------------------------


def test_graphs_of_networkx_as_they_are():
    graphs = networks()
    y = [nx.get_node_attributes(graph, "kind") for graph in graphs]
    model = GraphLabeler(C=1).fit(graphs, y)
    assert (model.coef_ == PLAIN.coef_).all()
    assert (model.edge_coef_ == PLAIN.edge_coef_).all()
    found = model.predict(graphs)
    nx.set_node_attributes(graphs[0], found[0], "predicted")
    assert graphs[0].nodes["q"]["predicted"] == PLAIN.predict(X)[0][1]
    assert model.score(graphs, y) == PLAIN.score(X, Y)
    assert "svg" in model.show(graphs[0], y[0])._repr_html_()
    assert "graph 1" in model.report(graphs, y).html


@pytest.mark.parametrize("cls", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_all_kinds_of_networkx(cls):
    graph = network(*(X[0][0], Y[0]), cls)
    graph.remove_node("s")
    nx.set_node_attributes(graph, 2.0, "size")
    given = read_graph(graph, "g")
    assert given.names == ["p", "q", "r"]
    assert given.sizes[""].tolist() == [2.0] * 3
    assert given.edges["", "", ""][0].tolist() == [[0, 1], [1, 2]]


def test_attributes_by_name():
    graphs = networks()
    given, y = read_networkx(graphs, features=["age", "x"], label="kind")
    wide = [(np.column_stack([nodes[:, 0], nodes]), pairs) for nodes, pairs in X]
    model = GraphLabeler(C=1).fit(given, y)
    same = GraphLabeler(C=1).fit(wide, Y)
    assert (model.coef_ == same.coef_).all()
    assert model.predict(given)[0] == dict(
        zip("pqrs", same.predict(wide)[0].tolist(), strict=True)
    )
    assert read_networkx(graphs, label=None)[1] is None
    del graphs[0].nodes["q"]["kind"]
    assert read_networkx(graphs, label="kind")[1][0][1] is None


def test_attributes_of_edges_by_name():
    graphs = networks()
    for graph in graphs:
        nx.set_edge_attributes(graph, 2.0, "near")
        nx.set_edge_attributes(graph, Tensor([1.0, 3.0]), "more")
    given, _ = read_networkx(graphs, label=None, edge_features=("near", "more"))
    assert given[0].edges["", "", ""][1].tolist() == [[2.0, 1.0, 3.0]] * 4


def test_karate_club():
    club = nx.karate_club_graph()
    for v, data in club.nodes(data=True):
        data["hops"] = [nx.shortest_path_length(club, v, end) for end in (0, 33)]
    given, y = read_networkx([club], features="hops", label="club")
    model = GraphLabeler(C=1, edges="associative").fit(given, y)
    assert model.score(given, y) > 0.9


# edge_index ----------------------------------------------------------------------------


def forms(sample, labels):
    nodes, _ = sample
    data = SimpleNamespace(x=nodes, edge_index=BOTH, edge_attr=None, y=labels)
    tensors = SimpleNamespace(
        x=Tensor(nodes), edge_index=Tensor(BOTH), y=Tensor(labels)
    )
    return [
        {"nodes": nodes, "edge_index": PAIRS.T},
        {"nodes": csr_matrix(nodes), "edge_index": BOTH},
        {"nodes": Tensor(nodes), "edges": Tensor(PAIRS)},
        data,
        tensors,
    ]


@pytest.mark.parametrize("k", range(5))
def test_an_edge_index_is_its_edges(k):
    given = [forms(x, y)[k] for x, y in zip(X, Y, strict=True)]
    truth = [g.y for g in given] if k > 2 else Y
    for y in (truth, given) if k > 2 else (truth,):
        model = GraphLabeler(C=1).fit(given, y)
        assert (model.coef_ == PLAIN.coef_).all()
        assert (model.edge_coef_ == PLAIN.edge_coef_).all()
        assert model.score(given, y) == PLAIN.score(X, Y)
    found, expected = model.predict(given), PLAIN.predict(X)
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))
    assert "graph 1" in model.report(given, truth).html


def test_features_of_both_directions():
    rows = np.arange(4.0)[:, None]
    same = np.concatenate([rows, rows])
    for table in (same, csr_matrix(same)):
        x = {"nodes": X[0][0], "edge_index": BOTH, "edge_features": table}
        pairs, features = read_graph(x, "g").edges["", "", ""]
        dense = features.toarray() if hasattr(features, "toarray") else features
        order = np.argsort(dense.ravel())
        assert np.sort(pairs[order], axis=1).tolist() == np.sort(PAIRS).tolist()
        assert dense.ravel()[order].tolist() == [0, 1, 2, 3]
    different = same.copy()
    different[5] = 9.0
    data = SimpleNamespace(x=X[0][0], edge_index=BOTH, edge_attr=different)
    with pytest.raises(
        ValueError, match="edges 1 and 5 join nodes 0 and 3 in both dir"
    ):
        read_graph(data, "g")


def test_no_edges():
    for index in (None, np.zeros((2, 0), int)):
        graph = read_graph(SimpleNamespace(x=X[0][0], edge_index=index), "g")
        assert len(graph.edges["", "", ""][0]) == 0


# refused -------------------------------------------------------------------------------

NODES = X[0][0]


def index(edge_index, nodes=NODES):
    return {"nodes": nodes, "edge_index": edge_index}


def with_x(**data):
    graph = nx.path_graph(3)
    for v in graph:
        graph.nodes[v].update(x=[1.0], **data)
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ((NODES, BOTH), "g: the edges have the shape (2, 8), as an edge_index has"),
        (index(PAIRS), "g: edge_index has the shape (4, 2): it must be (2, edges)"),
        (index([0, 1]), "g: edge_index has the shape (2,): it must be"),
        (index([[0.5], [1.0]]), "g: the edges are not pairs of whole numbers"),
        (index([[0], [4]]), "g: edge 0 leads to node 4, but the nodes are 0 to 3"),
        (index([[0], [0]]), "g: edge 0 joins node 0 with itself: remove self-loops"),
        (index([[0, 0], [1, 1]]), "g: edges 0 and 1 both join nodes 0 and 1"),
        (index([[0], [1]]) | {"edges": PAIRS}, "both 'edges' and 'edge_index'"),
        (index([[0], [0]], {"a": NODES}), "g has types of nodes: give 'edges' by type"),
        (SimpleNamespace(x=None, edge_index=BOTH), "g: x is None: give every node"),
        (SimpleNamespace(x=NODES[:, 0], edge_index=BOTH), "g: the node features are not"),
        (nx.path_graph(3), "g: node 0 has no attribute 'x': give every node features"),
        (with_x(size=-1), "g: the size of node 0 is -1"),
        (object(), "g is an object, not a graph: give a tuple"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(graph, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_graph(graph, "g")


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        (with_x(), {}, "graphs is one graph: give a list"),
        (3, {}, "graphs is of type int: give a list of graphs of networkx"),
        ([(NODES, PAIRS)], {}, "graphs[0] is of type tuple, not a graph of networkx"),
        ([with_x()], {}, "no node has the attribute 'y'; there are 'x'"),
        ([with_x()], {"features": "age"}, "graphs[0]: node 0 has no attribute 'age'"),
        ([with_x()], {"features": ("x", "b")}, "node 0 has no attribute 'b'"),
        (
            [with_x(colour="red")],
            {"features": "colour"},
            "graphs[0]: node 0 has 'red' as its 'colour', a text: give numbers",
        ),
        (
            [with_x(y=1)],
            {"edge_features": "near"},
            "graphs[0]: the edge (0, 1) has no attribute 'near': give all edges features",
        ),
    ],
)
def test_what_networks_lack_is_named(graphs, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_networkx(graphs, **options)


def test_labels_that_are_not_there():
    data = SimpleNamespace(x=NODES, edge_index=BOTH, y=None)
    with pytest.raises(ValueError, match=r"y\[0\] has no labels: its y is None"):
        GraphLabeler().fit([data], [data])
    with pytest.raises(ValueError, match="X is one graph: give a list of graphs"):
        GraphLabeler().fit(data, [Y[0]])
