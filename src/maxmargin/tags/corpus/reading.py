"""From text to columns of numbers, a shard at a time.

Blocks of text are parsed as ``read_columns`` does (in processes, if asked), words get
numbers, and sentences are put together to pieces of about as many tokens as a shard has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from maxmargin.files.corpora.sources import Source, blocks
from maxmargin.files.messages import column_count
from maxmargin.files.text_files import RawText
from maxmargin.tags.files.columns import Column, Columns, Meaning, _renumber
from maxmargin.tags.files.layout import Layout


class Piece(NamedTuple):
    """The sentences of one shard: their columns but that of the labels, and these."""

    start: np.ndarray  # int64
    ids: list[np.ndarray]  # int32, one array per column
    y: np.ndarray  # int32, in the order in which labels were first seen

    @property
    def n_tokens(self) -> int:
        return int(self.start[-1])


class PieceReader:
    """Reads pieces; knows the words and labels met so far.

    ``words[c]`` has the numbers of the words of column c. Unless they are `kept` for all
    pieces, each piece has numbers of its own.
    """

    def __init__(self, layout: Layout, shard_tokens: int, kept: bool, n_jobs: int = 1):
        self.layout, self.shard_tokens, self.kept = layout, shard_tokens, kept
        self.n_jobs = n_jobs
        self.labels: dict[str, int] = defaultdict(count().__next__)
        self.words: list[dict[str, int]] = []
        self.n_columns = 0  # with that of the labels
        self.tokens: list[int] = []  # of every source
        self._first = ""  # the file that has shown the number of columns
        self.label = 0  # the column of the labels
        self.meaning = Meaning()  # of the others

    def read(self, sources: list[Source]) -> Iterator[Piece]:
        """All sentences, in pieces between half and one and a half `shard_tokens`.

        Only where there are fewer tokens than that, or a sentence is longer, sizes differ.
        """
        open_: list[Piece] = []
        self.tokens = [0] * len(sources)
        for k, columns in self._parsed(sources):
            self.tokens[k] += columns.n_tokens
            open_.append(self._numbered(columns))
            size = sum(piece.n_tokens for piece in open_)
            while size >= 1.5 * self.shard_tokens:
                whole = _join(open_)
                cut = int(np.searchsorted(whole.start, self.shard_tokens))
                if cut >= len(whole.start) - 1:
                    break
                yield _part(whole, 0, cut)
                rest = _part(whole, cut, len(whole.start) - 1)
                open_, size = [self._fresh(rest)], rest.n_tokens
        if open_:
            yield _join(open_)
        if not sum(self.tokens):
            raise ValueError(
                f"There is no token in {sources[0].path}"
                + (f" and {len(sources) - 1} more files." if sources[1:] else ".")
            )

    def _parsed(self, sources: list[Source]) -> Iterator[tuple[int, Columns]]:
        layout = self.layout
        texts = (
            (k, raw)
            for k, source in enumerate(sources)
            for raw in blocks(source, layout.separator, layout.encoding)
        )
        parse = layout.read
        if self.n_jobs == 1:
            found = ((k, parse(raw)) for k, raw in texts)
        else:
            found = _in_processes(parse, texts, self.n_jobs)
        for k, columns in found:
            if columns is not None:
                self._check(columns)
                yield k, columns

    def _check(self, columns: Columns) -> None:
        """All files have the same columns, one of them that of the labels."""
        n = columns.n_columns
        if not self.n_columns:
            if n < 2:
                raise ValueError(
                    f"{columns.where(0)}: there is only one column, but tokens and labels "
                    "need two at least. Check the separator."
                )
            try:
                self.label, _ = self.layout.places(n)
                self.meaning = self.layout.meaning(n)
            except ValueError as error:
                raise ValueError(f"{columns.where(0)}: {error}") from None
            self.n_columns, self._first = n, columns.path
            self.words = [defaultdict(count().__next__) for _ in range(n - 1)]
        elif n != self.n_columns:
            raise ValueError(
                f"{columns.where(0)}: {column_count(n)}, but {self._first} has "
                f"{self.n_columns}; all files need the same columns."
            )

    def _numbered(self, columns: Columns) -> Piece:
        """The columns with our numbers of their words."""
        every = list(columns.columns)
        label = every.pop(self.label)
        pairs = zip(every, self.words, strict=True)
        ids = [_translate(column, index) for column, index in pairs]
        return Piece(columns.start, ids, _translate(label, self.labels))

    def _fresh(self, piece: Piece) -> Piece:
        """The first sentences of the next piece."""
        if self.kept:
            return piece
        ids = []
        for c, numbers in enumerate(piece.ids):
            column = _renumber(numbers, list(self.words[c]))
            self.words[c] = defaultdict(count(len(column.words)).__next__)
            self.words[c].update((w, k) for k, w in enumerate(column.words))
            ids.append(column.ids)
        return piece._replace(ids=ids)


def _in_processes(parse: Any, texts: Iterator, n_jobs: int) -> Iterator:
    run = Parallel(n_jobs, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
    return run(delayed(_tagged)(parse, k, raw) for k, raw in texts)


def _tagged(parse: Any, k: int, raw: RawText) -> tuple[int, Columns | None]:
    return k, parse(raw)


def _translate(column: Column, index: dict[str, int]) -> np.ndarray:
    """The numbers of a column's tokens in `index`, which learns new words."""
    words = column.words
    table = np.fromiter(map(index.__getitem__, words), np.int32, len(words))
    return table[column.ids]


def _join(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    ends = np.cumsum([0, *(piece.n_tokens for piece in pieces)])
    starts = [p.start[:-1] + e for p, e in zip(pieces, ends, strict=False)]
    return Piece(
        np.concatenate([*starts, ends[-1:]]),
        list(map(np.concatenate, zip(*(piece.ids for piece in pieces), strict=True))),
        np.concatenate([piece.y for piece in pieces]),
    )


def _part(piece: Piece, first: int, stop: int) -> Piece:
    """Some sentences of a piece."""
    a, b = piece.start[[first, stop]]
    ids = [numbers[a:b].copy() for numbers in piece.ids]
    return Piece(piece.start[first : stop + 1] - a, ids, piece.y[a:b].copy())


def columns_of(piece: Piece, reader: PieceReader) -> Columns:
    """A piece as an encoder takes it; its words are those the reader has numbered."""
    pairs = zip(piece.ids, reader.words, strict=True)
    columns = [Column(ids, list(index)) for ids, index in pairs]
    lines = np.arange(1, piece.n_tokens + 1)
    return Columns(piece.start, columns, lines, "", reader.meaning)
