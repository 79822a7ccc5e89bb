"""Texts as vectors of words: counted, marked or weighted by how rare the words are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.checks import one_of, whole

WEIGHTINGS = ("tfidf", "binary", "count")
_WORD = re.compile(r"\w+")


class BagOfWords:
    """Rows of length 1 from the lower-cased words of texts.

    Parameters
    ----------
    ngrams : int
        Runs of up to so many words are features too: 2 adds "new york" to "new", "york".
    weighting : "tfidf", "binary" or "count"
        A word that occurs c times in a text, and in d of n training texts, counts
        (1 + log c) (1 + log((1 + n) / (1 + d))), 1 or c.
    min_count : int
        Leave out what occurs in fewer training texts.

    Examples
    --------
    >>> bag = BagOfWords(weighting="binary").fit(["The cat", "the dog"])
    >>> bag.words
    ['cat', 'dog', 'the']
    >>> bag.transform(["A dog!"]).toarray().tolist()
    [[0.0, 1.0, 0.0]]
    """

    def __init__(self, ngrams: int = 1, weighting: str = "tfidf", min_count: int = 1):
        one_of("weighting", weighting, WEIGHTINGS)
        for name, value in (("ngrams", ngrams), ("min_count", min_count)):
            whole(name, value)
        self.ngrams, self.weighting, self.min_count = ngrams, weighting, min_count
        self.words: list[str] = []
        self.rarity = np.zeros(0)  # the second factor of tfidf

    def fit(self, texts: Sequence[str]) -> BagOfWords:
        """Learn the words; ValueError if none is left."""
        found = Counter()
        for text in texts:
            found.update(set(self._grams(text)))
        self.words = sorted(w for w, n in found.items() if n >= self.min_count)
        if not self.words:
            raise ValueError(
                "no words are left in the texts: they are empty, or min_count="
                f"{self.min_count} is too large."
            )
        there = np.array([found[w] for w in self.words], float)
        self.rarity = 1.0 + np.log((1.0 + len(texts)) / (1.0 + there))
        return self

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """One row per text; words that training did not have are left out."""
        number = {word: j for j, word in enumerate(self.words)}
        indices: list[int] = []
        counts: list[int] = []
        indptr = [0]
        for text in texts:
            here = Counter(number[gram] for gram in self._grams(text) if gram in number)
            row = sorted(here.items())
            indices.extend(j for j, _ in row)
            counts.extend(c for _, c in row)
            indptr.append(len(indices))
        columns, start = np.array(indices, np.int32), np.array(indptr, np.int64)
        values = np.array(counts, float)
        if self.weighting == "binary":
            values[:] = 1.0
        elif self.weighting == "tfidf":
            values = (1.0 + np.log(values)) * self.rarity[columns]
        rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
        squares = np.bincount(rows, values**2, minlength=len(start) - 1)
        values /= np.sqrt(squares)[rows]
        shape = (len(start) - 1, len(self.words))
        return sp.csr_matrix((values, columns, start), shape=shape)

    def _grams(self, text: str) -> list[str]:
        words = _WORD.findall(text.lower())
        grams = list(words)
        for n in range(2, min(self.ngrams, len(words)) + 1):
            grams += [" ".join(words[k : k + n]) for k in range(len(words) - n + 1)]
        return grams

    # for model files: plain values -----------------------------------------------------

    def state(self) -> dict[str, Any]:
        return {
            "ngrams": self.ngrams,
            "weighting": self.weighting,
            "min_count": self.min_count,
            "words": self.words,
            "rarity": self.rarity,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> BagOfWords:
        """The bag of a model file; ValueError if it is none."""
        try:
            bag = cls(state["ngrams"], state["weighting"], state["min_count"])
            bag.words = list(state["words"])
            bag.rarity = np.asarray(state["rarity"], float)
        except (KeyError, TypeError) as error:
            raise ValueError(f"the model's words are not valid ({error!r}).") from None
        texts = set(map(type, bag.words)) <= {str}
        if not texts or bag.rarity.shape != (len(bag.words),):
            raise ValueError("the model's words and their weights do not fit together.")
        return bag
