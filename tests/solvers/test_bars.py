"""Bars of a fit: in terminals and notebooks."""

import math
import os
import shutil
import sys
from types import ModuleType, SimpleNamespace

import pytest
from watch_cases import Bump, blobs, bumps

from maxmargin import LatentStructuralSVM, MulticlassSVM, waiting
from maxmargin.solvers.watching import bars
from maxmargin.solvers.watching.bars import Advance
from maxmargin.solvers.watching.progress import Lines
from maxmargin.solvers.watching.time_left import Curve
from maxmargin.waiting import notebook_bar, text_bar


def row(seconds, primal=10.0, dual=5.0, iteration=3):
    return {
        "iteration": iteration,
        "seconds": seconds,
        "primal": primal,
        "dual": dual,
        "gap": primal - dual,
    }


def test_a_bar_goes_forward_and_is_full_at_the_tolerance():
    advance = Advance(0.01)
    assert advance.see(math.inf, math.inf) == 0
    assert advance.see(10.0, 10.0) == 0
    assert advance.see(10.0, 1.0) == 0.5  # a tenth of a hundredth, in logarithms
    assert advance.see(10.0, 5.0) == 0.5  # never back
    assert advance.see(10.0, 0.05, proved=False) == bars.NEARLY
    assert advance.see(10.0, 0.05) == 1
    for tol in (None, 0.0, 1.0, 2.0):
        assert Advance(tol).see(10.0, 5.0) == 0
    assert Advance(0.1).see(0.0, 0.0) == 0
    assert Advance(0.1).see(1.0, 0.0) == 1
    assert Advance(0.5).see(1.0, 0.500001) < 1


def test_bars_of_characters():
    assert text_bar(0) == "[" + "." * 20 + "]   0%"
    assert text_bar(0.999) == "[" + "#" * 19 + ".] 100%"
    assert text_bar(1) == "[" + "#" * 20 + "] 100%"


def test_a_terminal_shows_a_bar_once_a_gap_is_known(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    size = os.terminal_size((60, 20))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: size)
    lines = Lines(1, tol=0.01)
    lines(row(1.0, math.inf, 5.0))
    lines(row(1.0, math.inf, 0.0), estimate=10.0)
    lines(row(2.0, math.inf, 9.0), estimate=10.0, left=2.0)
    lines(row(4.0, 10.0, 9.95))
    lines.end()
    first, _, second, third, end = capsys.readouterr().err.split("\r")
    assert first.startswith("pass    3")
    assert second.rstrip() == text_bar(0.5) + "  pass 3  2 s  gap ~10%  about 2"
    assert third.rstrip() == text_bar(1) + "  pass 3  4 s  gap 0.5%"
    assert max(map(len, (first, second, third))) == 59  # never wrapped
    assert end == "\n"


def test_other_outputs_have_lines_as_before(capsys):
    lines = Lines(1, tol=0.01)
    lines(row(1.0), left=1.0)
    said = capsys.readouterr().err
    assert said == ("pass    3      1.00 s  primal 10  dual 5  gap 5  about 1 s left\n")


# notebooks ---------------------------------------------------------------------------


class FakeBar:
    """What is asked of tqdm."""

    made: list = []

    def __init__(self, total, bar_format, leave):
        assert total == 100
        self.shown, self.closed, self.n, self.text = [], False, 0, ""
        FakeBar.made.append(self)

    def set_postfix_str(self, text, refresh):
        self.text = text

    def refresh(self):
        assert not self.closed
        self.shown.append((self.n, self.text))

    def close(self):
        self.closed = True


@pytest.fixture
def notebook(monkeypatch):
    """A kernel of IPython with tqdm."""
    ipython, tqdm = ModuleType("IPython"), ModuleType("tqdm.notebook")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=None)
    tqdm.tqdm = FakeBar
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.notebook", tqdm)
    monkeypatch.setattr(FakeBar, "made", [])
    return FakeBar


def test_a_notebook_has_a_bar_that_ends_full(notebook, monkeypatch, capsys):
    monkeypatch.setattr(waiting, "EVERY", 0.0)
    monkeypatch.setattr(Curve, "seconds_left", lambda self, ratio: 7.0)
    model = MulticlassSVM(tol=1e-6, verbose=1).fit(*blobs())
    assert capsys.readouterr().err == ""
    (bar,) = notebook.made
    assert bar.closed
    assert len(bar.shown) == model.n_iter_ + 1
    assert [n for n, _ in bar.shown] == sorted(n for n, _ in bar.shown)
    assert bar.shown[-1][0] == 100
    assert "left" in bar.shown[0][1]


def test_a_bar_is_not_drawn_more_often_than_can_be_seen(notebook, monkeypatch):
    monkeypatch.setattr(waiting, "EVERY", 1e9)
    bar = notebook_bar()
    for _ in range(5):
        bar.show(0.5, "x")
    assert len(notebook.made[0].shown) == 1


def test_without_a_notebook_or_without_widgets_there_are_lines(notebook, monkeypatch):
    def without_widgets(**options):
        raise ImportError("IProgress not found")

    sys.modules["tqdm.notebook"].tqdm = without_widgets
    assert notebook_bar() is None
    monkeypatch.setitem(sys.modules, "tqdm.notebook", None)
    assert notebook_bar() is None
    sys.modules["IPython"].get_ipython = lambda: None  # a script
    assert notebook_bar() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert notebook_bar() is None


def test_fits_in_parts_have_no_bars(notebook, capsys):
    X, y = bumps()
    LatentStructuralSVM(Bump(), C=2.0, verbose=1).fit(X, y)
    assert notebook.made == []
    assert "pass    1" in capsys.readouterr().err


def test_json_lines_stay_json_in_notebooks(notebook, capsys):
    MulticlassSVM(verbose=2).fit(*blobs())
    assert notebook.made == []
    assert capsys.readouterr().err.startswith('{"iteration": 1')
