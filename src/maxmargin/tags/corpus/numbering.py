"""Features of a template get their numbers from pieces on disk.

The encoder that comes out is the one that ``ColumnEncoder.fit_encode`` makes of the same
sentences in memory: the same features with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from maxmargin.tags.corpus.counting import KeyCounter
from maxmargin.tags.corpus.reading import Piece
from maxmargin.tags.features.encoder import ColumnEncoder
from maxmargin.tags.features.input import Data
from maxmargin.tags.features.kernels import Table
from maxmargin.tags.features.plan import MAX_FEATURES, Run, make_plan, stages
from maxmargin.tags.files.columns import Meaning

Load = Callable[[], Piece]


class Numbering:
    """An encoder that has seen all words, and numbers features piece by piece."""

    def __init__(
        self, encoder: ColumnEncoder, words: list[list[str]], meaning: Meaning
    ):
        # as many tokens as there are words, each once
        every = Data(
            np.zeros(1, np.int64),
            [np.arange(len(column), dtype=np.int32) for column in words],
            words,
            "the corpus",
            meaning,
        )
        template = encoder.template_for(every)
        self.encoder, self.template, self.words = encoder, template, words
        self.groups, self.domains = make_plan(template)
        self.indexes: list[dict] = [{} for _ in self.domains]
        self.maps = encoder._maps(every, self.domains, self.indexes, True)

    def learn(self, pieces: Sequence[Load], folder: str, limit: int) -> None:
        """Count the features of all pieces, and keep those that are seen often enough."""
        tables, total = [], 0
        for group in self.groups:
            made: list = []
            radices = [len(self.indexes[d]) for d in group.domains]
            for k, stage in enumerate(stages(radices, made)):
                last = stage.stop == len(radices)
                counter = KeyCounter(stage.space, folder, limit if last else 2**62)
                for line in group.lines:
                    for load in pieces:
                        counter.add(self._keys(load(), group, line, made, k))
                kept = counter.finish(self.encoder.min_count if last else 1)
                made.append(Table(stage.space, kept))
            tables.append(made)
            total += len(made[-1])
            if total > MAX_FEATURES:
                raise ValueError(
                    f"there are more features than the {MAX_FEATURES} that int32 can "
                    "index: use fewer template lines, a larger min_count or hashing."
                )
        for made in tables:
            for table in made:
                table.build()  # now, for threads share them
        self.encoder._know(
            self.template, self.groups, self.domains, self.indexes, tables, total
        )

    def encode(self, piece: Piece):
        """The TokenMatrix of a piece."""
        encoder, data = self.encoder, self._data(piece)
        found = self._run(data).number(encoder._tables, False)
        return encoder._finish(data, found)

    def _data(self, piece: Piece) -> Data:
        return Data(piece.start, piece.ids, self.words, "the corpus")

    def _run(self, data: Data) -> Run:
        plan = self.groups, self.domains, self.indexes, self.maps
        return Run(self.template, data, *plan)

    def _keys(self, piece: Piece, group, line: int, tables: list, k: int) -> np.ndarray:
        """The keys of stage k of a line; `tables` number those of the stages before."""
        run = self._run(self._data(piece))
        parts = self.template.features[line].parts
        radices = [len(self.indexes[d]) for d in group.domains]
        keys = np.zeros(piece.n_tokens, np.int64)
        for j, stage in enumerate(stages(radices, tables)):
            for i in range(stage.first, stage.stop):
                run._combine(keys, parts[i], group.domains[i], radices[i])
            if j == k:
                return keys
            out = np.empty(piece.n_tokens, np.int32)
            tables[j].assign(keys, False, out)
            keys = out.astype(np.int64)
        raise AssertionError("a stage that is not there")
