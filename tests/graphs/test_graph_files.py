"""Graphs in NPZ archives and JSON lines: there and back, and whatever else comes."""

import gzip
import io
import json
import zipfile

import numpy as np
import pytest
from graph_cases import plain_inputs, typed_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from maxmargin.files import RawText, read_graph_file, write_graph_file
from maxmargin.graphs import json_lines, npz_file
from maxmargin.graphs.input import read_graphs

NAMES = ("g.npz", "g.npz.gz", "g.jsonl", "g.jsonl.gz")
TEXT = (
    '{"nodes": [[0.5], [0.1]], "edges": [[0, 1]], "edge_features": [[2]], '
    '"sizes": [1, 3], "labels": ["a", null], "shape": [1, 2], "name": "first"}'
)


def same_graphs(X, Z):
    for a, b in zip(read_graphs(X), read_graphs(Z), strict=True):
        assert set(a.nodes) == set(b.nodes)
        for name, table in a.nodes.items():
            if len(table):
                np.testing.assert_array_equal(table, b.nodes[name])
        for key, (pairs, table) in a.edges.items():
            again = b.edges.get(key, (np.zeros((0, 2)), None))
            np.testing.assert_array_equal(pairs, again[0])
            if table is not None and len(pairs):
                np.testing.assert_array_equal(table, again[1])
        for name, sizes in a.sizes.items():
            np.testing.assert_array_equal(sizes, b.sizes.get(name, np.ones(len(sizes))))


def labels_of(rng, X, names):
    y = []
    for graph in read_graphs(X):
        row = {
            t: [names[k] if k < len(names) else None for k in rng.integers(4, size=n)]
            for t, n in ((t, graph.counts[t]) for t in graph.nodes)
        }
        y.append(row if graph.typed else row[""])
    return y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("labels", [("sky", "sea", "é"), (-1, 0, 7)])
def test_graphs_come_back(tmp_path, name, labels):
    rng = np.random.default_rng(3)
    for X in (
        plain_inputs(rng),
        plain_inputs(rng, edge_width=2, density=0.7),
        [(np.zeros((0, 0)), [])],
        [(np.eye(3), None), (np.ones((1, 3)), [])],
        typed_inputs(rng),
    ):
        y = labels_of(rng, X, labels)
        write_graph_file(tmp_path / name, X, y)
        found = read_graph_file(tmp_path / name)
        same_graphs(X, found.X)
        unknown = [json.dumps(row).count("null") for row in y]
        for row, again, missing in zip(y, found.y, unknown, strict=True):
            assert again == row or (again is None and (missing or not row))
        assert found.shapes == [None] * len(X)
        assert read_graph_file(tmp_path / name, truth=False).y is None
    first = (tmp_path / name).read_bytes()
    write_graph_file(tmp_path / name, X, y)
    assert (tmp_path / name).read_bytes() == first


def test_what_a_line_says(tmp_path):
    (tmp_path / "g").write_text(f"\n{TEXT}\r\n")
    found = read_graph_file(tmp_path / "g")
    assert found.y == [["a", None]]
    assert found.shapes == [(1, 2)]
    assert found.where(0).endswith("g, line 2")
    assert found.X[0]["edge_features"] == [[2]]
    for name in NAMES:
        write_graph_file(tmp_path / name, found.X, found.y, found.shapes)
        again = read_graph_file(tmp_path / name)
        assert (again.y, again.shapes) == (found.y, found.shapes)


def test_sparse_features_are_written(tmp_path):
    table = csr_matrix(np.diag([1.0, 2.0]))
    for name in NAMES:
        write_graph_file(tmp_path / name, [(table, [(0, 1)])])
        X = read_graph_file(tmp_path / name).X
        np.testing.assert_array_equal(X[0]["nodes"], table.toarray())


def test_predicted_labels_are_written(tmp_path):
    y = [np.array(["a", "b"]), np.array(["b"])]
    shares = [np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5]])]
    json_lines.write_labels(tmp_path / "y.jsonl", y, shares, "marginals", "utf-8")
    lines = list(map(json.loads, (tmp_path / "y.jsonl").read_text().splitlines()))
    assert lines[0] == {"labels": ["a", "b"], "marginals": shares[0].tolist()}
    npz_file.write_labels(tmp_path / "y.npz", y, shares, "marginals", "utf-8")
    with np.load(tmp_path / "y.npz") as found:
        assert found["labels"].tolist() == ["a", "b", "b"]
        assert found["node_start"].tolist() == [0, 2, 3]
        np.testing.assert_array_equal(found["marginals"], np.concatenate(shares))
    typed = [{"word": np.array([1, 2]), "page": np.array([0])}, {"word": np.array([1])}]
    npz_file.write_labels(tmp_path / "t.npz", typed, None, "marginals", "utf-8")
    with np.load(tmp_path / "t.npz") as found:
        assert found["node_types"].tolist() == ["word", "page"]
        assert found["labels.0"].tolist() == [1, 2, 1]
        assert found["node_start.1"].tolist() == [0, 1, 1]


