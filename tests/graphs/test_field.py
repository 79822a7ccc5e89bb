"""The representation of fields, and enumeration, against sums written out."""

import itertools

import enumerated_fields as every
import numpy as np
from field_cases import random_field, random_theta
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.graphs.field import extent, field_score, make_field

SEEDS = st.integers(0, 10**6)


def slow_score(field, theta, y):
    tables = [theta[a:b] for a, b in itertools.pairwise(field.node_at)]
    total = sum(float(t[s]) for t, s in zip(tables, y, strict=True))
    for (u, v), at in zip(field.ends, field.edge_at, strict=True):
        shape = len(tables[u]), len(tables[v])
        table = theta[at : at + shape[0] * shape[1]].reshape(shape)
        total += float(table[y[u], y[v]])
    return total


@given(SEEDS)
def test_scores(seed):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field, dtype=rng.choice([np.float32, np.float64]))
    ys = every.labellings(field)
    assert len({tuple(y) for y in ys}) == len(ys) == np.prod(np.diff(field.node_at))
    expected = np.array([slow_score(field, theta, y) for y in ys])
    np.testing.assert_allclose(every.scores(field, theta, ys), expected)
    y = ys[rng.integers(len(ys))]
    np.testing.assert_allclose(
        field_score(field, theta, y), slow_score(field, theta, y)
    )
    assert np.isfinite(expected).any()  # random scores leave a labelling possible
    np.testing.assert_allclose(every.best(field, theta)[0], expected.max())


@given(SEEDS)
def test_arcs_are_the_ends_of_edges(seed):
    field = random_field(np.random.default_rng(seed))
    for v in range(len(field.node_at) - 1):
        arcs = field.arcs[field.arc_start[v] : field.arc_start[v + 1]]
        edges = [e for e, pair in enumerate(field.ends) if v in pair]
        assert [a // 2 for a in arcs] == edges
        assert (field.ends[arcs // 2, arcs % 2] == v).all()


def test_shared_tables_add_up():
    field = make_field([2, 3, 2], [(0, 1), (2, 1)], [0, 0])
    assert extent(field) == 7 + 6
    assert field.edge_at.tolist() == [7, 7]
    log_z, mu = every.log_sums(field, np.zeros(13))
    np.testing.assert_allclose(log_z, np.log(12))
    np.testing.assert_allclose(mu[7:], 2 / 6)
    np.testing.assert_allclose(mu[2:5], 1 / 3)


def test_the_empty_field():
    field = make_field([], [])
    assert extent(field) == 0
    assert every.best(field, np.zeros(0))[0] == 0.0
    assert every.log_sums(field, np.zeros(0))[0] == 0.0
