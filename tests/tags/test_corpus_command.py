"""``maxmargin shard`` and ``maxmargin train tag`` on corpora."""

import io
import json
import os
import sys

import numpy as np
import pytest

from maxmargin import TagCorpus
from maxmargin.cli.main import main
from maxmargin.files.model_file import load

ROWS = "the D B-X\ndog N I-X\nbarks V O\n\nA D B-X\ncat N I-X\nsat V O\n\n"


@pytest.fixture
def text(tmp_path):
    folder = tmp_path / "text"
    folder.mkdir()
    for k in range(3):
        (folder / f"{k}.txt").write_text(ROWS * (k + 2))
    return folder


def run(*arguments) -> int:
    return main([str(a) for a in arguments])


def test_shard_then_train(text, tmp_path, capsys):
    options = ["--features", "chunking", "--min-count", 2]
    shards, model = tmp_path / "shards", tmp_path / "m"
    files = text / "0.txt", text / "1.txt", text / "2.txt"
    assert run("shard", *files, *options, "-o", shards) == 0
    assert "18 sentences, 54 tokens, 3 labels" in capsys.readouterr().out
    assert run("train", "tag", shards, "--scheme", "auto", "-o", model, "--quiet") == 0
    words = ["train", "tag", text / "*.txt", *options, "-o", model, "--shards", shards]
    assert run(*words, "--scheme", "auto") == 0  # the same files
    assert run(*words, "--separator", " ") == 2
    assert "other separator" in capsys.readouterr().err
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(path.read_text() for path in files))
    other = tmp_path / "n"
    more = ["--scheme", "auto", "-o", other, "--quiet"]
    assert run("train", "tag", whole, *options, *more) == 0
    a, b = load(model), load(other)
    assert np.array_equal(a._w, b._w)
    assert a.get_params() == b.get_params()
    assert a.notes["tokens"] == b.notes["tokens"] == 54
    capsys.readouterr()
    for path in (model, other):
        assert run("evaluate", path, whole) == 0
        assert run("predict", path, whole, "-o", tmp_path / f"{path.name}.out") == 0
    assert (tmp_path / "m.out").read_text() == (tmp_path / "n.out").read_text()
    assert run("inspect", model) == 0
    assert "by chunking, seen 2 times or more" in capsys.readouterr().out


def test_train_builds_and_reuses(text, tmp_path, capsys):
    template = tmp_path / "t.template"
    template.write_text("U0:%x[0,0]\nU1:%x[0,1]\n")
    model, shards = tmp_path / "m", tmp_path / "s"
    words = [
        "train",
        "tag",
        text,
        "--template",
        template,
        "--shards",
        shards,
        "-o",
        model,
    ]
    assert run(*words) == 0
    assert "not built again" not in capsys.readouterr().err
    built = os.stat(shards / "manifest.json").st_mtime_ns
    assert run(*words) == 0
    assert "not built again" in capsys.readouterr().err
    assert os.stat(shards / "manifest.json").st_mtime_ns == built
    assert load(model).predict([[("the", "D"), ("cat", "N")]]) == [["B-X", "I-X"]]
    assert run(*words, "--min-count", 3) == 2
    assert "corpus with other min count" in capsys.readouterr().err
    (text / "0.txt").write_text(ROWS)
    assert run(*words) == 2
    assert "corpus with other files" in capsys.readouterr().err


def test_like_and_hashing(text, tmp_path):
    model, shards = tmp_path / "m", tmp_path / "s"
    run(
        "shard", text, "--features", "words", "--hashing", 1024, "-o", shards, "--quiet"
    )
    assert run("train", "tag", shards, "-o", model, "--quiet") == 0
    for k, like in enumerate((model, shards)):
        folder = tmp_path / f"like{k}"
        assert (
            run("shard", text / "1.txt", "--like", like, "-o", folder, "--quiet") == 0
        )
        assert load(model).score(TagCorpus.open(folder)) == 1.0


