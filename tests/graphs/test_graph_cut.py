"""Graph cuts and roof duality against enumeration and the linear program."""

import enumerated_fields as every
import numpy as np
from field_cases import grid_field, random_field, random_theta, submodular_theta
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxmargin.graphs.field import extent, make_field
from maxmargin.graphs.inference.graph_cut import graph_cut
from maxmargin.graphs.inference.roof import roof, roof_marginals

SEEDS = st.integers(0, 10**6)


def random_case(seed, submodular):
    """Binary, but for nodes of one state now and then."""
    rng = np.random.default_rng(seed)
    binary = bool(rng.random() < 0.7)
    field = random_field(rng, most_states=2, binary=binary)
    theta = random_theta(rng, field, whole=bool(rng.random() < 0.3))
    if submodular and binary:
        theta = submodular_theta(rng, field, theta)
    dtype = np.float32 if rng.random() < 0.3 else np.float64
    return field, theta.astype(dtype)


def is_submodular(field, theta):
    """max(y, z) and min(y, z) are together no worse than y and z, for all labellings."""
    ys = every.labellings(field)
    score = {
        tuple(y): s for y, s in zip(ys, every.scores(field, theta, ys), strict=True)
    }
    return all(
        score[tuple(np.maximum(y, z))] + score[tuple(np.minimum(y, z))]
        >= score[tuple(y)] + score[tuple(z)] - 1e-5
        for y in ys
        for z in ys
        if score[tuple(y)] > -np.inf and score[tuple(z)] > -np.inf
    )


def local_polytope(field, theta):
    """The largest value of the relaxation, by HiGHS."""
    states = np.diff(field.node_at)
    sizes = states[field.ends[:, 0]] * states[field.ends[:, 1]]
    first = field.node_at[-1] + np.cumsum(sizes) - sizes
    columns = int(field.node_at[-1] + sizes.sum())
    where = list(range(field.node_at[-1]))
    rows, values = [], []
    for v in range(len(states)):
        rows.append(np.zeros(columns))
        rows[-1][field.node_at[v] : field.node_at[v + 1]] = 1
        values.append(1.0)
    for e, (u, v) in enumerate(field.ends):
        cells = np.arange(sizes[e]).reshape(states[u], states[v])
        where.extend(field.edge_at[e] + cells.ravel())
        for node, lines in ((u, cells), (v, cells.T)):
            for s, line in enumerate(lines):
                rows.append(np.zeros(columns))
                rows[-1][first[e] + line] = 1
                rows[-1][field.node_at[node] + s] = -1
                values.append(0.0)
    scores = theta[where].astype(float)
    bounds = [(0, 1 if s > -np.inf else 0) for s in scores]
    scores[np.isneginf(scores)] = 0
    if columns == 0:
        return 0.0, scores, np.zeros((0, 0)), values
    found = linprog(-scores, A_eq=np.array(rows), b_eq=values, bounds=bounds)
    return -found.fun, scores, np.array(rows), values


@given(SEEDS)
def test_cuts_are_the_best_labellings(seed):
    field, theta = random_case(seed, submodular=True)
    if not is_submodular(field, theta):
        return
    y = np.full(len(field.node_at) - 1, 9, np.int32)
    score = graph_cut(field, theta, y)
    np.testing.assert_allclose(score, every.best(field, theta)[0], atol=1e-5)
    np.testing.assert_allclose(every.scores(field, theta, y), score, atol=1e-5)


def test_of_equal_labellings_the_lowest():
    field = grid_field(4, 4, 2)
    y = np.ones(16, np.int32)
    assert graph_cut(field, np.zeros(extent(field)), y) == 0
    assert not y.any()


@given(SEEDS)
def test_roof_duality_is_the_relaxation(seed):
    field, theta = random_case(seed, submodular=False)
    n = len(field.node_at) - 1
    twice = np.full(n, 9, np.int8)
    value = roof(field, theta, twice)
    expected, scores, rows, values = local_polytope(field, theta)
    np.testing.assert_allclose(value, expected, atol=1e-5)
    score, _ = every.best(field, theta)
    assert value >= score - 1e-5
    mu = np.full(len(scores) + 1, -1, np.int32)
    roof_marginals(field, theta, twice, 1 << 16, mu)
    assert mu[-1] == -1
    point = mu[:-1] / (1 << 16)
    assert (point >= 0).all()
    np.testing.assert_allclose(rows @ point, values[: len(rows)], atol=1e-12)
    np.testing.assert_allclose(point @ scores, value, atol=1e-5)


@given(SEEDS)
def test_what_the_roof_decides_is_right(seed):
    """Some best labelling has the labels of all nodes that are not one half."""
    field, theta = random_case(seed, submodular=False)
    twice = np.zeros(len(field.node_at) - 1, np.int8)
    roof(field, theta, twice)
    ys = every.labellings(field)
    found = every.scores(field, theta, ys)
    agree = ((2 * ys == twice) | (twice == 1)).all(axis=1)
    np.testing.assert_allclose(found[agree].max(), found.max(), atol=1e-5)


def test_a_frustrated_triangle_is_one_half():
    field = make_field([2, 2, 2], [(0, 1), (1, 2), (2, 0)], [0, 0, 0])
    theta = np.array([0.0] * 6 + [0.0, 1.0, 1.0, 0.0])
    twice = np.zeros(3, np.int8)
    assert roof(field, theta, twice) == 3.0
    assert twice.tolist() == [1, 1, 1]
    assert every.best(field, theta)[0] == 2.0


def test_submodular_fields_have_whole_roofs():
    rng = np.random.default_rng(0)
    field = grid_field(6, 7, 2)
    theta = submodular_theta(rng, field, random_theta(rng, field, impossible=0.0))
    twice, y = np.zeros(42, np.int8), np.zeros(42, np.int32)
    np.testing.assert_allclose(roof(field, theta, twice), graph_cut(field, theta, y))
    assert (twice == 2 * y).all()
