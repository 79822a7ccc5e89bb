"""A data set of vectors in a folder on disk: what is in it, and its shards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.classes.corpus.build import build
from maxmargin.files.corpora.checks import want, whole
from maxmargin.files.corpora.corpus import Corpus
from maxmargin.files.corpora.storage import Stored, ones, rises, within

if TYPE_CHECKING:
    import scipy.sparse as sp

TYPES = {
    "y": np.int32,
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float32,  # where all of them survive it; left out where all are 1
    "doubles": np.float64,
}


class VectorShard(Stored):
    """Some consecutive vectors of a corpus, on disk."""

    types = TYPES

    def __init__(self, folder: str, record: Mapping[str, Any], shape: tuple[int, int]):
        super().__init__(folder, record)
        self.n_samples: int = record["samples"]
        self.n_entries: int = record["entries"]
        self._shape = shape  # features, labels

    def rows(self) -> tuple[np.ndarray, ...]:
        """(indptr, indices, values, a class number per vector), mapped from disk."""
        found = self.arrays()
        values = found.get("values", found.get("doubles"))
        if values is None:
            values = ones(self.n_entries, np.float32)
        return found["indptr"], found["indices"], values, found["y"]

    def fits(self, found: dict[str, np.ndarray]) -> bool:
        n_features, n_labels = self._shape
        values = found.get("values", found.get("doubles", found["indices"]))
        good = (
            len(found["y"]) == self.n_samples
            and len(found["indptr"]) == self.n_samples + 1
            and len(found["indices"]) == len(values) == self.n_entries
            and rises(found["indptr"], self.n_entries)
            and within(found["indices"], n_features)
            and within(found["y"], n_labels)
        )
        return good and bool(np.isfinite(values).all())


class ClassCorpus(Corpus):
    """Vectors with their classes, in shards on disk, for training with little memory.

    Made by :meth:`build` from files in the format of SVM-light and LIBSVM, opened by
    :meth:`open`, and given to `fit`, `predict` and `score` of
    :class:`maxmargin.MulticlassSVM` and :class:`maxmargin.TaxonomySVM` in place of X and y.

    Attributes
    ----------
    folder : str
    labels : list of str, sorted
    label_counts : list of int, vectors with each label
    n_samples, n_features, n_entries : int
    shards : list of VectorShard
    sources : list of dict, the files, with sizes and times
    """

    family = "classes"
    counted = ("samples", "entries")
    labelled = "samples"
    needed = frozenset({"y", "indptr", "indices"})
    possible = frozenset({"values", "doubles"})

    def __init__(self, folder: str, body: Mapping[str, Any], checksum: int):
        super().__init__(folder, body, checksum)
        self.n_samples: int = body["samples"]
        self.n_used: int = body["used"]  # features that are not zero everywhere
        self.largest: float = body["largest"]  # absolute value
        shape = self.n_features, len(self.labels)
        self.shards = [VectorShard(folder, record, shape) for record in body["shards"]]

    def __repr__(self) -> str:
        return (
            f"ClassCorpus({self.folder!r}: {self.n_samples:,} vectors, "
            f"{self.n_entries:,} entries, {len(self.labels)} labels, "
            f"{self.n_features:,} features, {len(self.shards)} shards)"
        )

    def __len__(self) -> int:
        return self.n_samples

    @property
    def shape(self) -> tuple[int, int]:
        """(vectors, features)."""
        return self.n_samples, self.n_features

    @staticmethod
    def build(
        folder: str | os.PathLike,
        sources: str | os.PathLike | Sequence[str | os.PathLike],
        encoding: str = "utf-8",
        shard_entries: int = 1_000_000,
        n_features: int | None = None,
        empty_labels: bool = False,
        overwrite: bool = False,
        verbose: int = 0,
    ) -> ClassCorpus:
        """Read files into a new folder.

        Parameters
        ----------
        folder : path
            Must not exist yet, unless `overwrite`. It appears when it is whole: what is
            interrupted leaves nothing that opens.
        sources : path or list of paths
            Files as of :func:`maxmargin.files.read_svmlight`, folders, globs; any may be
            compressed with gzip; addresses such as "s3://..." are opened by fsspec. They
            are read in blocks, so that size does not matter.
        shard_entries : int, default 1,000,000
            Entries of a shard that are not zero, about: a fit has one shard in memory, with
            about 50 bytes for each of them.
        n_features : int or None
            Of the data that a model was trained on, to predict others; larger numbers of
            features are refused then. None: the largest number says it.
        encoding, empty_labels
            As in :func:`maxmargin.files.read_svmlight`.
        """
        options = (encoding, shard_entries, n_features, empty_labels, verbose)
        build(folder, sources, *options, overwrite)
        return ClassCorpus.open(folder)

    @classmethod
    def _check(cls, body: dict) -> None:
        whole(body, "used", 0, body["features"])
        want(type(body["largest"]) is float, "its largest value")

    @property
    def dtype(self) -> np.dtype:
        """Single precision where all values survive it."""
        double = any("doubles" in shard._files for shard in self.shards)
        return np.dtype(np.float64 if double else np.float32)

    def matrices(self, n_features: int | None = None) -> Iterator[sp.csr_matrix]:
        """The vectors of every shard, for a model with so many features."""
        width = self.n_features if n_features is None else n_features
        if width < self.n_features:
            raise ValueError(
                f"{self.folder} has {self.n_features:,} features, but the model knows "
                f"only {width:,}: build it with n_features={width}."
            )
        for shard in self.shards:
            indptr, indices, values, _ = shard.rows()
            parts = values, indices, indptr
            yield sp.csr_matrix(parts, shape=(shard.n_samples, width))

    def __getitem__(self, rows: slice) -> sp.csr_matrix:
        """Some of the vectors, in memory."""
        chosen = np.array(range(self.n_samples)[rows], np.int64)
        found, first = [], 0
        for shard, matrix in zip(self.shards, self.matrices(), strict=True):
            here = chosen[(chosen >= first) & (chosen < first + shard.n_samples)]
            found.append(matrix[here - first])
            first += shard.n_samples
        return sp.vstack(found, format="csr")

    def classes(self) -> np.ndarray:
        """The label of every vector."""
        numbers = np.concatenate([shard.rows()[3] for shard in self.shards])
        return np.array(self.labels)[numbers]
