"""Threads that add to the same numbers lose nothing."""

import threading

import numpy as np
import pytest

from maxmargin.core.compile.atomics import atomic_add
from maxmargin.core.kernel import kernel
from maxmargin.core.vectors import add_listed


@kernel
def add_often(times, index, values, w):
    for _ in range(times):
        add_listed(w, 1.0, index, values, len(index))


@kernel
def plainly(w, index, value):
    w[index] += value


@kernel
def atomically(w, index, value):
    atomic_add(w, index, value)


def in_threads(count, function, *arguments):
    threads = [threading.Thread(target=function, args=arguments) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_listed_vectors_are_added_whole(dtype):
    """Whole numbers add up exactly."""
    index, values = np.array([0, 3, 2], np.int32), np.array([1, 2, 3], dtype)
    w, times, threads = np.zeros(4, dtype), 200_000, 8
    add_often(0, index, values, w)  # is compiled
    in_threads(threads, add_often, times, index, values, w)
    assert w.tolist() == [times * threads * x for x in (1, 0, 3, 2)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_one_thread_the_sum_is_that_of_a_plain_addition(dtype):
    rng = np.random.default_rng(0)
    one, other = np.zeros(1, dtype), np.zeros(1, dtype)
    for value in rng.normal(size=200).astype(dtype):
        plainly(one, 0, value)
        atomically(other, 0, value)
        assert one[0] == other[0]
