"""Minimum cuts against scipy's maximum flow and against enumeration."""

from time import process_time

import numpy as np
import pytest
from enumerated_fields import labellings
from field_cases import grid_field, random_field
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from maxmargin.core.max_flow import minimum_cut
from maxmargin.graphs.field import make_field

SEEDS = st.integers(0, 10**6)


def random_network(rng, field, whole):
    n, m = len(field.node_at) - 1, len(field.ends)
    capacity, excess = rng.integers(0, 9, 2 * m), rng.integers(-9, 10, n)
    if whole:
        return capacity.astype(float), excess.astype(float)
    return capacity * rng.random(2 * m), excess * rng.random(n)


def cut_values(field, capacity, excess, sides):
    """What the edges from the side of the source (1) to that of the sink (0) hold."""
    s = np.asarray(sides) > 0
    total = (np.maximum(excess, 0) * ~s + np.maximum(-excess, 0) * s).sum(axis=-1)
    for e, (u, v) in enumerate(field.ends):
        total = total + capacity[2 * e] * (s[..., u] & ~s[..., v])
        total = total + capacity[2 * e + 1] * (s[..., v] & ~s[..., u])
    return total


def cut_of(field, capacity, excess):
    left, rest, side = capacity.copy(), excess.copy(), np.full(len(excess), 9, np.int32)
    flow = minimum_cut(field.ends, field.arc_start, field.arcs, left, rest, side)
    assert (left >= 0).all()
    assert (rest * excess >= 0).all()
    return flow, side


@given(SEEDS, st.booleans())
def test_cuts_equal_enumeration(seed, whole):
    rng = np.random.default_rng(seed)
    field = random_field(rng, binary=True)
    capacity, excess = random_network(rng, field, whole)
    flow, side = cut_of(field, capacity, excess)
    sides = labellings(field)
    values = cut_values(field, capacity, excess, sides)
    np.testing.assert_allclose(flow, values.min(), atol=1e-12)
    np.testing.assert_allclose(
        cut_values(field, capacity, excess, side), flow, atol=1e-12
    )
    if whole:  # of equal cuts, the smallest: it is below all of them
        assert (side <= sides[values == values.min()]).all()


def hubs(leaves):
    """Three centres, each joined to every leaf: thousands of arcs at one node."""
    pairs = [(h, v) for v in range(3, leaves + 3) for h in range(3)]
    return make_field([2] * (leaves + 3), pairs)


@pytest.mark.parametrize("seed", range(9))
def test_flows_equal_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    field = (random_field(rng, 60, binary=True), grid_field(15, 20, 2), hubs(300))[
        seed % 3
    ]
    capacity, excess = random_network(rng, field, True)
    n = len(excess)
    u, v = field.ends.T
    everywhere = np.arange(n)
    rows = np.concatenate([u, v, np.full(n, n), everywhere])
    columns = np.concatenate([v, u, everywhere, np.full(n, n + 1)])
    into, out = np.maximum(excess, 0), np.maximum(-excess, 0)
    data = np.concatenate([capacity[::2], capacity[1::2], into, out]).astype(np.int32)
    matrix = csr_array((data, (rows, columns)), shape=(n + 2, n + 2))
    flow, side = cut_of(field, capacity, excess)
    assert flow == maximum_flow(matrix, n, n + 1).flow_value
    assert flow == cut_values(field, capacity, excess, side)


def test_hubs_take_linear_time():
    rng, seconds = np.random.default_rng(0), []
    for leaves in (1000, 1000, 16000):  # the first one compiles
        field = hubs(leaves)
        capacity, excess = random_network(rng, field, False)
        began = process_time()
        cut_of(field, capacity, excess)
        seconds.append(process_time() - began)
    assert seconds[2] < 100 * max(seconds[1], 1e-4)  # quadratic would be 256
