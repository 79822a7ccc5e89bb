"""Upper bounds of log Z and their gradients."""

import enumerated_fields as every
import linear_program
import numpy as np
from far_cases import far_scores
from field_cases import grid_field, random_field, random_theta
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.graphs.field import extent
from maxmargin.graphs.inference.messages import message_room, no_messages
from maxmargin.graphs.inference.tree_reweighted import log_bound

SEEDS = st.integers(0, 10**6)


def bounded(field, theta, passes=500, tol=1e-11, messages=None):
    mu = np.full(extent(field), np.nan)
    messages = no_messages(field) if messages is None else messages
    bound = log_bound(field, theta, messages, passes, tol, mu)
    assert (mu >= 0).all()
    assert (mu[np.isinf(theta)] == 0).all()
    first = field.node_at[:-1]
    if len(first):
        np.testing.assert_allclose(np.add.reduceat(mu[: field.node_at[-1]], first), 1.0)
    return bound, mu


@given(SEEDS)
def test_forests_are_exact(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, tree=True)
    theta = random_theta(rng, field, dtype=rng.choice([np.float32, np.float64]))
    bound, mu = bounded(field, theta, 1)
    log_z, expected = every.log_sums(field, theta)
    np.testing.assert_allclose(bound, log_z, atol=1e-6)
    np.testing.assert_allclose(mu, expected, atol=1e-6)


@given(SEEDS, st.integers(0, 10))
def test_the_bound_holds(seed, passes):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta, messages = random_theta(rng, field), rng.normal(size=message_room(field))
    bound, _ = bounded(field, theta, passes, messages=messages)
    assert bound >= every.log_sums(field, theta)[0] - 1e-8


@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.1]))
def test_bounds_of_scores_far_apart(seed, tree, walls):
    rng = np.random.default_rng(seed)
    field = random_field(rng, tree=tree)
    theta = far_scores(rng, extent(field), walls)
    if every.best(field, theta)[0] == -np.inf:
        return
    bound, mu = bounded(field, theta, 200)
    log_z, expected = every.log_sums(field, theta)
    assert bound >= log_z - 1e-9 * (1 + abs(log_z))
    if tree:
        np.testing.assert_allclose(bound, log_z, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(mu, expected, atol=1e-8)


@given(SEEDS)
def test_the_fixed_point(seed):
    """There, mu is consistent, the bound is least, and <theta, mu> + entropy."""
    rng = np.random.default_rng(seed)
    field = random_field(rng, shared=False)
    theta = random_theta(rng, field)
    bound, mu = bounded(field, theta, 5000)
    matrix, right = linear_program.local_polytope(field)
    np.testing.assert_allclose(matrix @ mu, right, atol=1e-4)
    other, _ = bounded(field, theta, 5000, 1e-11, rng.normal(size=message_room(field)))
    np.testing.assert_allclose(bound, other, atol=1e-6)


@given(SEEDS)
def test_mu_is_the_gradient(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field, impossible=0.0)
    _, mu = bounded(field, theta, 5000)
    step = rng.normal(size=len(theta)) * 1e-4
    ahead, behind = (bounded(field, t, 5000)[0] for t in (theta + step, theta - step))
    np.testing.assert_allclose(ahead - behind, 2 * step @ mu, atol=2e-7)


def test_a_grid_converges():
    field = grid_field(20, 20, 4)
    theta = random_theta(np.random.default_rng(0), field, impossible=0.0)
    bound, mu = bounded(field, theta, 500, 1e-9)
    matrix, right = linear_program.local_polytope(field)
    np.testing.assert_allclose(matrix @ mu, right, atol=1e-4)
    assert bound >= linear_program.solve(field, theta)[0]
