"""Dependency trees as a structure: sentences of (word, tag) in, heads with labels out."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.completion import complete_all
from maxmargin.core.encoded import (
    Encoded,
    Training,
    check_lengths,
    check_weights,
)
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Outputs, Structure, check_k
from maxmargin.core.warn import warn
from maxmargin.dependencies.batches import ProjectiveBatch, TreeBatch
from maxmargin.dependencies.features import FIRST, WIDTH
from maxmargin.dependencies.input import (
    UNKNOWN,
    Trees,
    is_projective,
    lifted,
    read_sentences,
    read_trees,
)
from maxmargin.dependencies.k_best import k_best
from maxmargin.dependencies.marginals import chances_of
from maxmargin.dependencies.parameters import MOST_ROWS
from maxmargin.dependencies.siblings import SiblingBatch
from maxmargin.dependencies.words import Words
from maxmargin.fitting.tables import weigh

LEAST_ROWS, MOST_USUAL_ROWS = 2**10, 2**20
ROWS_PER_WORD = 3  # of training: on WSJ, more rows than that gain nothing
# C for those of margins is the same whatever the number of sentences: chosen on folds of
# the WSJ sample (benchmarks/dependencies.py --choose-C)
USUAL_C = {"hinge": 0.03, "log": 0.3}
SHARE_OF_LABELS = 8  # rows of arcs for each row of labels


@dataclass
class Dependencies(Structure):
    """Trees of heads; the parameters are those of `DependencyParser`.

    An output is a list with an entry for each word: its head, a number from 1, or 0 for
    the root; with labels, (head, label).
    """

    projective: bool = True
    order: int = 1
    rows: int | None = None
    unlabelled_weight: float = 0.1
    words: Words = field(init=False, repr=False)
    labels: list[str] = field(init=False, repr=False)  # empty: none are predicted
    arc_rows: int = field(init=False, repr=False)
    n_lifted: int = field(init=False, repr=False)

    # batches ---------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        X, Y = check_lengths(X, Y)
        X = read_sentences(X)
        sizes = [len(sentence) for sentence in X]
        trees = read_trees(Y, sizes, partial=True)
        weights = check_weights(training.sample_weight, len(X))
        known = trees.heads != UNKNOWN
        whole = np.array([known[a:b].all() for a, b in pairwise(trees.start.tolist())])
        some = [known[a:b].any() or a == b for a, b in pairwise(trees.start.tolist())]
        if not known.any():
            raise ValueError("y holds no known head: there is nothing to learn from.")
        weights = weigh(self, weights, some)
        trees = self._allowed(trees, whole)
        self.words = Words.learn(X)
        self.labels = sorted({label for label in trees.labels if label is not None})
        self.arc_rows = self.rows or _usual_rows(sum(sizes))
        batch = self._batch(X, trees)
        C = USUAL_C.get(training.objective, 0.03) if training.C is None else training.C
        dtype = training.dtype(np.ones(1, np.float32), C, weights)
        if not known.all():
            batch = self._completed(partly_known(batch, known), trees)
        self.n_weights = self._sizes()[-1]
        return Encoded(batch, self.n_weights, dtype, weights, C=C)

    def encode(self, X: Any) -> Any:
        X = read_sentences(X)
        start = np.cumsum([0, *map(len, X)])
        heads = np.zeros(start[-1], np.int64)
        return self._batch(X, Trees(start, heads, [None] * len(heads)))

    def output(self, batch: Any, i: int, labelling: Any) -> list:
        """Heads of the words of a sentence, with labels if there are some."""
        codes = labelling.tolist()
        if not self.labels:
            return codes
        n = len(self.labels)
        return [(code // n, self.labels[code % n]) for code in codes]

    def _batch(self, X: list, trees: Trees) -> Any:
        n_labels = max(len(self.labels), 1)
        number = {label: k for k, label in enumerate(self.labels)}
        labels = np.fromiter(
            (number.get(label, 0) for label in trees.labels), np.int64, len(trees.heads)
        )
        y = np.maximum(trees.heads, 0) * n_labels + labels
        first = ProjectiveBatch if self.projective else TreeBatch
        make = SiblingBatch if self.order == 2 else first
        return make(
            trees.start,
            y.astype(np.int32),
            self.words.encode(X),
            n_labels,
            self.arc_rows,
            self._label_rows(),
            len(self.labels),
        )

    def _label_rows(self) -> int:
        return max(self.arc_rows // SHARE_OF_LABELS, 1)

    def _sizes(self) -> tuple[int, int]:
        """Where weights of arcs and of labels end."""
        arcs = self.arc_rows * WIDTH
        return arcs, arcs + self._label_rows() * len(self.labels)

    # truths ----------------------------------------------------------------------------

    def _allowed(self, trees: Trees, whole: np.ndarray) -> Trees:
        """Trees that can be found: crossing arcs of whole ones are lifted."""
        self.n_lifted = 0
        if not self.projective:
            return trees
        heads, first = trees.heads.copy(), -1
        for i, (a, b) in enumerate(pairwise(trees.start.tolist())):
            own = heads[a:b].tolist()
            if is_projective(own):
                continue
            if not whole[i]:
                raise self._impossible(i)
            heads[a:b] = lifted(own)
            first = i if first < 0 else first
            self.n_lifted += 1
        if self.n_lifted:
            warn(
                f"{self.n_lifted} of {len(whole)} trees have arcs that cross; training "
                "takes the nearest tree without, in which these words have heads further "
                f"up (y[{first}] is the first). projective=False learns them as they are."
            )
        return trees._replace(heads=heads)

    def _completed(self, batch: Any, trees: Trees) -> Any:
        """With some trees in place of those that are not known whole."""
        found = complete_all(batch, np.zeros(self._sizes()[-1]))
        heads = found // batch.n_labels
        for i, (a, b) in enumerate(pairwise(trees.start.tolist())):
            if batch.known[a:b].all():
                continue
            same = (heads[a:b] == trees.heads[a:b])[batch.known[a:b]].all()
            if not same or (self.projective and not is_projective(heads[a:b].tolist())):
                raise self._impossible(i)
        return batch._replace(y=found)

    def _impossible(self, i: int) -> ValueError:
        return ValueError(
            f"y[{i}]: no tree without crossing arcs has all the known heads: choose "
            "projective=False, or leave some of them out."
        )

    # prediction ------------------------------------------------------------------------

    def predict_k_best(self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1) -> list:
        k = check_k(k)
        batch = self.encode(X)
        return [
            [
                (self.output(batch, i, labelling), score)
                for labelling, score in k_best(batch, i, w, k)
            ]
            for i in range(len(batch.start) - 1)
        ]

    def predict_marginals(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list:
        """Per sentence {(head, word): p}, with labels {(head, word, label): p}."""
        return [self.named_chances(table) for table in self.chances(X, w)]

    def chances(self, X: Any, w: np.ndarray) -> list[np.ndarray]:
        """Per sentence, (heads, words, labels): probabilities under exp(score) / Z."""
        if self.order == 2:
            raise ValueError(
                "there are no probabilities with order=2, as scores of siblings have no "
                "sums over trees here: choose order=1."
            )
        batch = self.encode(X)
        return [chances_of(batch, i, w) for i in range(len(batch.start) - 1)]

    def named_chances(self, table: np.ndarray, threshold: float = 0.0) -> dict:
        places = np.argwhere(table > threshold).tolist()
        if not self.labels:
            return {(h, m): min(float(table[h, m, 0]), 1.0) for h, m, _ in places}
        return {
            (h, m, self.labels[k]): min(float(table[h, m, k]), 1.0)
            for h, m, k in places
        }

    def completions(self, X: Any, Y: Any, w: np.ndarray, n_jobs: int = 1) -> Outputs:
        """The best trees that have all the known heads."""
        X, Y = check_lengths(X, Y)
        X = read_sentences(X)
        trees = read_trees(Y, [len(sentence) for sentence in X], partial=True)
        self._check_known(trees)
        batch = partly_known(self._batch(X, trees), trees.heads != UNKNOWN)
        batch = self._completed(batch, trees)
        flat = complete_all(batch, w, n_jobs)
        return Outputs(
            self.output(batch, i, flat[a:b])
            for i, (a, b) in enumerate(pairwise(batch.start.tolist()))
        )

    def _check_known(self, trees: Trees) -> None:
        known = set(self.labels)
        for k in np.flatnonzero(trees.heads != UNKNOWN).tolist():
            label = trees.labels[k]
            i = int(np.searchsorted(trees.start, k, "right")) - 1
            where = f"y[{i}][{k - trees.start[i]}]"
            if known and label is None:
                raise ValueError(
                    f"{where} has no label, but the model predicts labels."
                )
            if label is not None and label not in known:
                raise ValueError(
                    f"{where} has the label {label!r}, unknown to the model."
                )

    def loss(self, y: Any, y_hat: Any) -> float:
        """Wrong heads plus wrong labels."""
        true, found = (read_trees([row], [len(y)]) for row in (y, y_hat))
        wrong = int((true.heads != found.heads).sum())
        return float(
            wrong + sum(a != b for a, b in zip(true.labels, found.labels, strict=True))
        )

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        return {"coef_": w}

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {"labels_": self.labels, "n_lifted_": self.n_lifted}

    def saved(self) -> tuple[dict, dict]:
        state = {"labels": self.labels, "rows": self.arc_rows}
        return {}, {**state, "n_lifted": self.n_lifted, "words": self.words.state()}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.labels = saved.texts("labels")
        self.arc_rows = saved.whole("rows", 1, MOST_ROWS)
        self.n_lifted = saved.whole("n_lifted")
        self.words = Words.from_state(saved.part("words"))
        self.n_weights = self._sizes()[-1]
        power = self.arc_rows & (self.arc_rows - 1) == 0
        if self.n_weights != sizes["n"] or not power:
            raise ValueError("weights and features do not fit together")
        if max(map(len, vars(self.words).values())) + FIRST >= 2**31:
            raise ValueError("there are too many words")


def _usual_rows(words: int) -> int:
    rows = LEAST_ROWS
    while rows < min(ROWS_PER_WORD * words, MOST_USUAL_ROWS):
        rows *= 2
    return rows
