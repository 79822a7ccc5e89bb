"""Formats of predictions where models differ: what was trained on decides."""

import json

import pytest
from task_cases import lines_of, table

from maxmargin.cli.main import main


def test_csv_stays_as_the_training_file_has_it(tmp_path, monkeypatch):
    """Columns with commas, and tables of vectors, have a way of their own to be csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("Ada,B\nin,O\n\nBob,B\nmet,O\n")
    train = ["train", "tag", "t.csv", "--separator", ",", "--features", "words"]
    assert main([*train, "-o", "t.model", "--quiet"]) == 0
    assert main(["predict", "t.model", "t.csv", "-o", "out.csv"]) == 0
    assert (tmp_path / "out.csv").read_text() == "Ada,B,B\nin,O,O\n\nBob,B,B\nmet,O,O\n"
    assert main(["evaluate", "out.csv", "--separator", ","]) == 0
    (tmp_path / "k.csv").write_text("a,b,kind\n1,0,x\n0,1,y\n0.9,0,x\n0,0.8,y\n")
    assert main(["train", "kernel", "k.csv", "-o", "k.model", "--quiet"]) == 0
    assert main(["predict", "k.model", "k.csv", "-o", "kinds.csv"]) == 0
    assert lines_of(tmp_path / "kinds.csv") == ["kind", "x", "y", "x", "y"]
    assert main(["predict", "k.model", "k.csv", "-o", "kinds.json"]) == 0
    assert json.loads((tmp_path / "kinds.json").read_text())[0] == {"kind": "x"}


def test_labels_of_a_taxonomy_leave_out_what_their_descendants_say(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("a.x,b\tone two\nb\tthree\na.x,b\tone\nb\tfour\n")
    train = ["train", "classify", "t.txt", "--multilabel", "-o", "t.model"]
    assert main([*train, "--quiet"]) == 0
    for name in ("plain", "t.csv", "t.json"):
        assert main(["predict", "t.model", "t.txt", "-o", name]) == 0
    expected = [line.split("\t")[0] for line in lines_of(tmp_path / "plain")]
    assert {"a.x,b", "b"} == set(expected)
    assert [row["labels"] for row in table(tmp_path / "t.csv")] == expected
    records = json.loads((tmp_path / "t.json").read_text())
    assert [",".join(row["labels"]) for row in records] == expected


def test_nodes_with_types_have_a_column_of_these(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = (
        '{"nodes": {"word": [[1], [-1]], "page": [[1]]}, "edges": [{"types": ["word", '
        '"page"], "pairs": [[0, 0], [1, 0]]}], '
        '"labels": {"word": ["a", "b"], "page": ["p"]}}'
    )
    other = graph.replace("[[1], [-1]]", "[[-1], [1]]").replace(
        '["a", "b"]', '["b", "a"]'
    )
    other = other.replace('["p"]', '["q"]')
    (tmp_path / "g.jsonl").write_text(f"{graph}\n{other}\n")
    assert main(["train", "graph", "g.jsonl", "-o", "g.model", "--quiet"]) == 0
    command = ["predict", "g.model", "g.jsonl", "--marginals", "-o"]
    assert main([*command, "g.csv"]) == main([*command, "g.json"]) == 0
    rows = table(tmp_path / "g.csv")
    assert [(row["graph"], row["type"], row["node"]) for row in rows][:3] == [
        ("1", "word", "0"),
        ("1", "word", "1"),
        ("1", "page", "0"),
    ]
    records = json.loads((tmp_path / "g.json").read_text())
    assert [row["label"] for row in rows[:2]] == records[0]["labels"]["word"]
    assert json.loads(rows[2]["marginals"]) == records[0]["marginals"]["page"][0]


def test_a_corpus_has_labels_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("Ada B\nin O\n\nBob B\nmet O\n\n")
    shard = ["shard", "t.txt", "--features", "words", "-o", "shards", "--quiet"]
    assert main(shard) == 0
    assert main(["train", "tag", "shards", "-o", "t.model", "--quiet"]) == 0
    for source, words in (("shards", False), ("t.txt", True)):
        assert main(["predict", "t.model", source, "-o", "out.jsonl"]) == 0
        first = json.loads(lines_of(tmp_path / "out.jsonl")[0])
        assert first["labels"] == ["B", "O"]
        assert ("words" in first) == words
    assert main(["predict", "t.model", "shards", "-o", "out.conllu"]) == 2


@pytest.mark.parametrize(
    ("between", "own"), [(",", "csv"), ("\t", "tsv"), (" ", "conll")]
)
def test_names_mean_the_form_of_the_training_file(tmp_path, monkeypatch, between, own):
    monkeypatch.chdir(tmp_path)
    text = "Ada B\nin O\n\nBob B\nmet O\n\n".replace(" ", between)
    (tmp_path / "t.txt").write_text(text)
    train = ["train", "tag", "t.txt", "--features", "words", "-o", "t.model", "--quiet"]
    assert main(train if between == " " else [*train, "--separator", between]) == 0
    for form in ("csv", "tsv", "conll"):
        assert main(["predict", "t.model", "t.txt", "-o", f"out.{form}"]) == 0
        first, second, *_ = lines_of(tmp_path / f"out.{form}")
        if form in (own, "conll"):  # a column added
            assert first == between.join(["Ada", "B", "B"])
        else:
            comma = "," if form == "csv" else "\t"
            assert first == comma.join(["sentence", "word", "label"])
            assert second == comma.join(["1", "Ada", "B"])


def test_features_have_no_words_for_conllu(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.txt").write_text("B\tw=Ada\nO\tw=in\n\nB\tw=Bob\nO\tw=met\n")
    train = ["train", "tag", "f.txt", "--format", "crfsuite", "-o", "f.model"]
    assert main([*train, "--quiet"]) == 0
    assert main(["predict", "f.model", "f.txt", "-o", "x.conllu"]) == 2
    assert "choose a name that ends in .conll, .csv" in capsys.readouterr().err
    assert main(["predict", "f.model", "f.txt", "-o", "x.jsonl"]) == 0
    first = json.loads(lines_of(tmp_path / "x.jsonl")[0])
    assert first == {"sentence": 1, "labels": ["B", "O"]}
