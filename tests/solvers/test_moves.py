"""Answers of shards, merged: vectors, and the best of two moves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.vectors import SparseVector
from maxmargin.solvers.shards.moves import Move, Part, best_shares

seeds = st.integers(0, 10_000)


def vector(rng, share, size=30, dtype=np.float32):
    return rng.normal(size=size).astype(dtype) * (rng.random(size) < share)


def a_move(rng, number, epoch=3):
    change = SparseVector.of(vector(rng, rng.choice([0.0, 0.1, 0.9]), 6, np.float64))
    rise, bend = rng.normal(scale=2), rng.gamma(1.0) * rng.integers(2)
    return Move(change, rise, bend, 1.0, 10, epoch, number, {number: 1.0})


def gain(move, w, share=1.0):
    """What the dual gains by a share of it all."""
    change = share * move.change.dense(len(w))
    bend = 0.5 * share**2 * move.bend
    return share * move.rise - w @ change - 0.5 * change @ change - bend


def sent(listed):
    """As what came from elsewhere may be: not to be written to."""
    for array in listed:
        if array is not None:
            array.flags.writeable = False
    return listed


@given(seeds, st.sampled_from([np.float32, np.float64]))
def test_listed_vectors_are_the_vectors(seed, dtype):
    rng = np.random.default_rng(seed)
    a, b = (vector(rng, rng.choice([0.0, 0.1, 0.9]), dtype=dtype) for _ in "ab")
    one, other = (sent(SparseVector.of(v.copy())) for v in (a, b))
    assert np.array_equal(one.dense(30), a)
    assert np.array_equal(SparseVector.difference(a, b).dense(30), a - b)
    product = a.astype(float) @ b.astype(float)
    for found in (one.along(b), one.times(other), other.times(one)):
        assert found == pytest.approx(product, abs=1e-12)
    share, theirs = rng.random(2)
    total, again = one.plus(share, other, theirs), other.plus(theirs, one, share)
    assert (total.index is None) == (one.index is None or other.index is None)
    assert np.array_equal(total.dense(30), again.dense(30))
    assert total.values.dtype == dtype
    np.testing.assert_allclose(total.dense(30), share * a + theirs * b, rtol=1e-5)
    one.add_to(b, 2.0)
    assert np.array_equal(b, other.dense(30) + 2 * a)


@given(seeds)
def test_parts_are_summed(seed):
    rng = np.random.default_rng(seed)
    vectors = [vector(rng, share, dtype=np.float64) for share in (0.1, 0.9)]
    parts = [Part(k + 1.0, SparseVector.of(v), k) for k, v in enumerate(vectors)]
    total = parts[0].merge(parts[1], None)
    assert (total.value, total.seconds) == (3.0, 1)
    np.testing.assert_array_equal(total.vector.dense(30), sum(vectors))


@given(seeds)
def test_merged_moves_are_the_best_of_both(seed):
    """No other shares of two moves gain more; the merged one says what it gains."""
    rng = np.random.default_rng(seed)
    one, other, w = a_move(rng, 1), a_move(rng, 2), rng.normal(size=6)
    both = one.merge(other, w)
    a, b = both.shares[1], both.shares[2]
    assert 0 <= min(a, b) <= max(a, b) <= 1
    v1, v2 = one.change.dense(6), other.change.dense(6)

    def worth(s, t):
        change = s * v1 + t * v2
        bends = 0.5 * (s**2 * one.bend + t**2 * other.bend)
        return (
            s * one.rise + t * other.rise - w @ change - 0.5 * change @ change - bends
        )

    assert gain(both, w) == pytest.approx(worth(a, b), abs=1e-9)
    grid = np.linspace(0, 1, 21)
    best = max(worth(s, t) for s in grid for t in grid)
    assert worth(a, b) >= best - 1e-4
    share, claimed = both.best(w)
    assert claimed == pytest.approx(gain(both, w, share), abs=1e-9)
    assert claimed >= 0
    elsewhere = rng.normal(size=6)  # where a late one is judged
    share, claimed = both.best(elsewhere)
    most = max(gain(both, elsewhere, s) for s in grid)
    assert 0 <= share <= 1
    assert claimed >= max(most - 1e-9, 0)
    assert (both.calls, both.risk, both.seconds) == (20, 2.0, 2)


def test_of_moves_from_different_points_the_older_is_void():
    rng = np.random.default_rng(0)
    old, new = a_move(rng, 1, epoch=3), a_move(rng, 2, epoch=4)
    w = np.zeros(6)
    assert old.merge(new, w) is new.merge(old, w) is new


@given(st.integers(1, 6), seeds)
def test_the_search_over_shares_finds_the_best(count, seed):
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(count, 4)) * (rng.random((count, 1)) < 0.8)
    gram, slopes = moves @ moves.T, rng.normal(size=count)
    shares = best_shares(gram, slopes)
    assert ((shares >= 0) & (shares <= 1)).all()
    others = shares + rng.normal(
        scale=rng.choice([0.01, 1], (200, 1)), size=(200, count)
    )
    others = np.clip(np.vstack([shares, others]), 0, 1)
    values = others @ slopes - 0.5 * np.einsum("ij,jk,ik->i", others, gram, others)
    assert values.max() <= values[0] + 1e-5
