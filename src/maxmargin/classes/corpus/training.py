"""A corpus of vectors as classifiers train on it: pieces that become batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.classes.corpus.corpus import ClassCorpus, VectorShard
from maxmargin.core.encoded import check_weights
from maxmargin.core.pieces.totals import Scattered
from maxmargin.core.tables.arrays import with_constant

SHARED = ("width", "n_labels", "n_features", "node_width", "node_weight")


class VectorPiece(NamedTuple):
    """A shard of the data that is loaded when needed."""

    shard: VectorShard
    constant: bool
    make: Callable
    n_features: int
    rest: tuple

    @property
    def n(self) -> int:
        """Examples."""
        return self.shard.n_samples

    n_slots = n

    def load(self) -> Any:
        *rows, y = self.shard.rows()
        if self.constant:
            rows = with_constant(*rows, self.n_features - 1)
        return self.make(*rows, self.n_features, y, *self.rest)


class ClassPieces(Scattered):
    """In place of a batch, with what a classifier asks of one."""

    def __init__(self, pieces: list[VectorPiece], first: Any):
        super().__init__(pieces, pieces[0].shard.folder)
        for name in SHARED:
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))


class DiskRows(NamedTuple):
    """In place of CSR arrays: those of a corpus, perhaps with a constant feature."""

    corpus: ClassCorpus
    constant: bool
    values: np.ndarray  # one that is as large as any

    def batch(self, make: Callable, n_features: int, *rest: Any) -> Any:
        """The batch of one shard; for more, pieces of which each will be one."""
        shards, constant = self.corpus.shards, self.constant
        pieces = [VectorPiece(s, constant, make, n_features, rest) for s in shards]
        first = pieces[0].load()
        return first if len(pieces) == 1 else ClassPieces(pieces, first)


def corpus_classes(corpus: ClassCorpus, y: Any, sample_weight: Any) -> tuple:
    """What ``number_classes`` says of data in memory."""
    if y is not None:
        raise ValueError(
            "y was given beside a corpus, which has its labels: leave y out."
        )
    if "" in corpus.labels:
        raise ValueError(
            f"{corpus.folder} has vectors without a label (empty_labels=True): it is for "
            "prediction only."
        )
    if len(corpus.labels) < 2:
        raise ValueError(
            f"{corpus.folder} holds one class only ({corpus.labels[0]!r}): at least two "
            "classes are needed to learn to tell them apart."
        )
    weights = check_weights(sample_weight, corpus.n_samples)
    return np.array(corpus.labels), None, None, weights
