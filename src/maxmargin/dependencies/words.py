"""Words and tags as numbers: what training has seen, and sentences in these numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any

import numpy as np

from maxmargin.core.saved import Saved
from maxmargin.dependencies.features import FIRST, ROOT, UNKNOWN, Sentences

PREFIX = 5  # letters
RARE = 1  # words seen so often at most are like words never seen
PARTS = ("words", "prefixes", "tags")


class Words:
    """The words, prefixes and tags of training, each numbered from ``FIRST`` on."""

    def __init__(self, words: list[str], prefixes: list[str], tags: list[str]):
        self.words, self.prefixes, self.tags = (
            dict(zip(names, range(FIRST, FIRST + len(names)), strict=True))
            for names in (words, prefixes, tags)
        )

    @classmethod
    def learn(cls, X: list[list[tuple[str, str]]]) -> Words:
        words = Counter(word for sentence in X for word, _ in sentence)
        tags = dict.fromkeys(tag for sentence in X for _, tag in sentence)
        prefixes: Counter = Counter()
        for word, n in words.items():
            prefixes[word[:PREFIX]] += n
        return cls(_often(words), _often(prefixes), list(tags))

    def encode(self, X: list[list[tuple[str, str]]]) -> Sentences:
        """The tokens of all sentences, with the root before each."""
        sizes = np.fromiter(map(len, X), np.int64, len(X))
        first = np.concatenate([[0], np.cumsum(sizes + 1)])
        total, count = int(first[-1]), int(sizes.sum())
        place = np.ones(total, bool)
        place[first[:-1]] = False

        def column(numbers: dict[str, int], texts: Iterable[str]) -> np.ndarray:
            found = np.full(total, ROOT, np.int32)
            ids = map(numbers.get, texts, repeat(UNKNOWN))
            found[place] = np.fromiter(ids, np.int32, count)
            return found

        words = [word for word, _ in chain.from_iterable(X)]
        tags = column(self.tags, (tag for _, tag in chain.from_iterable(X)))
        kinds, n_kinds = numbered_within(tags, first)
        return Sentences(
            first,
            column(self.words, words),
            column(self.prefixes, (word[:PREFIX] for word in words)),
            tags,
            kinds,
            n_kinds,
        )

    # saving ----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return {name: list(getattr(self, name)) for name in PARTS}

    @classmethod
    def from_state(cls, saved: Saved) -> Words:
        return cls(*(saved.texts(name) for name in PARTS))


def _often(counts: Counter) -> list[str]:
    return [name for name, n in counts.items() if n > RARE]


def numbered_within(
    tags: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the tags of each sentence, numbered from 0 in it; how many there are)."""
    n = len(first) - 1
    sentence = np.repeat(np.arange(n), np.diff(first))
    keys, found = np.unique(
        sentence * (int(tags.max(initial=0)) + 1) + tags, return_inverse=True
    )
    begin = np.searchsorted(keys // (int(tags.max(initial=0)) + 1), np.arange(n + 1))
    kinds = found - begin[sentence]
    return kinds.astype(np.int32), np.diff(begin).astype(np.int32)
