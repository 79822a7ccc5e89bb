"""``maxmargin train tag --model neural``, and the other commands on such a model."""

import json

import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from neural_cases import sentences

import maxmargin
from maxmargin.cli.main import main

SIZES = "--hidden-size 8 --word-size 8 --layers 1 --max-iter 4 --learning-rate 0.02"
TRAIN = ["train", "tag", "train.txt", "--model", "neural", "-o", "m", *SIZES.split()]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a file to train on, one to evaluate on, and one without labels."""
    monkeypatch.chdir(tmp_path)
    for name, n, seed, labelled in (
        ("train.txt", 60, 0, True),
        ("test.txt", 15, 1, True),
        ("new.txt", 15, 1, False),
    ):
        lines = []
        for words, labels in zip(*sentences(n, seed), strict=True):
            rows = zip(words, labels, strict=True)
            lines += [f"{w} N {z}" if labelled else f"{w} N" for w, z in rows]
            lines.append("")
        (tmp_path / name).write_text("\n".join([*lines, ""]))
    return tmp_path


def test_from_a_file_to_a_tagged_file(here, capsys):
    assert main([*TRAIN, "--dev", "test.txt", "--scheme", "BIO"]) == 0
    said = capsys.readouterr()
    assert "4 passes, the best of which was" in said.out
    assert "span F1 " in said.out
    assert "On test.txt:" in said.out
    assert "pass    1 " in said.err
    model = maxmargin.load("m")
    assert type(model).__name__ == "NeuralTagger"
    assert (model.scheme, model.verbose, model.callbacks) == ("BIO", 0, None)
    assert main(["predict", "m", "new.txt", "-o", "out.txt"]) == 0
    rows = [line.split() for line in (here / "out.txt").read_text().splitlines()]
    assert {len(row) for row in rows} == {0, 3}
    assert main(["predict", "m", "new.txt", "--marginals", "-o", "out.txt"]) == 0
    assert main(["predict", "m", "new.txt", "--k-best", "2", "-o", "out.txt"]) == 0
    assert (here / "out.txt").read_text().startswith("# 1 ")
    capsys.readouterr()
    assert main(["evaluate", "m", "test.txt", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spans"]["f1"] == model.dev_.score


def test_inspecting(here, capsys):
    assert main([*TRAIN, "--quiet", "--features", "words", "--objective", "hinge"]) == 0
    assert main(["inspect", "m", "--top", "3", "--transitions"]) == 0
    said = capsys.readouterr().out
    assert "network     lstm, " in said
    assert "Strongest transitions\n\n" in said
    assert "Transitions: from row to column" in said
    assert main(["inspect", "m", "--label", "O", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["group"] for row in found["weights"]} == {"O"}
    assert main(["inspect", "m", "--label", "X"]) == 2
    assert "--label X is not known to the model" in capsys.readouterr().err
    assert main(["report", "m", "test.txt", "-o", "page.html"]) == 0
    assert "The loss of a token was" in (here / "page.html").read_text()


def test_going_on_from_a_checkpoint(here, capsys):
    kept = ["--checkpoint", "kept", "--checkpoint-every", "0"]
    assert main([*TRAIN, *kept, "--log", "log.jsonl", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"]["task"] == "tag"
    assert len((here / "log.jsonl").read_text().splitlines()) == 4
    first = maxmargin.load("m")
    assert main([*TRAIN, *kept, "--resume", "--quiet"]) == 0
    again = maxmargin.load("m")
    x = [[["Ada", "N"], ["lives", "N"]]]
    assert (
        again.predict_marginals(x)[0].tolist() == first.predict_marginals(x)[0].tolist()
    )


REFUSED = [
    (["--C", "1"], "--C belongs to --model svm: leave it out."),
    (["--order", "2"], "--order belongs to --model svm"),
    (["--alpha", "1"], "--alpha belongs to --model hmm"),
    (["--path", "1,2", "--dev", "test.txt"], "--path belongs to --model svm"),
    (["--encoder", "gru"], "--encoder gru is not known; choose one of lstm"),
    (["--format", "crfsuite"], "--model neural reads words and columns"),
    (["--warm-up", "0.5"], "--warm-up 0.5 would not be used"),
]


@pytest.mark.parametrize(("more", "message"), REFUSED)
def test_options_that_do_not_go_together(here, capsys, more, message):
    assert main([*TRAIN, "--quiet", *more]) == 2
    assert message in capsys.readouterr().err


def test_options_of_networks_belong_to_them(here, capsys):
    command = ["train", "tag", "train.txt", "--features", "ner", "-o", "m"]
    assert main([*command, "--dropout", "0.1"]) == 2
    assert (
        "--dropout belongs to --model neural: leave it out." in capsys.readouterr().err
    )


def test_names_of_options(capsys):
    with pytest.raises(SystemExit):
        main(["train", "tag", "--help-all"])
    said = capsys.readouterr().out
    for option in ("--encoder", "--layers", "--hinge-start", "--validation-fraction"):
        assert f"\n  {option} " in said
