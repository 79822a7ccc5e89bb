"""Features of one sentence at a time, by a template.

``ColumnEncoder.encode`` goes through a corpus line by line of the template, with a few
calls of numpy for each; on one sentence these calls are all that it costs. Here the plan
of an encoder is put into arrays once, views of words are remembered, and one kernel goes
through the sentence token by token. The features are the same, in the same order.
"""

from __future__ import annotations

import threading
from itertools import chain
from typing import Any

import numpy as np

from maxmargin.tags.features.kernels import features_of_one, join
from maxmargin.tags.features.views import values

_WORDS = 1 << 14  # remembered, of all columns; then all are forgotten


class OneSentence:
    """Encodes single sentences as a fitted :class:`ColumnEncoder` does."""

    def __init__(self, encoder: Any):
        template, indexes = encoder._fitted, encoder._indexes
        self._width = max(template.n_columns, 1)
        self._sources: dict[int, list] = {}  # by column: (view, numbers of its values)
        place = {}
        for domain, index in zip(encoder._domains, indexes, strict=True):
            for column, view in domain.sources:
                own = self._sources.setdefault(column, [])
                place[column, view] = len(own)
                own.append((view, index))
        self._columns = sorted(self._sources)
        joined = join([tables[0] for tables in encoder._tables])
        self._slots, self._known = joined.slots, joined.known
        number = {column: k for k, column in enumerate(self._columns)}
        parts, lines, base = [], {}, 0
        for group, tables, where in zip(
            encoder._groups, encoder._tables, joined.places.tolist(), strict=True
        ):
            for line in group.lines:
                first = len(parts)
                read = template.features[line].parts
                for part, d in zip(read, group.domains, strict=True):
                    outside = 0, encoder._domains[d].left
                    if part.view.is_flag:
                        outside = -1, -1
                    source = place[part.column, part.view]
                    column = number[part.column]
                    parts.append((part.row, column, source, *outside, len(indexes[d])))
                lines[line] = first, len(parts), base, *where
            base += len(tables[-1])
        self._parts = np.array(parts, np.int64).reshape(-1, 6)
        self._lines = np.array([lines[k] for k in sorted(lines)], np.int64)
        self._gazetteers = encoder._gazetteers
        self._memo = self._new_memo()

    @staticmethod
    def serves(encoder: Any) -> bool:
        """Whether it can encode as this encoder does: no hashes, vectors, long keys."""
        return (
            encoder.hash_bits is None
            and not encoder._dense
            and all(len(tables) == 1 for tables in encoder._tables)
        )

    def encode(self, rows: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """(indices, indptr) of lists or tuples of words; None: ``encode`` must judge."""
        n = len(rows)
        if not n or n > _WORDS // (len(self._columns) + 1):
            return None
        if len(set(map(len, rows))) != 1:
            return None
        cells = list(chain.from_iterable(rows))
        width = len(rows[0])
        if width < self._width or set(map(type, cells)) != {str}:
            return None
        words = [cells[column::width] for column in self._columns]
        try:
            ids, table = self._memo.numbers(words)
        except _Full:
            self._memo = memo = self._new_memo()
            ids, table = memo.numbers(words)
        indices = np.empty(n * len(self._lines), np.int32)
        indptr = np.zeros(n + 1, np.int64)
        features_of_one(
            ids.reshape(-1, n),
            table,
            self._parts,
            self._lines,
            self._slots,
            self._known,
            indices,
            indptr,
        )
        return indices, indptr

    def _new_memo(self) -> _Memo:
        return _Memo(
            [self._sources[column] for column in self._columns], self._gazetteers
        )


class _Full(Exception):
    """No room for another word."""


class _Memo:
    """Value numbers of all views of the words met: a row of one table for each.

    Rows are only ever added, under a lock, and a full memo is replaced, not emptied: other
    threads may be reading it.
    """

    def __init__(self, sources: list[list], gazetteers: Any):
        widest = max(map(len, sources), default=1)
        self._table = np.empty((_WORDS, widest), np.int32)
        free, lock = iter(range(_WORDS)), threading.Lock()
        self._rows = [
            _Rows(self._table, own, gazetteers, free, lock) for own in sources
        ]

    def numbers(self, words: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        """(a row of the table for every word, the table)."""
        found = (
            map(rows.__getitem__, own)
            for rows, own in zip(self._rows, words, strict=True)
        )
        size = sum(map(len, words))
        return np.fromiter(chain.from_iterable(found), np.int32, size), self._table


class _Rows(dict):
    """The row of every word of one column, made when the word is first met."""

    def __init__(self, table, sources, gazetteers, free, lock):
        self._made = table, sources, gazetteers, free, lock

    def __missing__(self, word):
        table, sources, gazetteers, free, lock = self._made
        with lock:
            if word in self:
                return self[word]
            row = next(free, None)
            if row is None:
                raise _Full
            for k, (view, index) in enumerate(sources):
                table[row, k] = index.get(values(view, [word], gazetteers)[0], -1)
            self[word] = row
            return row
