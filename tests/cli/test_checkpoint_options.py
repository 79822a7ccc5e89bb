"""--checkpoint and --resume: a command that was stopped can be given again."""

import os

import numpy as np
import pytest
from cli_cases import here, train_command  # noqa: F401  (a fixture)

import maxmargin
from maxmargin.cli.main import main
from maxmargin.cli.options import seconds_of
from maxmargin.files import checkpoint_file
from maxmargin.solvers.checkpoints.notebook import Notebook


def weights(path):
    return maxmargin.load(path).coef_


def stop_after(writings, monkeypatch):
    """Ctrl-C after so many writings of checkpoints."""
    real, count = checkpoint_file.write, iter(range(10**6))

    def write(*arguments):
        real(*arguments)
        if next(count) == writings - 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint_file, "write", write)


@pytest.mark.parametrize(
    "more", [[], ["--path", "0.01,0.1", "--dev", "test.txt"], ["--cv", "2"]], ids=str
)
def test_commands_given_again_end_as_one(here, more, monkeypatch, capsys):  # noqa: F811
    options = ["--tol", "1e-3", *more]
    assert main(train_command("train.txt", "whole", *options)) == 0
    kept = train_command("train.txt", "again", *options, "--checkpoint", "folder")
    stop_after(2, monkeypatch)
    main(kept)
    monkeypatch.undo()
    os.chdir(here)
    assert main([*kept, "--resume"]) == 0
    np.testing.assert_array_equal(weights("again"), weights("whole"))


def test_sentences_name_the_options(here, capsys):  # noqa: F811
    assert main(train_command("train.txt", "m", "--resume")) == 2
    assert "--checkpoint folder" in capsys.readouterr().err
    (here / "folder").mkdir()
    (here / "folder" / "fit.checkpoint").write_bytes(b"hello")
    kept = ["--checkpoint", "folder", "--resume"]
    assert main(train_command("train.txt", "m", *kept)) == 2
    assert "is not a checkpoint of maxmargin" in capsys.readouterr().err
    assert not (here / "m").exists()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 10), ("10s", 10), ("2m", 120), ("1h", 3600), ("1.5m", 90), ("0", 0)],
)
def test_intervals_have_units(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1", "10d", "ten", "1e3", "nan", "1m30s"])
def test_bad_intervals_are_sentences(text, capsys):
    command = train_command("nothing", "m", "--checkpoint", "folder")
    assert main([*command, f"--checkpoint-every={text}"]) == 2
    said = capsys.readouterr().err
    assert f"--checkpoint-every {text!r} is not possible: " in said
    assert "30s" in said
    assert said.count("\n") == 1


def test_an_interval_needs_a_checkpoint(capsys):
    assert main(train_command("nothing", "m", "--checkpoint-every", "10s")) == 2
    assert "--checkpoint FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--cv", "2"]], ids=str)
def test_the_interval_is_that_of_the_checkpoint(here, more, monkeypatch):  # noqa: F811
    places, real = [], Notebook.__init__

    def seen(self, place, *arguments):
        places.append(place)
        real(self, place, *arguments)

    monkeypatch.setattr(Notebook, "__init__", seen)
    kept = ["--checkpoint", "folder", "--checkpoint-every", "2m", *more]
    assert main(train_command("train.txt", "m", *kept)) == 0
    assert {place.every for place in places} == {120.0}
    assert len({place.folder for place in places}) == (3 if more else 1)
