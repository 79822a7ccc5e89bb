"""Homologs as a structure: sequences with candidates in, numbers of candidates out."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from maxmargin.alignments.homologs.candidates import (
    HomologBatch,
    make_batch,
    score_candidates,
    table_shape,
)
from maxmargin.alignments.homologs.input import (
    Inputs,
    check_alphabet,
    check_inputs,
    check_truth,
    number_sequences,
)
from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.kernel import direct
from maxmargin.core.structure import Structure
from maxmargin.engine.threads import over_ranges


@dataclass
class HomologChoice(Structure):
    """Candidates by local alignments; the parameters are those of `HomologFinder`."""

    gaps: str = "linear"
    alphabet: str | None = None
    letters: str = field(init=False, repr=False)

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        X = check_inputs(X, decoys_needed=True)
        truth = check_truth(X, Y)
        weights = check_weights(training.sample_weight, len(X))
        self.letters = check_alphabet(self.alphabet, X)
        self.n_weights = prod(table_shape(len(self.letters)))
        return Encoded(self._batch(X, truth), self.n_weights, np.float64, weights)

    def encode(self, X: Any) -> HomologBatch:
        return self._batch(check_inputs(X))

    def _batch(self, X: Inputs, truth=None) -> HomologBatch:
        sequences, natives, lists = number_sequences(X, self.letters)
        n, affine = len(self.letters), self.gaps == "affine"
        return make_batch(sequences, natives, lists, truth, n, affine)

    def output(self, batch: Any, i: int, labelling: Any) -> int:
        return int(labelling[0])

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """The number of the candidate with the largest score, the first on ties."""
        best = [scores.argmax() for scores in self.candidate_scores(X, w, n_jobs)]
        return np.array(best, np.int64)

    def candidate_scores(
        self, X: Any, w: np.ndarray, n_jobs: int = 1
    ) -> list[np.ndarray]:
        """The best local alignment score of every candidate of every sample."""
        batch = self.encode(X)
        scores = np.empty(len(batch.candidates))
        over_ranges(
            lambda lo, hi: direct(score_candidates, batch, w, lo, hi, scores),
            batch.start,
            n_jobs,
        )
        return np.split(scores, batch.list_start[1:-1])[: len(batch.start) - 1]

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        k = len(self.letters)
        table = w.reshape(table_shape(k)).astype(np.float64)
        extend, opening = table[k, :2].tolist()
        return {
            "substitution_matrix_": table[:k, :k].copy(),
            "gap_open_": opening,
            "gap_extend_": extend,
        }

    def join(self, fitted: Any) -> np.ndarray:
        k = len(self.letters)
        table = np.zeros(table_shape(k))
        table[:k, :k] = fitted.substitution_matrix_
        table[k, :2] = fitted.gap_extend_, fitted.gap_open_
        return table.ravel()

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {"alphabet_": self.letters}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.letters = saved.value("alphabet", str)
        if len(check_alphabet(self.letters, [])) != sizes["k"]:
            raise ValueError("letters and scores do not fit together")