def test_bad_input(text, tmp_path, capsys):
    shards, model = tmp_path / "s", tmp_path / "m"
    assert run("shard", text, "--features", "words", "-o", shards, "--quiet") == 0
    bad = [
        (["shard", text, "-o", tmp_path / "x"], "say what the features are"),
        (
            ["shard", text / "no", "--features", "words", "-o", tmp_path / "x"],
            "no file",
        ),
        (["shard", text, "--features", "words", "-o", shards], "exists already"),
        (
            ["shard", text, "--features", "words", "-o", tmp_path / "y" / "x"],
            "no folder",
        ),
        (
            ["shard", text, "--features", "words", "-o", "x", "--jobs", "0"],
            "--jobs 0 is",
        ),
        (["shard", text, "--like", shards, "--features", "words", "-o", "x"], "--like"),
        (
            ["train", "tag", shards, "--features", "ner", "-o", model],
            "not that of the corp",
        ),
        (
            ["train", "tag", shards, "--min-count", "3", "-o", model],
            "not that of the corp",
        ),
        (["train", "tag", shards, "--cv", "3", "-o", model], "--cv needs all data"),
        (["train", "tag", shards, "--C", "-1", "-o", model], "be a positive number."),
        (["train", "tag", shards, "--shards", "x", "-o", model], "leave out --shards"),
        (["train", "tag", shards, "--model", "hmm", "-o", model], "all data in memory"),
        (["train", "tag", shards, "--objective", "marginal", "-o", model], "in memory"),
        (["train", "tag", text, "--features", "words", "-o", model], "is a folder"),
    ]
    capsys.readouterr()
    for words, message in bad:
        assert run(*words) == 2, words
        error = capsys.readouterr().err
        assert message in error, (words, error)
    assert sorted(os.listdir(tmp_path)) == ["s", "text"]
    (shards / "00000.y.npy").write_bytes(b"")
    assert run("train", "tag", shards, "-o", model) == 2
    assert "00000.y.npy is damaged" in capsys.readouterr().err


def test_a_corpus_was_read_already(text, tmp_path, capsys):
    folder = str(tmp_path / "read")
    assert run("shard", text, "-o", folder, "--features", "words") == 0
    for options in (["--label-column", "0"], ["--separator", ","], ["--comment", "#"]):
        target = str(tmp_path / "model")
        assert run("train", "tag", folder, "-o", target, *options) != 0
        assert f"{options[0]} says how text files are read" in capsys.readouterr().err
        assert not os.path.exists(target)


def test_evaluate_and_predict_a_corpus(text, tmp_path, capsys):
    """A corpus is evaluated as the text that it was made of; so is one for --dev."""
    whole, model, shards = tmp_path / "whole.txt", tmp_path / "m", tmp_path / "s"
    whole.write_text(ROWS * 8 + "the D O\nmat N I-X\n\n")  # no model gets it all right
    train = "train", "tag", text, "--features", "chunking", "-o", model
    assert run(*train, "--quiet", "--shards", tmp_path / "t") == 0
    small = "--shard-tokens", 20
    assert run("shard", whole, "--like", model, "-o", shards, *small, "--quiet") == 0
    assert len(TagCorpus.open(shards).shards) > 1
    capsys.readouterr()
    assert run("evaluate", model, whole, "--json") == 0
    expected = capsys.readouterr().out
    assert run("evaluate", model, shards, "--json") == 0
    assert capsys.readouterr().out == expected
    assert '"tokens": 50' in expected
    assert '"token_accuracy": 1.0' not in expected
    assert run("predict", model, whole, "-o", tmp_path / "a") == 0
    assert run("predict", model, shards, "-o", tmp_path / "b") == 0
    last = [line.split(" ")[-1] for line in (tmp_path / "a").read_text().splitlines()]
    assert (tmp_path / "b").read_text().split("\n")[:-1] == last[:-1]
    again = *train, "--shards", tmp_path / "t", "--path", "0.01,1", "--json"
    answers = []
    for dev in (whole, shards):
        assert run(*again, "--dev", dev) == 0
        found = json.loads(capsys.readouterr().out)
        answers.append([found["dev"]["token_accuracy"], found["notes"]])
    assert answers[0] == answers[1]


