"""What corpora of all families are: labels, counts, and shards in a folder on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Self

from maxmargin.files.corpora.checks import check_counts, check_pieces
from maxmargin.files.corpora.storage import (
    REBUILD,
    Record,
    Stored,
    check_size,
    folder_name,
    read_manifest,
)


class Corpus:
    """A data set on disk; a family says what its shards hold."""

    family: str
    counted: tuple[
        str, ...
    ]  # what there is a number of in the whole and in every shard
    labelled: str  # which of these has labels
    needed: frozenset[str]  # arrays of every shard
    possible: frozenset[str]  # and those that it may have
    shards: list[Any]

    def __init__(self, folder: str, body: Mapping[str, Any], checksum: int):
        self.folder, self.fingerprint = folder, checksum
        self.labels: list[str] = body["labels"]
        self.label_counts: list[int] = body["label_counts"]
        self.n_entries: int = body["entries"]
        self.n_features: int = body["features"]
        self.settings: dict = body["settings"]
        self.sources: list[dict] = body["sources"]

    @classmethod
    def open(cls, folder: str | os.PathLike) -> Self:
        """A corpus that :meth:`build` made; sizes of all files are compared."""
        folder = folder_name(folder)
        body, checksum = read_manifest(folder, cls.family)
        try:
            check_counts(body, cls.counted, cls.labelled)
            cls._check(body)
            check_pieces(body, cls.counted, cls.needed, cls.possible)
            corpus = cls(folder, body, checksum)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            said = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(
                f"{folder} is not valid: its manifest cannot be used ({said}). {REBUILD}."
            ) from None
        for path, record in corpus._files():
            check_size(path, record)
        return corpus

    @classmethod
    def _check(cls, body: dict) -> None:
        """ValueError says what of a family's own cannot be."""

    def _files(self) -> Iterator[tuple[str, Record]]:
        shard: Stored
        for shard in self.shards:
            yield from shard.paths()
