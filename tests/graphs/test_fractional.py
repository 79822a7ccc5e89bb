"""Points of the local polytope in whole units, against linear programs."""

import itertools

import enumerated_fields as every
import linear_program
import numpy as np
import pytest
from field_cases import grid_field, random_field, random_theta, submodular_theta
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxmargin.graphs.field import field_score, make_field
from maxmargin.graphs.inference.fractional import UNIT, mu_room, relax
from maxmargin.graphs.inference.messages import message_room, no_messages
from maxmargin.graphs.inference.transport import make_freight, transport

SEEDS = st.integers(0, 10**6)


def relaxed(field, theta, passes=300, tol=1e-6, messages=None):
    """(bound, value, mu), and y: checked to be what they say."""
    y = np.zeros(len(field.node_at) - 1, np.int32)
    mu = np.full(mu_room(field), -1, np.int32)
    messages = no_messages(field) if messages is None else messages
    bound, value = relax(field, theta, messages, passes, tol, y, mu)
    matrix, right = linear_program.local_polytope(field)
    assert (mu >= 0).all()
    assert (matrix.astype(np.int64) @ mu.astype(np.int64) == UNIT * right).all()
    scores = linear_program.unshared(field, theta)
    inside = mu > 0
    np.testing.assert_allclose(value, scores[inside] @ mu[inside] / UNIT, atol=1e-6)
    assert value >= field_score(field, theta, y) - 1e-9
    assert bound >= value
    return bound, value, mu


@given(SEEDS, st.integers(1, 60))
def test_points_lie_inside_and_bounds_hold(seed, passes):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field, dtype=rng.choice([np.float32, np.float64]))
    bound, value, _ = relaxed(field, theta, passes)
    best = linear_program.solve(field, theta)[0]
    assert bound >= best - 1e-6
    assert value <= best + 1e-6


@given(SEEDS)
def test_the_gap_closes(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, n=7, most_states=4)
    theta = random_theta(rng, field, impossible=0.0)
    bound, value, _ = relaxed(field, theta, 600, 1e-4)
    scale = np.ptp(theta) * (len(field.ends) + 7)
    assert bound - value <= 1e-3 * scale
    assert bound - linear_program.solve(field, theta)[0] <= 1e-3 * scale


@given(SEEDS)
def test_other_messages_are_a_sound_start(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta, messages = random_theta(rng, field), rng.normal(size=message_room(field))
    messages[rng.random(len(messages)) < 0.1] = -np.inf
    bound, value, _ = relaxed(field, theta, 20, messages=messages)
    assert value - 1e-6 <= linear_program.solve(field, theta)[0] <= bound + 1e-6


@given(SEEDS)
def test_a_search_goes_on_where_another_ended(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, n=7, most_states=4)
    theta = random_theta(rng, field)
    messages = np.zeros(message_room(field) + 1)
    for _ in range(3):
        bound, value, _ = relaxed(field, theta, 40, 1e-3, messages)
        best = linear_program.solve(field, theta)[0]
        assert value - 1e-6 <= best <= bound + 1e-6
        theta = theta + 0.05 * rng.normal(size=len(theta))


def test_what_another_search_knew_saves_passes():
    rng = np.random.default_rng(0)
    field = make_field([4] * 10, list(itertools.combinations(range(10), 2)))
    theta = random_theta(rng, field, impossible=0.0)
    messages = np.zeros(message_room(field) + 1)
    relaxed(field, theta, 300, 0.02, messages)
    theta += 0.01 * rng.normal(size=len(theta))
    warm, cold = (relaxed(field, theta, 20, 0.02, m) for m in (messages, None))
    assert warm[0] - warm[1] < 0.5 * (cold[0] - cold[1])


@given(SEEDS)
def test_relaxations_of_submodular_fields_are_labellings(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, binary=True)
    theta = submodular_theta(rng, field, random_theta(rng, field, impossible=0.0))
    _, value, mu = relaxed(field, theta, 1000, 1e-4)
    np.testing.assert_allclose(value, every.best(field, theta)[0], atol=1e-4)
    assert np.isin(mu, [0, UNIT]).all() or value >= every.best(field, theta)[0] - 1e-4


@given(SEEDS)
def test_impossible_states_get_nothing(seed):
    """Whatever is forbidden at nodes alone, there is a point with a finite value."""
    rng = np.random.default_rng(seed)
    field = random_field(rng, n=6)
    theta = random_theta(rng, field, impossible=0.4)
    tables = theta[field.node_at[-1] :]
    tables[np.isinf(tables)] = 1.0
    bound, value, _ = relaxed(field, theta, 300, 1e-4)
    assert value > -np.inf
    assert bound - value <= 1e-2 * (len(field.ends) + 6)


def test_a_frustrated_triangle_is_half_and_half():
    field = make_field([2, 2, 2], list(itertools.combinations(range(3), 2)))
    theta = np.concatenate([np.zeros(6), np.tile([0.0, 1.0, 1.0, 0.0], 3)])
    bound, value, mu = relaxed(field, theta)
    assert (value, bound) == (3.0, pytest.approx(3.0))
    assert every.best(field, theta)[0] == 2.0
    assert (mu[:6] == UNIT // 2).all()


def test_a_frustrated_grid():
    field = grid_field(6, 6, 6)
    theta = random_theta(np.random.default_rng(3), field, impossible=0.0)
    bound, value, mu = relaxed(field, theta, 300, 1e-2)
    best = linear_program.solve(field, theta)[0]
    assert bound - value <= 1e-3 * best
    assert value <= best <= bound
    assert not np.isin(mu, [0, UNIT]).all()


@given(SEEDS)
def test_transport(seed):
    rng = np.random.default_rng(seed)
    k, other = rng.integers(1, 6, size=2)
    theta = rng.normal(size=k * other + 3)
    whole = rng.multinomial(50, np.ones(k * other) / (k * other)).reshape(k, other)
    theta[3:][(rng.random(k * other) < 0.3) & (whole.ravel() == 0)] = -np.inf
    gains = theta[3:]
    whole[np.isinf(gains).reshape(k, other)] = 0
    rows, columns = whole.sum(1), whole.sum(0)
    mu = np.concatenate([rows, columns, np.full(k * other, -1)]).astype(np.int32)
    value = transport(
        theta, 3, mu, 0, k, k, other, k + other, make_freight(max(k, other))
    )
    table = mu[k + other :].reshape(k, other)
    assert (table >= 0).all()
    assert (table.sum(1) == rows).all()
    assert (table.sum(0) == columns).all()
    np.testing.assert_allclose(value, gains[table.ravel() > 0] @ table[table > 0])
    sums = np.concatenate(
        [np.kron(np.eye(k), np.ones(other)), np.tile(np.eye(other), k)]
    )
    found = linprog(
        -np.where(np.isinf(gains), 0.0, gains),
        A_eq=sums,
        b_eq=np.concatenate([rows, columns]),
        bounds=[(0, 0 if np.isinf(g) else None) for g in gains],
    )
    np.testing.assert_allclose(value, -found.fun, atol=1e-6)


def test_transport_says_where_there_is_no_way():
    theta = np.array([0.0, -np.inf, -np.inf, 0.0])
    mu = np.array([3, 1, 2, 2, 9, 9, 9, 9], np.int32)
    assert transport(theta, 0, mu, 0, 2, 2, 2, 4, make_freight(2)) == -np.inf
    assert mu[4:].tolist() == [9, 9, 9, 9]
