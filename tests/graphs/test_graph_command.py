"""The task ``graph`` from file to file."""

import json

import numpy as np
import pytest

import maxmargin
from maxmargin import grid_graph
from maxmargin.cli.main import main
from maxmargin.files import read_graph_file, write_graph_file
from maxmargin.graphs.run import Graph


def small_images(seed, n=8, shape=(2, 3)):
    """Images with a border between left and right, seen through noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        truth = np.zeros(shape, int)
        truth[:, rng.integers(1, shape[1]) :] = 1
        noisy = truth + 0.3 * rng.normal(size=shape)
        X.append(grid_graph(noisy, edge_features="direction"))
        y.append([("left", "right")[k] for k in truth.ravel()])
    return X, y


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = small_images(0)
    write_graph_file("train.npz", X, y, [(2, 3)] * len(X))
    write_graph_file("train.jsonl.gz", X, y, [(2, 3)] * len(X))
    return tmp_path


def test_the_task_from_file_to_file(here, capsys):
    assert main(["train", "graph", "train.npz", "--C", "10", "-o", "m"]) == 0
    shown = capsys.readouterr().out
    assert "8 graphs, 48 nodes, 56 edges, 2 labels; C=10; inference by elim" in shown
    assert "(proved)" in shown

    assert main(["predict", "m", "train.jsonl.gz", "-o", "out.jsonl"]) == 0
    lines = list(map(json.loads, (here / "out.jsonl").read_text().splitlines()))
    found = read_graph_file("train.npz")
    expected = [row.tolist() for row in maxmargin.load("m").predict(found.X)]
    assert [line["labels"] for line in lines] == expected == found.y
    assert main(["predict", "m", "train.npz", "--marginals", "-o", "out.npz"]) == 0
    with np.load("out.npz") as archive:
        assert archive["labels"].tolist() == [label for row in found.y for label in row]
        np.testing.assert_allclose(archive["marginals"].sum(1), 1.0)
        assert archive["node_start"].tolist() == list(range(0, 49, 6))
    capsys.readouterr()
    assert main(["predict", "m", "train.npz", "--k-best", "2"]) == 0
    best = capsys.readouterr().out.splitlines()
    assert best[0].startswith("# 1 ")
    assert json.loads(best[1]) == {"labels": found.y[0]}
    assert len(best) == 4 * len(found.X)


def test_evaluation_and_pictures(here, capsys):
    train = ["train", "graph", "train.jsonl.gz", "--C", "10", "--quiet", "-o", "m"]
    assert main(train) == 0
    pictures = ["--plot", "worst.png", "--confusion", "c.png", "--fractional", "f.png"]
    assert main(["evaluate", "m", "train.npz", "--json", *pictures]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accuracy"] == found["mean_iou"] == 1.0
    assert found["labels"]["left"]["f1"] == 1.0
    assert (found["graphs"], found["nodes"]) == (8, 48)
    assert main(["inspect", "m", "--top", "4", "--plot", "edges.png"]) == 0
    shown = capsys.readouterr().out
    assert "edges       directed\ninference   elimination\n" in shown
    assert "nodes: left, feature 0" in shown
    for name in ("worst.png", "c.png", "f.png", "edges.png"):
        assert (here / name).stat().st_size > 1000
    assert main(["inspect", "m", "--export", "w.tsv", "--top", "0"]) == 0
    rows = [line.split("\t") for line in (here / "w.tsv").read_text().splitlines()]
    named = {(group, name): float(value) for group, name, value in rows}
    model = maxmargin.load("m")
    weight = named["edges", "left - right, feature 0"]
    assert weight == pytest.approx(model.edge_coef_[0, 1, 0])


def test_labels_may_be_missing(here, capsys):
    X, y = small_images(1)
    holes = [[None if v == 2 else label for v, label in enumerate(row)] for row in y]
    write_graph_file("holes.jsonl", X, [*holes[:-1], None])
    train = ["train", "graph", "holes.jsonl", "--unlabelled-weight", "0.5", "-o", "m"]
    assert main([*train, "--quiet"]) == 0
    assert maxmargin.load("m").unlabelled_weight == 0.5
    assert main(["evaluate", "m", "holes.jsonl"]) == 0
    assert "35 nodes with known labels" in capsys.readouterr().out
    write_graph_file("new.jsonl", X)
    assert main(["predict", "m", "new.jsonl", "-o", "out.jsonl"]) == 0
    assert main(["evaluate", "m", "new.jsonl"]) == 2
    assert "new.jsonl has no known label" in capsys.readouterr().err


def test_types(here, capsys):
    lines = []
    for k in range(6):
        topic = "ab"[k % 2]
        value = {
            "nodes": {"word": [[k % 2 - 0.5], [0.1]], "page": [[]]},
            "edges": [{"types": ["word", "page"], "pairs": [[0, 0], [1, 0]]}],
            "labels": {"word": [topic, None], "page": [topic.upper()]},
        }
        lines.append(json.dumps(value))
    (here / "typed.jsonl").write_text("\n".join(lines))
    assert main(["train", "graph", "typed.jsonl", "--C", "10", "-o", "m"]) == 0
    assert "18 nodes, 12 edges, 4 labels" in capsys.readouterr().out
    assert main(["predict", "m", "typed.jsonl", "-o", "out.jsonl"]) == 0
    first = json.loads((here / "out.jsonl").read_text().splitlines()[0])
    assert first["labels"]["page"] == ["A"]
    picture = ["--plot", "worst.png"]
    assert main(["evaluate", "m", "typed.jsonl", "--json", *picture]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
    assert main(["inspect", "m", "--plot", "edges.png"]) == 0
    assert "edges word page: a - A" in capsys.readouterr().out
    assert main(["evaluate", "m", "typed.jsonl", "--fractional", "f.png"]) == 2
    assert "graphs with types cannot be drawn so" in capsys.readouterr().err


def test_C_is_chosen_by_folds(here, capsys):
    train = ["train", "graph", "train.npz", "--path", "1e-6,10", "--cv", "2", "-o", "m"]
    assert main(train) == 0
    assert "accuracy   mean IoU   seconds" in capsys.readouterr().out
    assert maxmargin.load("m").C == 10
    part = Graph().read("train.jsonl.gz", True).select([3, 1])
    assert part.where(0).endswith("line 4")
    assert len(part) == len(part.more) == len(part.y) == 2


def test_inexact_search_says_what_is_proved(here, capsys):
    train = ["train", "graph", "train.npz", "--inference", "expansion", "-o", "m"]
    assert main(train) == 0
    shown = capsys.readouterr().out
    bound = maxmargin.load("m").primal_bound_
    assert f"expansion (objective at most {bound:.6g}, by the relaxation)" in shown
    train[4] = "relaxed"
    assert main(train) == 0
    assert "relaxed (what is proved is proved of the rel" in capsys.readouterr().out


def test_weights_of_labels(here):
    train = ["train", "graph", "train.npz", "--label-weight", "left:5", "-o", "m"]
    assert main([*train, "--quiet"]) == 0
    assert maxmargin.load("m").loss == {"left": 5.0}


@pytest.mark.parametrize(
    ("graph", "options", "sentence"),
    [
        ({"nodes": [[1, 2]]}, [], "bad.jsonl, line 2 has 2 features for each"),
        ({"nodes": [[1]], "labels": [3]}, [], "bad.jsonl, line 2 holds 3, but labels"),
        ({"nodes": [[1]], "edges": [[0, 5]]}, [], "bad.jsonl, line 2: edge 0 leads to"),
        ({"nodes": [[1]]}, ["--label-weight", "5"], "is not a label and a number"),
        ({"nodes": [[1]]}, ["--label-weight", "z:5"], "gives a weight to 'z'"),
        ({"nodes": [[1]]}, ["--inference", "magic"], "--inference magic is not known"),
        ({"nodes": [[1]]}, ["--edges", "odd"], "invalid choice: 'odd'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(here, capsys, graph, options, sentence):
    good = {"nodes": [[1], [2]], "edges": [[0, 1]], "labels": ["a", "b"]}
    (here / "bad.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(graph)}\n")
    assert main(["train", "graph", "bad.jsonl", *options, "-o", "m"]) == 2
    assert sentence in capsys.readouterr().err
    assert not (here / "m").exists()


def test_predictions_say_which_line_is_wrong(here, capsys):
    assert main(["train", "graph", "train.npz", "--quiet", "-o", "m"]) == 0
    (here / "wide.jsonl").write_text('{"nodes": [[1]]}\n\n{"nodes": [[1, 2]]}\n')
    assert main(["predict", "m", "wide.jsonl"]) == 2
    assert "wide.jsonl, line 3 has 2 features" in capsys.readouterr().err
