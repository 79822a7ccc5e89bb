"""Batches that were run on before: the same one is not looked at again, others are."""

import gc
import weakref

import numpy as np

from maxmargin.core import contract
from maxmargin.core.compile import machine as rooms
from maxmargin.core.decode import decode
from maxmargin.core.kernel import kernel, prepared, run
from maxmargin.core.tables.arrays import TokenMatrix
from maxmargin.tags.chain import make_batch
from maxmargin.tags.chain_spans import span_tables


def _batch(indices, n_labels=2, start=(0, 2)):
    n = len(indices)
    tokens = TokenMatrix(
        np.arange(n + 1), np.array(indices, np.int32), np.ones(n), np.array(start), 3
    )
    cost = 1.0 - np.eye(n_labels)
    return make_batch(tokens, 3, None, cost, None, False, np.float64)


W = np.zeros((7, 2))
W[0, 1], W[1, 0], W[2, 1] = 1.0, 1.0, 2.0


def test_same_batch_is_known():
    batch = _batch([0, 1])
    assert decode(batch, W.ravel()).tolist() == [1, 0]
    assert rooms.recent(batch) is rooms.recent(batch)
    assert decode(batch, W.ravel()).tolist() == [1, 0]


def test_what_is_in_its_arrays_may_change():
    batch = _batch([0, 1])
    decode(batch, W.ravel())
    batch.indices[0] = 1
    assert decode(batch, W.ravel()).tolist() == [0, 0]


def test_other_batches_at_the_same_address():
    found = []
    for _ in range(40):  # freed and made anew, mostly at one address
        for indices in ([0, 1], [1, 1], [1, 2]):
            batch = _batch(indices)
            found.append(decode(batch, W.ravel()).tolist())
            batch = batch._replace(indices=batch.indices[::-1].copy())
            found.append(decode(batch, W.ravel()).tolist())
            del batch
    wanted = [[1, 0], [0, 1], [0, 0], [0, 0], [0, 1], [1, 0]]
    assert found == wanted * 40


def test_known_by_its_fields():
    batch = _batch([0, 1])
    found = rooms.Recent(batch)
    assert found.is_of(batch)
    assert found.is_of(batch._replace(y=batch.y))
    for other in (
        batch._replace(y=batch.y.copy()),
        batch._replace(n_labels=1),
        batch._replace(n_labels=2.0),
        batch._replace(tables=batch.tables._replace(counted=0)),
    ):
        assert not found.is_of(other)
    del batch, other
    gc.collect()
    assert found.kind is None  # addresses may be those of others now


def test_arrays_of_tuples_within_go_with_the_batch():
    tables = span_tables(["B-A", "O"])
    batch = _batch([0, 1])._replace(tables=tables)
    assert decode(batch, W.ravel()).tolist() == [1, 0]
    inner = weakref.ref(tables.begins)
    other = batch._replace(tables=tables._replace(begins=tables.begins.copy()))
    assert not rooms.recent(batch).is_of(other)
    start = batch.start  # one field that lives on keeps no others
    del batch, tables, other
    gc.collect()
    assert inner() is None
    assert start.tolist() == [0, 2]


def test_arrays_of_another_kind_are_copied_each_time():
    batch = _batch([0, 1])
    batch = batch._replace(start=batch.start.astype(np.int32))
    assert decode(batch, W.ravel()).tolist() == [1, 0]
    batch.start[1] = 1
    handle, _ = rooms.recent(batch).handle(batch, np.zeros(1, np.int64))
    assert handle[0].tolist() == [0, 1]


def test_nothing_is_kept_alive():
    batch = _batch([0, 1])
    decode(batch, W.ravel())
    gone = weakref.ref(batch.indices), weakref.ref(batch.y), weakref.ref(batch.start)
    del batch
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_few_are_remembered():
    kept = [_batch([0, 1]) for _ in range(rooms._MOST + 5)]
    for batch in kept:
        assert decode(batch, W.ravel()).tolist() == [1, 0]
    assert len(rooms._recent) <= rooms._MOST


def test_prepared_calls_are_runs():
    """Of other arguments too; the batch lives as long as the call does."""
    batch = _batch([0, 1])
    found = weakref.ref(batch.indices)
    theta = np.zeros(contract.shape(batch))
    call = prepared(score_one, batch, W.ravel(), theta)
    del batch
    gc.collect()
    assert found() is not None
    for factor in (1.0, -2.0):
        call(factor * W.ravel(), theta)
        run(
            score_one, _batch([0, 1]), factor * W.ravel(), other := np.zeros_like(theta)
        )
        np.testing.assert_array_equal(theta, other)
        assert theta.any()
    del call
    gc.collect()
    assert found() is None


def test_prepared_calls_see_what_changes():
    """A start of another type is copied for kernels, each time anew."""
    batch = _batch([0, 1])
    start = np.array([0, 2], np.int32)
    odd = batch._replace(start=start)
    call = prepared(last_start, odd)
    assert call() == 2
    start[-1] = 1
    assert call() == 1


@kernel
def score_one(batch, w, theta):
    contract.score(batch, 0, w, theta)


@kernel
def last_start(batch):
    return batch.start[-1]
