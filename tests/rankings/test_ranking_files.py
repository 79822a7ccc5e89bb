"""LETOR files, and maxmargin train rank from files to models to files."""

import gzip
import json

import numpy as np
import pytest

from maxmargin.cli.main import main
from maxmargin.files import number_pairs, read_letor, write_letor

TEXT = """# two queries
2 qid:10 1:0.5 3:1.5 #docid = a b
0 qid:10 2:1e-2

1 qid:7 1:-1 2:0.25 3:4 # docid = c
0 qid:7
"""


def test_a_file_comes_back(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(TEXT)
    found = read_letor(path)
    wanted = [[0.5, 0, 1.5], [0, 0.01, 0], [-1, 0.25, 4], [0, 0, 0]]
    np.testing.assert_array_equal(found.X.toarray(), wanted)
    assert found.y.tolist() == [2, 0, 1, 0]
    assert found.qid.tolist() == [10, 10, 7, 7]
    assert found.comments == ["docid = a b", "", "docid = c", ""]
    assert found.where(2) == f"{path}, line 5"
    again = tmp_path / "again.txt.gz"
    write_letor(again, found.X, found.y, found.qid, found.comments)
    assert gzip.decompress(again.read_bytes()).startswith(
        b"2 qid:10 1:0.5 3:1.5 #docid = a b\n"
    )
    other = read_letor(again)
    np.testing.assert_array_equal(other.X.toarray(), wanted)
    assert other.comments == found.comments


def test_both_ways_to_read_agree(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.6)
    y, qid = rng.integers(0, 3, 50), np.repeat(np.arange(10), 5)
    write_letor(tmp_path / "x", X, y, qid)
    at_once = read_letor(tmp_path / "x", 6)
    monkeypatch.setattr(number_pairs, "all_pairs", lambda text, indptr: None)
    by_line = read_letor(tmp_path / "x", 6)
    np.testing.assert_array_equal(at_once.X.toarray(), X)
    np.testing.assert_array_equal(by_line.X.toarray(), X)
    assert at_once.qid.tolist() == by_line.qid.tolist() == qid.tolist()


def test_the_first_line_that_is_wrong_is_named(tmp_path):
    (tmp_path / "x").write_text("1 qid:1 1:2\n1 qid:1 1:bad\ngood qid:1 1:2\n")
    with pytest.raises(ValueError, match="line 2: '1:bad'"):
        read_letor(tmp_path / "x")


def test_queries_may_be_texts(tmp_path):
    (tmp_path / "x").write_text("1 qid:cats 1:1\n0 qid:cats 1:0\n1 qid:7 1:2\n")
    assert read_letor(tmp_path / "x").qid.tolist() == ["cats", "cats", "7"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:0.5\n", "line 1: there is no qid:QUERY"),
        ("1 qid:1 1:2\n0 qid: 1:2\n", "line 2: there is no qid:QUERY"),
        ("1 qid:1 1:2\n0\n", "line 2: there is no qid:QUERY"),
        ("good qid:1 1:2\n", "line 1: 'good' is not a grade"),
        ("nan qid:1 1:2\n", "line 1: 'nan' is not a grade"),
        ("1 qid:1 1:nan\n", "line 1: '1:nan' is not finite"),
        ("1 qid:1 1:1e999\n", "line 1: '1:1e999' is too large"),
        ("1 qid:1 1:0x1\n", "line 1: '1:0x1'"),
        ("1 qid:1 1:1_0\n", "line 1: '1:1_0'"),
        ("1 qid:1 1:2\n0 qid:1 2:1 1:3\n", "line 2: the feature 1 comes after 2"),
        ("1 qid:1 0:2\n", "line 1: the feature '0' is out of range"),
        ("1 qid:1 1:2:3\n", "line 1: '1:2:3'"),
        ("1 qid:1 a:2\n", "line 1: 'a:2' is not a feature"),
        (
            "1 qid:1 1:2\n0 qid:2 1:1\n# x\n1 qid:1 1:3\n",
            "line 4: the query 1 comes again",
        ),
        ("# nothing\n", "has no documents"),
        ("1 qid:1\n", "no features at all"),
        ("1 qid:1 1:1\n0 qid:1 9:1\n", "line 2: there is a feature 9, but the model"),
    ],
)
def test_bad_files_are_named(tmp_path, text, words):
    (tmp_path / "x").write_text(text)
    width = 3 if "feature 9" in words else None
    with pytest.raises(ValueError, match=words):
        read_letor(tmp_path / "x", width)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] - X[:, 1] > 0.8).astype(int)
    write_letor("train.txt", X, y, np.repeat(np.arange(6), 10))
    return tmp_path


def test_files_to_models_to_files(here, capsys):
    options = ["--loss", "precision", "--k", "2", "--C", "10"]
    assert main(["train", "rank", "train.txt", *options, "-o", "m"]) == 0
    out = capsys.readouterr().out
    assert "60 documents of 6 queries, 3 features" in out
    assert main(["predict", "m", "train.txt", "-o", "scores.txt"]) == 0
    scores = np.loadtxt(here / "scores.txt")
    assert scores.shape == (60,)
    args = ["evaluate", "m", "train.txt", "--json", "--plot", "curve.png"]
    capsys.readouterr()
    assert main(args) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["precision"]["2"] > 0.7
    assert found["queries"] == 6
    assert (here / "curve.png").stat().st_size > 1000
    assert main(["inspect", "m"]) == 0
    assert "60 of 6 queries" in capsys.readouterr().out


def test_c_is_chosen_by_queries(here, capsys):
    train = ["train", "rank", "train.txt", "--loss", "ndcg", "--k", "3"]
    assert main([*train, "--cv", "3", "--path", "0.1,1", "-o", "m"]) == 0
    assert "NDCG@3" in capsys.readouterr().out
    assert main([*train, "--dev", "train.txt", "--path", "0.1,1", "-o", "m"]) == 0
    capsys.readouterr()
    assert main(["train", "rank", "train.txt", "--k", "0", "-o", "m"]) == 2
    assert "--k 0 is not possible" in capsys.readouterr().err
