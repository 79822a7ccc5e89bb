"""Stamps change when what a kernel is made of changes, and only then."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import types

from maxmargin.core.compile.packed import Packed, named_tuples
from maxmargin.core.compile.stamps import stamp
from maxmargin.core.kernel import generic, implements, inlined, kernel

SOURCE = '''
"""A module."""
LIMIT = 3
PAIR = (1, 2.5)
TABLE = np.arange(3)

class Batch(NamedTuple):
    start: np.ndarray

class Other(NamedTuple):
    start: np.ndarray

class Result(NamedTuple):
    total: float

@generic
def part(batch, i):
    """Words about the default."""
    return 0

@implements(part, Batch)
def batch_part(batch, i):
    return i + 1

@implements(part, Other)
def other_part(batch, i):
    return i + 2

def plain(x):
    return x * 2

@inlined
def helper(x):
    """Words about the helper."""
    return plain(x) + PAIR[0] + TABLE[1]

@kernel
def root(batch, n):
    """Words about the root."""
    total = 0
    for i in range(n):
        total += part(batch, i) + helper(i)
    return Result(total + LIMIT)

@kernel
def caller(batch):
    return root(batch, 5)
'''


def make(source=SOURCE):
    names = (np, NamedTuple, generic, implements, inlined, kernel)
    space = {f.__name__.rpartition(".")[2]: f for f in names} | {"np": np}
    exec(compile(source, "<a notebook>", "exec"), space)
    return space


def stamp_of(source=SOURCE, batch="Batch"):
    space = make(source)
    batch_type = types.NamedTuple([types.int64[::1]], space[batch])
    return stamp(space["caller"].py_func, (batch_type,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Words about the root", "Other words"),
        ("Words about the helper", "Other words"),
        ("Words about the default", "Other words"),
        ("LIMIT = 3", "\n\n# a comment\nLIMIT = 3"),
        ("i + 2", "i + 3"),  # the body of a batch type that is not used
    ],
)
def test_harmless_edits(old, new):
    assert old in SOURCE
    assert stamp_of(SOURCE.replace(old, new)) == stamp_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("(1, 2.5)", "(1, 2.6)"),
        ("np.arange(3)", "np.arange(3) + 1"),
        ("i + 1", "i + 3"),
        ("return 0", "return 1"),  # defaults always count
        ("x * 2", "x * 3"),
        ("plain(x) + PAIR", "plain(x) - PAIR"),
        ("root(batch, 5)", "root(batch, 6)"),
        ("@inlined", "@kernel"),
        (
            "    start: np.ndarray\n\nclass Other",
            "    begin: np.ndarray\n\nclass Other",
        ),
        ("total: float", "sum: float"),
    ],
)
def test_edits_that_count(old, new):
    assert old in SOURCE
    assert stamp_of(SOURCE.replace(old, new)) != stamp_of()


def test_another_batch_type_chooses_another_body():
    assert stamp_of() != stamp_of(batch="Other")


def test_a_body_registered_later_counts():
    space = make(SOURCE.replace("@implements(part, Batch)\n", ""))
    batch_type = types.NamedTuple([types.int64[::1]], space["Batch"])
    before = stamp(space["caller"].py_func, (batch_type,))
    space["implements"](space["part"], space["Batch"])(space["batch_part"])
    assert stamp(space["caller"].py_func, (batch_type,)) != before


def test_classes_are_found_inside_others_and_behind_pointers():
    space = make()
    inner = types.NamedTuple([types.int64[::1]], space["Batch"])
    outer = types.NamedTuple([inner], space["Other"])
    found = set(named_tuples([Packed(outer)]))
    assert found == {space["Batch"], space["Other"]}
