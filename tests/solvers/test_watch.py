"""Scores of held-out data: at which passes they are asked for, and when they end a fit."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.fitting.latent_training import _by_score
from maxmargin.solvers.watching.held_out import (
    STOPPED_EARLY,
    DevScore,
    Watch,
    by_pass,
    scored_worse,
)


class Scores:
    """Those of one look after another."""

    title = "accuracy"

    def __init__(self, found, smaller=False):
        self.found, self.smaller = list(found), smaller

    def __call__(self, w):
        return self.found.pop(0)


def watched(scores, same=(), smaller=False, most=100):
    """(watch, best weights, the passes with a look, the pass that ended the fit).

    Weights are [pass], and their objective 1 / pass; those of the looks ``same`` are the
    weights of the look before.
    """
    watch = Watch(Scores(scores, smaller))
    best = SimpleNamespace(w=np.zeros(1), primal=2.0, sweep=0, relative_gap=lambda: 1.0)
    passes = []
    for iteration in range(1, most):
        if watch.due(iteration):
            passes.append(iteration)
            if len(passes) not in same:
                best.w[:] = iteration  # in place, as fits do
                best.primal, best.sweep = 1 / iteration, iteration
        row = {"iteration": iteration}
        if watch.look(best, SimpleNamespace(minimises=True), row, ""):
            return watch, best, passes, iteration
    raise AssertionError("nothing ended the fit")


@pytest.mark.parametrize("smaller", [False, True])
def test_three_looks_in_a_row_without_a_better_score_end_a_fit(smaller):
    scores = np.array([1, 2, 3, 2, 4, 5, 4, 5, 3, 9])
    watch, best, passes, end = watched(-scores if smaller else scores, smaller=smaller)
    assert passes == [1, 2, 3, 5, 8, 12, 18, 27, 41]
    assert end == 41
    status, found = watch.keep(best, STOPPED_EARLY, 0.01)
    assert (status, found.iteration, found.stopped) == (STOPPED_EARLY, 27, True)
    assert (best.w[0], best.primal, best.sweep) == (27, 1 / 27, 27)
    assert found.goodness == 5


def test_no_fit_ends_before_its_eighth_pass():
    assert watched([5, 4, 3, 2, 1, 9])[3] == 8


def test_looks_at_the_same_weights_are_no_reason_to_end():
    assert watched([5, 5, 4, 4, 4, 3, 2, 9], same={2, 4, 5})[3] == 18


def test_what_has_converged_with_weights_that_are_not_kept_has_not():
    watch, best, *_ = watched([1, 2, 3, 2, 1, 0])
    assert watch.keep(best, "converged", 2.0)[0] == "converged"  # its gap is small
    assert watch.keep(best, "converged", 0.5)[0] == STOPPED_EARLY


@dataclass
class Found:
    history: list
    dev: DevScore


def test_scores_of_outer_steps_are_told_by_their_last_pass():
    rows = [{"round": {"passes": 4}, "dev_score": 0.5}, {"round": {"passes": 7}}]
    rows.append({"round": {"passes": 9}, "dev_score": 0.7})
    history = [{"iteration": k} for k in range(1, 10)]
    for step, end in ((1, 4), (3, 9)):
        found = Found(rows, DevScore("accuracy", 0.7, step, False, False))
        assert by_pass(found, history).dev.iteration == end
    seen = {r["iteration"]: r["dev_score"] for r in history if "dev_score" in r}
    assert seen == {4: 0.5, 9: 0.7}


@pytest.mark.parametrize("smaller", [False, True])
def test_of_several_fits_the_one_with_the_better_score_is_the_best(smaller):
    sign = -1 if smaller else 1
    good, bad = (DevScore("x", sign * v, 1, False, smaller) for v in (0.9, 0.5))
    assert scored_worse(bad, good)
    assert not scored_worse(good, bad)
    assert not scored_worse(good, good)
    assert not scored_worse(None, good)
    starts = [(5.0, bad), (9.0, good), (8.0, good)]
    runs = [
        SimpleNamespace(objective=value, solution=SimpleNamespace(dev=dev))
        for value, dev in starts
    ]
    assert min(runs, key=_by_score) is runs[2]
