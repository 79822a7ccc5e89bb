"""Elimination against enumeration: the best, the k best, sums; plans and their limits."""

import gc
from time import process_time

import enumerated_fields as every
import numpy as np
import pytest
from far_cases import chain_sums, check_sums, far_scores
from field_cases import grid_field, random_field, random_theta
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.kernel import kernel
from maxmargin.graphs.field import extent, field_score, make_field
from maxmargin.graphs.inference import elimination
from maxmargin.graphs.inference.elimination_plan import (
    gather,
    plan,
    plan_of,
    plans,
)

SEEDS = st.integers(0, 10**6)


def random_case(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng, tree=rng.random() < 0.3)
    dtype = rng.choice([np.float32, np.float64])
    return field, random_theta(rng, field, whole=rng.random() < 0.3, dtype=dtype)


def n_nodes(field):
    return len(field.node_at) - 1


@given(SEEDS)
def test_best(seed):
    field, theta = random_case(seed)
    y = np.full(n_nodes(field) + 1, -7, np.int32)  # longer than it need be
    found = elimination.best(field, plan(field), theta, y)
    score, _ = every.best(field, theta)
    np.testing.assert_allclose(found, score, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(field_score(field, theta, y), score, atol=1e-12)
    assert y[-1] == -7


@given(SEEDS)
def test_sums(seed):
    field, theta = random_case(seed)
    mu = np.full(extent(field) + 1, np.nan)
    log_z = elimination.log_sums(field, plan(field), theta, mu)
    expected, marginals = every.log_sums(field, theta)
    np.testing.assert_allclose(log_z, expected, atol=1e-10)
    np.testing.assert_allclose(mu[:-1], marginals, atol=1e-10)
    assert np.isnan(mu[-1])


@given(SEEDS, st.sampled_from([0.0, 0.1]))
def test_sums_of_scores_far_apart(seed, walls):
    rng = np.random.default_rng(seed)
    field = random_field(rng, tree=rng.random() < 0.3)
    theta, mu = far_scores(rng, extent(field), walls), np.zeros(extent(field))
    found = elimination.log_sums(field, plan(field), theta, mu), mu
    possible = every.best(field, theta)[0] > -np.inf
    check_sums(found, every.log_sums(field, theta) if possible else (-np.inf, None))


@given(SEEDS, st.integers(2, 40), st.integers(2, 4), st.sampled_from([0.0, 0.5]))
def test_sums_of_long_chains_far_apart(seed, length, n, walls):
    rng = np.random.default_rng(seed)
    field = make_field([n] * length, [(t, t + 1) for t in range(length - 1)])
    nodes = far_scores(rng, (length, n))
    steps = far_scores(rng, (length - 1, n, n), walls)
    total, p, pairs = chain_sums(nodes, steps)
    theta = np.concatenate([nodes.ravel(), steps.ravel()])
    mu = np.zeros(len(theta))
    found = elimination.log_sums(field, plan(field), theta, mu), mu
    check_sums(found, (total, np.concatenate([p.ravel(), pairs[:-1].ravel()])))


@given(SEEDS, st.integers(1, 12))
def test_k_best(seed, k):
    field, theta = random_case(seed)
    labellings, scores = np.zeros((k, n_nodes(field)), np.int32), np.zeros(k)
    found = elimination.k_best(field, plan(field), theta, labellings, scores)
    expected, _ = every.k_best(field, theta, k)
    assert found == len(expected)
    np.testing.assert_allclose(scores[:found], expected, atol=1e-10)
    given_scores = every.scores(field, theta, labellings[:found])
    np.testing.assert_allclose(given_scores, expected, atol=1e-10)
    assert len({tuple(y) for y in labellings[:found]}) == found


@kernel
def best_of(fields, gathered, i, theta, y):
    return elimination.best(fields, plan_of(gathered, i), theta, y)


@given(SEEDS)
def test_gathered_plans_are_the_plans(seed):
    rng = np.random.default_rng(seed)
    fields = [random_field(rng) for _ in range(3)]
    fields.append(fields[0])
    found, wide = plans(fields)
    assert wide == -1
    assert found[3] is found[0]
    gathered = gather(found)
    assert len(gathered.start) <= 4
    for i, expected in enumerate(found):
        for a, b in zip(plan_of(gathered, i), expected, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
    theta, y = random_theta(rng, fields[3]), np.zeros(n_nodes(fields[3]), np.int32)
    score = best_of(fields[3], gathered, 3, theta, y)
    np.testing.assert_allclose(score, every.best(fields[3], theta)[0], atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(1, 50, 1), (4, 12, 4), (6, 6, 6)]
)
def test_plans_of_grids_are_narrow(rows, columns, width):
    found = plan(grid_field(rows, columns, 2))
    assert np.diff(found.at[:, 0]).max() <= width


def test_limits():
    assert plan(grid_field(60, 60, 2)) is None
    ring = make_field([5] * 4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert plan(ring, 125) is not None
    assert plan(ring, 124) is None
    star = make_field([50] * 4, [(0, 1), (0, 2), (0, 3)])
    assert plan(star, 10) is not None  # no larger than its edges


def test_a_field_that_is_too_wide_is_named():
    fields = [make_field([2] * 3, [(0, 1)]), grid_field(30, 30, 2)]
    assert plans(fields) == ([], 1)


def hubs(leaves, centres, rim=False):
    """Leaves joined to every centre; with a rim, also to the next leaf."""
    around = range(centres, centres + leaves)
    edges = [(h, v) for v in around for h in range(centres)]
    return centres + leaves, edges + [(v, v + 1) for v in around[: rim * (leaves - 1)]]


def seconds_to_plan(n, edges, limit):
    """The best of three: collecting garbage of earlier tests is not planning."""
    field, seconds = make_field([2] * n, edges), []
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            began = process_time()
            assert plan(field, limit) is not None
            seconds.append(process_time() - began)
    finally:
        gc.enable()
    return min(seconds)


@pytest.mark.parametrize(("centres", "rim"), [(1, False), (1, True), (4, False)])
def test_plans_of_hubs_take_linear_time(centres, rim):
    """Also narrow graphs of any size have a plan: the limit is one of cliques."""
    small, large = (hubs(leaves, centres, rim) for leaves in (1000, 16000))
    seconds_to_plan(*small, 1 << 12)
    ratio = seconds_to_plan(*large, 1 << 12) / seconds_to_plan(*small, 1 << 12)
    assert ratio < 80  # 16, and what memory costs; quadratic would be 256


def test_long_chains():
    n = 3000
    field = make_field([2] * n, [(k + 1, k) for k in range(n - 1)])
    theta = np.random.default_rng(0).normal(size=extent(field))
    y, forward = np.zeros(n, np.int32), np.zeros(2)
    score = elimination.best(field, plan(field), theta, y)
    for k in range(n):
        if k > 0:  # rows of the table are the later node
            table = theta[field.edge_at[k - 1] :][:4].reshape(2, 2)
            forward = (table + forward).max(axis=1)
        forward = forward + theta[2 * k : 2 * k + 2]
    np.testing.assert_allclose(score, forward.max())
    np.testing.assert_allclose(score, field_score(field, theta, y))