# what is wrong, in sentences ----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no graphs"),
        ("{", "line 1 is not JSON"),
        ("[" * 100_000, "line 1 is not JSON"),
        ("[]", "line 1 is not a JSON object with nodes"),
        ('{"edges": []}', "line 1 is not a JSON object with nodes"),
        ('{"nodes": null}', "the nodes are null"),
        ('{"nodes": [[1]], "label": ["a"]}', "has the key 'label'"),
        ('{"nodes": [[1], [2, 3]]}', "line 1: the node features are not a table"),
        ('{"nodes": [["a"]]}', "node features are not a table"),
        ('{"nodes": [[1.5, 1%s]]}' % ("0" * 400), "too large|not a table"),
        ('{"nodes": [[1e999]]}', "feature 0 of node 0 is inf"),
        ('{"nodes": [[1], [NaN]]}', "feature 0 of node 1 is nan"),
        ('{"nodes": [[1]], "edges": [[0, 1]]}', "line 1: edge 0 leads to node 1"),
        ('{"nodes": [[1]], "edges": [[0, 0]]}', "joins node 0 with itself"),
        ('{"nodes": [[1]], "edges": [[0.5, 0]]}', "not pairs of whole numbers"),
        ('{"nodes": [[1]], "edges": {"a": 1}}', "not pairs of whole numbers"),
        (TEXT.replace("[[2]]", "[[2], [3]]"), "1 edges, but 2 rows of edge features"),
        (TEXT.replace("[[2]]", "[[NaN]]"), "feature 0 of edge 0 is nan"),
        (TEXT.replace("[1, 3]", "[1, -3]"), "the size of node 1 is -3"),
        (TEXT.replace("[1, 3]", "[1]"), "2 nodes, but sizes of shape"),
        (TEXT.replace('["a", null]', '["a"]'), "2 nodes, but 1 labels"),
        (TEXT.replace('["a", null]', '"ab"'), "2 nodes, but no list of labels"),
        (TEXT.replace('["a", null]', '["a", 1.5]'), "label of node 1 is 1.5"),
        (TEXT.replace('["a", null]', '["a", true]'), "label of node 1 is True"),
        (TEXT.replace('["a", null]', '{"x": []}'), "the labels are not a list"),
        (TEXT.replace("[1, 2]", "[2, 2]"), r"but the shape \[2, 2\]"),
        (TEXT.replace("[1, 2]", '"12"'), "but the shape 12"),
        ('{"nodes": {"a": [[1]]}, "edges": [[0, 1]]}', "must be a list of objects"),
        ('{"nodes": {"a": [[1]]}, "edges": [{}]}', "edges without types"),
        ('{"nodes": {"a": [[1]]}, "edges": [{"types": ["a"]}]}', "of type .'a',"),
        ('{"nodes": {"a": [[1]]}, "edges": [{"types": ["a", "b"]}]}', "no 'b' nodes"),
        ('{"nodes": {"a": [[1]]}, "edge_features": {}}', "belong to its edges"),
        ('{"nodes": {"a": [[1]]}, "labels": ["x"]}', "not an object with a list"),
        ('{"nodes": {"a": [[1]]}, "labels": {"b": []}}', "labels of the 'b' nodes"),
        (
            '{"nodes": {"a": [[1], [2]]}, "edges": [{"types": ["a", "a"]}, '
            '{"types": ["a", "", "a"]}]}',
            "twice",
        ),
    ],
)
def test_bad_lines_are_refused(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_graph_file(RawText(text.encode(), "bad.jsonl"))


def arrays():
    return {
        "node_features": np.array([[1.0, 0.0], [0.5, 2.0], [3.0, 1.0]]),
        "node_start": np.array([0, 2, 3]),
        "edges": np.array([[0, 1]]),
        "edge_start": np.array([0, 1, 1]),
        "edge_features": np.array([[0.5]]),
        "labels": np.array([0, 1, 1]),
        "known": np.array([True, False, True]),
        "sizes": np.array([1.0, 2.0, 3.0]),
        "shapes": np.array([[1, 2], [0, 0]]),
    }


def packed(values, **options):
    data = io.BytesIO()
    np.savez(data, **values, **options)
    return RawText(data.getvalue(), "bad.npz")


def test_archives_of_numpy_are_read():
    found = read_graph_file(packed(arrays()))
    assert found.y == [[0, None], [1]]
    assert found.shapes == [(1, 2), None]
    assert found.where(1) == "bad.npz, graph 1"
    raw = packed(arrays())
    assert read_graph_file(RawText(raw.data, "g")).y == found.y
    big = {"node_features": np.asfortranarray(arrays()["node_features"], ">f4")}
    again = read_graph_file(packed(arrays() | big))
    np.testing.assert_array_equal(again.X[0]["nodes"], found.X[0]["nodes"])
    assert again.X[0]["nodes"].dtype.isnative


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("node_features", None, "has no array 'node_features'; it has edge"),
        (
            "node_features",
            np.zeros(3),
            r"shape \(3,\): it must have numbers and 2 axes",
        ),
        (
            "node_features",
            np.full((3, 1), np.inf),
            "graph 0: feature 0 of node 0 is inf",
        ),
        ("node_features", np.zeros((3, 1), complex), "it must have numbers"),
        ("node_start", None, "has no array 'node_start'"),
        ("node_start", np.array([0, 3, 2]), "must rise from 0 to 3"),
        ("node_start", np.array([0, 2]), "must rise from 0 to 3"),
        ("node_start", np.array([1, 3]), "must rise from 0 to 3"),
        ("node_start", np.zeros(0, int), "must rise from 0 to 3"),
        ("node_start", np.array([0.0, 2.0, 3.0]), "must have whole numbers and 1 axis"),
        ("edges", np.zeros((1, 3), int), "edges has 3 columns"),
        ("edges", np.array([[0, 7]]), "bad.npz, graph 0: edge 0 leads to node 7"),
        ("edges", np.array([[0, -1]]), "graph 0: edge 0 leads to node -1"),
        ("edges", np.array([[0, 2**64 - 1]], np.uint64), "graph 0: edge 0 leads to"),
        ("edge_start", None, "has no array 'edge_start'"),
        ("edge_start", np.array([0, 1]), "edge_start has 2 rows, but there must be 3"),
        ("edge_features", np.zeros((2, 1)), "edge_features has 2 rows"),
        ("labels", np.array([0.5, 1, 1]), "labels is of type float64"),
        ("labels", np.zeros(2, int), "labels has 2 rows"),
        ("known", np.ones(3), "must have booleans"),
        ("sizes", np.array([1, np.nan, 1]), "graph 0: the size of node 1 is nan"),
        ("shapes", np.array([[3, 1], [0, 0]]), r"but the shape \(3, 1\)"),
        ("node_types", np.array(["a", "a"]), "must be different texts"),
        ("node_types", np.array(["a"]), "has no array 'node_features.0'"),
    ],
)
def test_bad_arrays_are_refused(name, value, sentence):
    values = {k: v for k, v in arrays().items() if k != name}
    if value is not None:
        values[name] = value
    with pytest.raises(ValueError, match=sentence):
        read_graph_file(packed(values))


