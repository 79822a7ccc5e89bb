"""Motifs as a structure: DNA sequences in, labels out, whose sites are hidden."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.checks import whole
from maxmargin.core.completion import complete_all
from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.structure import Structure
from maxmargin.motifs.classes import check_use, two_classes
from maxmargin.motifs.composition import composition_scale
from maxmargin.motifs.hidden_sites import (
    MotifBatch,
    make_batch,
    n_weights,
    with_composition,
    with_strands,
)
from maxmargin.motifs.input import LETTERS, encode_sequences
from maxmargin.motifs.parameters import WIDEST
from maxmargin.motifs.sites import Site, best_sites
from maxmargin.motifs.words import (
    enriched_words,
    on_both_strands,
    shifted_motif,
    word_weights,
)

DATA_WEIGHT = 16.0  # C by rule times the weight of all samples


@dataclass
class Motifs(Structure):
    """A motif at an unknown place; the parameters are those of `MotifFinder`.

    ``width`` is one number: of several, `MotifFinder` makes one by fits of their own.
    """

    width: Any = 11
    order: int = 2
    both_strands: bool | None = None
    composition: bool = True
    unknown: str = "refuse"
    positive: Any = None
    init: Any = "words"
    shifts: int = 0
    n_restarts: int = 2
    class_weight: str | None = "balanced"
    labels: np.ndarray = field(init=False, repr=False)
    letters: int = field(default=0, init=False, repr=False)  # of the motif
    strands: int = field(default=1, init=False, repr=False)
    scale: float | None = field(default=None, init=False, repr=False)  # of composition
    words: list[str] | None = field(default=None, init=False, repr=False)
    errors: dict | None = field(default=None, init=False, repr=False)  # by width

    # training --------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        self.letters = whole("width", self.width)
        codes, first = encode_sequences(X, self.unknown, self.letters)
        n = len(first) - 1
        self.labels, label = two_classes(Y, n, self.positive)
        weights = check_weights(training.sample_weight, n)
        check_use(label, weights, self.labels)
        if training.sample_weight is None and self.class_weight == "balanced":
            weights = 0.5 * n / np.bincount(label)[label]
        batch = make_batch(codes, first, label, self.letters, self.order, 1)
        both = self.both_strands
        both = on_both_strands(batch, weights) if both is None else both
        self.strands = 1 + bool(both)
        batch = with_strands(batch, self.strands)
        if isinstance(self.init, str) and self.init == "words":
            words = enriched_words(batch, weights, self.n_restarts)
            self.words = ["".join(LETTERS[c] for c in word) for word in words]
        C = DATA_WEIGHT / float(weights.sum()) if training.C is None else training.C
        if self.composition:
            self.scale = composition_scale(weights, float(C))
            batch = with_composition(batch, self.order, self.scale)
        counts = np.bincount(codes, minlength=5)[:4] + 1.0
        attributes = {"frequencies_": counts / counts.sum()}
        size = n_weights(self.letters, self.order, self.composition)
        return Encoded(batch, size, np.float64, weights, attributes, C=float(C))

    def hidden_start(self, batch: MotifBatch, k: int) -> np.ndarray | None:
        """The sites that start k begins with, if those are to be at enriched words."""
        if self.words is None:
            return None
        if k >= len(self.words):
            return None if k else batch.y.copy()
        word = np.array([LETTERS.index(letter) for letter in self.words[k]])
        size = n_weights(batch.width, self.order, self.composition)
        return complete_all(batch, word_weights(word, batch.width, size))

    def hidden_moves(self, batch: MotifBatch, truths: Any, w: np.ndarray):
        """Sites of the motif shifted by a few letters, the nearest first."""
        for far in range(1, min(self.shifts, batch.width - 1) + 1):
            for by in (far, -far):
                yield complete_all(batch, shifted_motif(w, batch.width, by))

    # prediction ------------------------------------------------------------------------

    def encode(self, X: Any) -> MotifBatch:
        codes, first = encode_sequences(X, self.unknown, self.letters)
        nothing = np.zeros(len(first) - 1, np.uint8)
        batch = make_batch(
            codes, first, nothing, self.letters, self.order, self.strands
        )
        if self.composition:
            batch = with_composition(batch, self.order, self.scale)
        return batch

    def output(self, batch: Any, i: int, labelling: Any) -> Any:
        return self.labels[int(labelling[0] > 0)]

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> np.ndarray:
        """The label of every sequence."""
        return self.labels[(self.search(X, w, n_jobs)[1] > 0).astype(int)]

    def search(self, X: Any, w: np.ndarray, n_jobs: int = 1):
        """(a batch, the scores and the places of the best sites)."""
        batch = self.encode(X)
        return batch, *best_sites(batch, w, n_jobs)

    def predict_sites(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[Site]:
        """The best site of every sequence."""
        found, width = [], self.letters
        batch, scores, places = self.search(X, w, n_jobs)
        counts = np.diff(batch.first) - width + 1
        columns = (column.tolist() for column in (scores, places, counts))
        for score, place, count in zip(*columns, strict=True):
            start = place % count
            strand = "+" if place < count else "-"
            found.append(Site(start, start + width, strand, score))
        return found

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        found = {
            "classes_": self.labels,
            "width_": self.letters,
            "both_strands_": self.strands == 2,
            "composition_scale_": self.scale,
            "words_": self.words,
            "width_errors_": self.errors,
        }
        return {name: value for name, value in found.items() if value is not None}

    def saved(self) -> tuple[dict, dict]:
        return {}, {
            "composition_scale": self.scale or 0.0,
            "words": self.words or [],
            "width_errors": [[*pair] for pair in (self.errors or {}).items()],
        }

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.labels, self.letters = (
            saved.labels("classes"),
            saved.whole("width", 1, WIDEST),
        )
        if len(self.labels) != 2:
            raise ValueError("there are not two classes")
        if self.composition:
            self.scale = scale = saved.number("composition_scale")
            if not scale > 0:
                raise ValueError("'composition_scale' is not positive")
        size = n_weights(self.letters, self.order, self.composition)
        if (sizes["n"], sizes["width"]) != (size, self.letters):
            raise ValueError("weights and width do not fit together")
        both = bool(self.both_strands)
        if "n_sites" in saved.state:  # older files have no such values
            self.words, both = saved.texts("words"), saved.value("both_strands", bool)
        self.strands = 1 + both
        errors = saved.value("width_errors", list)
        pairs = [[*map(type, e)] for e in errors if type(e) is list]
        if pairs != [[int, float]] * len(errors):
            raise ValueError("'width_errors' is not a list of widths and errors")
        self.errors = dict(errors) or None
