"""Bars while files are read, encoded, predicted and written: on a real terminal."""

import io
import os
import re
import signal
import struct
import sys
import threading

import numpy as np
import pytest

from maxmargin import Problem, StructuralSVM, waiting
from maxmargin.cli.main import main
from maxmargin.engine.threads import PARTS, WATCHED, Team, over_ranges
from maxmargin.files import read_trees
from maxmargin.waiting import bar_is_drawn, counted, counting, seen, stage, watched

WORDS = 200_000
PICTURE = r"\[(#*)\.*\] +(\d+)%  (.*?)  about \d+ (s|min|h|days) left"


@pytest.fixture
def at_once(monkeypatch):
    """Bars without patience."""
    for name in ("AFTER", "LEAST", "EVERY"):
        monkeypatch.setattr(waiting, name, 0.0)


class Terminal:
    """Standard error is a pseudo-terminal within; ``said`` is what came out of it."""

    def __init__(self, columns=80):
        self.columns, self.said = columns, ""

    def __enter__(self):
        pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
        fcntl = pytest.importorskip("fcntl")
        self.master, slave = pty.openpty()
        size = struct.pack("HHHH", 24, self.columns, 0, 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        self.pieces = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        self.before, sys.stderr = sys.stderr, os.fdopen(slave, "w", buffering=1)
        assert sys.stderr.isatty()
        return self

    def __exit__(self, *_):
        sys.stderr.close()
        sys.stderr = self.before
        self.reader.join()
        os.close(self.master)
        self.said = b"".join(self.pieces).decode()

    def read(self):
        while True:
            try:
                piece = os.read(self.master, 1 << 16)
            except OSError:  # so it ends where the other side is closed
                return
            if not piece:
                return
            self.pieces.append(piece)

    def shares(self):
        """{stage: the per cent of its pictures}."""
        found = {}
        for _, share, what, _ in re.findall(PICTURE, self.said):
            found.setdefault(what, []).append(int(share))
        return found

    def left(self):
        """What a reader of the terminal sees in the end, line by line."""
        lines, at = [[]], 0
        for letter in self.said:
            if letter == "\n":
                lines.append([])
            elif letter == "\r":
                at = 0
                continue
            else:
                lines[-1][at : at + 1] = [letter]
                at += 1
                continue
            at = 0
        return ["".join(line).rstrip() for line in lines]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A large file of tokens, a small one, and a model of it."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    words = rng.integers(0, 5000, WORDS).tolist()
    lines = [
        f"w{k} {'ABC'[k % 3]}\n" + "\n" * (t % 20 == 19) for t, k in enumerate(words)
    ]
    (folder / "large.txt").write_text("".join(lines))
    (folder / "small.txt").write_text("".join(lines[:2000]))
    small, model = str(folder / "small.txt"), str(folder / "tags.model")
    assert (
        main(["train", "tag", small, "-o", model, "--features", "ner", "--quiet"]) == 0
    )
    return folder


def test_predictions_of_a_large_file_are_watched(files, at_once, tmp_path):
    model, large = str(files / "tags.model"), str(files / "large.txt")
    with Terminal() as terminal:
        assert main(["predict", model, large, "-o", str(tmp_path / "watched")]) == 0
    shares = terminal.shares()
    assert list(shares) == [
        "reading large.txt",
        "encoding",
        "predicting",
        "writing watched",
    ]
    assert shares["predicting"] == sorted(shares["predicting"])
    assert len(shares["predicting"]) > 100
    assert shares["predicting"][-1] == shares["writing watched"][-1] == 100
    assert "".join(terminal.left()) == ""  # all lines are wiped
    assert main(["predict", model, large, "-o", str(tmp_path / "alone")]) == 0
    assert (tmp_path / "watched").read_bytes() == (tmp_path / "alone").read_bytes()


def test_evaluations_of_a_large_file_are_watched(files, at_once, capsys):
    model, large = str(files / "tags.model"), str(files / "large.txt")
    with Terminal() as terminal:
        assert main(["evaluate", model, large, "--jobs", "2"]) == 0
    assert {"reading large.txt", "encoding", "predicting"} <= {*terminal.shares()}
    assert "".join(terminal.left()) == ""
    watched_scores = capsys.readouterr().out
    assert main(["evaluate", model, large]) == 0
    assert capsys.readouterr().out == watched_scores


def test_training_on_a_large_file_is_watched(files, at_once, tmp_path, capsys):
    large, out = str(files / "large.txt"), str(tmp_path / "m")
    command = ["train", "tag", large, "-o", out, "--features", "ner", "--max-iter", "3"]
    with Terminal() as terminal:
        assert main(command) == 0
    assert {"reading large.txt", "encoding"} <= {*terminal.shares()}
    left = terminal.left()
    assert [line for line in left if "encoding" in line] == []
    assert any("pass" in line for line in left)  # the last line of the fit stays
    with Terminal() as terminal:
        assert main([*command, "--quiet"]) == 0
    assert terminal.shares() == {}


def test_nothing_is_said_without_a_terminal(files, at_once, tmp_path, capsys):
    model, large = str(files / "tags.model"), str(files / "large.txt")
    assert main(["predict", model, large, "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""
    with watched(), stage("predicting"):
        assert counting(10) is None


def test_what_is_quick_has_no_bar(files, tmp_path):
    model, small = str(files / "tags.model"), str(files / "small.txt")
    with Terminal() as terminal:
        assert main(["predict", model, small, "-o", str(tmp_path / "out")]) == 0
    assert terminal.said == ""


# the pieces ---------------------------------------------------------------------------


def test_bars_need_somebody_and_a_stage(at_once):
    with Terminal() as terminal:
        assert counting(10) is None
        with stage("a"):
            assert counting(10) is None
        with watched():
            assert counting(10) is None
            with stage("a"), counting(10) as count:
                count(5)
                assert bar_is_drawn()
            assert not bar_is_drawn()
        with watched(False), stage("a"):
            assert counting(10) is None
    assert terminal.shares() == {"a": [50]}


def test_patience(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    with Terminal() as terminal, watched(), stage("a"), counting(100) as count:
        for seconds, more in ((0.5, 1), (0.4, 1), (0.2, 1), (0.05, 1), (8.9, 6)):
            now[0] += seconds
            count(more)
    # not in the first second, not twice in a tenth of one
    assert re.findall(r"\d+%.*?left", terminal.said) == [
        "3%  a  about 36 s left",
        "10%  a  about 2 min left",
    ]
    with Terminal() as terminal, watched():
        now[0] += 60
        with stage("a"), counting(100) as count:
            for _ in range(4):
                now[0] += 0.11  # in 0.44 s, all is done
                count(25)
    assert terminal.said == ""


def test_patience_begins_with_the_whole_work(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    with Terminal() as terminal, watched():
        now[0] += 0.5  # what was done before
        with watched(), stage("a"), counting(100) as count:
            now[0] += 0.6
            count(50)
    assert terminal.shares() == {"a": [50]}


def test_lines_are_not_wrapped(at_once):
    with Terminal(40) as terminal, watched(), stage("reading " + "x" * 99):
        list(seen(range(100), 100))
    assert max(map(len, terminal.said.split("\r"))) == 39
    assert "".join(terminal.left()) == ""


def test_items_and_calls_are_handed_over_as_they_are(at_once):
    items = iter(range(3))
    assert seen(items, 3) is items  # nobody looks
    with counted(max, 9, min) as call:
        assert call is max
    with Terminal() as terminal, watched(), stage("a"):
        assert list(seen(range(100), 50)) == list(range(100))  # more than was said
        with counted(lambda a, b: a + b, 10, lambda a, b: b) as call:
            assert [call(1, 5), call(2, 5)] == [6, 7]
    assert terminal.shares()["a"] == [64, 100, 100, 50, 100]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_errors_and_interrupts_leave_a_clean_line(at_once, error):
    def work(k):
        if k == 70:
            raise error

    with Terminal() as terminal, pytest.raises(error), watched(), stage("a"):
        list(map(work, seen(range(100), 100)))
    assert terminal.shares()["a"] == [32, 64]
    assert "".join(terminal.left()) == ""
    assert not bar_is_drawn()
    assert counting(3) is None


def test_ctrl_c_while_predicting(files, at_once, monkeypatch, tmp_path):
    shown = waiting.Count._show

    def interrupted(self, share, left):
        shown(self, share, left)
        if self.what == "predicting" and share > 0.5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(waiting.Count, "_show", interrupted)
    model, large = str(files / "tags.model"), str(files / "large.txt")
    with Terminal() as terminal:
        assert main(["predict", model, large, "-o", str(tmp_path / "out")]) == 130
    left = [line for line in terminal.left() if line]
    assert left == ["maxmargin: interrupted; nothing was written."]
    assert not (tmp_path / "out").exists()


def test_a_closed_terminal_does_not_end_the_work(at_once, monkeypatch):
    class Closed(io.StringIO):
        def isatty(self):
            return True

        def write(self, text):
            raise ValueError("I/O operation on closed file")

    monkeypatch.setattr(sys, "stderr", Closed())
    with watched(), stage("a"):
        assert sum(seen(range(100), 100)) == 4950


@pytest.mark.parametrize("jobs", [1, 3])
def test_ranges_are_counted_by_what_is_in_them(at_once, jobs):
    start = np.cumsum([0, *range(400)])
    got = np.zeros(400, int)

    def work(lo, hi):
        got[lo:hi] += 1

    calls = len(over_ranges(work, start, 1))
    with Terminal() as terminal, watched(), stage("predicting"):
        more = len(over_ranges(work, start, Team(jobs)))
    assert got.tolist() == [2] * 400
    assert calls == PARTS
    assert PARTS < more <= WATCHED + 4
    shares = terminal.shares()["predicting"]
    assert shares == sorted(shares)
    if jobs == 1:
        assert shares[-1] == 100


def test_other_threads_count_and_do_not_draw(at_once):
    with Terminal() as terminal, watched(), stage("a"), counting(100) as count:
        worker = threading.Thread(target=lambda: count(60))
        worker.start()
        worker.join()
        assert terminal.pieces == []
        count(20)
    assert terminal.shares() == {"a": [80]}


def test_threads_of_users_watch_alone(at_once):
    found = []
    with Terminal(), watched(), stage("a"):
        other = threading.Thread(target=lambda: found.append(counting(3)))
        other.start()
        other.join()
        assert counting(3) is not None
    assert found == [None]


# what is counted ----------------------------------------------------------------------


class Copy(Problem):
    def joint_feature(self, x, y):
        return np.array([x * y])

    def outputs(self, x):
        return -1, 1

    def loss(self, y, y_hat):
        return float(y != y_hat)


def test_estimators_with_verbose_show_encoding_and_predicting(at_once):
    X = np.linspace(-1, 1, 100).tolist()
    y = [1 if x > 0 else -1 for x in X]
    with Terminal() as terminal:
        model = StructuralSVM(Copy(), verbose=1).fit(X, y)
        model.predict(X)
    assert {"encoding", "predicting"} <= {*terminal.shares()}
    with Terminal() as terminal:
        StructuralSVM(Copy(), verbose=1).fit(X, y, dev=(X, y))
    assert {*terminal.shares()} == {"encoding"}  # looks at dev have no bars
    with Terminal() as terminal:
        model.set_params(verbose=0).predict(X)
    assert terminal.said == ""


def test_files_of_trees_are_counted(at_once, tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text("(S (A a)\n   (B b))\n" * 100)
    with Terminal() as terminal, watched(), stage("reading trees.mrg"):
        assert len(read_trees(path)) == 100
    assert terminal.shares()["reading trees.mrg"] == [32, 64, 96]
