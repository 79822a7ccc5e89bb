"""Checks of what users give to the column encoder, before any work."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.warn import warn
from maxmargin.tags.files.columns import Meaning

if TYPE_CHECKING:
    from maxmargin.tags.features.templates import Template

_NUMBER = re.compile(r"\d+([.,-]\d+)*")


class Data:
    """Columns that kernels can trust: contiguous arrays with numbers in range."""

    def __init__(self, start, ids, words, name, meaning=None):
        self.start: np.ndarray = start
        self.ids: list[np.ndarray] = ids
        self.n_words = [len(column) for column in words]
        self.n_tokens = int(start[-1])
        self.name = name  # for messages
        self.meaning = meaning or Meaning()
        self._words = words
        self._cache: dict[int, tuple[list[str], np.ndarray]] = {}

    def used(self, column: int) -> tuple[list[str], np.ndarray]:
        """The words that occur in a column, and a mask over all its words.

        A part of a file may share the list of words with the whole.
        """
        if column not in self._cache:
            words = self._words[column]
            mask = np.zeros(max(1, len(words)), bool)
            mask[self.ids[column]] = True
            if not mask.all():
                words = [words[k] for k in np.flatnonzero(mask)]
            self._cache[column] = words, mask
        return self._cache[column]


def check_columns(columns) -> Data:
    """Refuse columns that contradict themselves."""
    try:
        start = np.asarray(columns.start)
        path, table = columns.path, list(columns.columns)
        table = [(np.asarray(column.ids), column.words) for column in table]
    except AttributeError:
        raise ValueError(
            f"expected Columns, as the readers of maxmargin.tags.files.columns give, not "
            f"{type(columns).__name__}."
        ) from None
    name = str(path) if path else "the data"
    if start.ndim != 1 or start.dtype.kind not in "iu" or not len(start):
        raise ValueError(f"{name}: start must be a 1-D array of whole numbers.")
    start = start.astype(np.int64)
    if start[0] != 0 or (np.diff(start) < 0).any():
        raise ValueError(f"{name}: start must begin with 0 and never fall.")
    ids, words = [], []
    for k, (numbers_, strings) in enumerate(table):
        if numbers_.ndim != 1 or numbers_.dtype.kind not in "iu":
            raise ValueError(f"{name}: the ids of column {k} must be whole numbers.")
        if len(numbers_) != start[-1]:
            raise ValueError(
                f"{name}: column {k} has {len(numbers_)} tokens, but start says "
                f"{start[-1]}."
            )
        if len(numbers_) and not 0 <= numbers_.min() <= numbers_.max() < len(strings):
            raise ValueError(
                f"{name}: the ids of column {k} must be from 0 to {len(strings) - 1}, "
                "the places in its list of words."
            )
        ids.append(np.require(numbers_, np.int32, ["C", "W"]))
        words.append(strings)
    return Data(start, ids, words, name, getattr(columns, "meaning", None))


def warn_of_numbers(data: Data, template: Template) -> None:
    """Words that are all numbers are mostly those of lines: another column was meant."""
    column = data.meaning.word
    if not any(p.column == column for f in template.features for p in f.parts):
        return
    words = data.used(column)[0]
    if words and all(map(_NUMBER.fullmatch, words)):
        warn(
            f"{data.name}: column {column}, which is read as that of the words, holds only "
            f"numbers, such as {words[0]!r}. If the words are in another one, say so with "
            "word_column=1 or its number; files of CoNLL-U have their own format='conllu'.",
        )


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """The value as an int, if it is one in this range."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name}={value!r} must be a whole number.")
    if not least <= value <= most:
        raise ValueError(f"{name}={value} must be from {least} to {most}.")
    return int(value)


def check_mapping(name: str, value: Any) -> None:
    """Refuse what is neither None nor a dict."""
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a dict, not {type(value).__name__}.")


def gazetteer(name: Any, source: Any) -> frozenset[str]:
    """The entries of a word list, given as strings or as a file with one entry a line."""
    if not isinstance(name, str):
        raise ValueError(f"gazetteers: the name {name!r} must be a string.")
    if isinstance(source, (str, os.PathLike)):
        try:
            with open(source, encoding="utf-8-sig") as file:
                lines = (line.strip() for line in file)
                return frozenset(line for line in lines if line)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"gazetteers[{name!r}]: the file {os.fspath(source)!r} cannot be read as "
                f"UTF-8 ({error})."
            ) from None
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise ValueError(
            f"gazetteers[{name!r}] must be a set of strings or the path of a file, not "
            f"{type(source).__name__}."
        )
    entries = frozenset(source)
    for entry in entries:
        if not isinstance(entry, str):
            raise ValueError(f"gazetteers[{name!r}] has {entry!r}, not a string.")
    return entries


def embedding(column: Any, source: Any) -> tuple[dict[str, int], np.ndarray]:
    """Word vectors as rows of one float32 matrix, and the row of every word."""
    if isinstance(column, bool) or not isinstance(column, numbers.Integral):
        raise ValueError(f"dense: {column!r} must be the number of a column.")
    if column < 0:
        raise ValueError(f"dense: {column} must be 0 or more; it numbers a column.")
    if not isinstance(source, Mapping):
        raise ValueError(
            f"dense[{column}] must be a dict of words to vectors, not "
            f"{type(source).__name__}."
        )
    if not source:
        raise ValueError(f"dense[{column}] has no vectors.")
    index = {word: k for k, word in enumerate(source)}
    vectors = None
    for k, (word, vector) in enumerate(source.items()):
        if not isinstance(word, str):
            raise ValueError(f"dense[{column}]: the word {word!r} must be a string.")
        try:
            vector = np.asarray(vector, np.float64)
        except (TypeError, ValueError):
            vector = np.empty((0, 0))
        if vector.ndim != 1 or not len(vector):
            raise ValueError(
                f"dense[{column}][{word!r}] must be a 1-D array of numbers."
            )
        if vectors is None:
            vectors = np.empty((len(index), len(vector)), np.float32)
        if len(vector) != vectors.shape[1]:
            raise ValueError(
                f"dense[{column}][{word!r}] has length {len(vector)}, but others have "
                f"{vectors.shape[1]}."
            )
        if not (np.abs(vector) < 1e18).all():  # squares must fit into float32
            raise ValueError(
                f"dense[{column}][{word!r}] has a value that is not finite, or too large "
                "to be squared in single precision."
            )
        vectors[k] = vector
    return index, vectors
