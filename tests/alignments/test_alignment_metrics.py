"""Q, Q4 and precision of alignments, and their report."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.alignments import metrics as alignment_metrics
from maxmargin.alignments.metrics import (
    alignment_report,
    pair_precision,
    q_score,
    shift_score,
)

REFERENCE = [(0, 0), (1, 1), (2, 2), (6, 3), (7, 4)]


def some_pairs(draw, n, m):
    size = draw(st.integers(0, min(n, m)))
    i = sorted(draw(st.permutations(range(n)))[:size])
    j = sorted(draw(st.permutations(range(m)))[:size])
    return list(zip(i, j, strict=True))


@st.composite
def two_alignments(draw):
    return some_pairs(draw, 7, 6), some_pairs(draw, 7, 6)


def test_docstrings_run():
    assert doctest.testmod(alignment_metrics).failed == 0


def test_by_hand():
    predicted = [(0, 0), (2, 1), (3, 2), (5, 4)]
    assert q_score(REFERENCE, predicted) == 1 / 5
    assert shift_score(REFERENCE, predicted, 0) == 1 / 5
    assert shift_score(REFERENCE, predicted, 1) == 3 / 5
    assert shift_score(REFERENCE, predicted, 4) == 4 / 5
    assert pair_precision(REFERENCE, predicted) == 1 / 4
    core = [True, False, True, False, False]
    assert q_score(REFERENCE, predicted, core) == 1 / 2
    assert shift_score(REFERENCE, predicted, 4, core) == 1.0
    # (0, 0), (2, 1) and (3, 2) touch positions of the core, (5, 4) does not
    assert pair_precision(REFERENCE, predicted, core) == 1 / 3


@given(two_alignments())
def test_bounds_and_order(both):
    reference, predicted = both
    q, q4 = q_score(reference, predicted), shift_score(reference, predicted)
    assert 0 <= q <= q4 <= 1
    assert shift_score(reference, predicted, 0) == pytest.approx(q)
    assert q_score(reference, reference) == shift_score(reference, reference) == 1
    assert pair_precision(reference, reference) == 1
    everything = [True] * len(reference)
    assert q_score(reference, predicted, everything) == q
    swapped = pair_precision(predicted, reference)
    if reference and predicted:
        assert swapped == pytest.approx(q)  # recall and precision change places


def test_nothing_to_find():
    assert q_score([], [(0, 0)]) == shift_score([], [(0, 0)]) == 1
    assert pair_precision([], [(0, 0)]) == 0
    assert pair_precision([], []) == 1
    assert pair_precision([(0, 0)], []) == q_score([(0, 0)], []) == 0
    assert q_score([], [], []) == 1


def test_masks_without_a_pair():
    for score in (q_score, shift_score, pair_precision):
        assert np.isnan(score([(0, 0)], [(0, 0)], core=[False]))
    both = [[(0, 0)], [(0, 0)]], [[(0, 0)], []]
    report = alignment_report(*both, cores=[[False], None], families=["x", "y"])
    assert np.isnan(report.each[0]).all()
    assert (report.overall.n, report.overall.q.mean) == (1, 0.0)
    assert list(report.families) == ["y"]
    with pytest.raises(ValueError, match="core masks are empty"):
        alignment_report(*both, cores=[[False], [False]])


def test_report():
    report = alignment_report(
        [REFERENCE, REFERENCE, REFERENCE],
        [REFERENCE, REFERENCE[:1], []],
        cores=[None, [True, False, False, False, False], None],
        families=["x", "x", "y"],
    )
    assert np.allclose(report.each, [[1, 1, 1], [1, 1, 1], [0, 0, 0]])
    assert report.overall.n == 3
    assert report.overall.q.mean == pytest.approx(2 / 3)
    assert report.overall.q.error == pytest.approx(1 / 3)
    assert report.by_family.n == 2
    assert report.by_family.q == pytest.approx((0.5, 0.5))
    assert report.families["x"].n == 2
    assert math.isnan(report.families["y"].q.error)
    lines = str(report).splitlines()
    assert lines[0].split() == ["n", "Q", "Q4", "f_M"]
    assert lines[1].split() == ["alignments", "3"] + ["66.7", "+-33.3"] * 3
    assert lines[-1].split() == ["y", "1", "0.0", "0.0", "0.0"]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="there are no alignments"):
        alignment_report([], [])
    with pytest.raises(ValueError, match="2 references, but 1 predictions"):
        alignment_report([[], []], [[]])
    with pytest.raises(ValueError, match="1 references, but 2 families"):
        alignment_report([[]], [[]], families=["a", "b"])
    with pytest.raises(ValueError, match="alignment 0: the core mask has 1 values"):
        alignment_report([[(0, 0), (1, 1)]], [[]], [[True]])
    with pytest.raises(ValueError, match="shift=-1"):
        alignment_report([[]], [[]], shift=-1)
