"""What the command line says of mistakes."""

import os

import numpy as np
import pytest
from cli_cases import here, refusal, train_command, trained  # noqa: F401

import maxmargin
from maxmargin.cli.main import main

# ruff: noqa: F811  (what is imported so is a fixture)


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("a N B-X\nb N\n", [], "bad.txt, line 2: 2 columns, but the first token"),
        ("a N B-X\nb\tc N O\n", [], "if only tabs separate columns, say --separator"),
        ("a\tN\tO\nb N O\n", ["--separator", "\\t"], "bad.txt, line 2: 1 column"),
        (b"a N O\nb\xe9 N B-X\n", [], "bad.txt, line 2: byte 2 of the line, 0xe9"),
        (
            "a N O\nb N X\n",
            ["--encoding", "klingon"],
            "--encoding klingon is not known; try 'utf-8'",
        ),
        ("", [], "bad.txt has no token: it is empty"),
        ("\n\n \n", [], "bad.txt has no token"),
        ("a\nb\n", [], "bad.txt, line 1: there is only one column"),
        ("a N O\nb N O\n", [], "bad.txt, column 2: all labels are 'O'"),
        (
            "a N O\nb N X\n",
            ["--label-column", "3"],
            "bad.txt, line 1: there is no column 3",
        ),
        ("a\tO\nb\t\n", ["--separator", "\\t"], "bad.txt, line 2: the label is empty"),
        (
            "a N O\n\nb N B-X\nc N O\nd N I-X\n",
            ["--scheme", "BIO"],
            "bad.txt, line 5: I-X follows O. This breaks the scheme BIO",
        ),
        (
            "a N O\nb N X\n",
            ["--scheme", "BIO"],
            "bad.txt, line 2: label 'X' does not fit",
        ),
        ("a N O\nb N X\n", ["--repair"], "--repair needs a scheme"),
        ("a N O\nb N X\n", ["--scheme", "BIO", "--repair"], "label 'X' does not fit"),
        (
            "a N O\nb N X\n",
            ["--scheme", "auto", "--repair"],
            "not written in a tagging",
        ),
        ("a N O\nb N X\n", ["--scheme", "ABC"], "--scheme ABC is not known"),
        ("a N O\nb N X\n", ["--C", "-1"], "--C -1.0 is not possible"),
        ("a N O\nb N X\n", ["--objective", "odd"], "--objective odd is not known"),
        ("a N O\nb N X\n", ["--order", "7"], "--order 7 is not possible"),
        (
            "a N O\nb N X\n",
            ["--cv", "9"],
            "--cv 9 is not possible: there are 1 sentences",
        ),
        ("a N O\nb N X\n", ["--path", "1,2"], "--path needs a way to choose"),
        ("a N O\nb N X\n", ["--path", "1,x", "--cv", "2"], "--path 1,x is not a list"),
        ("a N O\nb N X\n", ["--plot", "x.bmp"], "must end in .pdf or .png or .svg"),
        ("a N O\nb N X\n", ["--plot", "no/x.png"], "there is no folder no"),
        ("a N O\nb N X\n", ["--dev", "new.txt"], "new.txt has 2 columns where"),
        ("a N O\nb N X\n", ["--dev", "gone.txt"], "There is no file gone.txt"),
        (
            "a N O\nb N X\n",
            ["--format", "svmhmm"],
            "bad.txt, line 1: after the tag 'a'",
        ),
        ("a N O\nb N X\n", ["--odd"], "unknown arguments: --odd"),
        ("a N O\nb N X\n", ["--C", "x"], "argument --C: invalid float value: 'x'"),
    ],
)
def test_bad_training_files_and_options(here, capsys, content, options, says):
    data = content.encode() if isinstance(content, str) else content
    (here / "bad.txt").write_bytes(data)
    assert says in refusal(capsys, train_command("bad.txt", "m.model", *options))


def test_a_column_of_words_is_not_one_of_labels(here, capsys):
    many = "".join(f"N w{k}\n\n" for k in range(1001))
    (here / "many.txt").write_text(many)
    says = refusal(capsys, train_command("many.txt"))
    assert says.startswith("many.txt, column 1: there are 1001 different labels")


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("U00:%x[0,0]\nU01:%y[0,0]\n", "bad.template, line 2: unknown macro '%y'"),
        (
            "U00:%x[0,0]\nU01:%x[0,2]\n",
            "bad.template, line 2: U01 reads column 2, but the data have 2 columns, 0 to "
            "1 without that of the labels (train.txt)",
        ),
        ("B\n", "bad.template has no line that begins with U"),
        (
            "U00:%x[0,0]\nU01:%g[0,0,x]\n",
            "bad.template, line 2: U01 reads a gazetteer 'x'",
        ),
        ("U00:%x[0,0\n", "bad.template, line 1: bad brackets"),
    ],
)
def test_bad_templates(here, capsys, template, says):
    (here / "bad.template").write_text(template)
    command = train_command("train.txt", "m.model", "--template", "bad.template")
    assert says in refusal(capsys, command)


