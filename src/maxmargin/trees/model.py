"""What all parsers do after training: predict trees, rank them, evaluate them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.decode import decode
from maxmargin.core.encoded import check_weights
from maxmargin.core.structure import Outputs, check_k
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, of_parts, temperature_of
from maxmargin.trees.binarize import base_label
from maxmargin.trees.cky.k_best import k_best
from maxmargin.trees.cky.sums import bracket_probabilities
from maxmargin.trees.cky.trees import NO_PARSE
from maxmargin.trees.input import (
    Sentences,
    check_same_words,
    read_sentences,
    read_trees_of,
)
from maxmargin.trees.metrics import BracketReport, score_brackets
from maxmargin.trees.span_features import cells
from maxmargin.trees.tree import Tree, parsed
from maxmargin.trees.view import shown
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class ParserMixin(Shown):
    """Prediction from ``grammar_``, ``_derivations``, ``_w`` and ``_batch(sentences)``."""

    _view = staticmethod(shown)

    @over_cluster("n_fallbacks_")
    def predict(self, X: Any) -> list[Tree | None]:
        """The best tree of every sentence (``decoding`` says in which sense).

        X is a list of sentences as ``input`` has them, or of trees, whose words (and
        tags) are parsed anew. ``n_fallbacks_`` is the number of sentences that the
        grammar has no tree for.
        """
        check_is_fitted(self, "grammar_")
        return Outputs(self._trees(read_sentences(X, self.input)))

    def _trees(self, sentences: Sentences, leaves=None) -> list[Tree | None]:
        """The best trees; ``leaves`` are the words to put into them, if others."""
        self._check_parameters("fallback")
        search = decode
        if self._decoding() == "posterior":
            from maxmargin.trees.cky.posterior import decode_posteriors as search
        batch, w = self._batch(sentences)
        flat = search(batch, w, self._threads())
        if leaves is not None:
            sentences = sentences._replace(words=leaves)
        return self._trees_of(sentences, batch, flat)

    def _decoding(self) -> str:
        """ "viterbi", the tree of largest score, or "posterior", of least expected loss."""
        return "viterbi"

    def _trees_of(self, sentences: Sentences, batch, flat) -> list[Tree | None]:
        """The trees of labellings, with fallbacks where there is none."""
        trees: list[Tree | None] = []
        failed = 0
        for i, words in enumerate(sentences.words):
            labelling = flat[batch.start[i] : batch.start[i + 1]]
            if len(labelling) and labelling[0] != NO_PARSE:
                trees.append(self._derivations.tree(labelling, words))
            else:
                failed += 1
                trees.append(self._fall_back(sentences, i))
        self.n_fallbacks_ = failed
        return trees

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[Tree, float]]]:
        """The k trees of largest score of every sentence with their scores, best first.

        A sentence has fewer if the grammar has fewer trees for it, and none if it has no
        tree: there is no fallback.
        """
        check_is_fitted(self, "grammar_")
        k = check_k(k)
        sentences = read_sentences(X, self.input)
        batch, w = self._batch(sentences)
        return [
            [
                (self._derivations.tree(labelling, words), score)
                for labelling, score in k_best(batch, i, w, k)
            ]
            for i, words in enumerate(sentences.words)
        ]

    def predict_marginals(self, X: Any, threshold: float = 1e-3) -> list[dict]:
        """Per sentence {(label, begin, end): probability} under exp(score) / Z.

        Brackets below the threshold are left out; a sentence without trees has none.
        Scores of a maximum-margin model are not calibrated: these rank brackets, but 0.9
        need not mean right nine times out of ten. objective="log" fits them, and so does
        ``calibrate`` with held-out data.
        """
        check_is_fitted(self, "grammar_")
        labels = self._derivations.labels
        result = []
        for table, words in self._bracket_tables(read_sentences(X, self.input)):
            begin, end = cells(len(words))
            result.append(
                {
                    (labels[a], int(begin[cell]), int(end[cell])): min(
                        float(table[cell, a]), 1.0
                    )
                    for cell, a in np.argwhere(table >= threshold).tolist()
                }
            )
        return result

    def _bracket_tables(self, sentences: Sentences) -> Iterator[tuple]:
        """(probabilities of labels in the cells, words) of every sentence."""
        batch, w = self._batch(sentences)
        w = w.astype(np.float64) / temperature_of(self)
        for i, words in enumerate(sentences.words):
            yield bracket_probabilities(batch, i, w)[1], words

    def _chances(self, X: Any, y: Any, predicted: Any) -> Chances:
        y = read_trees_of(y)
        sentences = read_sentences(y if X is None else X, self.input)
        check_same_words(sentences, y, self.input)
        number = {label: k for k, label in enumerate(self._derivations.labels)}
        said: list[float] = []
        right: list[bool] = []
        rows = zip(self._bracket_tables(sentences), y, predicted, strict=True)
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
        return score_brackets(y, self._trees(sentences, leaves), **options)

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

    # sentences without a tree ----------------------------------------------------------

    def _fall_back(self, sentences: Sentences, i: int) -> Tree | None:
        words = sentences.words[i]
        if self.fallback == "error":
            what = f"sentence {i} ({' '.join(words[:8])})" if words else f"sentence {i}"
            why = "the grammar has no tree for it" if words else "it is empty"
            raise ValueError(
                f"{what} cannot be parsed: {why}. Choose fallback='flat', 'right' or "
                "'none' to go on without."
            )
        if self.fallback == "none" or not words:
            return None
        tags = sentences.tags[i] or [self._likely_tag(word) for word in words]
        leaves = [parsed(tag, [word]) for tag, word in zip(tags, words, strict=True)]
        root = self._likely_root()
        if self.fallback == "flat" or len(leaves) == 1:
            return parsed(root, leaves)
        tree = leaves[-1]
        for leaf in leaves[-2::-1]:
            tree = parsed(root, [leaf, tree])
        return tree

    def _likely_root(self) -> str:
        grammar = self.grammar_
        for k in np.argsort(-grammar.counts_roots, kind="stable"):
            if grammar.roots[k] >= grammar.n_tags:
                return base_label(grammar.symbols[grammar.roots[k]])
        return "S"

    def _likely_tag(self, word: str) -> str:
        counts = Counter(self.grammar_.lexicon.get(word, {}))
        if counts:
            return counts.most_common(1)[0][0]
        return self.grammar_.symbols[int(np.argmax(self.grammar_.tag_counts))]