def test_objects_are_not_unpickled():
    with pytest.raises(ValueError, match="labels holds Python objects"):
        read_graph_file(packed(arrays() | {"labels": np.array([0, None, "a"], object)}))


@pytest.mark.parametrize(
    "shape", ["(3, 2000000000000)", "(-3, 2)", "(0, 1, 4611686018427387904)"]
)
def test_headers_that_promise_too_much(shape):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode()
        head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
        body = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
        archive.writestr("node_features.npy", body)
    with pytest.raises(ValueError, match=r"node_features is (damaged|no array)"):
        read_graph_file(RawText(data.getvalue(), "bad.npz"))


def whole_files():
    line = f"{TEXT}\n".encode()
    return [packed(arrays()).data, gzip.compress(packed(arrays()).data), line]


@given(st.integers(0, 2), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_what_is_cut_off_is_refused(tmp_path_factory, which, share):
    data = whole_files()[which]
    data = data[: int(share * (len(data) - 2))]
    path = tmp_path_factory.getbasetemp() / "cut"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="cut"):
        read_graph_file(path)


@given(st.integers(0, 1), st.integers(0, 10**6), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_what_is_damaged_gives_graphs_or_a_sentence(which, place, flip):
    data = bytearray(whole_files()[2 * which])
    data[place % len(data)] ^= flip
    try:
        found = read_graph_file(RawText(bytes(data), "bent"))
    except ValueError as error:
        said = str(error)
    else:
        read_graphs(found.X)
        said = found.where(0)
    assert "bent" in said


def test_what_cannot_be_written_is_said(tmp_path):
    graph = (np.ones((2, 1)), [(0, 1)])
    with pytest.raises(ValueError, match="1 graphs, but 2 shapes"):
        write_graph_file(tmp_path / "g.npz", [graph], shapes=[None, None])
    with pytest.raises(ValueError, match="different widths"):
        write_graph_file(tmp_path / "g.npz", [graph, (np.ones((1, 2)), [])])
    with pytest.raises(ValueError, match="labels cannot be written"):
        write_graph_file(tmp_path / "g.npz", [graph], [[1, "a"]])
    with pytest.raises(ValueError, match="labels cannot be written"):
        write_graph_file(tmp_path / "g.npz", [graph], [[1, 10**30]])
    with pytest.raises(ValueError, match="some graphs have features of edges"):
        write_graph_file(tmp_path / "g.npz", [(*graph, [[1.0]]), graph])
    assert not (tmp_path / "g.npz").exists()
