"""From the sequences of users to the arrays of a network.

Words and other columns become numbers of a vocabulary, 0 for what training has not seen.
For that to have a vector, training hides values now and then, rare ones more often
(Kiperwasser & Goldberg 2016, Simple and accurate dependency parsing using bidirectional
LSTM feature representations). Words also become numbers of their characters. Features of a
template, of dicts and of sparse tables are a bag of features per token. Tables of numbers
stay what they are.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.saved import Saved
from maxmargin.core.warn import warn
from maxmargin.neural.tokens import Tokens, nothing
from maxmargin.tags.corpus import TagCorpus
from maxmargin.tags.features import ColumnEncoder, TokenEncoder
from maxmargin.tags.features.sequences import sequences_of
from maxmargin.tags.files.columns import Columns
from maxmargin.tags.input import read_input, refuse_containers, sequences_from

ENDS = 12  # characters of a word that are read at both of its ends
FIRST = 2  # number of the first known character: 0 is none, 1 is unknown
HIDDEN = 0.4  # h: a value seen n times is hidden with probability h / (n + h)
_DIGIT = re.compile(r"\d")


def as_given(X: Any) -> Any:
    """X as columns, as tables, or as lists of features."""
    if isinstance(X, TagCorpus):
        raise ValueError(
            f"{X.folder} is a corpus, which holds the features of a template: a network "
            "reads text or numbers in memory. Give X and y."
        )
    if isinstance(X, Columns):
        return X
    refuse_containers(X)
    X, kind = sequences_of(sequences_from(X))
    first = next((token for sequence in X for token in sequence), None)
    if kind != "tokens" or isinstance(first, dict):
        return X
    if isinstance(first, str):
        X = [[[w] if isinstance(w, str) else w for w in sequence] for sequence in X]
    return read_input(X, columns=True)


def new_reader(tagger: Any, X: Any) -> Any:
    """A reader of such X for the settings of a tagger, not fitted yet."""
    if isinstance(X, Columns):
        template = None
        if tagger.features is not None:
            options = tagger.feature_options or {}
            template = ColumnEncoder(tagger.features, tagger.min_count, **options)
        return ColumnReader(tagger.min_count, template, tagger.char_size > 0)
    if tagger.features is not None:
        raise ValueError(
            "features are made of words and other columns, but X holds numbers or "
            "features: leave features out."
        )
    return FeatureReader()


class ColumnReader:
    """Words with their characters, other columns, and the features of a template."""

    kind = "columns"

    def __init__(self, min_count: int = 1, template: Any = None, spelled: bool = True):
        self.min_count, self.template, self.spelled = min_count, template, spelled
        self.vocabularies: list[list[str]] = []
        self.characters: list[str] = []
        self.read: list[int] = []  # columns, the words first

    def fit_encode(self, X: Columns) -> tuple[Tokens, list[np.ndarray]]:
        """(tokens, of every column the chance of its values to be hidden in training)."""
        self.n_columns = X.n_columns
        self.read = _columns_read(X)
        self.names = list(X.names)
        chances = []
        for place, k in enumerate(self.read):
            known, counts = _counted(X, k, words=place == 0)
            often = [v for v, n in zip(known, counts, strict=True) if self._keeps(n)]
            kept = [n for n in counts if self._keeps(n)]
            self.vocabularies.append(often)
            hidden = HIDDEN / (np.array(kept, float) + HIDDEN)
            chances.append(np.append(0.0, hidden).astype(np.float32))
        ids, words = X.columns[self.read[0]]
        if self.spelled:
            used = (words[k] for k in np.unique(ids).tolist())
            self.characters = sorted(set(chain.from_iterable(used)))
        bag = None if self.template is None else self.template.fit_encode(X)
        return self._tokens(X, bag), chances

    def _keeps(self, count: int) -> bool:
        return count >= self.min_count

    def encode(self, X: Any) -> Tokens:
        if not isinstance(X, Columns):
            if not any(map(_size, X)):
                return nothing(len(X))
            raise ValueError(
                "X holds numbers or features, but the model was fitted to words: give "
                "rows of columns."
            )
        names = list(X.names)
        if X.n_columns != self.n_columns or (names and names != self.names):
            known = ", ".join(self.names) or f"{self.n_columns} columns without names"
            raise ValueError(
                f"{X.path or 'X'} has {', '.join(names) or f'{X.n_columns} columns'}, but "
                f"the model was fitted to {known}: give the same ones in the same order."
            )
        bag = None if self.template is None else self.template.encode(X)
        return self._tokens(X, bag)

    def _tokens(self, X: Columns, bag: Any) -> Tokens:
        columns = []
        for place, (k, known) in enumerate(
            zip(self.read, self.vocabularies, strict=True)
        ):
            number = {value: j for j, value in enumerate(known, 1)}
            ids, words = X.columns[k]
            values = map(plain_word, words) if place == 0 else words
            table = np.array([number.get(v, 0) for v in values] or [0], np.int64)
            columns.append(table[ids])
        ids, words = X.columns[self.read[0]]
        spellings = self._spell(words) if self.spelled else None
        return Tokens(
            X.start,
            tuple(columns),
            ids if self.spelled else None,
            spellings,
            bag,
            words=X.strings(self.read[0]),
        )

    def _spell(self, words: list[str]) -> np.ndarray:
        """A row of characters per word, of long words the two ends."""
        number = {c: j for j, c in enumerate(self.characters, FIRST)}
        cut = [w if len(w) <= 2 * ENDS else w[:ENDS] + w[-ENDS:] for w in words]
        table = np.zeros((len(cut), max(map(len, cut), default=1) or 1), np.int32)
        for row, word in zip(table, cut, strict=True):
            row[: len(word)] = [number.get(c, 1) for c in word]
        return table

    # saving ---------------------------------------------------------------------------

    def state(self) -> tuple[dict, dict]:
        arrays: dict = {}
        state = {
            "kind": self.kind,
            "read": self.read,
            "n_columns": self.n_columns,
            "names": self.names,
            "vocabularies": self.vocabularies,
            "characters": "".join(self.characters),
        }
        if self.template is not None:
            found, state["template"] = self.template.get_state()
            arrays = {f"template.{name}": array for name, array in found.items()}
        return arrays, state

    @classmethod
    def restored(cls, saved: Saved, tagger: Any) -> ColumnReader:
        reader = cls(tagger.min_count, None, tagger.char_size > 0)
        reader.n_columns = n = saved.whole("n_columns", 1)
        reader.read = saved.value("read", list)
        if not reader.read or not all(
            type(k) is int and 0 <= k < n for k in reader.read
        ):
            raise ValueError("'read' names columns that are not there")
        reader.names = saved.value("names", list)
        found = saved.value("vocabularies", list)
        reader.vocabularies = [
            Saved({}, {"values": values}).texts("values") for values in found
        ]
        if len(reader.vocabularies) != len(reader.read):
            raise ValueError("columns and vocabularies do not fit together")
        reader.characters = list(saved.value("characters", str))
        if "template" in saved.state:
            part = saved.part("template")
            reader.template = ColumnEncoder.from_state(part.arrays, part.state)
        return reader


class FeatureReader:
    """Tables of numbers, or bags of features: dicts and sparse tables."""

    def __init__(self):
        self.encoder = TokenEncoder()

    @property
    def kind(self) -> str:
        return "numbers" if self.encoder.kind == "dense" else "features"

    def fit_encode(self, X: Any) -> tuple[Tokens, list[np.ndarray]]:
        matrix = self.encoder.fit_encode(X)
        self.width = matrix.n_features
        return self._tokens(matrix), []

    def encode(self, X: Any) -> Tokens:
        if isinstance(X, Columns):
            raise ValueError(
                "X holds words, but the model was fitted to numbers or features: give it "
                "the same."
            )
        return self._tokens(self.encoder.encode(X))

    def _tokens(self, matrix: Any) -> Tokens:
        if self.kind == "features":
            return Tokens(matrix.start, bag=matrix)
        shape = len(matrix.indptr) - 1, self.width
        rows = (matrix.values, matrix.indices, matrix.indptr)
        table = sp.csr_array(rows, shape).toarray()
        return Tokens(matrix.start, numbers=table.astype(np.float32))

    def state(self) -> tuple[dict, dict]:
        encoder = self.encoder
        names = encoder.feature_names()
        state = {"kind": self.kind, "form": encoder.kind, "names": names}
        return {}, state | {"width": int(self.width)}

    @classmethod
    def restored(cls, saved: Saved, tagger: Any) -> FeatureReader:
        reader = cls()
        encoder, reader.width = reader.encoder, saved.whole("width", 1, 2**31)
        encoder.kind = saved.value("form", str)
        if encoder.kind not in ("dense", "sparse", "tokens"):
            raise ValueError(f"the kind {encoder.kind!r} of features is not known")
        if encoder.kind == "tokens":
            names = saved.texts("names")
            encoder.vocabulary = {name: j for j, name in enumerate(names)}
            if len(names) != reader.width:
                raise ValueError("weights and vocabulary do not fit together")
        else:
            encoder.n_features_in = reader.width
        return reader


def restored_reader(saved: Saved, tagger: Any) -> Any:
    """The reader of a model file."""
    kind = saved.value("kind", str)
    if kind == "columns":
        return ColumnReader.restored(saved, tagger)
    return FeatureReader.restored(saved, tagger)


def plain_word(word: str) -> str:
    """What the vocabulary of words is made of: lower case, all digits 0."""
    return _DIGIT.sub("0", word.lower())


def warn_of_columns(X: Any, read: list[int], y: list) -> None:
    """A column that is read and holds the labels teaches nothing but to copy it."""
    for k in read:
        if X.strings(k) == [list(map(str, row)) for row in y]:
            name = X.names[k] if X.names else k
            warn(
                f"column {name} of X, which the network reads, holds the labels "
                "themselves: leave it out, or there is nothing to learn."
            )


def _columns_read(X: Columns) -> list[int]:
    """Words first; then all others, or parts of speech alone where columns have names."""
    word, tag = X.meaning.word, X.meaning.tag
    if X.names:
        return [word] if tag is None else [word, tag]
    return [word, *(k for k in range(X.n_columns) if k != word)]


def _counted(X: Columns, k: int, words: bool) -> tuple[list[str], list[int]]:
    """(values of a column in the order first seen, how often)."""
    ids, strings = X.columns[k]
    found: dict[str, int] = {}
    counts = np.bincount(ids, minlength=len(strings)).tolist()
    for value, n in zip(strings, counts, strict=True):
        if n:
            value = plain_word(value) if words else value
            found[value] = found.get(value, 0) + n
    return list(found), list(found.values())


def _size(sequence: Any) -> int:
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)
