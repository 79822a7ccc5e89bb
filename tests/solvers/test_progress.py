"""What whoever waits for a fit sees: lines, lines of JSON, the time left."""

import json
import math
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from watch_cases import Bump, Classes, blobs, bumps, listed_blobs

from maxmargin import LatentStructuralSVM, MulticlassSVM, StructuralSVM
from maxmargin.solvers.result import Limits
from maxmargin.solvers.watching.progress import Lines, Progress, as_json
from maxmargin.solvers.watching.time_left import FEWEST, Curve
from maxmargin.waiting import duration

TOL = 1e-3


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def rows_of(text):
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


# the time left ------------------------------------------------------------------------

CURVES = {
    "exponential": (lambda t: np.exp(-t), math.log(1 / TOL)),
    "one by t": (lambda t: 1 / (1 + t), 1 / TOL - 1),
    "one by t squared": (lambda t: (1 + t) ** -2, TOL**-0.5 - 1),
    "slow, then quick": (lambda t: np.exp(-t) / (1 + t), 5.13),
}


def told(gap, now, noise=0.0, passes=300, estimated=False, ratio=1.0):
    """What a fit with this curve of gaps says when ``now`` seconds have passed."""
    rng, curve = np.random.default_rng(0), Curve(TOL)
    for t in np.linspace(0, now, passes + 1)[1:].tolist():
        # a primal of 1, unless it is only estimated
        share = float(gap(t)) * math.exp(noise * rng.standard_normal())
        row = {"seconds": t, "dual": 1 - share, "primal": 1.0 + 1e-12 * rng.random()}
        if estimated:
            row["primal"] = math.inf
        curve.see(row, 1.0 if estimated else math.inf)
    return curve.seconds_left(ratio)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_a_curve_is_carried_on_to_its_end(name, share):
    gap, end = CURVES[name]
    left = (1 - share) * end
    assert left / 2 < told(gap, share * end) < 2 * left
    assert left / 2.5 < told(gap, share * end, noise=0.05) < 2.5 * left


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
@pytest.mark.parametrize(
    "gap", [lambda t: 0.05, lambda t: 0.05 + math.exp(-t), lambda t: 0.02 * (1 + t)]
)
def test_nobody_can_tell_the_end_of_what_does_not_fall(gap, noise):
    assert told(gap, 50.0, noise) is None


def test_a_few_passes_out_of_line_change_little():
    def jumping(t):
        return math.exp(-t) * (30.0 if int(100 * t) % 10 == 0 else 1.0)

    assert told(jumping, 3.0) == pytest.approx(math.log(1 / TOL) - 3.0, rel=0.3)


def test_little_is_known_at_first_and_of_far_ends():
    gap, end = CURVES["exponential"]
    assert told(gap, 0.5 * end, passes=FEWEST - 1) is None
    assert told(gap, 0.5 * end, passes=FEWEST) is not None
    assert told(lambda t: math.exp(-t), 0.01 * end) is None
    assert told(lambda t: math.exp(-t), 2 * end) == 0.0  # any pass now


def test_between_certificates_the_estimate_counts_with_its_ratio():
    wanted = math.log(1 / TOL) - 3.0
    assert told(lambda t: np.exp(-t), 3.0, estimated=True) == pytest.approx(wanted)
    half = told(lambda t: 2 * np.exp(-t), 3.0, estimated=True, ratio=0.5)
    assert half == pytest.approx(wanted)


def test_no_estimate_is_no_gap():
    curve = Curve(TOL)
    for t in range(1, 50):
        row = {"seconds": float(t), "dual": 1.0, "primal": math.inf}
        curve.see(row, 1.0)  # as a solver says to whom a certificate is always welcome
    assert curve.seconds_left() is None


@pytest.mark.parametrize(
    ("limits", "most"),
    [(Limits(TOL), 3.9), (Limits(TOL, max_time=5.0), 2.0), (Limits(TOL, 400), 1.0)],
)
def test_limits_end_a_fit_sooner(limits, most, capsys):
    limits.verbose = 2
    progress = Progress(limits)
    for k, t in enumerate(np.linspace(0, 3.0, 301)[1:].tolist(), 1):
        dual = 1 - math.exp(-t)
        bounds = {"primal": 1.0 + 1e-12 * k, "dual": dual, "gap": 1 - dual}
        progress({"iteration": k, "seconds": t, **bounds})
    left = rows_of(capsys.readouterr().err)[-1]["expected_seconds_left"]
    assert left == pytest.approx(most, rel=0.05)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (40.4, "40 s"), (180, "3 min"), (9000, "2.5 h"), (4e5, "5 days")],
)
def test_durations_as_people_say_them(seconds, said):
    assert duration(seconds) == said


# lines --------------------------------------------------------------------------------


@pytest.fixture
def always_told(monkeypatch):
    """Seconds left that do not depend on how quick the machine is."""
    monkeypatch.setattr(Curve, "seconds_left", lambda self, ratio: 7.0)


