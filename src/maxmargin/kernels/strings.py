"""Kernels of strings, or of any sequences of hashable letters.

Each is an inner product of counts, made by one product of sparse tables.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.kernels import kmers
from maxmargin.kernels.base import Kernel, set_field, whole
from maxmargin.kernels.formulas import ATOM, Formula
from maxmargin.kernels.tables import product

MAX_PATTERNS = 5000


@dataclass(frozen=True, repr=False)
class _Strings(Kernel):
    """Weighted counts of what strings have in common."""

    differentiable: ClassVar[bool] = False

    def _counted(self, text: kmers.Letters) -> tuple[Any, np.ndarray]:
        """Counts with a row per string, and the weight of each column."""
        raise NotImplementedError

    def _block(self, X: Any, Y: Any) -> Any:
        X = kmers.strings_of(X, "X")
        other = [] if Y is None else kmers.strings_of(Y, "Y")
        counts, weights = self._counted(kmers.read(X + other))
        left = counts[: len(X)]
        right = left if Y is None else counts[len(X) :]
        return product(left.multiply(weights).tocsr(), right)

    def _diagonal(self, X: Any) -> Any:
        counts, weights = self._counted(kmers.read(kmers.strings_of(X, "X")))
        return counts.power(2) @ weights

    def _formula(self, x: str, y: str) -> Formula:
        values = ", ".join(map(str, self._shown()))
        return Formula(f"{self.kind}[{values}]({x}, {y})", ATOM)

    def _shown(self) -> tuple:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Spectrum(_Strings):
    """sum over words of k letters of count(x) count(x')"""

    kind: ClassVar[str] = "spectrum"
    k: int
    shorter: bool = False

    def __post_init__(self) -> None:
        set_field(self, "k", whole(self.k, "k"))
        if not isinstance(self.shorter, bool):
            raise ValueError("shorter must be True or False.")

    def _counted(self, text: kmers.Letters) -> tuple[Any, np.ndarray]:
        counter = kmers.Counter(len(text.lengths))
        for k in range(1 if self.shorter else self.k, self.k + 1):
            whole_words = text.left >= k
            words = kmers.words(text, k)
            counter.add(text.string[whole_words], words[whole_words])
        return counter.tables()

    def _shown(self) -> tuple:
        return (f"1..{self.k}" if self.shorter else self.k,)


@dataclass(frozen=True, repr=False)
class Mismatch(_Strings):
    """sum over words of k letters of how often x and x' have it, but for m letters"""

    kind: ClassVar[str] = "mismatch"
    k: int
    m: int
    alphabet: tuple | None = None

    def __post_init__(self) -> None:
        set_field(self, "k", whole(self.k, "k"))
        set_field(self, "m", whole(self.m, "m", 0, self.k - 1 if self.k > 1 else 0))
        if self.patterns > MAX_PATTERNS:
            raise ValueError(
                f"mismatch({self.k}, {self.m}) has {self.patterns} patterns of kept "
                f"letters, more than {MAX_PATTERNS}: take a smaller k or m."
            )
        if self.alphabet is not None:
            set_field(self, "alphabet", _alphabet(self.alphabet))

    @property
    def patterns(self) -> int:
        """Choices of kept places, each of which counts all words."""
        most = min(2 * self.m, self.k)
        return sum(math.comb(self.k, j) for j in range(most + 1))

    def fitted(self, X: Any) -> Kernel:
        if self.alphabet is not None:
            return self
        letters = kmers.read(kmers.strings_of(X, "X")).names
        return replace(self, alphabet=tuple(_sorted(letters)))

    def _counted(self, text: kmers.Letters) -> tuple[Any, np.ndarray]:
        """By patterns: for each choice of kept places, words that agree on them.

        What two words share depends on the places where they differ only, h of them. Words
        that agree on k - h places agree on comb(k - h, j - h) choices of k - j places, and
        the weights of these make the sum what it must be for h = 2m, 2m - 1, ..., 0.
        """
        if self.alphabet is None:
            raise ValueError(
                f"{self} does not know its alphabet, on which its values depend: give "
                "alphabet=..., or read it from the training inputs by k.fitted(X) or "
                "kernels.as_kernel(k, X=X)."
            )
        known = set(self.alphabet)
        strange = np.array([name not in known for name in text.names], bool)
        bad = np.concatenate([[0], np.cumsum(strange[text.letter])])
        n, k = len(text.letter), self.k
        ends = np.minimum(np.arange(n) + k, n)
        usable = (text.left >= k) & (bad[ends] == bad[:-1])
        counter = kmers.Counter(len(text.lengths))
        for j, weight in enumerate(pattern_weights(k, self.m, len(known))):
            for kept in itertools.combinations(range(k), k - j) if weight else ():
                words = kmers.words(text, k, kept)
                counter.add(text.string[usable], words[usable], weight)
        return counter.tables()

    def _values(self) -> dict[str, Any]:
        for letter in self.alphabet or ():
            if not isinstance(letter, (str, int, float)):
                raise ValueError(
                    f"The alphabet of {self} cannot be stored: its letters must be strings "
                    f"or numbers, not {type(letter).__name__}."
                )
        return super()._values()

    def _shown(self) -> tuple:
        return self.k, self.m


@dataclass(frozen=True, repr=False)
class WeightedDegree(_Strings):
    """sum over d of 2 (D - d + 1) / (D (D + 1)) times the common words of d letters,
    each at the same place in both strings"""

    kind: ClassVar[str] = "weighted_degree"
    degree: int

    def __post_init__(self) -> None:
        set_field(self, "degree", whole(self.degree, "degree"))

    def _counted(self, text: kmers.Letters) -> tuple[Any, np.ndarray]:
        lengths = text.lengths
        if len(lengths) and lengths.min() != lengths.max():
            i = int(np.argmax(lengths != lengths[0]))
            raise ValueError(
                f"{self} compares strings place by place, so all must have one length, but "
                f"one has {lengths[0]} letters and another {lengths[i]}. Cut or pad them, "
                "or take kernels.spectrum."
            )
        counter = kmers.Counter(len(lengths))
        D = self.degree
        for d in range(1, D + 1):
            inside = text.left >= d
            words, bound = kmers.renumbered(kmers.words(text, d)[inside])
            at = text.place[inside] * bound + words
            counter.add(text.string[inside], at, 2 * (D - d + 1) / (D * (D + 1)))
        return counter.tables()

    def _shown(self) -> tuple:
        return (self.degree,)


def common_neighbours(k: int, m: int, size: int, h: int) -> int:
    """How many words are within m letters of both of two words that differ in h letters.

    Of the h places, t are as in the one, s as in the other and the rest as in neither; of
    the other k - h places r differ from both.
    """
    total = 0
    for r in range(min(m, k - h) + 1):
        for t in range(h + 1):
            for s in range(h - t + 1):
                if h - t + r <= m and h - s + r <= m:
                    neither = (size - 2) ** (h - t - s) if h > t + s else 1
                    ways = math.comb(h, t) * math.comb(h - t, s) * neither
                    total += ways * math.comb(k - h, r) * (size - 1) ** r
    return total


def pattern_weights(k: int, m: int, size: int) -> list[float]:
    """What agreeing on a choice of k - j places counts, for j = 0, ..., 2m."""
    most = min(2 * m, k)
    weights = [0] * (most + 1)
    for h in range(most, -1, -1):
        more = sum(weights[j] * math.comb(k - h, j - h) for j in range(h + 1, most + 1))
        weights[h] = common_neighbours(k, m, size, h) - more
    if max(map(abs, weights)) > 2**53:
        raise ValueError(
            f"An alphabet of {size} letters is too large for mismatch({k}, {m}): its "
            "counts cannot be computed exactly. Take a smaller m."
        )
    return [float(weight) for weight in weights]


def _alphabet(value: Any) -> tuple:
    try:
        letters = tuple(_sorted(set(value)))
    except TypeError:
        letters = ()
    if not 0 < len(letters) <= 100_000:
        raise ValueError(
            "The alphabet must be a string or a list of 1 to 100000 letters, such as "
            f'"ACGT", not {str(value)[:50]!r}.'
        )
    return letters


def _sorted(letters: Iterable) -> list:
    return sorted(letters, key=lambda letter: (type(letter).__name__, repr(letter)))


def spectrum(k: int, shorter: bool = False) -> Kernel:
    """Counts of words of k letters in common (of 1 to k letters, if `shorter`).

    Samples are strings, or lists of anything hashable, such as tokens. A string of fewer
    than k letters has no words: its values are 0 (Leslie, Eskin and Noble, 2002).

    >>> spectrum(2)(["abab"], ["abba"])
    array([[3.]])
    """
    return Spectrum(k, shorter)


def mismatch(k: int, m: int, alphabet: Any = None) -> Kernel:
    """Counts of words of k letters, in which up to m letters may be others.

    A word counts for all words over the `alphabet` that differ from it in at most m places
    (Leslie, Eskin, Cohen, Weston and Noble, 2004). The alphabet is given, or read from the
    training inputs by `fitted`; words with letters outside it count for nothing.

    >>> mismatch(2, 1, alphabet="ab")(["aa"], ["ab"])
    array([[2.]])
    """
    return Mismatch(k, m, alphabet)


def weighted_degree(degree: int) -> Kernel:
    """Words of 1 to `degree` letters in common at the same places, shorter ones the more.

    All strings must have one length (Rätsch and Sonnenburg, 2004).

    >>> weighted_degree(2)(["abcd"], ["abxd"]).round(3)
    array([[2.333]])
    """
    return WeightedDegree(degree)
