"""The task structure: a class of the user's own, from files to models to files."""

import json
import sys

import pytest

import maxmargin
from maxmargin.cli.main import main

MODULE = '''
from pathlib import Path

import numpy as np
from maxmargin import Problem


class Largest(Problem):
    """Which of two numbers is the larger one?"""

    feature_names = ["first is chosen", "second is chosen"]

    def joint_feature(self, x, y):
        return np.array([x[0], 0.0]) if y == 0 else np.array([0.0, x[1]])

    def argmax(self, x, w):
        return int(w[1] * x[1] > w[0] * x[0])

    def loss_augmented_argmax(self, x, y, w):
        scores = [w[k] * x[k] + (k != y) for k in (0, 1)]
        return int(scores[1] > scores[0])

    def loss(self, y, z):
        return float(y != z)


class OwnFiles(Largest):
    def read(self, path):
        rows = [line.split() for line in Path(path).read_text().splitlines()]
        X = [(float(a), float(b)) for a, b, *_ in rows]
        return X, [int(row[2]) if len(row) > 2 else None for row in rows]

    def write(self, path, outputs):
        with open(path, "w") as file:
            file.write("".join(f"{y}\\n" for y in outputs))
'''
CLASS = ["--structure", "mine:Largest"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(MODULE)
    X = [(1.0, 2.0), (3.0, 1.0), (0.5, 0.1), (2.0, 2.5), (4.0, 1.0), (1.0, 3.0)]
    rows = [{"x": x, "y": int(x[1] > x[0])} for x in X]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "new.jsonl").write_text('{"x": [1, 5]}\n\n{"x": [5, 1]}\n')
    return tmp_path


def train(*more, file="train.jsonl"):
    return main(["train", "structure", file, "-o", "m", "--C", "10", *more])


def test_json_lines(here, capsys):
    assert train(*CLASS, "--solver", "n-slack", "--dev", "train.jsonl") == 0
    out = capsys.readouterr().out
    assert "6 samples, 2 weights; C=10" in out
    assert "(proved)" in out
    assert "right   100.00 %" in out
    assert main(["predict", "m", "new.jsonl", *CLASS]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [{"x": [1, 5], "y": 1}, {"x": [5, 1], "y": 0}]
    assert main(["evaluate", "m", "train.jsonl", *CLASS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "samples": 6,
        "loss": 0.0,
        "right": 1.0,
    }
    assert main(["inspect", "m", *CLASS]) == 0
    out = capsys.readouterr().out
    assert "structure   mine:Largest" in out
    assert "second is chosen" in out


def test_the_class_reads_and_writes(here, capsys):
    (here / "train.txt").write_text("1 2 1\n3 1 0\n0.5 0.1 0\n2 2.5 1\n")
    (here / "new.txt").write_text("1 5\n5 1\n")
    own = ["--structure", "mine:OwnFiles"]
    assert train(*own, "--quiet", file="train.txt") == 0
    assert main(["predict", "m", "new.txt", "-o", "out.txt", *own]) == 0
    assert (here / "out.txt").read_text() == "1\n0\n"
    assert main(["evaluate", "m", "new.txt", *own]) == 2
    assert "sample 1 has no output" in capsys.readouterr().err
    assert type(maxmargin.load("m", structure=sys.modules["mine"].OwnFiles)).__name__


def test_C_is_chosen_by_the_loss(here, capsys):
    command = ["train", "structure", "train.jsonl", "-o", "m", *CLASS, "--json"]
    assert main([*command, "--path", "1e-9,10", "--cv", "3", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    losses = {row["C"]: row["measures"]["100 loss"] for row in found["choice"]}
    assert found["C"] == min(losses, key=lambda C: (losses[C], C))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("train structure train.jsonl -o n", "--structure module:Class"),
        ("train structure train.jsonl -o n --structure mine", "write module:Class"),
        ("train structure train.jsonl -o n --structure mine:No", "mine has no No"),
        ("train structure train.jsonl -o n --structure gone:No", "no module gone"),
        ("train structure mine.py -o n --structure mine:Largest", "is not JSON"),
        ("train structure new.jsonl -o n --structure mine:Largest", "sample 1 has no"),
        (
            "train structure bad.jsonl -o n --structure mine:Largest",
            "line 2: a line is",
        ),
        ("predict m new.jsonl", "--structure"),
        ("predict m new.jsonl --structure mine:OwnFiles", "Largest"),
        ("predict m new.jsonl --k-best 2 --structure mine:Largest", "only some"),
        (
            "evaluate m train.jsonl --plot x.png --structure mine:Largest",
            "--plot means",
        ),
    ],
)
def test_mistakes(here, capsys, command, says):
    (here / "bad.jsonl").write_text('{"x": [1, 2], "y": 1}\n[1]\n')
    if not command.startswith("train"):
        assert train(*CLASS, "--quiet") == 0
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("maxmargin: error: ")
    assert says in said
    assert not (here / "n").exists()


def test_a_model_file_imports_nothing(here, capsys):
    assert train(*CLASS, "--quiet") == 0
    del sys.modules["mine"]
    assert main(["inspect", "m"]) == 2
    assert "mine" not in sys.modules
