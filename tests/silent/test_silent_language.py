"""Messages of the command line translate names of parameters, never what users wrote."""

import math

import pytest

import maxmargin
from maxmargin.cli.language import options_of, spoken
from maxmargin.cli.main import TASKS, _parser, main

OPTIONS = {
    "C": "--C",
    "max_iter": "--max-iter",
    "tol": "--tol",
    "separator": "--separator",
    "label": "--label",
}


@pytest.mark.parametrize(
    "text",
    [
        "There is no 'C=1.txt' here: give \"max_iter\" and `tol=3`.",
        "a line 'label=1' of the model's file, not the user's 'separator= '",
        "folder/max_iter/x, folder/C=1/y and max_iter.txt",
        r"C:\runs\C=3\tol\x",
    ],
)
def test_quoted_texts_and_paths_stay(text):
    assert spoken(text, OPTIONS) == text


@pytest.mark.parametrize("own", ["C=1.txt", "max_iter", "tol", "runs/label=x max_iter"])
def test_words_of_the_user_stay(own):
    text = f"There is no file {own}: check its name, or C=2."
    wanted = f"There is no file {own}: check its name, or --C 2."
    assert spoken(text, OPTIONS, ["train", own, "--C", "2"]) == wanted


def test_parameters_are_translated_beside_apostrophes():
    text = "the model's C=3 and the data's separator='\\t'; a larger tol."
    wanted = "the model's --C 3 and the data's --separator \\t; a larger --tol."
    assert spoken(text, OPTIONS) == wanted


def test_options_that_are_no_parameters_stay(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.fa").write_text(">a\nACGTACGTACGTACG\n>b\nACGTACGTAAGTACG\n")
    for key, more in (
        ("label", []),
        ("C", ["--label", "C"]),
        ("tol", ["--label", "tol"]),
    ):
        assert main(["train", "motif", "a.fa", "-o", "m", "--quiet", *more]) == 2
        assert f"'{key}=VALUE'" in capsys.readouterr().err
    (tmp_path / "a.fa").write_text(
        ">a label=maybe\nACGTACGTACGTACG\n>b label=1\nACGTACGTAAGTACG\n"
    )
    main(["train", "motif", "a.fa", "-o", "m", "--quiet"])
    assert "--label maybe" not in capsys.readouterr().err


@pytest.mark.parametrize("task", TASKS)
def test_files_of_any_name_are_named_as_they_are(task, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    more = {
        "tag": ["--features", "words"],
        "structure": ["--structure", "json:JSONDecoder"],
    }
    for name in ("C=1", "max_iter", "encoding=x", "tol"):
        words = ["train", task, name, "-o", "m", *more.get(task, [])]
        assert main(words) == 2
        assert name in capsys.readouterr().err


def test_only_parameters_are_options_to_translate():
    (train,) = (
        action.choices["train"]
        for action in _parser(["train", "motif"])._actions
        if hasattr(action, "choices") and action.choices
    )
    motif = train._subparsers._group_actions[0].choices["motif"]
    found = motif.get_default("spoken")
    assert "label" not in found
    assert "output" not in found
    assert {"C", "max_iter", "encoding"} <= set(found)
    assert "label" in options_of(motif)


SAMPLES = [
    (maxmargin.MulticlassSVM, {}, True),
    (maxmargin.MulticlassSVM, {"objective": "log"}, False),
    (maxmargin.MulticlassSVM, {"solver": "one-slack"}, False),
    (maxmargin.MulticlassSVM, {"engine": "dask"}, False),
    (maxmargin.KernelSVM, {}, False),
    (maxmargin.MotifFinder, {}, False),
]


@pytest.mark.parametrize(("kind", "options", "hard"), SAMPLES)
def test_ranges_list_what_is_accepted(kind, options, hard, home):
    model = kind(C=-1.0, **options)
    with pytest.raises(ValueError, match=r"C=-1\.0 is not possible") as caught:
        model._settings()
    assert ("inf for a hard margin" in str(caught.value)) == hard
    model.set_params(C=math.inf)
    if not hard:
        X, y = [[0.0], [1.0], [2.0]] * 3, [0, 1, 0] * 3
        with pytest.raises(ValueError, match=r"C=inf|solver|sequence"):
            model.fit(X, y)


def test_advice_on_encodings_is_accepted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("plus\tcafé\nminus\tthé\n")
    assert main(["train", "classify", "t.txt", "-o", "m", "--quiet"]) == 0
    (tmp_path / "n.txt").write_bytes("plus\tcafé\nminus\tthé\n".encode("latin-1"))
    for words in (["predict", "m", "n.txt", "-o", "out"], ["evaluate", "m", "n.txt"]):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert "say --encoding latin-1." in err
        assert main([*words, "--encoding", "latin-1"]) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "n.txt").read_bytes()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--max-iter", "0"], "it must be a positive whole number."),
        (["--max-time", "-1"], "it must be seconds, positive."),
        (["--jobs", "0"], "whole number, -1 for one per core, -2 for all cores but"),
        (["--engine", "spark"], "choose dask (with --cluster or --workers)."),
        (["--engine", "dask"], "name its scheduler with --cluster ADDRESS"),
        (["--loss", "f1"], "choose from 'hamming', 'zero-one', 'spans'"),
    ],
)
def test_advice_is_what_the_command_takes(tmp_path, capsys, words, wanted):
    (tmp_path / "t.txt").write_text("the D\ndog N\n\na D\ncat N\n")
    path = str(tmp_path / "t.txt")
    train = ["train", "tag", path, "--features", "words", "-o", str(tmp_path / "m")]
    assert main([*train, *words]) == 2
    err = capsys.readouterr().err
    assert wanted in err
    assert "None" not in err
    assert "dask.distributed" not in err
