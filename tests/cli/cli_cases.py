"""Files and commands that tests of the command line share."""

import os
import warnings

import numpy as np
import pytest

from maxmargin.cli.main import main

NAMES = ["Ada", "Bob", "Cleo", "Dan", "Eve"]
PLACES = ["Oslo", "Rome", "Lima"]
TEMPLATE = "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nU02:%x[0,1]\nU03:%cap[0,0]\nB\n"


def sentences(n, seed=0):
    """Sentences of (word, tag, label): names and places, in BIO."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        who = [rng.choice(NAMES) for _ in range(rng.integers(1, 3))]
        rows = [(w, "N", "B-PER" if k == 0 else "I-PER") for k, w in enumerate(who)]
        rows.append((rng.choice(["lives", "works"]), "V", "O"))
        rows += [("in", "P", "O"), (rng.choice(PLACES), "N", "B-LOC"), (".", ".", "O")]
        out.append(rows)
    return out


def text_of(rows, columns=(0, 1, 2), between=" "):
    return "\n".join(
        "".join(between.join(row[k] for k in columns) + "\n" for row in sentence)
        for sentence in rows
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a training file, a test file and a template."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(text_of(sentences(40)))
    (tmp_path / "test.txt").write_text(text_of(sentences(15, seed=1)))
    (tmp_path / "new.txt").write_text(text_of(sentences(15, seed=1), (0, 1)))
    (tmp_path / "t.template").write_text(TEMPLATE)
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model file that tests may read."""
    folder = tmp_path_factory.mktemp("trained")
    train, path = folder / "train.txt", folder / "m.model"
    train.write_text(text_of(sentences(40)))
    assert main(train_command(train, path, "--C", "1")) == 0
    return str(path)


def train_command(train="train.txt", output="m.model", *more):
    features = (
        [] if "--template" in more or "--format" in more else ["--features", "ner"]
    )
    return ["train", "tag", str(train), *features, "-o", str(output), "--quiet", *more]


def refusal(capsys, command):
    """Run a command that must fail, and say what it said."""
    before = sorted(os.listdir("."))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("maxmargin: error: ")
    assert err.count("\n") == 1
    assert err.endswith((".\n", "?\n"))
    assert "Traceback" not in err
    assert sorted(os.listdir(".")) == before  # nothing was left behind
    return err.removeprefix("maxmargin: error: ").strip()
