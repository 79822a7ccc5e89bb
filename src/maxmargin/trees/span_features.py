"""Features of words and of spans for parsers, as lists of indices.

Words are described by themselves, their beginnings and ends, and their shape, so that
words never seen in training still have features. A span (b, e) is described by what is at
its edges, inside (first, last) and outside (before, after), alone and in pairs, and by its
length. Only descriptions that occur on a bracket of a training tree are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

OUTSIDE, UNKNOWN = 0, 1  # numbers of what is beyond the sentence, and of new words
PAIRS = (  # what a span is described by; one name twice is that name alone
    ("first", "first"),
    ("last", "last"),
    ("before", "before"),
    ("after", "after"),
    ("first", "last"),
    ("before", "first"),
    ("last", "after"),
    ("before", "after"),
    ("length", "first"),
    ("length", "last"),
    ("length", "length"),
)
LENGTHS = np.array(
    [2, 3, 4, 5, 6, 8, 11, 16, 21, 31]
)  # where a class of lengths begins


def describe_word(word: str, first: bool) -> list[str]:
    """Strings that describe a word; ``first`` says that it begins a sentence."""
    lower = word.lower()
    found = [f"w={word}", f"l={lower}", f"shape={word_shape(word)}"]
    found += [f"p{n}={lower[:n]}" for n in (1, 2, 3) if len(word) > n]
    found += [f"s{n}={lower[-n:]}" for n in (1, 2, 3, 4) if len(word) > n]
    if word[:1].isupper():
        found.append("first capital" if first else "capital")
    if any(letter.isdigit() for letter in word):
        found.append("digit")
    if "-" in word[1:-1]:
        found.append("hyphen")
    return found


def word_shape(word: str) -> str:
    """A for capitals, a for small letters, 0 for digits; what repeats is cut at two."""
    out = ""
    for letter in word:
        kind = "0" if letter.isdigit() else letter
        if letter.isalpha():
            kind = "A" if letter.isupper() else "a"
        if not out.endswith(2 * kind):
            out += kind
    return out


class WordFeatures:
    """Words to rows of indices; new words keep the features that are known."""

    def __init__(self, names: Sequence[str] = ()):
        self.names = {name: k for k, name in enumerate(names)}

    def fit(self, sentences: Sequence[Sequence[str]]) -> WordFeatures:
        self.names = {}
        for word, first in {
            (word, t == 0) for words in sentences for t, word in enumerate(words)
        }:
            for name in describe_word(word, first):
                self.names[name] = 0
        self.names = {name: k for k, name in enumerate(sorted(self.names))}
        return self

    def encode(self, sentences):
        """(indptr, indices, number of features), one row per word."""
        rows: dict = {}
        lists = []
        for words in sentences:
            for t, word in enumerate(words):
                key = word, t == 0
                if key not in rows:
                    known = map(self.names.get, describe_word(*key))
                    rows[key] = [k for k in known if k is not None]
                lists.append(rows[key])
        indptr = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        flat = np.array([k for row in lists for k in row], np.int32)
        return indptr, flat, len(self.names)


class SpanFeatures:
    """Spans of sentences to rows of indices.

    A sentence is described in *channels*: lists of strings of its length, such as its
    words and its tags.
    """

    def __init__(self, channels: Sequence[Sequence[str]] = (), keys=()):
        self.channels = [
            {name: k for k, name in enumerate(names, 2)} for names in channels
        ]
        self.keys = np.asarray(keys, np.int64)  # sorted

    def fit(self, sentences, brackets) -> SpanFeatures:
        """``sentences``: per sentence one list per channel; ``brackets``: their cells."""
        n = len(sentences[0]) if sentences else 0
        self.channels = []
        for channel in range(n):
            names = sorted({name for parts in sentences for name in parts[channel]})
            self.channels.append({name: k for k, name in enumerate(names, 2)})
        found = [
            np.unique(self._all_keys(parts)[:, cells])
            for parts, cells in zip(sentences, brackets, strict=True)
        ]
        self.keys = np.unique(np.concatenate([*found, np.zeros(0, np.int64)]))
        return self

    def encode(self, sentences):
        """(indptr, indices, number of features), one row per span, by end, then begin."""
        counts, lists = [], []
        for parts in sentences:
            keys = self._all_keys(parts).T  # (cells, templates)
            place = np.searchsorted(self.keys, keys)
            place[place == len(self.keys)] = 0
            known = (
                self.keys[place] == keys
                if len(self.keys)
                else np.zeros(keys.shape, bool)
            )
            counts.append(known.sum(axis=1))
            lists.append(place[known].astype(np.int32))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([*counts, []]))])
        flat = np.concatenate([*lists, np.zeros(0, np.int32)]).astype(np.int32)
        return indptr.astype(np.int64), flat, len(self.keys)

    def _all_keys(self, parts) -> np.ndarray:
        """(templates, cells): a number for each description of each span."""
        length = len(parts[0])
        begin, end = cells(length)
        tables = []
        size = 2 + max(map(len, self.channels), default=0)
        size = max(size, len(LENGTHS) + 1)
        for channel, (names, part) in enumerate(zip(self.channels, parts, strict=True)):
            atoms = np.zeros(length + 2, np.int64)  # OUTSIDE at both ends
            atoms[1:-1] = [names.get(name, UNKNOWN) for name in part]
            at = {
                "before": atoms[begin],
                "first": atoms[begin + 1],
                "last": atoms[end],
                "after": atoms[end + 1],
                "length": np.searchsorted(LENGTHS, end - begin, side="right"),
            }
            for number, (a, b) in enumerate(PAIRS):
                if channel and a == b == "length":
                    continue
                template = channel * len(PAIRS) + number
                other = at[b] if a != b else 0
                tables.append((template * size + at[a]) * size + other)
        return np.array(tables, np.int64).reshape(len(tables), len(begin))


def cells(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end of all spans of a sentence, by end, then begin."""
    end = np.repeat(np.arange(1, length + 1), np.arange(1, length + 1))
    begin = np.arange(len(end)) - end * (end - 1) // 2
    return begin, end
