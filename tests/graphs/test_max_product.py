"""Loopy max-product: exact on forests, honest elsewhere."""

import enumerated_fields as every
import numpy as np
from field_cases import grid_field, potts_theta, random_field, random_theta
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.graphs.field import field_score
from maxmargin.graphs.inference.dual_ascent import ascend
from maxmargin.graphs.inference.max_product import max_product
from maxmargin.graphs.inference.messages import message_room, no_messages

SEEDS = st.integers(0, 10**6)


def searched(field, theta, passes=100, damping=0.5, messages=None):
    y = np.full(len(field.node_at) - 1, -1, np.int32)
    messages = no_messages(field) if messages is None else messages
    value, change = max_product(field, theta, messages, passes, damping, 1e-9, y)
    assert ((y >= 0) & (y < np.diff(field.node_at))).all()
    np.testing.assert_allclose(value, field_score(field, theta, y))
    return value, change


@given(SEEDS)
def test_forests_are_solved_also_with_ties(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, tree=True)
    theta = random_theta(rng, field, whole=rng.random() < 0.5)
    best = every.best(field, theta)[0]
    np.testing.assert_allclose(searched(field, theta, 1)[0], best)
    messages = rng.normal(size=message_room(field))
    np.testing.assert_allclose(searched(field, theta, 1, 0.5, messages)[0], best)


@given(SEEDS)
def test_other_fields(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field)
    assert searched(field, theta)[0] <= every.best(field, theta)[0] + 1e-9


def test_a_grid_comes_to_rest_near_the_bound():
    field = grid_field(15, 15, 3, tables=0)
    theta = potts_theta(np.random.default_rng(0), field, strength=0.5)
    value, change = searched(field, theta, 300)
    assert change <= 1e-9
    y = np.zeros(225, np.int32)
    bound, _ = ascend(field, theta, no_messages(field), 100, 1e-6, y)
    assert value >= bound - 0.01 * abs(bound)
