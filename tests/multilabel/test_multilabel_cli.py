"""maxmargin train multilabel: from files to models to files."""

import json

import pytest

from maxmargin.cli.main import main

TEXTS = """sea,beach\twaves and sand
sea\twaves and ships
city\tstreets and towers
beach\tsand and towels
city,sea\tstreets and ships
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(TEXTS)
    return tmp_path


def test_texts_come_back_with_their_labels(here, capsys):
    train = ["train", "multilabel", "train.txt", "--loss", "f1", "--C", "10"]
    assert main([*train, "-o", "m"]) == 0
    assert main(["predict", "m", "train.txt", "-o", "out.txt"]) == 0
    lines = (here / "out.txt").read_text().splitlines()
    assert len(lines) == 5
    assert lines[1] == "sea\twaves and ships"
    assert lines[0] in ("beach,sea\twaves and sand", "sea,beach\twaves and sand")
    capsys.readouterr()
    assert main(["evaluate", "m", "train.txt", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["f1"] > 0.9
    assert found["samples"] == 5
    assert main(["inspect", "m", "--label", "city"]) == 0
    assert "streets" in capsys.readouterr().out


def test_vectors_and_a_picture(here):
    rows = "a,b 1:1 2:1\na 1:1\nb 2:1\n 3:1\nb 2:1 3:0.5\n"
    (here / "train.svm").write_text(rows)
    train = ["train", "multilabel", "train.svm", "--format", "svmlight", "--C", "10"]
    assert main([*train, "-o", "m", "--quiet"]) == 0
    assert main(["evaluate", "m", "train.svm", "--plot", "labels.png"]) == 0
    assert (here / "labels.png").stat().st_size > 1000


def test_bad_files_are_refused(here, capsys):
    (here / "bad.txt").write_text("a,,b\tx y\n")
    assert main(["train", "multilabel", "bad.txt", "-o", "m"]) == 2
    assert "line 1: the labels 'a,,b' hold an empty one" in capsys.readouterr().err
    svm = ["train", "multilabel", "x.svm", "--format", "svmlight", "--ngrams", "2"]
    assert main([*svm, "-o", "m"]) == 2
    assert "--ngrams is for texts" in capsys.readouterr().err
