"""Labellings for prediction are the best of several searches."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin.graphs.field import extent, field_score, make_field
from maxmargin.graphs.inference.dual_ascent import ascend
from maxmargin.graphs.inference.elimination import best
from maxmargin.graphs.inference.elimination_plan import plan
from maxmargin.graphs.inference.expansion import expansion, independent
from maxmargin.graphs.inference.max_product import max_product
from maxmargin.graphs.inference.messages import no_messages
from maxmargin.graphs.inference.rounding import LOOPS, affordable, good_labelling, whole


def rough_grid(seed: int, side: int = 7, states: int = 4):
    """A grid whose tables are noise: far from anything that moves of one label solve."""
    places = np.arange(side * side).reshape(side, side)
    across = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
    down = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
    field = make_field(np.full(side * side, states), np.concatenate([across, down]))
    return field, np.random.default_rng(seed).normal(size=extent(field))


@pytest.mark.parametrize("seed", range(5))
def test_no_single_search_is_better_and_the_bound_holds(seed):
    field, theta = rough_grid(seed)
    y, other = (np.zeros(len(field.node_at) - 1, np.int32) for _ in range(2))
    short = good_labelling(field, theta, y)
    score = field_score(field, theta, y)
    _, ascended = ascend(field, theta, no_messages(field), 200, 1e-6, other)
    looped, _ = max_product(field, theta, no_messages(field), 50, 0.5, 1e-6, other)
    assert score >= max(ascended, looped) - 1e-9
    exact = best(field, plan(field, 1 << 20), theta, other)
    assert score <= exact + 1e-9 <= score + short + 1e-6
    assert exact - score <= 0.01 * exact  # it finds the best one in all five


def potts_image(side: int, states: int):
    """Blocks of labels behind noise; large enough for the budget of ascent."""
    rng = np.random.default_rng(0)
    field, _ = rough_grid(0, side, states)
    truth = np.kron(rng.integers(states, size=(4, 4)), np.ones((side // 4, side // 4)))
    own = rng.normal(size=(side * side, states))
    own[np.arange(side * side), truth.ravel().astype(int)] += 1.0
    tables = np.tile(0.7 * np.eye(states).ravel(), len(field.ends))
    return field, np.concatenate([own.ravel(), tables])


def test_large_images_have_a_budget():
    field, theta = potts_image(100, 21)
    assert 1 <= affordable(field) < LOOPS
    y, other = (np.zeros(len(field.node_at) - 1, np.int32) for _ in range(2))
    independent(field, theta, other)
    quick = expansion(field, theta, other, 20)
    short = good_labelling(field, theta, y)
    score = field_score(field, theta, y)
    assert score >= quick - 1e-3 * abs(quick)
    assert 0.0 < short < 0.01 * score
    again = np.zeros_like(y)
    assert good_labelling(field, theta, again) == short
    np.testing.assert_array_equal(y, again)


def test_small_graphs_have_none():
    assert affordable(rough_grid(0)[0]) == 200


@pytest.mark.parametrize("seed", range(5))
def test_two_labels_are_a_cut_where_neighbours_agree(seed):
    field, theta = rough_grid(seed, states=2)
    n = 2 * (len(field.node_at) - 1)
    theta[n:] = np.abs(theta[n:]) * np.tile([1.0, -1.0, -1.0, 1.0], len(field.ends))
    y, other = (np.zeros(len(field.node_at) - 1, np.int32) for _ in range(2))
    assert whole(field, theta, other)
    assert good_labelling(field, theta, y) == 0.0
    np.testing.assert_array_equal(y, other)
    exact = best(field, plan(field, 1 << 20), theta, other)
    assert field_score(field, theta, y) == pytest.approx(exact)


@pytest.mark.parametrize("seed", range(5))
def test_two_labels_of_any_signs_have_a_bound(seed):
    field, theta = rough_grid(seed, states=2)
    y, other = (np.zeros(len(field.node_at) - 1, np.int32) for _ in range(2))
    short = good_labelling(field, theta, y)
    score = field_score(field, theta, y)
    exact = best(field, plan(field, 1 << 20), theta, other)
    assert score <= exact + 1e-9 <= score + short + 1e-6