def test_rows_as_lines_of_json(capsys, always_told):
    model = MulticlassSVM(tol=1e-6, verbose=2).fit(*blobs())
    out, err = capsys.readouterr()
    rows = rows_of(err)
    left = [row.pop("expected_seconds_left") for row in rows]
    assert out == ""
    assert rows == model.history_
    assert all(6.0 < x <= 7.0 for x in left)


def test_what_json_has_no_word_for_is_null(capsys):
    problem = StructuralSVM(Classes(), verbose=2, tol=1e-3)
    model = problem.fit(*listed_blobs())
    first = rows_of(capsys.readouterr().err)[0]
    assert math.isinf(model.history_[0]["primal"])
    assert first["primal"] is first["gap"] is None
    row = {"a": np.float32(0.5), "b": np.nan, "c": np.int64(3), "d": np.bool_(True)}
    assert json.loads(as_json(row)) == {"a": 0.5, "b": None, "c": 3, "d": True}
    assert json.loads(as_json({"e": -math.inf, "f": "x", "g": None, "h": [1]})) == {
        "e": None,
        "f": "x",
        "g": None,
        "h": "[1]",
    }


ROW = {"iteration": 3, "seconds": 1.0, "primal": 2.0, "dual": 1.0, "gap": 1.0}


def test_a_line_says_the_time_left(capsys):
    lines = Lines(1)
    lines(ROW, left=100.0)
    lines(ROW)
    with_time, without = capsys.readouterr().err.splitlines()
    assert with_time.endswith("gap 1  about 2 min left")
    assert without.endswith("gap 1")


def test_a_terminal_shows_one_line_that_changes(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    lines = Lines(1)
    lines(ROW, left=100.0)
    lines(ROW)
    lines.end()
    first, second, end = capsys.readouterr().err.split("\r")
    assert "min left" in first
    assert len(second) == len(first)  # nothing of the longer one stays
    assert end == "\n"


def test_a_reader_who_goes_away_does_not_end_the_fit(monkeypatch):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

        flush = isatty = lambda self: False

    monkeypatch.setattr(sys, "stderr", Closed())
    for verbose in (1, 2):
        assert MulticlassSVM(verbose=verbose).fit(*blobs()).converged_


def test_rows_of_a_fit_in_parts_count_on(capsys):
    X, y = bumps()
    model = LatentStructuralSVM(Bump(), C=2.0, tol=1e-4, verbose=2).fit(X, y)
    rows = rows_of(capsys.readouterr().err)
    assert model.n_outer_ > 1
    assert [row["iteration"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["outer"] for row in rows] == [row["outer"] for row in model.history_]
    assert (np.diff([row["seconds"] for row in rows]) >= 0).all()
    # when the last part ends is not when the fit does
    assert {row["expected_seconds_left"] for row in rows} == {None}


# callbacks ----------------------------------------------------------------------------


def test_a_callback_that_fails_is_left_out():
    X, y = blobs()
    seen, calls = [], []

    def fail(row):
        calls.append(row)
        raise RuntimeError("no space left")

    model = MulticlassSVM(tol=1e-6, callbacks=[fail, seen.append])
    said = "fail raised RuntimeError: no space left. Training goes on without it"
    with pytest.warns(RuntimeWarning, match=said) as caught:
        model.fit(X, y)
    assert len(caught) == len(calls) == 1
    assert seen == model.history_
    assert model.converged_


def test_a_callback_fails_once_in_a_fit_of_many_parts():
    X, y = bumps()
    model = LatentStructuralSVM(Bump(), C=2.0, tol=1e-4, callbacks=[lambda row: 1 / 0])
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert model.n_outer_ > 1


def test_an_answer_that_is_neither_true_nor_false_is_an_error_of_the_callback():
    model = MulticlassSVM(callbacks=[lambda row: np.zeros(2)])
    with pytest.warns(RuntimeWarning, match="ValueError"):
        assert model.fit(*blobs()).converged_


def test_all_callbacks_see_the_row_that_one_of_them_ends_the_fit_at():
    seen = []
    model = MulticlassSVM(tol=1e-12, callbacks=[lambda row: True, seen.append])
    with pytest.warns(ConvergenceWarning, match="stopped by a callback"):
        model.fit(*blobs())
    assert len(seen) == 1


def test_the_time_left_for_callbacks_that_take_it(always_told):
    class Watch:
        takes_time_left = True

        def __init__(self):
            self.left, self.ended = [], 0

        def __call__(self, row, left):
            self.left.append(left)

        def end(self):
            self.ended += 1

    watch = Watch()
    model = MulticlassSVM(tol=1e-6, callbacks=[watch]).fit(*blobs())
    assert len(watch.left) == model.n_iter_
    assert all(6.0 < x <= 7.0 for x in watch.left)
    assert watch.ended == 1
