"""Arrays that are put aside are out of memory, and the same when they are used again."""

import mmap
import os
from typing import NamedTuple

import numpy as np
import pytest

from maxmargin.core.state import Stateful
from maxmargin.solvers.shards import aside
from maxmargin.solvers.shards.aside import Aside


class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


class Inner(Stateful):
    kept = ("seen", "gaps")
    grows = ("seen",)


class Owner(Stateful):
    kept = ("pair", "inner", "few", "count")
    grows = ("pair",)

    def __init__(self, size: int):
        rng = np.random.default_rng(size)
        self.pair = Pair(rng.random((size, 4)), rng.integers(9, size=size))
        self.inner = Inner()
        self.inner.seen, self.inner.gaps = np.arange(size), rng.random(size)
        self.few, self.count = np.arange(3), 7

    def arrays(self) -> list:
        return [*self.pair, self.inner.gaps, self.inner.seen, self.few]


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def test_arrays_are_the_same_and_can_be_written(tmp_path):
    place = Aside(str(tmp_path))
    owners = [Owner(size) for size in (3000, 5000, 40_000)]
    kept = [[array.copy() for array in owner.arrays()] for owner in owners]
    for turn in range(3):
        for k, owner in enumerate(owners):
            before = owner.arrays()
            place.put(k, owner)
            after = owner.arrays()
            moved = [a is not b for a, b in zip(before, after, strict=True)]
            assert moved == [turn == 0] * 3 + [False] * 2
    for owner, saved in zip(owners, kept, strict=True):
        for array, old in zip(owner.arrays(), saved, strict=True):
            assert np.array_equal(array, old)
            assert array.flags.writeable
            assert array.flags.aligned
            assert array.flags.c_contiguous
            array += 1
    for k, owner in enumerate(owners):
        place.put(k, owner)
    assert np.array_equal(owners[1].pair.a, kept[1][0] + 1)
    assert os.listdir(tmp_path) == []  # without names


def test_what_has_grown_is_put_aside_again(tmp_path):
    place, owner = Aside(str(tmp_path)), Owner(3000)
    place.put(0, owner)
    gaps = owner.inner.gaps
    wide = np.pad(owner.pair.a, ((0, 0), (0, 4)))
    owner.pair = owner.pair._replace(a=wide)
    place.put(0, owner)
    assert owner.pair.a is not wide
    assert np.array_equal(owner.pair.a, wide)
    assert owner.inner.gaps is gaps


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux only")
def test_they_are_out_of_memory(tmp_path):
    place, owner = Aside(str(tmp_path)), Owner(1_000_000)
    place.put(0, owner)
    without = resident()
    assert owner.pair.a.sum() > 0  # back again
    assert resident() - without > 25 << 20
    place.put(0, owner)
    assert resident() - without < 5 << 20


def test_a_full_disk_leaves_them_in_memory(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(aside, "_File", full)
    place, owner = Aside(str(tmp_path)), Owner(3000)
    before = owner.arrays()
    place.put(0, owner)
    assert all(a is b for a, b in zip(before, owner.arrays(), strict=True))


def test_few_files_are_open(tmp_path):
    place = Aside(str(tmp_path))
    owners = [Owner(1000) for _ in range(500)]
    for k, owner in enumerate(owners):
        place.put(k, owner)
    assert len(place._files) < 8
