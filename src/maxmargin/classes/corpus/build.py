"""Making a corpus of vectors: read in blocks, number labels, write; whole or not at all."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from maxmargin.classes.svmlight import join_rows, rows_of_text
from maxmargin.core.compile.compiling import say_on_stderr
from maxmargin.core.tables.arrays import offsets
from maxmargin.files.corpora.folder import new_folder, new_place
from maxmargin.files.corpora.shards import (
    finish_shard,
    label_numbers,
    totals,
    write_shard,
)
from maxmargin.files.corpora.sources import BLOCK, Source, find_sources, lines_of
from maxmargin.files.corpora.storage import write_manifest
from maxmargin.files.locks import require_room
from maxmargin.files.number_pairs import Rows

ENTRY = 8  # bytes of an entry in a file, about


def build(
    folder: str | os.PathLike,
    sources: Any,
    encoding: str,
    shard_entries: int,
    n_features: int | None,
    empty_labels: bool,
    verbose: int,
    overwrite: bool,
) -> None:
    """See :meth:`ClassCorpus.build`."""
    target = new_place(folder, overwrite)
    for name, value in (("shard_entries", shard_entries), ("n_features", n_features)):
        if not (value is None or (isinstance(value, int) and value >= 1)):
            raise ValueError(
                f"{name}={value!r} is not possible: it must be a positive whole number."
            )
    found = find_sources(sources)
    with new_folder(target, overwrite) as place:
        require_room(sum(source.size or 0 for source in found))
        builder = Builder(place, shard_entries, n_features)
        for source in found:
            for rows in _read(source, encoding, empty_labels, shard_entries):
                builder.add(rows)
            if verbose:
                say_on_stderr(f"read {builder.samples:,} vectors, {source.path}")
        settings = {"encoding": encoding, "shard_entries": shard_entries}
        builder.finish(settings | {"n_features": n_features}, found)


def _read(
    source: Source, encoding: str, empty_labels: bool, shard_entries: int
) -> Iterator[Rows]:
    some, size = False, min(ENTRY * shard_entries, BLOCK)
    for block in lines_of(source, encoding, size):
        rows = rows_of_text(block, "utf-8", empty_labels)
        if len(rows.labels):
            some = True
            yield rows
    if not some:
        raise ValueError(
            f"{source.path} has no vectors: all of it is blank or comments."
        )


class Builder:
    """Fills a folder with the files of a corpus."""

    def __init__(self, folder: str, shard_entries: int, n_features: int | None):
        self.folder, self.shard_entries = folder, shard_entries
        self.most = n_features
        self.samples = self.width = 0
        self.largest = 0.0  # absolute value
        self.used = np.zeros(0, np.int32)
        self.numbers: dict[str, int] = defaultdict(count().__next__)  # of labels
        self.shards: list[dict] = []
        self._open: list[Rows] = []
        self._size = 0

    def add(self, rows: Rows) -> None:
        if self.most is not None:
            rows.check_width(self.most)
        self.width = max(self.width, rows.width)
        self._open.append(rows)
        self._size += len(rows.indices)
        self.samples += len(rows.labels)
        if self._size >= self.shard_entries:
            self._write()

    def _write(self) -> None:
        """A shard of what was added since the last one."""
        rows, self._open, self._size = without_zeros(join_rows(self._open)), [], 0
        self.used = np.union1d(self.used, rows.indices)
        self.largest = max(self.largest, float(np.abs(rows.values).max(initial=0.0)))
        y = [self.numbers[label] for label in rows.labels]
        arrays = {"y": np.array(y, np.int32), "indptr": rows.indptr}
        arrays["indices"] = rows.indices
        single = rows.values.astype(np.float32)
        if np.array_equal(single, rows.values):
            if (single != 1).any():
                arrays["values"] = single
        else:
            arrays["doubles"] = rows.values
        counts = {"samples": len(y), "entries": len(rows.indices)}
        self.shards.append(write_shard(self.folder, len(self.shards), arrays, **counts))

    def finish(self, settings: dict, sources: list[Source]) -> None:
        """Numbers of labels in their order, checksums, the manifest."""
        if self._open:
            self._write()
        if self.width == 0 and self.most is None:
            raise ValueError(f"{sources[0].path} has no features at all: labels only.")
        labels, place = label_numbers(self.numbers)
        tallies = [finish_shard(self.folder, shard, place) for shard in self.shards]
        body = {
            **totals(self.shards, ("samples", "entries"), tallies),
            "labels": labels,
            "features": self.width if self.most is None else self.most,
            "used": len(self.used),
            "largest": self.largest,
            "settings": settings,
            "sources": [source._asdict() for source in sources],
        }
        write_manifest(self.folder, body, "classes")


def without_zeros(rows: Rows) -> Rows:
    """Values that are zero say nothing."""
    here = rows.values != 0
    if here.all():
        return rows
    kept = offsets(here)[rows.indptr]
    return rows._replace(
        indptr=kept, indices=rows.indices[here], values=rows.values[here]
    )
