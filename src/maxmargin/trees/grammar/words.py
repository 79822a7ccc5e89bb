"""P(word | tag) with a model of words that were never seen, for generative parsers.

Known words have relative frequencies. An unknown word is a draw of the *rare* words of
its signature (capital, digits, hyphen, last letters):

    P(word | tag) = (1 - u_tag) count(word, tag) / count(tag)           known
    P(word | tag) = P(signature, unknown) P(tag | signature) / P(tag)   unknown

where u_tag = P(unknown | tag), as many words are unknown as occurred once (Good & Turing),
and P(tag | signature) backs off from long to short signatures, by successive abstraction
as in Brants' TnT (2000). Signatures themselves stand for all words that have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from maxmargin.core.checks import whole

BACK_OFF = 2.0  # weight of the shorter signature, in words


class WordModel:
    """log P(word | tag) of all tags at once.

    Parameters
    ----------
    lexicon : dict of word -> dict of tag -> count
    tags : list of tag names, which gives the order of scores
    rare : int
        Words that occur up to so many times show what unknown words are like.
    """

    def __init__(
        self,
        lexicon: Mapping[str, Mapping[str, float]],
        tags: Sequence[str],
        rare: int = 2,
    ):
        whole("rare", rare, "a whole number, 1 or more")
        number = {tag: k for k, tag in enumerate(tags)}
        self._known: dict[str, np.ndarray] = {}
        self._rare: dict[str, np.ndarray] = {}  # counts of tags by signature
        once = 0.0
        total = np.zeros(len(tags))
        for word, counts in lexicon.items():
            row = np.zeros(len(tags))
            for tag, count in counts.items():
                row[number[tag]] = count
            total += row
            self._known[word] = row
            if row.sum() <= rare:
                once += row.sum() == 1
                for signature in signatures(word):
                    self._rare[signature] = self._rare.get(signature, 0.0) + row
        if not total.any():
            raise ValueError("the lexicon is empty: there are no words to learn from.")
        if "" not in self._rare:  # no word is rare: unknown ones are like all others
            self._rare[""] = total.copy()
        self._tags = total / total.sum()
        self._unknown = max(once, 0.5) / total.sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            among = self._rare[""] / self._rare[""].sum()
            mass = np.where(total > 0, self._unknown * among / self._tags, 0.0)
            # a tag all of whose words are rare still has known words
            self._log_known = np.log1p(-np.minimum(mass, 0.5)) - np.log(total)

    def __contains__(self, word: str) -> bool:
        return word in self._known

    def scores(self, word: str) -> np.ndarray:
        """log P(word | tag), one per tag; -inf where it was never so tagged."""
        with np.errstate(divide="ignore", invalid="ignore"):
            row = self._known.get(word)
            if row is not None:
                out = np.log(row) + self._log_known
            else:
                share, tags = self._guess(word)
                out = np.log(self._unknown * share * tags) - np.log(self._tags)
        return np.where(np.isnan(out), -np.inf, out)

    def _guess(self, word: str) -> tuple[float, np.ndarray]:
        """P(signature | unknown) and P(tag | signature) of an unknown word."""
        everything = self._rare[""]
        share, tags = 1.0, everything / everything.sum()
        for signature in reversed(signatures(word)[:-1]):
            row = self._rare.get(signature)
            if row is None:
                break
            share = row.sum() / everything.sum()
            tags = (row + BACK_OFF * tags) / (row.sum() + BACK_OFF)
        return share, tags


def signatures(word: str) -> list[str]:
    """Descriptions of a word, from the longest to the empty one."""
    letters = [letter for letter in word if letter.isalpha()]
    if not letters:
        shape = "0" if any(letter.isdigit() for letter in word) else "."
    elif word.isupper() and len(letters) > 1:
        shape = "AA"
    elif word[0].isupper():
        shape = "Aa"
    else:
        shape = "a"
    if letters and any(letter.isdigit() for letter in word):
        shape += "0"
    if "-" in word[1:-1]:
        shape += "-"
    ends = [word[-k:].lower() for k in (3, 2, 1) if letters and len(word) > k + 1]
    return [*(f"{shape}/{end}" for end in ends), shape, ""]
