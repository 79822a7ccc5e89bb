"""A word, once, where workers are not worth it."""

import warnings

import pytest

from maxmargin.engine.worth import Worth
from maxmargin.solvers.shards.parallel_ascent import passes_of


def said(workers, efficiency, computing, spent, rounds=20, passes=lambda workers: 1):
    """What is said of so many equal rounds, after a first one that compiles."""
    worth = Worth(workers, passes)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        worth.see(0.01, 0.0, 100.0)
        for _ in range(rounds):
            worth.see(efficiency, computing, spent)
    assert len(found) <= 1
    return str(found[0].message) if found else None


def test_messages_that_take_longer_than_the_work():
    # one process needs 0.4 s for a pass, the four workers 1.1 s
    words = said(4, 1.0, 0.1, 1.1)
    assert "this process alone (engine=None) would be about 2.8 times as fast" in words
    assert "the 4 workers of the cluster" in words


def test_moves_that_hinder_each_other():
    # what is kept of 16 workers' steps is worth less than steps of one
    assert "this process alone" in said(16, 0.03, 0.5, 0.6)


def test_fewer_workers():
    # steps of 64 hinder each other, one process is slow
    assert "9 workers would be about 2.3 times as fast" in said(64, 0.1, 0.1, 0.6)


@pytest.mark.parametrize(
    ("workers", "efficiency", "computing", "spent"),
    [(4, 0.8, 1.0, 1.1), (16, 0.5, 1.0, 1.5), (1, 1.0, 1.0, 1.0)],
)
def test_workers_that_are_worth_it(workers, efficiency, computing, spent):
    assert said(workers, efficiency, computing, spent) is None


def test_rounds_of_several_passes():
    # Sixteen workers take 4 passes of 0.1 s in a round that is worth 0.3 of a pass of one
    # process, which takes 1.6 s: one in 1.5 s.
    words = said(16, 0.3, 0.4, 0.45, passes=passes_of)
    assert words is not None
    assert "16 workers of the cluster" in words
    assert "this process alone" not in words
    # as if the passes of a round were all worth something
    assert said(16, 0.3, 0.4, 0.45) is None
    # two, in half of its time and 0.1 s more, do three quarters of the work
    assert said(2, 0.75, 1.0, 1.1, passes=passes_of) is None
    assert "this process alone" in said(2, 0.75, 1.0, 1.9, passes=passes_of)


def test_short_fits_are_nobodys_worry(monkeypatch):
    from maxmargin.engine import worth

    monkeypatch.setattr(worth, "LONG", 200.0)
    assert said(4, 1.0, 0.1, 1.1) is None
    assert said(4, 1.0, 0.1, 1.1, rounds=200) is not None


def test_rounds_that_gain_nothing():
    """At the optimum no share of a move is kept."""
    assert "this process alone" in said(4, 0.0, 1.0, 1.1)
