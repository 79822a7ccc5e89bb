"""Tokens with columns, as integers: what files of CoNLL and its many cousins hold.

Strings are interned: a column is an array of numbers and a list of the distinct strings
they stand for, so that what comes after works on integers. `reader.py` and `conllu.py`
read such files, `writers.py` writes them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, count, pairwise, repeat
from typing import NamedTuple

import numpy as np

from maxmargin.files.messages import column_count, kind_of


class Column(NamedTuple):
    """One column of all tokens: ``words[ids[t]]`` is the string of token t."""

    ids: np.ndarray  # int32, one per token
    words: list[str]  # distinct, in the order first seen


class Meaning(NamedTuple):
    """What columns hold: their names, if they have some, and what ready features read."""

    names: tuple[str, ...] = ()
    word: int = 0  # the column of the words
    tagged: int | None = None  # that of parts of speech, where columns have names

    @property
    def tag(self) -> int | None:
        """The column of parts of speech; without names the one after the words."""
        return self.tagged if self.names else self.word + 1

    def number(self, column: int | str, n: int, what: str = "") -> int:
        """The place, from 0, of one of n columns given by number or name."""
        said = what and f" ({what})"
        if isinstance(column, str):
            if column in self.names:
                return self.names.index(column)
            have = (
                f"there are {', '.join(self.names)}"
                if self.names
                else "columns have no names"
            )
            raise ValueError(f"there is no column named {column!r}{said}; {have}.")
        if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
            raise ValueError(
                f"{what or 'column'}={column!r} must be the number or name of a column."
            )
        if not -n <= column < n:
            raise ValueError(
                f"there is no column {column}{said}; there are {n}, numbered 0 to "
                f"{n - 1}, or -{n} to -1."
            )
        return int(column) % n

    def without(self, k: int) -> Meaning:
        """The same after column k has gone."""
        tag = self.tagged
        return Meaning(
            self.names[:k] + self.names[k + 1 :],
            self.word - (k < self.word),
            None if tag in (None, k) else tag - (k < tag),
        )


class Columns(NamedTuple):
    """Sentences of tokens with columns; sentence i is the tokens start[i]..start[i+1]."""

    start: np.ndarray  # int64, sentences + 1
    columns: list[Column]
    lines: np.ndarray  # int64, the line number (from 1) of every token in its file
    path: str  # for messages; "" if the tokens did not come from a file
    meaning: Meaning = Meaning()

    @property
    def n_sentences(self) -> int:
        return len(self.start) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.lines)

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; () if they have none."""
        return self.meaning.names

    def strings(self, column: int | str) -> list[list[str]]:
        """The strings of one column, a list per sentence; -1 is the last column.

        Columns that have names, such as those of CoNLL-U, go by these as well.
        """
        ids, words = self.columns[self.meaning.number(column, self.n_columns)]
        flat = np.array(words, dtype=object)[ids].tolist()
        return [flat[a:b] for a, b in pairwise(self.start.tolist())]

    def where(self, token: int) -> str:
        """The place of a token, for messages: "train.txt, line 12"."""
        if self.path:
            return f"{self.path}, line {self.lines[token]}"
        token = range(self.n_tokens)[token]
        i = int(np.searchsorted(self.start, token, side="right")) - 1
        return f"sequence {i}, token {token - int(self.start[i])}"

    def select(self, sentences: Iterable[int]) -> Columns:
        """The sentences with these numbers (or where a mask is True), in this order.

        The words of the new columns are those that occur in these sentences.
        """
        chosen = _sentence_numbers(sentences, self.n_sentences)
        lengths = self.start[chosen + 1] - self.start[chosen]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Token t of the new sentence i stands at t - start[i] + (old start of it).
        tokens = np.arange(start[-1]) + np.repeat(
            self.start[chosen] - start[:-1], lengths
        )
        columns = [_renumber(ids[tokens], words) for ids, words in self.columns]
        return Columns(start, columns, self.lines[tokens], self.path, self.meaning)

    def without(self, column: int | str) -> Columns:
        """All columns but one, mostly that of the labels."""
        k = self.meaning.number(column, self.n_columns)
        rest = [*self.columns[:k], *self.columns[k + 1 :]]
        return self._replace(columns=rest, meaning=self.meaning.without(k))


