"""What all parsers do after training: predict trees, rank them, evaluate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.encoded import check_weights
from maxmargin.core.structure import Outputs, check_k
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, of_parts, temperature_of
from maxmargin.trees.input import check_same_words, read_sentences, read_trees_of
from maxmargin.trees.metrics import BracketReport, score_brackets
from maxmargin.trees.span_features import cells
from maxmargin.trees.tree import Tree
from maxmargin.trees.view import shown
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ParserMixin(Shown):
    """What parsers do with their structure and its weights."""

    _view = staticmethod(shown)
    _fitted: Callable[[], Any]
    _weights: Callable[[], np.ndarray]
    _threads: Callable[[], int]
    input: str

    @over_cluster("n_fallbacks_")
    def predict(self, X: Any) -> list[Tree | None]:
        """The best tree of every sentence (``decoding`` says in which sense).

        X is a list of sentences as ``input`` has them, or of trees, whose words (and
        tags) are parsed anew. ``n_fallbacks_`` is the number of sentences that the
        grammar has no tree for.
        """
        structure = self._fitted()
        return Outputs(self._trees(structure, read_sentences(X, self.input)))

    def _trees(self, structure, sentences, leaves=None) -> list[Tree | None]:
        w, n_jobs = self._weights(), self._threads()
        trees, self.n_fallbacks_ = structure.parse(sentences, w, n_jobs, leaves)
        return trees

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[Tree, float]]]:
        """The k trees of largest score of every sentence with their scores, best first.

        A sentence has fewer if the grammar has fewer trees for it, and none if it has no
        tree: there is no fallback.
        """
        structure = self._fitted()
        return structure.predict_k_best(X, self._weights(), check_k(k))

    def predict_marginals(self, X: Any, threshold: float = 1e-3) -> list[dict]:
        """Per sentence {(label, begin, end): probability} under exp(score) / Z.

        Brackets below the threshold are left out; a sentence without trees has none.
        Scores of a maximum-margin model are not calibrated: these rank brackets, but 0.9
        need not mean right nine times out of ten. objective="log" fits them, and so does
        ``calibrate`` with held-out data.
        """
        structure = self._fitted()
        return structure.predict_marginals(X, self._cooled(), threshold=threshold)

    def _cooled(self) -> np.ndarray:
        """The weights at the temperature of the model, for probabilities."""
        return self._weights().astype(np.float64) / temperature_of(self)

    def _chances(self, X: Any, y: Any, predicted: Any) -> Chances:
        y = read_trees_of(y)
        sentences = read_sentences(y if X is None else X, self.input)
        check_same_words(sentences, y, self.input)
        structure = self._fitted()
        number = {label: k for k, label in enumerate(structure.derivations.labels)}
        said: list[float] = []
        right: list[bool] = []
        tables = structure.bracket_tables(sentences, self._cooled())
        rows = zip(tables, y, predicted, strict=True)
        for (table, words), truth, found in rows:
            cell = {
                place: c for c, place in enumerate(zip(*cells(len(words)), strict=True))
            }
            true = set(truth.spans())
            for label, *place in found.spans() if found is not None else ():
                known = label in number and tuple(place) in cell
                said.append(table[cell[tuple(place)], number[label]] if known else 0.0)
                right.append((label, *place) in true)
        return of_parts(said, right)

    def _right(self, X: Any, y: Any) -> list[bool]:
        y = read_trees_of(y)
        X = y if X is None else X
        check_same_words(read_sentences(X, self.input), y, self.input)
        found = self.predict(X)
        pairs = zip(found, y, strict=True)
        return [
            a is not None and sorted(a.spans()) == sorted(b.spans()) for a, b in pairs
        ]

    def evaluate(
        self, X: Any, y: Any, *, predicted: Any = None, **options: Any
    ) -> BracketReport:
        """Predict X and compare with the true trees y: a bracket report.

        X may be None: words and tags are then those of y. ``options`` are those of
        :func:`maxmargin.trees.metrics.score_brackets`; ``predicted`` is what
        ``predict(X)`` has returned, if that is known already.
        """
        check_is_fitted(self, "grammar_")
        y = read_trees_of(y)
        if predicted is not None:
            return score_brackets(y, predicted, **options)
        sentences = read_sentences(y if X is None else X, self.input)
        check_same_words(sentences, y, self.input)
        # with tags as input, words may be known from y only
        leaves = [tree.words() for tree in y]
        found = self._trees(self._fitted(), sentences, leaves)
        return score_brackets(y, found, **options)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """F1 of labelled brackets, counted as evalb does; X may be None."""
        report = self.evaluate(X, y)
        if sample_weight is None:
            return report.f1
        weights = check_weights(sample_weight, len(report.sentences))
        right = total = 0.0
        for weight, row in zip(weights, report.sentences, strict=True):
            right += weight * 2 * row.correct
            total += weight * (row.truth + row.predicted)
        return right / total if total else 1.0
