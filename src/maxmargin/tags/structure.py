"""What makes batches of tokens: a tagger's loss, order and forbidden transitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core.arrays import TokenMatrix
from maxmargin.core.label_costs import cost_table
from maxmargin.tags.chain import make_batch
from maxmargin.tags.chain_spans import span_tables
from maxmargin.tags.schemes import guess_scheme
from maxmargin.tags.second_order import second_order


@dataclass(frozen=True)
class TagStructure:
    """See the module; without a loss to predict."""

    cost: np.ndarray
    barrier: np.ndarray | None
    order: int
    zero_one: bool = False
    spans: Any = None

    @classmethod
    def to_train(cls, tagger: Any, labels: list) -> TagStructure:
        named = tagger.loss if isinstance(tagger.loss, str) else ""
        spans = _span_tables(labels) if named == "spans" else None
        cost = cost_table("hamming" if spans else tagger.loss, labels)
        barrier = tagger._barrier(labels)
        return cls(cost, barrier, tagger.order, named == "zero-one", spans)

    @classmethod
    def to_predict(cls, tagger: Any) -> TagStructure:
        k = len(tagger._labels)
        return cls(np.zeros((k, k)), tagger._barrier(tagger._labels), tagger.order)

    def batch(self, tokens: TokenMatrix, y: np.ndarray | None, dtype: Any) -> Any:
        """The batch; without transitions every token is a sequence of its own."""
        d, rest = tokens.n_features, (self.zero_one, dtype, self.spans)
        if self.order == 0:
            tokens = tokens._replace(start=np.arange(tokens.start[-1] + 1))
        batch = make_batch(tokens, d, y, self.cost, self.barrier, *rest)
        return second_order(batch) if self.order == 2 else batch

    def of_runs(self) -> TagStructure:
        """That of runs of known labels, which may begin and end with any."""
        if self.barrier is None:
            return self
        barrier = self.barrier.copy()
        barrier[len(self.cost) :] = 0.0
        return replace(self, barrier=barrier)

    def weigh(self, weights: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Weights of the examples of sequences that start there."""
        return np.repeat(weights, np.diff(start)) if self.order == 0 else weights


def _span_tables(labels: list):
    if guess_scheme(labels) is None:
        raise ValueError(
            "loss='spans' needs labels in a span scheme, such as B-PER, I-PER and O."
        )
    return span_tables(labels)