def test_what_a_corpus_cannot_show(text, tmp_path, capsys):
    model, shards = tmp_path / "m", tmp_path / "s"
    train = "train", "tag", text, "--features", "chunking", "-o", model, "--quiet"
    assert run(*train, "--shards", shards) == 0
    capsys.readouterr()
    for words in (
        ("predict", model, shards, "--k-best", 2, "-o", tmp_path / "o"),
        ("predict", model, shards, "--marginals", "-o", tmp_path / "o"),
        ("report", model, shards, "-o", tmp_path / "o.html"),
    ):
        assert run(*words) == 2
        assert "is a corpus, which" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
    assert not (tmp_path / "o.html").exists()
    assert run("evaluate", model, shards, "--confusion", tmp_path / "c.png") == 0
    other = tmp_path / "other"
    few = "train", "tag", text / "0.txt", "--features", "words", "-o", other
    assert run(*few, "--quiet") == 0
    capsys.readouterr()
    assert run("evaluate", other, shards) == 2
    assert "other features than the tagger" in capsys.readouterr().err


def test_reuse_compares_the_features(text, tmp_path, capsys):
    """What was hashed, borrowed or made with other lists is not what would be built."""
    template, cities = tmp_path / "t.template", tmp_path / "cities.txt"
    template.write_text("U0:%x[0,0]\nU1:%g[0,0,cities]\n")
    cities.write_text("dog\n")
    shards, model = tmp_path / "s", tmp_path / "m"
    listed = "--template", template, "--gazetteer", cities, "--shards", shards
    words = "train", "tag", text, *listed, "-o", model, "--quiet"
    assert run(*words) == 0
    assert run(*words) == 0
    cities.write_text("cat\n")
    assert run(*words) == 2
    assert "corpus with other gazetteers" in capsys.readouterr().err
    ready = "--features", "words"
    for more, what in (
        (("--hashing", 2**10), "hashed"),
        (("--like", model), "a model"),
    ):
        folder = tmp_path / what.replace(" ", "")
        own = () if more[0] == "--like" else ready
        assert run("shard", text, *own, *more, "-o", folder, "--quiet") == 0
        capsys.readouterr()
        again = "train", "tag", text, *ready, "--shards", folder, "-o", model
        assert run(*again, "--quiet") == 2
        assert what in capsys.readouterr().err


def test_standard_input_is_not_taken_for_what_it_was(tmp_path, capsys, monkeypatch):
    def train(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        options = "--features", "words", "--shards", tmp_path / "s", "--quiet"
        return run("train", "tag", "-", *options, "-o", tmp_path / "m")

    assert train(ROWS * 5) == 0
    assert train(ROWS.replace("O", "Q") * 5) == 2
    assert (
        "of the same text as standard input cannot be told" in capsys.readouterr().err
    )


def test_words_as_labels(tmp_path, capsys):
    """A wrong column would take for ever."""
    rows = [f"X word{i}\n\n" for i in range(1100)]
    (tmp_path / "text").write_text("".join(rows))
    options = "--features", "words", "--quiet"
    shards, model = tmp_path / "s", tmp_path / "m"
    assert run("shard", tmp_path / "text", *options, "-o", shards) == 0
    for words in ([shards], [tmp_path / "text", *options, "--shards", shards]):
        assert run("train", "tag", *words, "-o", model) == 2
        assert "1,100 different labels" in capsys.readouterr().err


def test_a_corpus_with_other_features_for_dev(text, tmp_path, capsys):
    """Said before hours of training."""
    train, dev = tmp_path / "train", tmp_path / "dev"
    for folder, files in ((train, text), (dev, text / "1.txt")):
        assert run("shard", files, "--features", "words", "-o", folder) == 0
    options = "--dev", dev, "--path", "0.1,1", "-o", tmp_path / "m", "--quiet"
    same = tmp_path / "same"
    (text / "1.txt").write_text("a D B-X\n\n" + ROWS)
    assert run("shard", text / "1.txt", "--features", "words", "-o", same) == 0
    capsys.readouterr()
    assert run("train", "tag", train, "--quiet", *options) == 0  # the same words
    (log,) = [tmp_path / "log"]
    options = "--dev", same, "--path", "0.1,1", "-o", tmp_path / "n", "--log", log
    assert run("train", "tag", train, *options, "--quiet") == 2
    error = capsys.readouterr().err
    assert f"{same} has other features than {train}: build it with" in error
    assert not log.exists()
