"""Structures behind addresses: what is read is what was packed, and faults are errors."""

from typing import NamedTuple

import numpy as np
import pytest

from maxmargin.core import contract
from maxmargin.core.compile import compiling
from maxmargin.core.compile.declared import Float, Vector, tuple_of
from maxmargin.core.compile.entries import SLOTS, Handle
from maxmargin.core.compile.packed import words_of
from maxmargin.core.kernel import direct, implements, kernel, outlined, run


class Inner(NamedTuple):
    scale: float
    table: np.ndarray


class Outer(NamedTuple):
    start: np.ndarray
    y: np.ndarray
    flag: bool
    inner: Inner
    columns: np.ndarray  # any layout
    single: np.float32
    offset: int


def make(order="C", n=3):
    table = np.arange(2 * n, dtype=np.float64).reshape(2, n)
    columns = np.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), order=order)
    return Outer(
        np.array([0, n]),
        np.arange(n, dtype=np.int32),
        True,
        Inner(2.5, table),
        columns[:, ::2] if order == "A" else columns,
        np.float32(0.1),
        -7,
    )


@kernel
def read(batch):
    total = 0.0
    for i in range(batch.columns.shape[0]):
        for j in range(batch.columns.shape[1]):
            total += (i + 1) * 10.0**j * batch.columns[i, j]
    scale = batch.inner.scale if batch.flag else 0.0
    inner = batch.inner.table
    return total, scale, inner[1, 2], inner.size, float(batch.single), batch.offset


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_a_kernel_reads_what_was_packed(order):
    batch = make(order)
    weights = np.outer([1.0, 2.0], 10.0 ** np.arange(batch.columns.shape[1]))
    expected = (batch.columns * weights).sum()
    want = (expected, 2.5, 5.0, 6, float(np.float32(0.1)), -7)
    assert direct(read, batch) == want
    assert read.py_func(batch) == want


def test_what_cannot_be_packed():
    with pytest.raises(TypeError, match=r"Outer\.inner\.scale is of type str; a batch"):
        words_of(make()._replace(inner=Inner("large", np.zeros((1, 1)))), np.zeros(1))


@implements(contract.loss, Outer)
def loss(batch, i, y):
    if y[0] == 9:
        raise ValueError("nine")
    return y[0] + batch.inner.scale


@implements(contract.capacity, Outer)
def capacity(batch):
    return batch.offset


@kernel
def ask_loss(batch, y):
    return contract.loss(batch, 0, y)


@kernel
def ask_emit(batch, index, values):
    return contract.emit(batch, 0, batch.y, 1.0, index, values, 0)


@kernel
def ask_capacity(batch):
    return contract.capacity(batch)


def test_calls_by_address():
    y = np.array([4], np.int32)
    assert run(ask_loss, make(), y) == 6.5
    assert run(ask_capacity, make()) == -7
    with pytest.raises(ValueError, match="nine"):
        run(ask_loss, make(), np.array([9], np.int32))


class Double(NamedTuple):
    twice: np.ndarray
    sum: float


@outlined
def doubled(batch, x: Vector) -> tuple_of(Double, Vector, Float):
    twice = np.empty(len(x), x.dtype)
    for k in range(len(x)):
        twice[k] = 2 * x[k] + batch.inner.scale
    return Double(twice, np.float64(x.sum()))


@kernel
def ask_double(batch, x):
    found = doubled(batch, x)
    return found.twice, found.sum


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_are_called_by_address(dtype):
    x = np.arange(4, dtype=dtype)
    twice, total = direct(ask_double, make(), x)
    assert twice.dtype == dtype
    assert np.array_equal(twice, 2 * x + 2.5)
    assert total == 6.0
    assert np.array_equal(ask_double(make(), x)[0], twice)  # by value, in one module


def test_arrays_that_may_not_be_written_are_like_others():
    before = len(ask_loss.signatures)
    batch, y = make(), np.array([4], np.int32)
    run(ask_loss, batch, y)
    for array in (batch.start, batch.y, batch.columns, batch.inner.table, y):
        array.flags.writeable = False
    assert run(ask_loss, batch, y) == 6.5
    assert len(ask_loss.signatures) == max(before, 1)
    assert not y.flags.writeable


def test_one_kernel_serves_all_structures():
    from maxmargin.classes.sparse import make_batch

    run(ask_capacity, make())
    rows = np.array([0, 1]), np.array([0], np.int32), np.ones(1)
    other = make_batch(*rows, 1, None, np.zeros((2, 2)), np.float64)
    assert run(ask_capacity, other) == 1
    assert len(ask_capacity.signatures) == 1


def test_a_function_that_is_missing_is_named():
    lists = np.zeros(3, np.int64), np.zeros(3)
    with pytest.raises(NotImplementedError, match=r"Outer has no emit\(\): write one"):
        run(ask_emit, make(), *lists)


def test_an_empty_slot_is_an_error():
    batch = make()
    table = np.zeros(SLOTS, np.int64)
    words = words_of(batch, table)
    handle = Handle(batch.start, batch.y, words.ctypes.data)
    with pytest.raises(RuntimeError, match=r"loss\(\) was called but not compiled"):
        ask_loss(handle, np.array([4], np.int32))


def test_only_what_a_formulation_needs():
    from maxmargin.core.compile.stamps import reached
    from maxmargin.core.formulation import Form, Plain
    from maxmargin.core.oracle import most_violated

    plain = {f.__name__ for f in reached(most_violated.py_func, {Handle, Plain})}
    assert plain == {"argmax", "loss", "margin", "shortfall"}
    other = {f.__name__ for f in reached(most_violated.py_func, {Handle, Form})}
    assert other == plain | {"argmax_rescaled", "least_loss", "recall"}


def test_a_word_to_those_who_wait(monkeypatch):
    said = []
    clock = iter([0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0])
    monkeypatch.setattr(compiling, "_total", 0.0)
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: next(clock))
    compiling.announce(said.append)
    compiling.started("maxmargin.tags.chain")  # at 0 and 10
    compiling.started("maxmargin.tags.viterbi")  # inside: no clock is read
    compiling.ended()
    compiling.ended()  # at 20
    assert compiling.compile_seconds() == 20.0
    assert len(said) == 1
    assert "inner loops of tags" in said[0]
