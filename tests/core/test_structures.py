"""Decoders, losses and features against enumeration on random small problems."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from conftest import random_chain, random_multiclass
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import contract
from maxmargin.core.by_label import by_label
from maxmargin.core.decode import decode
from maxmargin.tags.chain_inference import k_best, table_per_token
from maxmargin.tags.chain_spans import span_tables
from maxmargin.tags.schemes import spans
from maxmargin.tags.second_order import second_order
from maxmargin.testing import check_structure, enumerate_chain, enumerate_multiclass

COSTS = {
    "hamming": None,
    "cost-matrix": np.array([[0, 2.5, 1.0], [0.5, 0, 3.0], [1.0, 0.0, 0]]),
}
BARRIER = np.zeros((5, 3))
BARRIER[0, 1] = BARRIER[2, 2] = -np.inf  # transitions
BARRIER[3, 2] = -np.inf  # first


@given(st.integers(0, 10**6), st.sampled_from(sorted(COSTS)))
def test_multiclass_equals_enumeration(seed, cost):
    batch, n_weights = random_multiclass(seed, cost=COSTS[cost])
    check_structure(batch, n_weights, enumerate_multiclass, seed=seed, trials=1)


def test_a_block_that_is_solved_wrongly_is_found():
    batch, n_weights = random_multiclass(0)
    check_structure(batch, n_weights, enumerate_multiclass)
    shorter = batch._replace(norms=0.1 * batch.norms)  # steps go too far
    with pytest.raises(AssertionError, match="the dual falls"):
        check_structure(shorter, n_weights, enumerate_multiclass)


class Bare(NamedTuple):
    start: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    n_labels: int


def test_what_a_batch_with_blocks_lacks_is_named():
    batch, _ = random_multiclass(0)
    assert by_label(batch) is batch
    bare = Bare(batch.start, batch.y, batch.cost, batch.n_labels)
    with pytest.raises(
        TypeError, match=r"Bare has .*: values, norms, width, n_features"
    ):
        by_label(bare)


@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    cost=st.sampled_from(sorted(COSTS)),
    zero_one=st.booleans(),
    walled=st.booleans(),
)
def test_chain_equals_enumeration(seed, lengths, cost, zero_one, walled):
    batch, n_weights = random_chain(
        seed,
        lengths,
        cost=COSTS[cost],
        zero_one=zero_one,
        barrier=BARRIER if walled else None,
    )
    check_structure(batch, n_weights, enumerate_chain, seed=seed, trials=1)


SPAN_LABELS = [["O", "B-X", "I-X"], ["B-X", "B-Y", "I-Y"], ["E-X", "I-X", "S-X"]]


@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    labels=st.sampled_from(SPAN_LABELS),
)
def test_span_loss_equals_enumeration(seed, lengths, labels):
    batch, n_weights = random_chain(seed, lengths)
    batch = batch._replace(tables=span_tables(labels))
    check_structure(batch, n_weights, enumerate_chain, seed=seed, trials=1)
    for i in range(len(lengths)):
        truth = [labels[k] for k in batch.y[batch.start[i] : batch.start[i + 1]]]
        for y in enumerate_chain(batch, i):
            a, b = set(spans(truth)), set(spans([labels[k] for k in y]))
            assert contract.loss(batch, i, y) == len(a ^ b)


@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    cost=st.sampled_from(sorted(COSTS)),
    walled=st.booleans(),
)
def test_second_order_equals_enumeration(seed, lengths, cost, walled):
    barrier = BARRIER if walled else None
    batch, n_weights = random_chain(seed, lengths, cost=COSTS[cost], barrier=barrier)
    n_weights += batch.n_labels**2 * batch.width
    batch = second_order(batch)
    check_structure(batch, n_weights, enumerate_chain, seed=seed, trials=1)


def test_interpreted_contract_is_the_compiled_one():
    batch, n_weights = random_chain(3, (3, 2))
    check_structure(batch, n_weights, enumerate_chain, compiled=False, trials=1)


def test_check_structure_notices_a_wrong_loss():
    batch, n_weights = random_chain(0)
    bad = batch.cost.copy()
    bad[0, 0] = bad[1, 1] = bad[2, 2] = 0.5
    with pytest.raises(AssertionError, match="loss of the truth"):
        check_structure(batch._replace(cost=bad), n_weights, enumerate_chain)


def _scores(batch, w, i):
    outputs = list(enumerate_chain(batch, i))
    return outputs, np.array([_value(batch, w, i, y) for y in outputs])


def _value(batch, w, i, y):
    from maxmargin.testing import Asker

    return w @ Asker(batch, i, w, True).features(y)


@given(st.integers(0, 10**6), st.booleans())
def test_k_best_marginals_and_max_marginals_equal_enumeration(seed, walled):
    lengths = (3, 0, 1, 2)
    batch, n_weights = random_chain(seed, lengths, barrier=BARRIER if walled else None)
    w = np.random.default_rng(seed).normal(size=n_weights)
    labels, scores = k_best(batch, w, 4)
    sums = table_per_token("sum", batch, w)
    tops = table_per_token("max", batch, w)
    best = decode(batch, w)
    for i in range(len(lengths)):
        first, last = batch.start[i], batch.start[i + 1]
        outputs, values = _scores(batch, w, i)
        ranked = np.sort(values)[::-1][:4]
        found = scores[: len(ranked), i]
        np.testing.assert_allclose(found, ranked, atol=1e-9)
        assert (scores[len(ranked) :, i] == -np.inf).all()
        rows = {tuple(labels[r, first:last]) for r in range(len(ranked))}
        assert len(rows) == len(ranked)
        np.testing.assert_array_equal(labels[0, first:last], best[first:last])
        p = np.exp(values - values.max())
        p /= p.sum()
        for t, k in itertools.product(range(last - first), range(3)):
            has = np.array([y[t] == k for y in outputs])
            np.testing.assert_allclose(sums[first + t, k], p[has].sum(), atol=1e-9)
            top = values[has].max() if has.any() else -np.inf
            np.testing.assert_allclose(tops[first + t, k], top, atol=1e-9)


def test_decoding_does_not_depend_on_threads():
    batch, n_weights = random_chain(5, tuple(range(1, 30)), n_labels=7)
    w = np.random.default_rng(0).normal(size=n_weights)
    np.testing.assert_array_equal(decode(batch, w, 1), decode(batch, w, 3))


def test_large_scores_give_finite_marginals():
    batch, n_weights = random_chain(1, (5,))
    w = 1e4 * np.random.default_rng(0).normal(size=n_weights)
    sums = table_per_token("sum", batch, w)
    np.testing.assert_allclose(sums.sum(axis=1), 1.0)
