"""Alignments as a structure: pairs of sequences in, matched pairs of positions out."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.alignments.batch import align_batch, norms
from maxmargin.alignments.features.encoder import learn_tracks, length_of
from maxmargin.alignments.features.models import AlignmentModel
from maxmargin.alignments.features.prior import (
    NONE,
    Prior,
    make_prior,
    with_usual_letters,
)
from maxmargin.alignments.features.settings import (
    check_alphabet,
    make_model,
    model_from_state,
    model_state,
)
from maxmargin.alignments.input import (
    check_alignments,
    check_loss_and_ends,
    check_sequences,
    matched_pairs,
    split_unknown,
)
from maxmargin.alignments.k_best import k_best
from maxmargin.alignments.loops import complete_loops
from maxmargin.alignments.sums import match_marginals
from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Structure
from maxmargin.fitting.tables import weigh


@dataclass
class Alignments(Structure):
    """Alignments of two sequences; the parameters are those of `SequenceAligner`.

    With a prior, w has differences from it and, behind them, its factor; the weights
    ``coef_`` of a fitted model hold it (``features/prior.py``). Predictions take both.
    """

    model: Any = "simple"
    gaps: str = "affine"
    scope: str = "global"
    free_ends: str | None = None
    loss: str = "q"
    alphabet: Any = None
    groups: dict | None = None
    unknown: Any = None
    symmetric: bool | str = "auto"
    normalize: bool = True
    unlabelled_weight: float = 0.1
    prior: bool = True
    terms: AlignmentModel = field(init=False, repr=False)
    usual: Prior = field(default=NONE, init=False, repr=False)

    # batches ---------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        if X is None or Y is None:
            raise ValueError("both X and y are needed: one alignment per pair.")
        targets, templates = check_sequences(X)
        if not targets:
            raise ValueError("X is empty: at least one pair of sequences is needed.")
        Y, known = split_unknown(Y, targets)
        labels, counts = check_alignments(Y, targets, templates)
        if not counts.any():
            raise ValueError(
                "y has no matched pair that counts, because all core masks are empty: "
                "leave the masks out, or give alignments with core columns."
            )
        weights = check_weights(training.sample_weight, len(targets))
        if known is not None:
            weights = weigh(self, weights, [mask.any() for mask in known])
        self.terms = self._learn_terms(targets, templates)
        self.usual = make_prior(self.terms) if self.prior else NONE
        shift, free = self._loss_and_ends()
        forgiving = shift != "hamming" and training.objective != "log"
        if len(self.usual.scores) and forgiving and known is None:
            labels, counts = complete_loops(
                self.terms, self.usual, targets, templates, labels, counts, free
            )
        batch = self._batch(targets, templates, labels, counts, self.usual)
        if known is not None:
            batch = partly_known(batch, np.concatenate(known))
        self.n_weights = self.terms.n_weights + (len(self.usual.scores) > 0)
        return Encoded(batch, self.n_weights, np.float64, weights)

    def encode(self, X: Any, Y: Any = None) -> Any:
        """The batch of pairs of sequences, with these references if they are known."""
        targets, templates = check_sequences(X)
        size = sum(map(length_of, targets))
        labels, counts = np.full(size, -1, np.int32), np.ones(size, bool)
        if Y is not None:
            labels, counts = check_alignments(Y, targets, templates)
        return self._batch(targets, templates, labels, counts)

    def _batch(self, targets, templates, labels, counts, prior=NONE):
        shift, free = self._loss_and_ends()
        norm = norms(targets, templates, self.normalize)
        return align_batch(
            self.terms, targets, templates, labels, counts, norm, shift, free, prior
        )

    def _loss_and_ends(self):
        return check_loss_and_ends(self.loss, self.scope, self.free_ends)

    def _learn_terms(self, targets, templates) -> AlignmentModel:
        found, dense = learn_tracks(targets + templates, self.unknown)
        if self.prior and found:
            first = next(iter(found))
            found[first] = with_usual_letters(found[first])
        alphabet = found if self.alphabet is None else self.alphabet
        known = check_alphabet(alphabet)
        return make_model(
            model=self.model,
            alphabet=alphabet,
            groups=self.groups,
            unknown=self.unknown,
            gaps=self.gaps,
            symmetric=self.symmetric,
            dense={name: size for name, size in dense.items() if name not in known},
        )

    # prediction ------------------------------------------------------------------------

    def output(self, batch: Any, i: int, labelling: Any) -> list[tuple[int, int]]:
        return matched_pairs(labelling)

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> Any:
        return super().predict(X, self.usual.folded(w), n_jobs)

    def predict_k_best(
        self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1
    ) -> list[list[tuple[list, float]]]:
        """The k best alignments of every pair with their scores, best first."""
        batch = self.encode(X)
        labels, scores = k_best(batch, self.usual.folded(w), k, n_jobs)
        return [
            [
                (matched_pairs(row[a:b]), float(found[i]))
                for row, found in zip(labels, scores, strict=True)
                if found[i] > -np.inf
            ]
            for i, (a, b) in enumerate(pairwise(batch.start.tolist()))
        ]

    def predict_marginals(
        self, X: Any, w: np.ndarray, n_jobs: int = 1, sharpness: float = 1.0
    ) -> list[np.ndarray]:
        """Probabilities of matched pairs, for exp(sharpness * score) / Z."""
        batch = self.encode(X)
        batch = batch._replace(norm=sharpness * batch.norm)
        return match_marginals(batch, self.usual.folded(w), n_jobs)

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        coef = np.array(self.usual.folded(w), np.float64)
        factor = float(w[-1]) if len(coef) < len(w) else 0.0
        return {"coef_": coef, "prior_factor_": factor, **self.named(coef)}

    def named(self, coef: np.ndarray) -> dict[str, Any]:
        """Scores of letters and gaps, where these are all that counts."""
        model, found = self.terms, dict[str, Any]()
        first = model.tracks[0]
        target, template = model.alphabets[first]
        if model.names == (f"{first}/{first}",) and target == template:
            found["substitution_matrix_"] = coef[model.places(model.names[0])]
        if model.gaps != "position":
            places = model.gap_places["target"]
            opening = places["open"]
            found["gap_extend_"] = float(coef[places["extend"]])
            found["gap_open_"] = 0.0 if opening is None else float(coef[opening])
        return found

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        target, template = self.terms.alphabets[self.terms.tracks[0]]
        return {
            "model_": self.terms,
            "n_features_": self.terms.n_features,
            "alphabet_": tuple(dict.fromkeys(target + template)),
        }

    def saved(self) -> tuple[dict, dict]:
        return {}, model_state(self.terms)

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.terms = model_from_state(saved.state)
        if self.terms.n_weights != sizes["n"]:
            raise ValueError("weights and terms do not fit together")
