"""Clusters of mentions as a structure: documents in, cluster ids out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.clusterings import correlation, forests
from maxmargin.clusterings.documents import known_clusters, numbered
from maxmargin.clusterings.input import Inputs
from maxmargin.clusterings.pairs import ALL
from maxmargin.core.decode import decode
from maxmargin.core.encoded import (
    Encoded,
    Training,
    check_lengths,
    check_weights,
    listed_inputs,
)
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Outputs, Structure
from maxmargin.fitting.tables import weigh


@dataclass
class Clusterings(Structure):
    """Clusters by links between pairs; the parameters are those of `LinkClusterer`."""

    method: str = "forest"
    r: float = 0.5
    fit_intercept: bool = True
    pair_memory: float = 4e9
    window: int | None = 1000
    unlabelled_weight: float = 0.1
    inputs: Inputs = field(init=False, repr=False)

    # batches ---------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        X, Y = check_lengths(X, Y)
        weights = check_weights(training.sample_weight, len(X))
        self.inputs = Inputs.learn(X, self.fit_intercept)
        sizes = self.inputs.sizes(X)
        gold, known = zip(
            *(
                known_clusters(clusters, n, f"y[{i}]")
                for i, (clusters, n) in enumerate(zip(Y, sizes, strict=True))
            ),
            strict=True,
        )
        self.inputs.check_clusters(X, gold, known)
        labelled = [len(mask) == 0 or mask.any() for mask in known]
        weights = weigh(self, weights, labelled)
        batch = self._batch(X, gold)
        encoded = Encoded(batch, self.inputs.n_weights, np.float64, weights)
        every = np.concatenate(known)
        return encoded if every.all() else self._partly_known(encoded, every)

    def encode(self, X: Any) -> Any:
        X = listed_inputs("X", X, "documents")
        sizes = [1 if n is None else n for n in self.inputs.sizes(X)]
        return self._batch(X, [np.arange(n, dtype=np.int32) for n in sizes])

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[list[int]]:
        batch = self.encode(X)
        labels = decode(batch, w, n_jobs)
        if self.method == "forest":
            labels = forests.roots(batch.start, labels)  # of all documents in one call
        bounds = pairwise(batch.start.tolist())
        return Outputs(numbered(labels[a:b].tolist()) for a, b in bounds)

    def output(self, batch: Any, i: int, labelling: Any) -> list[int]:
        """Ids 0, 1, ... of the clusters of a document's mentions."""
        if self.method == "forest":
            ends = np.array([0, len(labelling)])
            labelling = forests.roots(ends, labelling)
        return numbered(labelling.tolist())

    def _batch(self, X, gold):
        pairs = self.inputs.encode(X, float(self.pair_memory), self._window())
        start = np.cumsum([0, *map(len, gold)])
        gold = np.concatenate([np.zeros(0, np.int32), *gold])
        if self.method == "forest":
            return forests.make_batch(start, gold, pairs, float(self.r))
        return correlation.make_batch(start, gold, pairs)

    def _window(self) -> int:
        """How far apart mentions of a pair may be."""
        if self.window is None or self.method != "forest":
            return ALL
        return min(int(self.window), ALL)

    def _partly_known(self, encoded: Encoded, known: np.ndarray) -> Encoded:
        batch = encoded.batch
        if self.method != "forest":
            raise ValueError(
                f"y holds None, clusters that are not known, but method={self.method!r} "
                "needs all of them: choose method='forest', or leave these documents out."
            )
        sizes, window = np.diff(batch.start), batch.pairs.window
        if (sizes > window).any():
            i = int(np.argmax(sizes))
            raise ValueError(
                f"y holds None, clusters that are not known, and X[{i}] has {sizes[i]:,} "
                f"mentions, more than window={window} compares: choose a larger window, or "
                "None."
            )
        first = replace(encoded, batch=forests.known_part(batch, known))
        return replace(encoded, batch=partly_known(batch, known), first=first)

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        d = len(w) - self.inputs.constant
        intercept = float(w[d]) if d < len(w) else 0.0
        return {"coef_": np.array(w[:d], np.float64), "intercept_": intercept}

    def join(self, fitted: Any) -> np.ndarray:
        return np.append(fitted.coef_, [fitted.intercept_] * self.inputs.constant)

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return self.inputs.attributes()

    def saved(self) -> tuple[dict, dict]:
        return {}, self.inputs.state()

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.inputs = Inputs.from_state(saved)
        if self.inputs.n_weights - self.inputs.constant != sizes["n"]:
            raise ValueError("weights and features do not fit together")
