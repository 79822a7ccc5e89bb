"""Bounds and labellings of sequential tree-reweighted search."""

import enumerated_fields as every
import linear_program
import numpy as np
from field_cases import (
    grid_field,
    potts_theta,
    random_field,
    random_theta,
    submodular_theta,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.graphs.field import field_score
from maxmargin.graphs.inference.dual_ascent import ascend
from maxmargin.graphs.inference.messages import message_room, no_messages

SEEDS = st.integers(0, 10**6)


def ascended(field, theta, passes=100, tol=1e-9, messages=None):
    y = np.full(len(field.node_at) - 1, -1, np.int32)
    messages = no_messages(field) if messages is None else messages
    bound, value = ascend(field, theta, messages, passes, tol, y)
    assert ((y >= 0) & (y < np.diff(field.node_at))).all()
    np.testing.assert_allclose(value, field_score(field, theta, y))
    assert bound >= value
    return bound, value


@given(SEEDS, st.integers(1, 20))
def test_the_bound_holds_over_the_whole_local_polytope(seed, passes):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field, dtype=rng.choice([np.float32, np.float64]))
    bound, value = ascended(field, theta, passes)
    relaxed, best = linear_program.solve(field, theta)[0], every.best(field, theta)[0]
    assert bound >= relaxed - 1e-6
    assert relaxed >= best - 1e-6
    assert best >= value - 1e-6


@given(SEEDS)
def test_the_bound_never_rises(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, n=7)
    theta = random_theta(rng, field, impossible=0.0)  # a new start forgets what is
    messages = no_messages(field)
    bounds = [ascended(field, theta, 1, 0.0, messages)[0] for _ in range(10)]
    assert (np.diff(bounds) <= 1e-9).all()


@given(SEEDS)
def test_any_messages_are_a_sound_start(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field)
    messages = rng.normal(size=message_room(field)) * 3
    messages[rng.random(len(messages)) < 0.1] = -np.inf
    messages[rng.random(len(messages)) < 0.1] = np.nan
    bound, value = ascended(field, theta, 3, messages=messages)
    assert bound >= linear_program.solve(field, theta)[0] - 1e-6
    assert value <= every.best(field, theta)[0] + 1e-6


@given(SEEDS)
def test_forests_are_solved(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, tree=True)
    theta = random_theta(rng, field)
    bound, value = ascended(field, theta, 1000, 1e-6)
    best = every.best(field, theta)[0]
    np.testing.assert_allclose([bound, value], best, atol=1e-5)


@given(SEEDS)
def test_binary_fields_reach_the_relaxation(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, binary=True)
    theta = random_theta(rng, field, impossible=0.0)
    bound, _ = ascended(field, theta, 10000, 1e-7)
    np.testing.assert_allclose(bound, linear_program.solve(field, theta)[0], atol=1e-3)


@given(SEEDS)
def test_submodular_fields_are_solved(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, binary=True)
    theta = submodular_theta(rng, field, random_theta(rng, field, impossible=0.0))
    bound, value = ascended(field, theta, 10000, 1e-7)
    best = every.best(field, theta)[0]
    np.testing.assert_allclose([bound, value], best, atol=1e-3)


def test_a_grid_of_equal_tables():
    field = grid_field(20, 20, 5, tables=0)
    theta = potts_theta(np.random.default_rng(0), field, strength=0.7)
    bound, value = ascended(field, theta, 100, 1e-6)
    assert bound - value < 0.01 * bound
    warm = no_messages(field)
    ascended(field, theta, 100, 1e-6, warm)
    assert ascended(field, theta, 1, 1e-6, warm)[0] <= bound + 1e-9
