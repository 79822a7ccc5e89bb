"""Copies of weights that follow them at the price of what changes."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core import mirrors
from maxmargin.core.kernel import kernel
from maxmargin.core.mirrors import PAGE_BITS, SHORT, Followed, Mirror, Mirrors, mark


@kernel
def step_on(w, pages, index):
    """Steps as solvers take them: some weights change, and their pages are marked."""
    for j in range(len(index)):
        w[index[j]] += 1.0
    mark(pages, index, len(index))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9999), st.sampled_from([5, SHORT, SHORT + 31]), st.booleans())
def test_a_mirror_lists_what_was_added_and_follows(seed, size, marked):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=size).astype(np.float32)
    crew = Mirrors()
    news = None
    for _ in range(4):
        crew.see(Followed(w, news))
        with crew.lent() as mirror:
            np.testing.assert_array_equal(mirror.w, w)
            index = rng.integers(size, size=rng.integers(1, 200))
            step_on(mirror.w, mirror.pages, index)
            wanted = mirror.w - w
            change = mirror.take(marked)
        found = np.zeros_like(w)
        change.add_to(found)
        np.testing.assert_array_equal(found, wanted)
        assert not mirror.pages.any() or not marked
        places = np.unique(rng.integers(size, size=20)).astype(np.int32)
        w[places] += 1
        news = [places] if rng.random() < 0.7 else None
        if not marked:
            mirror.pages[:] = 0


def test_long_weights_are_not_compared_as_a_whole():
    """Only marked pages are looked at, and only places that are named are copied."""
    w = np.zeros(4 * SHORT, np.float32)
    mirror = Mirror(w)
    w[7] = 3.0  # nobody says so
    mirror.follow()
    assert mirror.w[7] == 0
    mirror.w[100] = 1.0
    mirror.w[SHORT] = 1.0
    mark(mirror.pages, np.array([SHORT]), 1)
    assert mirror.take(True).index.tolist() == [SHORT]
    assert mirror.w[100] == 1  # on a page that is not marked
    assert len(mirror.pages) == (len(w) >> PAGE_BITS) + 1
    assert len(Mirror(w[: SHORT - 1]).pages) == 0


def test_a_change_of_nearly_everything_is_not_listed():
    w = np.zeros(SHORT, np.float64)
    mirror = Mirror(w)
    everything = np.arange(SHORT)
    step_on(mirror.w, mirror.pages, everything)
    change = mirror.take(True)
    assert change.index is None
    np.testing.assert_array_equal(change.values, np.ones(SHORT))
    np.testing.assert_array_equal(mirror.w, w)


def test_everyone_who_steps_at_a_time_has_a_mirror():
    crew, both = Mirrors(), threading.Barrier(2)
    w = np.arange(9.0)
    crew.see(Followed(w, None))
    lent = []

    def borrow():
        with crew.lent() as mirror:
            both.wait(10)
            lent.append(mirror)

    threads = [threading.Thread(target=borrow) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lent[0] is not lent[1]
    with crew.lent() as again:
        assert again in lent
    other = w + 1
    crew.see(Followed(other, []))  # another array: whatever is said of changes
    with crew.lent() as mirror:
        np.testing.assert_array_equal(mirror.w, other)


def test_who_fails_does_not_give_its_mirror_back():
    crew = Mirrors()
    crew.see(Followed(np.zeros(3), None))

    def fail():
        with crew.lent() as mirror:
            mirror.w[:] = 5
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with crew.lent() as mirror:
        assert not mirror.w.any()


def test_short_weights_are_copied(monkeypatch):
    monkeypatch.setattr(mirrors, "SHORT", 4)
    assert len(Mirror(np.zeros(3)).pages) == 0
    assert len(Mirror(np.zeros(4)).pages) == 1