def test_features_must_be_named(here, capsys):
    start = ["train", "tag", "train.txt", "-o", "m.model"]
    assert "say what the features are" in refusal(capsys, start)
    says = refusal(capsys, [*start, "--features", "nerr"])
    assert "--features nerr is not known; there are chunking, ner" in says
    says = refusal(capsys, [*start, "--template", "gone"])
    assert "There is no template file gone" in says
    says = refusal(capsys, [*start, "--format", "crfsuite", "--features", "ner"])
    assert "--features belongs to --format columns" in says


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["predict", "gone.model", "new.txt"], "'gone.model': there is no such file"),
        (
            ["predict", "new.txt", "MODEL"],
            "'new.txt': it is not a maxmargin model file",
        ),
        (["predict", "MODEL", "gone.txt"], "There is no file gone.txt"),
        (["predict", "MODEL", "empty.txt"], "empty.txt has no token"),
        (["predict", "MODEL", "."], ". is a folder, not a file"),
        (["predict", "MODEL", "new.txt", "-o", "no/x"], "there is no folder no"),
        (["predict", "MODEL", "new.txt", "-o", "."], "is a folder"),
        (
            ["predict", "MODEL", "new.txt", "--k-best", "0"],
            "--k-best 0 is not possible",
        ),
        (["predict", "MODEL", "new.txt", "--jobs", "0"], "--jobs 0 is not possible"),
        (["predict", "MODEL"], "the following arguments are required: FILE"),
        (
            ["predict", "MODEL", "wide.txt"],
            "The model was trained with 2 or 3 columns, but wide.txt has 4",
        ),
        (["evaluate", "MODEL", "new.txt"], "the labels are missing"),
        (
            ["evaluate", "MODEL", "test.txt", "--truth", "1"],
            "--truth is for files without",
        ),
        (["evaluate", "MODEL"], "is a model: name a file to evaluate it on"),
        (["evaluate", "one.txt"], "one.txt, line 1: there is only one column"),
        (["evaluate", "new.txt", "--truth", "9"], "there is no column 9 (--truth)"),
        (["evaluate", "new.txt", "--page", "x.html"], "--page is gone: a page with"),
        (["report", "MODEL", "test.txt", "-o", "x.png"], "must end in .html"),
        (["report", "MODEL", "test.txt", "--limit", "0"], "--limit 0 is not possible"),
        (["report", "MODEL", "new.txt"], "the labels are missing"),
        (["inspect", "MODEL", "--label", "B-X"], "--label B-X is not known"),
        (["inspect", "MODEL", "--top", "-3"], "--top -3 is not possible"),
        (["inspect", "MODEL", "--plot", "x.doc"], "must end in"),
        (["inspect", "-"], "a model is read from a file"),
        (
            ["train", "tag", "train.txt", "--features", "ner", "-o", "-"],
            "standard output",
        ),
        (["train", "tag", "-o", "no/m", "x"], "there is no folder no"),
        (["train", "fly"], "argument TASK: invalid choice: 'fly'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_bad_commands(here, trained, capsys, command, says):
    (here / "empty.txt").write_text("")
    (here / "one.txt").write_text("a\n")
    (here / "wide.txt").write_text("a b c d\n")
    assert says in refusal(capsys, [trained if z == "MODEL" else z for z in command])


def test_models_that_no_command_trained(here, capsys):
    X, y = np.eye(4), [0, 1, 0, 1]
    maxmargin.save(maxmargin.MulticlassSVM().fit(X, y), "classes.model")
    says = refusal(capsys, ["predict", "classes.model", "new.txt"])
    assert "classes.model holds a MulticlassSVM that was saved from Python" in says
    model = maxmargin.MulticlassSVM().fit(X, y)
    model.notes = {"task": "fly"}
    maxmargin.save(model, "other.model")
    says = refusal(capsys, ["inspect", "other.model"])
    assert "other.model holds a model of the task 'fly'" in says


def test_a_failed_write_leaves_the_old_output(here, trained, capsys, monkeypatch):
    (here / "out.txt").write_text("old")

    def broken(*_):
        raise OSError(28, "No space left on device", "out.txt")

    monkeypatch.setattr(os, "replace", broken)
    says = refusal(capsys, ["predict", trained, "new.txt", "-o", "out.txt"])
    assert says == "out.txt: No space left on device."
    assert (here / "out.txt").read_text() == "old"
    refusal(capsys, train_command())


@pytest.mark.parametrize("command", ["train tag none", "predict none", "shard none"])
def test_where_an_error_came_from(here, capsys, command):
    words = [*command.split(), "-o", "out"]
    assert main(words) == 2
    short = capsys.readouterr().err
    assert "Traceback" not in short
    assert main([*words, "--traceback"]) == 2
    long = capsys.readouterr().err
    assert long.startswith("Traceback")
    assert long.endswith(short)
    assert 'File "' in long