def _sentence_numbers(sentences: Iterable[int], n: int) -> np.ndarray:
    chosen = np.asarray(
        sentences if isinstance(sentences, np.ndarray) else list(sentences)
    )
    if chosen.ndim == 1 and chosen.dtype == bool and len(chosen) == n:
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise ValueError(
            "sentences must be a list of sentence numbers, or a mask with one bool for "
            f"each of the {n} sentences."
        )
    wrong = chosen[(chosen < 0) | (chosen >= n)]
    if len(wrong):
        raise ValueError(
            f"There is no sentence {wrong[0]}: there are {n}, numbered from 0."
        )
    return chosen.astype(np.int64)


def _renumber(ids: np.ndarray, words: list[str]) -> Column:
    """The column with only the words that occur, in the order first seen."""
    first = np.full(len(words), len(ids))
    # Of several values for one place, the last one stays: the first token of a word.
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    seen = np.flatnonzero(first < len(ids))
    seen = seen[np.argsort(first[seen])]
    number = np.zeros(len(words), np.int32)
    number[seen] = np.arange(len(seen))
    return Column(number[ids], [words[i] for i in seen.tolist()])


def columns_from(
    rows: Iterable[Sequence[Sequence[str]]],
    path: str | os.PathLike = "",
    word_column: int = 0,
) -> Columns:
    """Columns of sentences that are in memory: lists of rows, which are lists of strings.

    >>> two = columns_from([[("the", "D"), ("dog", "N")], [("bark", "V")]])
    >>> two.strings(0), two.n_tokens
    ([['the', 'dog'], ['bark']], 3)

    `path` is for messages. Lines are numbered as `write_columns` would write them. Ready
    sets of features find the words in `word_column`.
    """
    sentences = list(rows)
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, (list, tuple)):
            raise ValueError(
                f"sequence {i} is {kind_of(sentence)}, but it must be a list of rows."
            )
    tokens = list(chain.from_iterable(sentences))
    if not tokens:
        raise ValueError("There is no token, so the number of columns is not known.")
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sentence_of = np.repeat(np.arange(len(sentences)), lengths)
    lines = np.arange(1, len(tokens) + 1) + sentence_of
    result = Columns(start, [], lines, os.fspath(path))
    _check_rows(tokens, result._replace(path="").where)
    result.columns.extend(
        Column(column.ids, list(map(str, column.words)))  # np.str_ becomes str
        for column in map(intern, zip(*tokens, strict=True))
    )
    word = Meaning().number(word_column, result.n_columns, "word_column")
    return result._replace(meaning=Meaning(word=word))


def _check_rows(tokens: list, where: Callable[[int], str]) -> None:
    """All rows are lists of the same number, not zero, of strings."""
    if all(map(isinstance, tokens, repeat((list, tuple)))):
        width = len(tokens[0])
        if (
            width
            and set(map(len, tokens)) == {width}
            and all(map(isinstance, chain.from_iterable(tokens), repeat(str)))
        ):
            return
    for t, row in enumerate(tokens):
        if not isinstance(row, (list, tuple)):
            raise ValueError(
                f"{where(t)}: the row is {kind_of(row)}, but it must be a list of strings, "
                f"one per column."
            )
        if len(row) == 0:
            raise ValueError(f"{where(t)}: the row has no columns; it needs one.")
        if len(row) != len(tokens[0]):
            raise ValueError(
                f"{where(t)}: the row has {column_count(len(row))}, but the first one has "
                f"{len(tokens[0])}; all need the same columns."
            )
        for cell in row:
            if not isinstance(cell, str):
                raise ValueError(
                    f"{where(t)}: a cell is {kind_of(cell)}, but it must be a string."
                )


def intern(cells: Collection) -> Column:
    number: dict = defaultdict(count().__next__)
    ids = np.fromiter(map(number.__getitem__, cells), np.int32, len(cells))
    return Column(ids, list(number))
