"""A corpus of vectors as classifiers train on it: pieces that become batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from maxmargin.classes.corpus.corpus import VectorShard
from maxmargin.core.arrays import with_constant
from maxmargin.core.totals import Scattered

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
