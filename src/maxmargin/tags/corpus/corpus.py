"""A tagging data set in a folder on disk: what is in it, and its shards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.tables.arrays import TokenMatrix
from maxmargin.files.corpora.checks import MOST, check_record, want, whole
from maxmargin.files.corpora.corpus import Corpus
from maxmargin.files.corpora.storage import REBUILD, Record, Stored, ones, rises, within
from maxmargin.files.model_format import read
from maxmargin.files.model_values import Refused
from maxmargin.tags.features import ColumnEncoder
from maxmargin.tags.files.layout import Layout

ENCODER = "encoder.safetensors"
TYPES = {
    "start": np.int64,
    "y": np.int32,
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float32,
}


class Shard(Stored):
    """Some consecutive sentences of a corpus, encoded, on disk."""

    types = TYPES

    def __init__(
        self, folder: str, record: Mapping[str, Any], n_features: int, n_labels: int
    ):
        super().__init__(folder, record)
        self.n_sentences: int = record["sentences"]
        self.n_tokens: int = record["tokens"]
        self.n_entries: int = record["entries"]
        self._shape = n_features, n_labels

    def __repr__(self) -> str:
        return f"Shard({self.name!r}, {self.n_sentences} sentences)"

    def tokens(self, dtype: Any = np.float32) -> tuple[TokenMatrix, np.ndarray]:
        """(encoded tokens, a label number per token), mapped from disk."""
        found = self.arrays()
        y = found.pop("y")
        values = found.pop("values", None)
        if values is None:
            values = ones(self.n_entries, dtype)
        tokens = TokenMatrix(
            found["indptr"], found["indices"], values, found["start"], self._shape[0]
        )
        return tokens, y

    def fits(self, found: dict[str, np.ndarray]) -> bool:
        n_features, n_labels = self._shape
        start, indptr = found["start"], found["indptr"]
        good = (
            len(start) == self.n_sentences + 1
            and len(found["y"]) == self.n_tokens
            and len(indptr) == self.n_tokens + 1
            and len(found["indices"]) == self.n_entries
            and len(found.get("values", found["indices"])) == self.n_entries
            and rises(start, self.n_tokens)
            and rises(indptr, self.n_entries)
            and within(found["indices"], n_features)
            and within(found["y"], n_labels)
        )
        return good and bool((np.abs(found.get("values", 0)) < 1e18).all())


class TagCorpus(Corpus):
    """A tagging data set on disk, in shards, for training with little memory.

    Made by :meth:`build` from files with one token per line, opened by :meth:`open`, and
    given to :meth:`maxmargin.SequenceTagger.fit` in place of X and y.

    Attributes
    ----------
    folder : str
    labels : list of str, sorted
    label_counts : list of int, tokens with each label
    n_sentences, n_tokens, n_features, n_entries : int
    shards : list of Shard
    settings : dict, how the files were read and encoded
    sources : list of dict, the files, with sizes and times
    """

    family = "tags"
    counted = ("sentences", "tokens", "entries")
    labelled = "tokens"
    needed = frozenset({"start", "y", "indptr", "indices"})
    possible = frozenset({"values"})

    def __init__(self, folder: str, body: Mapping[str, Any], checksum: int):
        super().__init__(folder, body, checksum)
        self.n_sentences: int = body["sentences"]
        self.n_tokens: int = body["tokens"]
        self.longest: int = body["longest"]
        self.renumbered: bool = body["renumbered"]
        self._encoder_record = Record(*body["encoder"])
        size = self.n_features, len(self.labels)
        self.shards = [Shard(folder, record, *size) for record in body["shards"]]

    def __repr__(self) -> str:
        return (
            f"TagCorpus({self.folder!r}: {self.n_sentences:,} sentences, "
            f"{self.n_tokens:,} tokens, {len(self.labels)} labels, "
            f"{self.n_features:,} features, {len(self.shards)} shards)"
        )

    def __len__(self) -> int:
        return self.n_sentences

    @staticmethod
    def build(
        folder: str | os.PathLike,
        sources: str | os.PathLike | Sequence[str | os.PathLike],
        features: Any = None,
        label_column: int | str | None = None,
        min_count: int = 1,
        feature_options: Mapping[str, Any] | None = None,
        hashing: int | None = None,
        shard_tokens: int = 500_000,
        n_jobs: int = 1,
        separator: str | None = None,
        encoding: str = "utf-8",
        comment: str | None = None,
        verbose: int = 0,
        like: Any = None,
        overwrite: bool = False,
        table_keys: int | None = None,
        format: str | None = None,
        word_column: int | str | None = None,
    ) -> TagCorpus:
        """Read and encode files into a new folder.

        Parameters
        ----------
        folder : path
            Must not exist yet, unless `overwrite`. It appears when it is whole: what is
            interrupted leaves nothing that opens.
        sources : path or list of paths
            Files with one token per line (:func:`maxmargin.files.read_columns`), folders,
            globs; any may be compressed with gzip; addresses such as "s3://..." are
            opened by fsspec. Files are read in blocks, so that size does not matter.
        features : str, path or Template
            As in :class:`maxmargin.SequenceTagger`.
        label_column : int, str or None
            The number of a column, or its name in CoNLL-U. None: the last one, UPOS in
            CoNLL-U.
        min_count : int, default 1
            Leave out features seen fewer times.
        feature_options : dict or None
            ``gazetteers`` and ``dense``, as in :class:`maxmargin.SequenceTagger`.
        hashing : int or None
            Number features by hashing them into so many numbers, a power of two: the
            text is read once and no vocabulary is kept.
        shard_tokens : int, default 500,000
            Tokens of a shard, about: what is in memory at a time, with 90 bytes each for
            twenty features.
        n_jobs : int, default 1
            Processes that read and threads that encode.
        separator, encoding, comment
            As in :func:`maxmargin.files.read_columns`.
        like : TagCorpus, fitted SequenceTagger or None
            Use its features, for data to predict; no others are learned.
        format : "columns", "conllu" or None
            None: CoNLL-U if the name or contents of the first file suggest it. All files
            have the same format.
        word_column : int, str or None
            The column that ready sets of features read. None: the first one, FORM in
            CoNLL-U.
        table_keys : int or None
            Distinct features of a template line counted in memory; more go to disk.
        """
        from maxmargin.tags.corpus.build import Choices, Work, build

        return build(
            folder,
            sources,
            features,
            Layout(label_column, separator, encoding, comment, format, word_column),
            Choices(min_count, feature_options or {}, hashing, like),
            Work(shard_tokens, n_jobs, table_keys, verbose),
            overwrite,
        )

    @classmethod
    def _check(cls, body: dict) -> None:
        whole(body, "longest", 0, MOST)
        want(body["longest"] <= body["tokens"], "its longest sentence")
        want(type(body["renumbered"]) is bool, "whether features are renumbered")
        for name in ("features", "min_count", "like"):
            want(name in body["settings"], f"its setting {name!r}")
        check_record(body["encoder"], "the encoder")

    def _files(self) -> Iterator[tuple[str, Record]]:
        yield from super()._files()
        yield os.path.join(self.folder, ENCODER), self._encoder_record

    def label_sequences(self) -> Iterator[list[str]]:
        """The labels of every sentence, one shard after the other."""
        for shard in self.shards:
            tokens, y = shard.tokens()
            flat = [self.labels[k] for k in y.tolist()]
            for a, b in pairwise(tokens.start.tolist()):
                yield flat[a:b]

    @cached_property
    def _loaded(self) -> tuple[Any, np.ndarray | None]:
        path = os.path.join(self.folder, ENCODER)
        try:
            content = read(path)
            arrays = dict(content.arrays)
            order = arrays.pop("feature_of_row", None)
            encoder = ColumnEncoder.from_state(arrays, content.state)
            _check_order(order, self.renumbered, self.n_features)
            if encoder.n_features != self.n_features:
                raise ValueError("it has another number of features than the corpus")
        except (Refused, ValueError) as error:
            raise ValueError(f"{path} is refused: {error}. {REBUILD}.") from None
        return encoder, order

    @property
    def encoder(self) -> Any:
        """The ColumnEncoder of its features."""
        return self._loaded[0]

    @property
    def feature_of_row(self) -> np.ndarray | None:
        """The feature that each number in the shards stands for; None: itself."""
        return self._loaded[1]


def _check_order(order: Any, renumbered: bool, n: int) -> None:
    if (order is not None) != renumbered:
        raise ValueError("its order of features is not the one of the corpus")
    if order is not None and not (
        order.dtype == np.int64
        and order.shape == (n,)
        and within(order, n)
        and np.array_equal(np.bincount(order, minlength=n), np.ones(n))
    ):
        raise ValueError("its order of features is not one")
