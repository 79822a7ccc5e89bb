"""Words of k letters, counted: strings as rows of sparse tables.

Letters are numbered over all strings of a call, words are numbers in the base of that, and
are numbered afresh before they grow too large: nothing here depends on the alphabet's size.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

_FULL = 2**62
_SMALL = 10_000  # numbers up to it need no sorting


class Letters(NamedTuple):
    """All strings in a row."""

    letter: np.ndarray  # number of each letter
    string: np.ndarray  # which string it is in
    left: np.ndarray  # letters from here to the string's end, this one included
    place: np.ndarray  # letters before it in its string
    lengths: np.ndarray  # of the strings
    names: list  # the letter of each number


def strings_of(X: Any, name: str) -> list[Sequence[Hashable]]:
    """X as a list of strings, or a sentence."""
    if isinstance(X, (str, bytes)):
        raise ValueError(
            f"{name} is one string: a kernel of strings takes a list of them."
        )
    try:
        strings = X.tolist() if hasattr(X, "tolist") else list(X)
    except TypeError:
        strings = None
    if not isinstance(strings, list) or isinstance(X, dict) or hasattr(X, "tocsr"):
        raise ValueError(
            f"{name} has the type {type(X).__name__}: give a list of strings or sequences."
        )
    for i, string in enumerate(strings):
        if not isinstance(string, (str, bytes, Sequence, np.ndarray)):
            raise ValueError(
                f"Sample {i} of {name} is {type(string).__name__}, not a string or another "
                "sequence of letters."
            )
    return strings


def read(X: list[Sequence[Hashable]]) -> Letters:
    """Number the letters of all strings."""
    lengths = np.fromiter((len(x) for x in X), np.int64, len(X))
    if all(type(x) is str for x in X):
        data = "".join(X).encode("utf-32-le", "surrogatepass")
        codes, letter = np.unique(np.frombuffer(data, "<u4"), return_inverse=True)
        names = [chr(code) for code in codes]
    else:
        numbers: dict[Hashable, int] = {}
        try:
            found = [numbers.setdefault(c, len(numbers)) for x in X for c in x]
        except TypeError as error:
            raise ValueError(
                f"The letters of sequences must be hashable, such as strings or numbers "
                f"({error})."
            ) from None
        letter, names = np.array(found, np.int64), list(numbers)
    string = np.repeat(np.arange(len(X)), lengths)
    ends = np.cumsum(lengths)
    here = np.arange(len(letter))
    left = ends[string] - here
    place = here - (ends - lengths)[string]
    return Letters(letter.astype(np.int64), string, left, place, lengths, names)


def words(text: Letters, k: int, kept: Iterable[int] | None = None) -> np.ndarray:
    """The number of the word of k letters that begins at each place, by its kept offsets.

    Words that run over the end of their string have numbers too; `left >= k` tells.
    """
    n = len(text.letter)
    number, bound = np.zeros(n, np.int64), 1
    base = max(1, len(text.names))
    for offset in range(k) if kept is None else kept:
        if bound > _FULL // base:
            number, bound = renumbered(number)
        number *= base
        number[: max(0, n - offset)] += text.letter[offset:]
        bound *= base
    return number


def renumbered(number: np.ndarray) -> tuple[np.ndarray, int]:
    """Equal numbers as equal numbers below the second value returned, which is small."""
    largest = int(number.max(initial=0))
    if largest <= _SMALL + len(number):
        return number, largest + 1
    values, new = np.unique(number, return_inverse=True)
    return new.astype(np.int64), max(1, len(values))


class Counter:
    """A sparse table with a row per string and a column per thing counted."""

    def __init__(self, n: int) -> None:
        self.n, self.width = n, 0
        self.rows: list[np.ndarray] = []
        self.columns: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []

    def add(self, string: np.ndarray, thing: np.ndarray, weight: float = 1.0) -> None:
        """Count each thing in its string, in columns of their own."""
        column, width = renumbered(thing)
        self.rows.append(string)
        self.columns.append(column + self.width)
        self.weights.append(np.full(width, weight))
        self.width += width

    def tables(self) -> tuple[Any, np.ndarray]:
        """The counts, and a weight for each column."""
        rows, columns = np.concatenate(self.rows), np.concatenate(self.columns)
        ones = np.ones(len(rows))
        counts = sp.csr_array((ones, (rows, columns)), shape=(self.n, self.width))
        return counts, np.concatenate(self.weights)
