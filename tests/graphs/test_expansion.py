"""Large moves: no single one helps in the end, and binary fields are solved."""

import enumerated_fields as every
import numpy as np
import pytest
from field_cases import (
    grid_field,
    potts_theta,
    random_field,
    random_theta,
    submodular_theta,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.graphs.field import extent, field_score, make_field
from maxmargin.graphs.inference.expansion import improve

SEEDS = st.integers(0, 10**6)
MOVES = ("expansion", "swap")


def reachable(field, y, moves):
    """All labellings one move away."""
    ys, states = every.labellings(field), np.diff(field.node_at)
    most = states.max(initial=0)
    if moves == "expansion":
        masks = [((ys == y) | (ys == a)).all(axis=1) for a in range(most)]
    else:
        masks = [
            ((ys == y) | (np.isin(y, (a, b)) & np.isin(ys, (a, b)))).all(axis=1)
            for a in range(most)
            for b in range(a)
        ]
    return ys[np.any([*masks, (ys == y).all(axis=1)], axis=0)]


def random_start(rng, field):
    return rng.integers(np.diff(field.node_at)) if len(field.node_at) > 1 else []


@given(SEEDS, st.sampled_from(MOVES))
def test_no_move_is_better(seed, moves):
    """Tables are metrics here, on which the best move is found."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    field = random_field(rng, n, most_states=3)
    states = int(rng.integers(1, 5))
    field = make_field([states] * n, field.ends)
    theta = potts_theta(rng, field, strength=2 * rng.random())
    score, y = improve(field, theta, random_start(rng, field), moves=moves)
    near = reachable(field, y, moves)
    np.testing.assert_allclose(every.scores(field, theta, near).max(), score, atol=1e-9)
    np.testing.assert_allclose(field_score(field, theta, y), score)


@given(SEEDS, st.sampled_from(MOVES), st.booleans())
def test_nothing_gets_worse(seed, moves, limited):
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    theta = random_theta(rng, field, whole=bool(rng.random() < 0.3))
    start = random_start(rng, field)
    before = every.scores(field, theta, np.asarray(start, np.int32))
    seconds = 10.0 if limited else None
    score, y = improve(field, theta, start, moves=moves, seconds=seconds)
    assert score >= before - 1e-9
    assert score <= every.best(field, theta)[0] + 1e-9
    np.testing.assert_allclose(every.scores(field, theta, y), score, atol=1e-9)
    assert (y < np.diff(field.node_at)).all()


@given(SEEDS, st.sampled_from(MOVES))
def test_binary_submodular_fields_are_solved(seed, moves):
    rng = np.random.default_rng(seed)
    field = random_field(rng, binary=True)
    theta = random_theta(rng, field, impossible=0.0)
    theta = submodular_theta(rng, field, theta)
    score, _ = improve(field, theta, moves=moves)
    np.testing.assert_allclose(score, every.best(field, theta)[0], atol=1e-9)


@pytest.mark.parametrize("moves", MOVES)
def test_impossible_pairs_are_left(moves):
    """From a start that breaks many rules, moves mend them, several or one at a time."""
    field = grid_field(5, 6, 3, tables=0)
    theta = potts_theta(np.random.default_rng(0), field)
    at = field.edge_at[0]
    theta[at + 2] = theta[at + 6] = -np.inf  # states 0 and 2 are no neighbours
    start = np.arange(30) % 2 * 2
    assert field_score(field, theta, start) == -np.inf
    score, _ = improve(field, theta, start, moves=moves)
    assert score > 0


def test_limits():
    rng = np.random.default_rng(0)
    field = grid_field(6, 6, 4, tables=0)
    theta = potts_theta(rng, field)
    start = np.zeros(36, np.int32)
    score, y = improve(field, theta, start, passes=0)
    assert (y == start).all()
    assert score == field_score(field, theta, start)
    one, _ = improve(field, theta, start, passes=1)
    assert improve(field, theta, start, seconds=0.0)[0] == one
    assert improve(field, theta, start)[0] >= one > score
    assert not start.any()
    empty = make_field([], [])
    assert improve(empty, np.zeros(extent(empty)))[0] == 0.0
