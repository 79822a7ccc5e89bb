"""Functions that make no arrays count no references; numba's own are linked."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from maxmargin.core.compile import pipeline
from maxmargin.core.compile.linked import LinkedLibrary
from maxmargin.core.kernel import inlined, inner, kernel


@inner
def sum_of_rows(x, first):
    row, total = x[first], 0.0
    for k in range(len(row)):
        total += row[k]
    return total


@inner
def largest_of_copy(x):
    copy = np.empty(len(x))
    for k in range(len(x)):
        copy[k] = x[k]
    return max(copy[0], copy[-1])


@inlined
def ends(x):
    room = np.empty(len(x))
    return x[: len(room)]


@kernel
def both(x, first):
    return sum_of_rows(x, first) + largest_of_copy(ends(x[first]))


for function in (both, ends, sum_of_rows, largest_of_copy):
    function._cache.disable()  # what comes from disk does not compile what it calls


@pytest.fixture(autouse=True)
def as_our_own(monkeypatch):
    """Functions of this file are treated as those of the library."""
    monkeypatch.setattr(pipeline, "__name__", __name__)


def module_of(function) -> str:
    (result,) = function.overloads.values()
    return result.library.get_llvm_str()


def test_references_are_counted_where_arrays_are_made():
    x = np.arange(6.0).reshape(2, 3)
    assert both(x, 1) == 12.0 + 5.0
    assert "NRT_incref" not in module_of(sum_of_rows)
    assert "NRT" in module_of(largest_of_copy)
    assert "NRT_incref" in module_of(ends)  # it returns one


@inner
def set_row(x, first, row):
    x[first] = row


@kernel
def copy_row(x, first, last):
    set_row(x, last, x[first])


def test_a_row_may_be_set_from_another():
    x = np.arange(6.0).reshape(2, 3)
    copy_row(x, 0, 1)
    assert x[1].tolist() == [0.0, 1.0, 2.0]


@inner
def shift(x, row):
    x[0, 1:] = row[:-1]


@kernel
def shift_first(x):
    shift(x, x[0])


def test_what_was_not_expected_to_need_memory_is_compiled_as_ever(monkeypatch):
    monkeypatch.setattr(pipeline, "_makes_arrays", lambda state: False)
    shift._cache.disable()
    shift_first._cache.disable()
    x = np.arange(6.0).reshape(2, 3)
    shift_first(x)
    assert x[0].tolist() == [0.0, 0.0, 1.0]


def test_nothing_of_its_arguments_is_lost():
    x = np.arange(6.0).reshape(2, 3)
    both(x, 1)
    before = sys.getrefcount(x)
    for _ in range(100):
        both(x, 0)
    assert sys.getrefcount(x) == before


def test_functions_of_numba_are_linked():
    both(np.arange(6.0).reshape(2, 3), 1)
    (result,) = largest_of_copy.overloads.values()
    called = result.library._linking_libraries
    assert any(isinstance(library, LinkedLibrary) for library in called)
