"""Ctrl-C while a command runs: what is kept, and what is said."""

import itertools
import os
import signal
import sys

import numpy as np
import pytest
from cli_cases import (
    here,  # noqa: F401
    train_command,
)

import maxmargin
from maxmargin.cli.common import Interrupts
from maxmargin.cli.main import main

# ruff: noqa: F811  (what is imported so is a fixture)


def interrupt_at(monkeypatch, when):
    """Send Ctrl-C when the given pass is reported."""
    from maxmargin.solvers.watching.progress import Lines

    passes = []

    def report(self, row, estimate, left):
        passes.append(row["iteration"])
        if len(passes) == when:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Lines, "__call__", report)
    return passes


def test_an_interrupted_training_is_saved(here, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGINT)  # under nohup it is ignored
    interrupt_at(monkeypatch, 2)
    assert main(train_command("train.txt", "m.model", "--tol", "1e-9")) == 130
    err = capsys.readouterr().err
    assert "interrupted; the best model so far is in m.model." in err
    assert len(maxmargin.load("m.model").history_) == 2
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("before", [signal.SIG_IGN, signal.default_int_handler])
def test_the_handler_before_comes_back(before):
    old = signal.signal(signal.SIGINT, before)
    try:
        with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert interrupts.seen
        assert signal.getsignal(signal.SIGINT) == before
    finally:
        signal.signal(signal.SIGINT, old)


def test_an_interrupted_choice_is_among_what_was_tried(here, monkeypatch, capsys):
    passes = interrupt_at(monkeypatch, 5)
    more = ["--path", "0.1,1,10,100", "--dev", "test.txt", "--tol", "1e-9"]
    assert main(train_command("train.txt", "m.model", *more)) == 130
    assert maxmargin.load("m.model").C == 0.1
    assert passes.count(1) == 1  # the path ends there

    os.unlink("m.model")
    interrupt_at(monkeypatch, 3)
    more = ["--path", "0.1,1", "--cv", "3", "--tol", "1e-9"]
    assert main(train_command("train.txt", "m.model", *more)) == 130
    assert "nothing was written" in capsys.readouterr().err
    assert not (here / "m.model").exists()


def once(monkeypatch, where, name, numbers=(1,)):
    """Ctrl-C at calls of a function with these numbers."""
    original, count = getattr(where, name), itertools.count(1)

    def watched(*arguments, **more):
        if next(count) in numbers:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments, **more)

    monkeypatch.setattr(where, name, watched)


def ended(capsys, *more):
    """What a training says that is ended by Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(train_command("train.txt", "m.model", *more)) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.startswith("maxmargin: interrupted; ")
    assert err.count("\n") == 1
    return err


NOTHING = "interrupted; nothing was written."
KEPT = "interrupted; the best model so far is in m.model."


@pytest.mark.parametrize("name", ["learn", "prepare"])
def test_ctrl_c_before_the_training(here, monkeypatch, capsys, name):
    from maxmargin.tags.run import Tag

    once(monkeypatch, Tag, name)
    assert NOTHING in ended(capsys)
    assert not (here / "m.model").exists()


def test_ctrl_c_while_encoding(here, monkeypatch, capsys):
    once(monkeypatch, maxmargin.SequenceTagger, "_encode")
    assert NOTHING in ended(capsys)
    assert not (here / "m.model").exists()


def test_ctrl_c_twice_ends_with_the_model_that_there_is(here, monkeypatch, capsys):
    from maxmargin.files import model_file

    interrupt_at(monkeypatch, 2)
    once(monkeypatch, model_file, "replace_file")  # while the model is written
    assert KEPT in ended(capsys, "--tol", "1e-9")
    assert len(maxmargin.load("m.model").history_) == 2


def test_ctrl_c_after_the_model_was_written(here, monkeypatch, capsys):
    from maxmargin.cli import train

    once(monkeypatch, train, "_tell")
    assert KEPT in ended(capsys)
    assert maxmargin.load("m.model").converged_


def test_ctrl_c_while_models_are_tried(here, monkeypatch, capsys):
    from maxmargin.tags.run import Tag

    more = ["--path", "0.01,1,10", "--dev", "test.txt"]
    once(monkeypatch, Tag, "measures")
    assert KEPT in ended(capsys, *more)
    assert maxmargin.load("m.model").C == 0.01
    once(monkeypatch, Tag, "measures", [3])
    assert KEPT in ended(capsys, *more)
    assert maxmargin.load("m.model").C in (0.01, 1.0)


def test_an_interrupt_that_cannot_be_raised_is_not_lost(here, monkeypatch, capsys):
    """Python prints what it cannot raise, in a destructor; the next pass is the last."""
    passes = []

    class Pressed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def report(self, row, estimate, left):
        passes.append(row)
        if len(passes) == 2:
            Pressed()

    monkeypatch.setattr("maxmargin.solvers.watching.progress.Lines.__call__", report)
    assert KEPT in ended(capsys, "--tol", "1e-9")
    assert len(passes) == 2


def test_ctrl_c_disguised_by_compiled_code(here, monkeypatch, capsys):
    def disguised(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr(maxmargin.SequenceTagger, "_encode", disguised)
    assert NOTHING in ended(capsys)


def test_ctrl_c_at_random_moments(here, monkeypatch, capsys):
    """Whatever it meets: one sentence, and a model that loads, or none."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    alarm = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # pytest's own objects
    try:
        for moment in np.random.default_rng(0).random(12):
            signal.setitimer(signal.ITIMER_REAL, 1e-3 + 0.3 * moment**2)
            code = main(train_command("train.txt", "m.model", "--tol", "1e-9"))
            signal.setitimer(signal.ITIMER_REAL, 0)
            err = capsys.readouterr().err
            assert "Traceback" not in err
            assert code in (0, 130)
            if code == 130:
                assert NOTHING in err or KEPT in err
                assert (KEPT in err) == (here / "m.model").exists()
            if (here / "m.model").exists():
                maxmargin.load("m.model").predict([[["Ada", "N"]]])
                os.unlink("m.model")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, before)
