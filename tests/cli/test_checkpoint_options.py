"""--checkpoint and --resume: a command that was stopped can be given again."""

import os

import numpy as np
import pytest
from test_cli import here, train_command  # noqa: F401  (a fixture)

import maxmargin
from maxmargin.cli.main import main
from maxmargin.files import checkpoint_file


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
