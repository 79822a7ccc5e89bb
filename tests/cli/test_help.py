"""What --help shows: the options that matter, and what a model's task takes."""

import argparse
import re

import pytest
from task_cases import train_all

import maxmargin
from maxmargin.cli.main import TASKS, main, task_of
from maxmargin.cli.options import add_train_options
from maxmargin.cli.parser import Parser


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return train_all(tmp_path_factory.mktemp("models"))


def shown(capsys, *command):
    """The options that a help lists, and its last line."""
    with pytest.raises(SystemExit) as done:
        main(list(command))
    assert done.value.code == 0
    text = capsys.readouterr().out
    found = re.findall(r"^  (?:-\w(?: \w+)?, )?(--[\w-]+)", text, re.MULTILINE)
    return set(found), text.splitlines()[-1]


def test_a_help_takes_nothing_from_the_next_one(capsys):
    parser = Parser(prog="tool")
    assert "--traceback" not in parser.format_help()
    with pytest.raises(SystemExit):
        parser.parse_args(["--help-all"])
    assert "after an error, show where" in capsys.readouterr().out


@pytest.mark.parametrize("task", TASKS)
def test_help_of_training_is_a_dozen_options_and_help_all_the_rest(task, capsys):
    few, line = shown(capsys, "train", task, "--help")
    assert len(few) <= 16
    assert {"--help", "--help-all", "--output", "--C", "--cv", "--jobs"} <= few
    every, _ = shown(capsys, "train", task, "--help-all")
    assert few < every
    assert {"--tol", "--quiet", "--json", "--traceback"} <= every
    assert f"--help-all shows the other {len(every - few)} options" in line
    named = {name.replace("_", "-") for name in task_of(task).essential.split()}
    assert {f"--{name}".replace("n-components", "components") for name in named} <= few


@pytest.mark.parametrize("task", TASKS)
def test_every_option_of_training_is_explained(task):
    parser = argparse.ArgumentParser()
    add_train_options(parser, task_of(task))
    for action in parser._actions:
        assert action.help
        assert not action.help.startswith("(default")


@pytest.mark.parametrize("task", TASKS)
def test_options_of_predict_are_those_that_models_of_the_task_can_answer(task):
    for estimator in task_of(task).estimators.values():
        kind, told = getattr(maxmargin, estimator), task_of(task).predict_options
        assert ("--k-best" in told) == hasattr(kind, "predict_k_best")
        assert ("--marginals" in told) == hasattr(kind, "predict_marginals")


def test_help_of_a_model_is_that_of_its_task(models, capsys):
    def of(command, task, *more):
        return shown(capsys, command, models[task][0], *more, "--help")[0]

    assert {"--k-best", "--marginals"} <= of("predict", "tag")
    assert {"--k-best", "--marginals"}.isdisjoint(of("predict", "rank", "new.txt"))
    assert "--k-best" in of("predict", "match")
    assert "--marginals" not in of("predict", "match")
    assert "--confusion" in of("evaluate", "tag")
    assert "--truth" not in of("evaluate", "tag")
    assert {"--confusion", "--fractional"}.isdisjoint(of("evaluate", "align"))
    assert {"--transitions", "--label"} <= of("inspect", "tag")
    assert {"--transitions", "--label", "--shape"}.isdisjoint(of("inspect", "parse"))
    assert "--shape" in of("inspect", "kernel")
    assert "--structure" in of("predict", "structure")
    assert "--structure" not in of("predict", "kernel")
    assert "--plot" not in of("evaluate", "structure")
    every, _ = shown(capsys, "inspect", models["rank"][0], "--help-all")
    assert {"--transitions", "--label", "--shape", "--structure"}.isdisjoint(every)


@pytest.mark.parametrize("name", ["none", "text", "folder", "cut"])
def test_help_without_a_model_has_what_is_common(name, models, tmp_path, capsys):
    (tmp_path / "text").write_text("no model")
    (tmp_path / "folder").mkdir()
    with open(models["tag"][0], "rb") as file:
        (tmp_path / "cut").write_bytes(file.read(100))
    for words in ([], [str(tmp_path / name)]):
        few, line = shown(capsys, "predict", *words, "--help")
        assert {"--output", "--k-best", "--encoding"} <= few
        assert "--structure" not in few
        assert line.endswith(
            "maxmargin predict MODEL --help shows what its task takes."
        )
        few, _ = shown(capsys, "evaluate", *words, "--help")
        assert {"--truth", "--predicted", "--plot"} <= few
        assert "--fractional" not in few
        few, _ = shown(capsys, "inspect", *words, "--help")
        assert {"--transitions", "--label"}.isdisjoint(few)
        every, _ = shown(capsys, "inspect", *words, "--help-all")
        assert {"--transitions", "--label", "--shape", "--structure"} <= every
