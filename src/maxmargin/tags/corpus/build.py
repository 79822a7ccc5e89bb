"""Making a corpus: read, number, encode, write; whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.compile.compiling import say_on_stderr
from maxmargin.core.jobs import effective_jobs
from maxmargin.core.tables.arrays import TokenMatrix
from maxmargin.core.vectors import (
    LARGE_TABLE,
    frequency_order,
    padded_width,
    tally,
)
from maxmargin.files.corpora.folder import ARRAYS, new_folder, new_place
from maxmargin.files.corpora.shards import (
    finish_shard,
    label_numbers,
    totals,
    write_shard,
)
from maxmargin.files.corpora.sources import Source, beginning, find_sources
from maxmargin.files.corpora.storage import record_of, write_manifest
from maxmargin.files.locks import require_room
from maxmargin.files.model_format import pack
from maxmargin.files.model_values import encode
from maxmargin.tags.corpus.corpus import ENCODER, TYPES, TagCorpus
from maxmargin.tags.corpus.counting import TABLE_KEYS
from maxmargin.tags.corpus.numbering import Numbering
from maxmargin.tags.corpus.reading import (
    Piece,
    PieceReader,
    columns_of,
)
from maxmargin.tags.features.encoder import ColumnEncoder
from maxmargin.tags.features.input import check_mapping, whole_number
from maxmargin.tags.files.layout import Layout

OUR_FILES = rf"{ARRAYS}|{re.escape(ENCODER)}"


class Choices(NamedTuple):
    """Which features there are."""

    min_count: int
    options: dict[str, Any]
    hashing: int | None
    like: Any  # a corpus or a tagger that has an encoder


class Work(NamedTuple):
    """How it is done."""

    shard_tokens: int = 500_000
    n_jobs: int = 1
    table_keys: int | None = None
    verbose: int = 0


def build(
    folder: str | os.PathLike,
    sources: Any,
    features: Any,
    layout: Layout,
    choices: Choices,
    work: Work,
    overwrite: bool = False,
) -> TagCorpus:
    """See :meth:`TagCorpus.build`."""
    target = new_place(folder, overwrite, OUR_FILES)
    work, layout = _checked(work), layout.checked()
    encoder = _encoder(features, choices)
    found = find_sources(sources)
    layout = layout.known(beginning(found[0]))
    with new_folder(target, overwrite, OUR_FILES) as place:
        require_room(sum(source.size or 0 for source in found))
        Builder(place, layout, work, choices).fill(encoder, found)
    return TagCorpus.open(folder)


class Builder:
    """Fills a folder with the files of a corpus."""

    def __init__(self, folder: str, layout: Layout, work: Work, choices: Choices):
        self.folder, self.layout, self.work, self.choices = (
            folder,
            layout,
            work,
            choices,
        )
        self.drafts = os.path.join(folder, "draft")
        os.mkdir(self.drafts)
        self._counts: np.ndarray | None = None  # how often every feature occurs
        self._lock = threading.Lock()
        self._tell = say_on_stderr if work.verbose else lambda text: None

    def fill(self, encoder: ColumnEncoder, sources: list[Source]) -> None:
        work, like = self.work, self.choices.like
        once = like is not None or encoder.hash_bits is not None
        reader = PieceReader(self.layout, work.shard_tokens, not once, work.n_jobs)
        pieces = self._watched(reader.read(sources), reader, len(sources))
        if once:
            matrices = self._read_and_encode(encoder, reader, pieces)
        else:
            matrices = self._count_and_encode(encoder, reader, pieces)
        shards = list(matrices)
        shutil.rmtree(self.drafts)
        labels, place = label_numbers(reader.labels)
        if len(labels) < 2 and like is None:
            raise ValueError(
                f"The labels are all {labels[0]!r}: at least two are needed to learn to "
                "tell them apart. Check label_column."
            )
        order = number = None
        large = encoder.n_features * padded_width(len(labels)) >= LARGE_TABLE
        if like is None and large:
            order, number = frequency_order(self._counts)
        tallies = list(self._threads(lambda s: self._finish(s, place, number), shards))
        body = {
            **totals(shards, TagCorpus.counted, tallies),
            "labels": labels,
            "longest": max(shard.pop("longest") for shard in shards),
            "features": encoder.n_features,
            "renumbered": order is not None,
            "settings": self._settings(encoder, reader),
            "sources": _described(sources, reader.tokens),
            "encoder": self._save_encoder(encoder, order),
        }
        write_manifest(self.folder, body)

    # one pass, or two -------------------------------------------------------------------

    def _read_and_encode(self, encoder, reader, pieces) -> Iterator[dict]:
        """Hashed features, or those of another encoder: nothing to learn."""
        for k, piece in enumerate(pieces):
            columns = columns_of(piece, reader)
            if encoder._fitted is None:
                tokens = encoder.fit_encode(columns)
            else:
                tokens = encoder.encode(columns)
            yield self._write(k, piece, tokens, bool(encoder._dense))

    def _count_and_encode(self, encoder, reader, pieces) -> Iterator[dict]:
        loads = [self._draft(k, piece) for k, piece in enumerate(pieces)]
        words = [list(index) for index in reader.words]
        numbering = Numbering(encoder, words, reader.meaning)
        limit = self.work.table_keys or TABLE_KEYS
        self._tell("counting features")
        numbering.learn(loads, self.drafts, limit)

        def one(k: int):
            piece = loads[k]()
            return self._write(k, piece, numbering.encode(piece), bool(encoder._dense))

        self._tell("encoding")
        yield from self._threads(one, range(len(loads)))

    def _threads(self, function: Callable, items: Iterable) -> Iterator:
        """The function of every item; kernels and files let other threads run."""
        if self.work.n_jobs == 1:
            yield from map(function, items)
            return
        with ThreadPoolExecutor(self.work.n_jobs) as pool:
            yield from pool.map(function, items)

    def _draft(self, k: int, piece: Piece) -> Callable[[], Piece]:
        """Keep the numbers of words on disk; what reads them back."""
        names = [f"start{k}", f"y{k}", *(f"ids{k}.{c}" for c in range(len(piece.ids)))]
        paths = [os.path.join(self.drafts, f"{name}.npy") for name in names]
        for path, array in zip(paths, [piece.start, piece.y, *piece.ids], strict=True):
            np.save(path, array)

        def load() -> Piece:
            start, y, *ids = (np.load(path) for path in paths)
            return Piece(start, ids, y)

        return load

    # files ------------------------------------------------------------------------------

    def _write(self, k: int, piece: Piece, tokens: TokenMatrix, valued: bool) -> dict:
        """Write the arrays of a shard; its record."""
        arrays = {
            "start": tokens.start,
            "y": piece.y,
            "indptr": tokens.indptr,
            "indices": tokens.indices,
        }
        if valued:
            arrays["values"] = tokens.values
        arrays = {k: v.astype(TYPES[k], copy=False) for k, v in arrays.items()}
        with self._lock:
            if self._counts is None:
                self._counts = np.zeros(tokens.n_features, np.int64)
            tally(tokens.indices, self._counts)
        return write_shard(
            self.folder,
            k,
            arrays,
            sentences=len(tokens.start) - 1,
            tokens=int(tokens.start[-1]),
            entries=len(tokens.indices),
            longest=int(np.diff(tokens.start).max(initial=0)),
        )

    def _finish(self, shard: dict, place: np.ndarray, number) -> np.ndarray:
        return finish_shard(self.folder, shard, place, number)

    def _save_encoder(self, encoder: ColumnEncoder, order) -> list[int]:
        arrays, state = encoder.get_state()
        if order is not None:
            arrays = arrays | {"feature_of_row": order}
        encoded = {key: encode(value) for key, value in state.items()}
        fields = {"class": "TagCorpus.v1", "params": {}, "state": encoded}
        path = os.path.join(self.folder, ENCODER)
        with open(path, "wb") as file:
            file.write(pack(fields, arrays))
        return list(record_of(path))

    def _settings(self, encoder: ColumnEncoder, reader: PieceReader) -> dict:
        template = encoder.template
        return {
            "features": template if isinstance(template, str) else template.text,
            "min_count": encoder.min_count,
            "hashing": encoder.hash_bits and 2**encoder.hash_bits,
            "options": sorted(self.choices.options),
            "like": self.choices.like is not None,
            "n_columns": reader.n_columns,
            "shard_tokens": self.work.shard_tokens,
            **self.layout._asdict(),
            "label_column": reader.label,
        }

    def _watched(self, pieces: Iterator[Piece], reader, n: int) -> Iterator[Piece]:
        for piece in pieces:
            yield piece
            done = sum(map(bool, reader.tokens))
            self._tell(f"read {sum(reader.tokens):,} tokens, file {done} of {n}")


# before any work -----------------------------------------------------------------------


def _checked(work: Work) -> Work:
    whole_number("shard_tokens", work.shard_tokens, 1, 2**31 - 1)
    if work.table_keys is not None:
        whole_number("table_keys", work.table_keys, 1, 2**31 - 1)
    return work._replace(n_jobs=effective_jobs(work.n_jobs))


def _encoder(features: Any, choices: Choices) -> ColumnEncoder:
    """What turns tokens into features."""
    if choices.like is not None:
        if features is not None or choices.hashing is not None or choices.options:
            raise ValueError(
                "like brings its own features: leave out features, hashing and "
                "feature_options."
            )
        return _like(choices.like)
    if features is None:
        raise ValueError(
            "say what the features are: features= a template, its file, or the name of a "
            'ready set such as "chunking".'
        )
    check_mapping("feature_options", choices.options)
    options = dict(choices.options)
    unknown = set(options) - {"gazetteers", "dense", "hash_bits"}
    if unknown:
        raise ValueError(
            f"feature_options has {sorted(unknown)[0]!r}; it can have gazetteers, dense "
            "and hash_bits."
        )
    if choices.hashing is not None:
        size = whole_number("hashing", choices.hashing, 2, 2**30)
        if size & (size - 1):
            raise ValueError(
                f"hashing={size} is not possible: it must be a power of two, such as "
                f"2**{size.bit_length()}."
            )
        options["hash_bits"] = size.bit_length() - 1
    return ColumnEncoder(features, min_count=choices.min_count, **options)


def _like(like: Any) -> ColumnEncoder:
    source = like if isinstance(like, TagCorpus) else getattr(like, "structure_", None)
    encoder = getattr(source, "encoder", None)
    if getattr(encoder, "kind", None) != "columns":
        raise ValueError(
            "like must be a TagCorpus, or a fitted SequenceTagger with features from a "
            "template."
        )
    return encoder


def _described(sources: list[Source], tokens: list[int]) -> list[dict]:
    return [
        {"path": s.path, "size": s.size, "changed": s.changed, "tokens": n}
        for s, n in zip(sources, tokens, strict=True)
    ]
