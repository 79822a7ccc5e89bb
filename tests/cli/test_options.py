"""Options that derive from estimators, and sentences that speak of options."""

import argparse
import inspect
import json

import pytest

import maxmargin
from maxmargin.cli.language import options_of, spoken
from maxmargin.cli.main import TASKS, main, task_of
from maxmargin.cli.options import (
    add_options,
    add_train_options,
    declared,
    parameters_of,
)
from maxmargin.fitting.parameters import Declared

ESTIMATORS = sorted({e for t in TASKS for e in task_of(t).estimators.values()})


def parser_of(task):
    parser = argparse.ArgumentParser(prog="train")
    add_train_options(parser, task_of(task))
    return parser


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_those_of_the_class(name):
    true = inspect.signature(getattr(maxmargin, name)).parameters.values()
    found = parameters_of(name)
    assert [(name, each.default) for name, each in found.items()] == [
        (p.name, p.default) for p in true
    ]


@pytest.mark.parametrize("task", TASKS)
def test_every_parameter_is_an_option(task):
    command = task_of(task)
    dests = {action.dest for action in parser_of(task)._actions}
    for name in command.estimators.values():
        options = {n for n, each in parameters_of(name).items() if each.option}
        assert options - command.hidden <= dests
    assert {"path", "dev", "cv", "plot", "json", "quiet"} <= dests
    known = set().union(*map(parameters_of, command.estimators.values()))
    assert command.hidden <= known


def test_declarations():
    text = """
    --plain  a switch
    a title
      --number N=3  goes
          on 100%
      --kind a|b=b
      --many FILE+
      --loss
    """
    parser = argparse.ArgumentParser()
    assert add_options(parser, text, {"loss": Declared(0.5)}) == {
        *("plain", "number", "kind", "many", "loss")
    }
    args = parser.parse_args(["--many", "x", "--many", "y", "--loss", "2"])
    assert (args.plain, args.number, args.kind) == (False, 3, "b")
    assert (args.many, args.loss) == (["x", "y"], 2.0)
    assert parser.parse_args([]).loss is None  # the estimator has the default
    shown = " ".join(parser.format_help().split())
    for part in ("a title:", "goes on 100%", "(default: 0.5)", "{a,b}"):
        assert part in shown
    assert [name for name, _ in declared("x\n--y")] == ["", "y"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("C=-1.0 is not possible: no.", "--C -1.0 is not possible: no."),
        ("scheme='BIO' or 'x'", "--scheme BIO or 'x'"),
        ("max_iter=None, (tol=0.1).", "--max-iter None, (--tol 0.1)."),
        ("more max_iter or max_time.", "more --max-iter or --max-time."),
        ("a larger tol, a finite C", "a larger --tol, a finite C"),
        ("n_jobs=0 and random_state=x", "--jobs 0 and --seed x"),
        ("other=3, XC=3, a.C=3, --C 3", "other=3, XC=3, a.C=3, --C 3"),
        ("separator='\\t' or separator=' '", "--separator \\t or --separator ' '"),
        ("and certificate_ is valid", "and the certificate is valid"),
    ],
)
def test_sentences_speak_of_options(text, says):
    assert spoken(text, options_of(parser_of("tag"))) == says


def test_nothing_to_translate():
    assert spoken("C=1", {}) == "C=1"


TEXT = "Ada lives in Rome .|Bob met Eve in Oslo|Rome is big|Oslo likes Ada"
NAMES = {"Ada", "Bob", "Eve"}
PLACES = {"Rome", "Oslo"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A file of names and places, and lists of these."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for sentence in TEXT.split("|"):
        for word in sentence.split():
            label = "B-PER" if word in NAMES else "B-LOC" if word in PLACES else "O"
            lines.append(f"{word} {label}\n")
        lines.append("\n")
    (tmp_path / "train.txt").write_text("".join(lines))
    (tmp_path / "places.txt").write_text("Rome\nOslo\nLima\n")
    (tmp_path / "t.template").write_text("U00:%g[0,0,places]\nU01:%cap[0,0]\n")
    (tmp_path / "new.txt").write_text("Lima\nlikes\nZoe\n")
    return tmp_path


def test_hidden_markov_models(here, capsys):
    command = ["train", "tag", "train.txt", "--features", "words", "-o", "m", "--quiet"]
    command += ["--model", "hmm"]
    assert main([*command, "--alpha", "0.5", "--scheme", "BIO"]) == 0
    model = maxmargin.load("m")
    assert (type(model).__name__, model.alpha) == ("HMMTagger", 0.5)
    assert main(["predict", "m", "train.txt", "--marginals", "-o", "out"]) == 0
    assert main(["inspect", "m", "--top", "1"]) == 0
    assert "likelihood, alpha=0.5" in capsys.readouterr().out
    assert main([*command, "--C", "1"]) == 2
    assert "--C belongs to --model svm: leave it out." in capsys.readouterr().err
    assert main([*command, "--plot", "x.png"]) == 2
    assert "--plot belongs to --model svm" in capsys.readouterr().err
    assert main([*command[:-2], "--alpha", "1"]) == 2
    assert "--alpha belongs to --model hmm" in capsys.readouterr().err


def test_gazetteers(here, capsys):
    command = ["train", "tag", "train.txt", "--template", "t.template", "-o", "m"]
    command += ["--C", "100", "--quiet"]
    for given in ("places.txt", "places=places.txt"):
        assert main([*command, "--gazetteer", given]) == 0
        assert main(["predict", "m", "new.txt"]) == 0
        out = capsys.readouterr().out.split("\n")
        assert out[:3] == ["Lima B-LOC", "likes O", "Zoe B-PER"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "t.template, line 1: U00 reads a gazetteer 'places'" in said
    assert "--gazetteer places=FILE" in said
    assert main([*command, "--gazetteer", "no.txt"]) == 2
    assert "There is no file no.txt" in capsys.readouterr().err


def test_training_from_standard_input_in_json(here, capsys, monkeypatch):
    import io
    import sys

    data = io.BytesIO((here / "train.txt").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    command = [
        "train",
        "tag",
        "-",
        "--features",
        "words",
        "-o",
        "m",
        "--json",
        "--quiet",
    ]
    assert (
        main([*command, "--dev", "train.txt", "--max-iter", "3", "--tol", "0.5"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["notes"]["file"] == "standard input"
    assert found["notes"]["sentences"] == 4
    assert found["dev"]["tokens"] == 16
    assert set(found["certificate"]) >= {"primal", "dual", "gap"}
    assert main([*command, "--dev", "-"]) == 2
    assert "standard input holds one file" in capsys.readouterr().err


def test_compiling_has_seconds_of_its_own(monkeypatch):
    from maxmargin.cli import common

    spent = iter([1.0, 1.0, 31.0, 31.0])
    clock = iter([0.0, 2.0, 40.0, 41.0])
    monkeypatch.setattr(common, "_compiled", lambda: next(spent))
    monkeypatch.setattr(common.time, "perf_counter", lambda: next(clock))
    watch = common.Stopwatch()
    for name in ("reading", "encoding", "saving"):
        watch(name)
    expected = {"reading": 2.0, "encoding": 8.0, "compiling": 30.0, "saving": 1.0}
    assert watch.seconds == expected
