"""Copies of w to step on, at the price of what the steps touch.

Where w is long, a shard's steps touch little of it: to copy, compare and list all of w
would take a good part of their time. So steps mark the pages of w that they write to, and a
copy is made equal to w again only where one of the two has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from maxmargin.core.kernel import inlined, kernel
from maxmargin.core.vectors import SPARSE, Listed

PAGE_BITS = 5  # a page is 32 weights, one or two rows of labels
MUCH = 4  # times the places that changed: to copy all in a row is faster beyond
SHORT = 1 << 14  # weights that are rather copied as a whole


class Followed(NamedTuple):
    """Weights, and where they differ from those that the same crew was last given so."""

    w: np.ndarray
    places: list[np.ndarray] | None  # None: anywhere


class Mirror:
    """A copy of w that one shard at a time may write to.

    ``pages`` is for kernels to mark what they write to (:func:`mark`); it has no entries
    where w is short.
    """

    def __init__(self, source: np.ndarray):
        self.source, self.w = source, source.copy()
        short = len(source) < SHORT
        self.pages = np.zeros(0 if short else (len(source) >> PAGE_BITS) + 1, np.uint8)
        self.behind: list[np.ndarray] | None = []  # places that changed; None: all

    def follow(self) -> None:
        """Be equal to the source."""
        if self.behind is None:
            np.copyto(self.w, self.source)
        for places in self.behind or ():
            copy_at(places, self.source, self.w)
        self.behind = []

    def take(self, marked: bool) -> Listed:
        """What was added to the copy, which is the source again when it is asked next.

        ``marked``: all of it was on pages that are marked.
        """
        if marked and len(self.pages):
            most = np.count_nonzero(self.pages) << PAGE_BITS
            index, values = np.empty(most, np.int32), np.empty(most, self.w.dtype)
            count = take_changes(self.pages, self.source, self.w, index, values)
            index, values = index[:count], values[:count]
            if len(index) <= SPARSE * len(self.w):
                return Listed(index, values)
            change = np.zeros_like(self.w)
            change[index] = values
            return Listed(None, change)
        self.behind = None
        return Listed.of(self.w - self.source)


class Mirrors:
    """Mirrors of one w, one for each thread that steps at the same time."""

    def __init__(self):
        self.w: np.ndarray | None = None
        self._free: list[Mirror] = []

    def see(self, followed: Followed) -> None:
        """The weights have changed; nobody steps now."""
        if followed.w is not self.w:
            self.w, self._free = followed.w, []
        for mirror in self._free:
            if followed.places is None or mirror.behind is None:
                mirror.behind = None
                continue
            mirror.behind += followed.places
            if MUCH * sum(map(len, mirror.behind)) > len(self.w):
                mirror.behind = None

    @contextmanager
    def lent(self) -> Iterator[Mirror]:
        """One that is equal to w; not to be had again if its user fails."""
        try:
            mirror = self._free.pop()
        except IndexError:
            mirror = Mirror(self.w)
        mirror.follow()
        yield mirror
        self._free.append(mirror)


def prepare(dtype) -> None:
    """Compile (or load) the kernels of mirrors."""
    w, places = np.zeros(1, dtype), np.zeros(0, np.int32)
    copy_at(places, w, w)
    take_changes(np.zeros(1, np.uint8), w, w, places, w[:0])


@inlined
def mark(pages, index, m):
    """These weights are written to."""
    if len(pages) > 0:
        for j in range(m):
            pages[index[j] >> PAGE_BITS] = 1


@kernel
def copy_at(places, source, target):
    for j in range(len(places)):
        target[places[j]] = source[places[j]]


@kernel
def take_changes(pages, source, w, index, values):
    """List w - source, and undo it; no page is marked any more. Returns how many."""
    at = 0
    for page in range(len(pages)):
        if pages[page]:
            pages[page] = 0
            first = page << PAGE_BITS
            for j in range(first, min(first + (1 << PAGE_BITS), len(w))):
                if w[j] != source[j]:
                    index[at] = j
                    values[at] = w[j] - source[j]
                    at += 1
                    w[j] = source[j]
    return at
